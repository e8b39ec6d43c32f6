"""Chapter 18's attention and cuDNN's in turn, with a PyTorch that computes nothing."""

import contextlib
import io
import itertools
import json
import pathlib
import runpy
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from warp.base import records
from warp.chapter.written import Report

SCRIPT = str(ROOT / "tools" / "measure" / "attention_pairs" / "pairs.py")


class Tensor:
    """A tensor of a shape; what is computed with it is one, too."""

    def __init__(self, *shape):
        self.shape = shape

    def __sub__(self, other):
        return self

    def __rmul__(self, other):
        return self

    def bfloat16(self):
        return self


class Clock:
    """A GPU on which the chapter's kernel takes 2 ms and cuDNN's 3."""

    def __init__(self):
        self.ms, self.launches = 0, []

    def launch(self, who, ms):
        self.launches.append(who)
        self.ms += ms

    def event(self, enable_timing):
        event = types.SimpleNamespace(synchronize=lambda: None, at=None)
        event.record = lambda: setattr(event, "at", self.ms)
        event.elapsed_time = lambda end: end.at - event.at
        return event


def pytorch(clock, capability):
    torch = types.ModuleType("torch")
    functional = types.SimpleNamespace(scaled_dot_product_attention=lambda *q, is_causal: clock.launch("cuDNN", 3))
    torch.nn = types.ModuleType("torch.nn")
    torch.nn.functional = functional
    torch.nn.attention = types.ModuleType("torch.nn.attention")
    torch.nn.attention.SDPBackend = types.SimpleNamespace(CUDNN_ATTENTION="cudnn")
    torch.nn.attention.sdpa_kernel = lambda backend: contextlib.nullcontext()
    torch.cuda = types.SimpleNamespace(
        Event=clock.event,
        is_available=lambda: True,
        get_device_capability=lambda: capability,
        get_device_name=lambda: "GPU",
    )
    torch.backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: 91900))
    torch.version, torch.__version__, torch.float32 = types.SimpleNamespace(cuda="13.0"), "2.11", "float32"
    torch.manual_seed = lambda seed: None
    torch.rand = lambda *shape, device: Tensor(*shape)
    torch.full_like = lambda tensor, value: tensor
    torch.empty = lambda *shape, **options: types.SimpleNamespace(zero_=lambda: None)
    return {"torch": torch, "torch.nn": torch.nn, "torch.nn.attention": torch.nn.attention}


class Sensors(contextlib.AbstractContextManager):
    """An SM's clock that does not change."""

    def __init__(self, torch):
        pass

    def __exit__(self, *error):
        pass

    def seen(self):
        return {"sm_mhz": 1980.0, "sm_mhz_min": 1980.0, "power_w": 500.0}


def run(wrong_by=0.0, capability=(9, 0)):
    """The exit code, the rows, what it said, and who was launched in which order."""
    clock = Clock()
    kernels = types.SimpleNamespace(prepared=lambda *problem: lambda: clock.launch("chapter", 2))
    modules = pytorch(clock, capability)
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, modules):
        file, said = pathlib.Path(folder) / "results.json", io.StringIO()
        main = runpy.run_path(SCRIPT)["main"]
        main.__globals__.update(Sensors=Sensors, Kernels=lambda folder: kernels, error=lambda *of: wrong_by)
        argv = mock.patch.object(sys, "argv", ["", "--write", str(file)])
        with argv, contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = main()
        rows = []
        if file.exists():
            data = json.loads(file.read_text())
            records.read(Report, data, strict=True)  # the form that results have
            rows = data["rows"]
        return code, rows, said.getvalue(), clock.launches


class Samples(unittest.TestCase):
    def power(self, times):
        """What the sensors give where each reading of the watts is 1 W more, taken at these times."""
        module = runpy.run_path(SCRIPT)
        sensors, watts = object.__new__(module["Sensors"]), itertools.count(1)

        def reading(number):
            def read(device, *where):
                where[-1]._obj.value = number()
                return 0

            return read

        sensors.device, sensors.mhz, sensors.watts, sensors.begin = None, [], [], 0
        sensors.nvml = types.SimpleNamespace(
            nvmlDeviceGetClockInfo=reading(lambda: 1980), nvmlDeviceGetPowerUsage=reading(lambda: 1000 * next(watts))
        )
        sensors.over = types.SimpleNamespace(wait=mock.Mock(side_effect=[False] * len(times) + [True]))
        module["Sensors"].sample.__globals__["time"] = types.SimpleNamespace(monotonic=mock.Mock(side_effect=times))
        sensors.sample()
        return sensors.seen()

    def test_a_power_is_left_out_where_no_second_has_passed(self):
        self.assertEqual(self.power([0.1, 0.5, 1.0]), {"sm_mhz": 1980, "sm_mhz_min": 1980})

    def test_readings_of_the_first_second_are_left_out(self):
        self.assertEqual(self.power([0.1, 1.0, 1.2, 1.4, 1.6])["power_w"], 2)  # of 1, 2 and 3 W


class Pairs(unittest.TestCase):
    def test_every_problem_is_timed_beside_cudnn(self):
        code, rows, said, launches = run()
        self.assertEqual((code, said), (0, ""))
        self.assertEqual(len({row["variant"] for row in rows}), 8)
        self.assertEqual({row["ratio_to_peer"] for row in rows}, {1.5})
        rate = {row["variant"]: row["rate"] for row in rows}
        # 4 S^2 D for each head, in 2 ms.
        self.assertAlmostEqual(rate["bf16,d=128,short,full"], 4 * 64 * 4096**2 * 128 / 2e6)
        self.assertAlmostEqual(rate["bf16,d=64,long,causal"], 2 * 32 * 16384**2 * 64 / 2e6)

    def test_they_take_turns_and_the_one_that_begins_alternates(self):
        *_, launches = run()
        pairs = list(zip(launches[::2], launches[1::2]))[1 : 1 + 3 + 41]  # behind the launches that are verified
        self.assertEqual({frozenset(pair) for pair in pairs}, {frozenset(("chapter", "cuDNN"))})
        self.assertTrue(all(one[0] != next_one[0] for one, next_one in zip(pairs, pairs[1:])))

    def test_a_wrong_result_is_not_timed(self):
        for wrong_by in (1.0, float("nan")):
            code, rows, said, launches = run(wrong_by)
            self.assertEqual((code, rows, len(launches)), (1, [], 2))
            self.assertIn("bf16,d=128,short,full: errors of", said)

    def test_another_gpu_is_refused(self):
        code, rows, said, _ = run(capability=(8, 0))
        self.assertEqual((code, rows), (2, []))
        self.assertIn("compute capability 9.0", said)
