"""What PyTorch is timed for beside chapter 18, with a PyTorch that computes nothing."""

import contextlib
import io
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


def pytorch(has_cudnn):
    """A module of that name, in which each kernel takes 2 ms."""
    event = types.SimpleNamespace(record=lambda: None, synchronize=lambda: None, elapsed_time=lambda end: 2.0)
    chosen = []

    @contextlib.contextmanager
    def sdpa_kernel(backend):
        chosen.append(backend)
        yield

    def attention(*tensors, **options):
        if chosen[-1] == "cudnn" and not has_cudnn:
            raise RuntimeError("No available kernel. Aborting execution.\nMore of it.")

    nothing = lambda *arguments, **options: None  # noqa: E731
    functional = types.SimpleNamespace(layer_norm=nothing, rms_norm=nothing, scaled_dot_product_attention=attention)
    torch = types.ModuleType("torch")
    torch.nn = types.ModuleType("torch.nn")
    torch.nn.functional = functional
    torch.nn.attention = types.ModuleType("torch.nn.attention")
    torch.nn.attention.SDPBackend = types.SimpleNamespace(EFFICIENT_ATTENTION="efficient", CUDNN_ATTENTION="cudnn")
    torch.nn.attention.sdpa_kernel = sdpa_kernel
    torch.backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace()))
    torch.cuda = types.SimpleNamespace(
        Event=lambda enable_timing: event, is_available=lambda: True, get_device_name=lambda: "GPU"
    )
    torch.version, torch.__version__ = types.SimpleNamespace(cuda="13.0"), "2.11"
    torch.float32, torch.bfloat16 = "float32", "bfloat16"
    torch.softmax = nothing
    torch.empty = lambda *shape, **options: types.SimpleNamespace(zero_=lambda: None)
    torch.randn = lambda *shape, **options: shape
    return {"torch": torch, "torch.nn": torch.nn, "torch.nn.attention": torch.nn.attention}


def run(has_cudnn):
    """The exit code, the rows, and what it said."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, pytorch(has_cudnn)):
        file, said = pathlib.Path(folder) / "results.json", io.StringIO()
        main = runpy.run_path(str(ROOT / "tools" / "measure" / "pytorch_attention.py"))["main"]
        with contextlib.redirect_stderr(said), mock.patch.object(sys, "argv", ["", "--write", str(file)]):
            code = main()
        data = json.loads(file.read_text())
        records.read(Report, data, strict=True)  # the form that results have
        return code, data["rows"], said.getvalue()


class PyTorch(unittest.TestCase):
    def test_every_problem_has_a_rate(self):
        code, rows, said = run(has_cudnn=True)
        self.assertEqual((code, said), (0, ""))
        rate = {f"{row['rung']}/{row['variant']}": row["rate"] for row in rows}
        self.assertEqual(len(rate), 19)
        # 4 S^2 D for each head, in 2 ms.
        self.assertAlmostEqual(rate["fused/d=128,full"], 4 * 64 * 4096**2 * 128 / 2e6)
        self.assertAlmostEqual(rate["fused/d=64,causal"], 2 * 128 * 4096**2 * 64 / 2e6)

    def test_a_kernel_that_is_missing_is_named_and_the_rest_is_written(self):
        code, rows, said = run(has_cudnn=False)
        self.assertEqual(code, 1)
        self.assertEqual(len(rows), 19 - 3)
        self.assertEqual(said.count("\n"), 3)
        self.assertIn("decode/one,short,split was not timed: No available kernel. Aborting execution.\n", said)
