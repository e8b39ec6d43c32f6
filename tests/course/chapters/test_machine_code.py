"""What nvcc makes of each chapter today is what was measured: a result and the code that it is of land together."""

import functools
import itertools
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from chapter import CUOBJDUMP, NVCC, ROOT

from suites import SIMULATOR

from warp.chapter import freshness, results, source
from warp.machinecode import digest

LABELS = ["chapter", "slow"]  # it compiles every chapter with nvcc
NEEDS = []
SECONDS = 1800


def release():
    found = re.search(r"V[\d.]+", subprocess.run([NVCC, "--version"], capture_output=True, text=True).stdout)
    return found.group() if found else "unknown"


GPU_BUILD = SIMULATOR.parent / "gpu"


def built(sources, architecture):
    """The object files that the gpu preset has made of the sources for this architecture and since they were edited; [] where it has
    not of all."""
    cache = GPU_BUILD / "CMakeCache.txt"
    if not cache.exists() or f"CMAKE_CUDA_ARCHITECTURES:STRING={architecture}\n" not in cache.read_text():
        return []
    edited = freshness.newest([sources[0].parent, ROOT / "common" / "lab", ROOT / "cmake"])
    found = [next(GPU_BUILD.glob(f"**/{file.parent.name}/{file.name}.o"), None) for file in sources]
    return found if all(found) and min(file.stat().st_mtime for file in found) > edited else []


@functools.cache
def compilation(sources, architecture, number):
    """What the sources become, the `number`th time; first, what the gpu preset has made of them where it has been built."""
    if number == 0 and (objects := built(sources, architecture)):
        return functools.reduce(dict.__or__, (digest.of_file(CUOBJDUMP, file) for file in objects))
    return digest.compiled(NVCC, CUOBJDUMP, sources, architecture)


def stale_rungs(main, recorded, times=12, compilation=compilation):
    """The kernels of a chapter whose machine code is not the recorded one: those that were recorded, in order.

    Two GPUs of one architecture share their compilations.

    nvcc 13.0 makes two codes of some filters of chapter 15, the recorded one in 5 of 10 compilations or more: none of 12
    has it in less than one test of 1,000. An instance with null for its code has its row left out of the results.
    """
    measured = {name: code for name, code in recorded["kernels"].items() if code is not None}
    kernels = list(dict.fromkeys(map(digest.base_name, measured)))
    sources = tuple(file for file in (main, *source.other_files(main)) if file.suffix == ".cu")
    numbers = itertools.count()

    def compile_once():
        made = compilation(sources, recorded["architecture"], next(numbers))
        return {name: code for name, code in made.items() if recorded["kernels"].get(name, code) is not None}

    return digest.changed(measured, digest.nearest(measured, compile_once, times), kernels)


@unittest.skipUnless(NVCC and CUOBJDUMP, "nvcc or cuobjdump is not here")
class MachineCode(unittest.TestCase):
    def test_results_are_of_todays_code(self):
        for main in source.find_chapters(ROOT / "chapters"):
            folder = main.parent / "results"
            for gpu in results.recorded_gpus(folder):
                with self.subTest(f"{main.parent.name} on {gpu}"):
                    recorded = json.loads((folder / f"{gpu}.json").read_text(encoding="utf-8")).get("machine_code")
                    if not recorded:
                        self.skipTest("recorded without its machine code")
                    if recorded["nvcc"] != release():
                        self.skipTest(f"recorded with nvcc {recorded['nvcc']}, this is {release()}")
                    stale = stale_rungs(main, recorded)
                    self.assertEqual(stale, [], f"not what was measured; record it anew: {', '.join(stale)}")

    def test_an_edited_kernel_is_named(self):
        text = """\
__global__ void same(float* x) { x[threadIdx.x] = 1; }
template <int N> __global__ void edited(float* x) { x[threadIdx.x] = N; }
template __global__ void edited<1>(float*);
template __global__ void edited<2>(float*);
"""
        with tempfile.TemporaryDirectory() as name:
            main = Path(name) / "sample.cu"
            main.write_text(text)
            stale = functools.partial(stale_rungs, compilation=compilation.__wrapped__)
            recorded = {"kernels": digest.compiled(NVCC, CUOBJDUMP, [main], "90a"), "architecture": "90a"}
            self.assertEqual(len(recorded["kernels"]), 3)
            main.write_text("// A comment moves every line.\n\n" + text)
            self.assertEqual(stale(main, recorded), [])
            main.write_text(text.replace("= N", "= N + 1"))
            self.assertEqual(stale(main, recorded, times=2), ["edited"])
            one = next(name for name in recorded["kernels"] if "editedILi1E" in name)
            recorded["kernels"][one] = None  # left out; the other instance is still told
            self.assertEqual(stale(main, recorded, times=1), ["edited"])
            main.write_text(text.replace("= N", "= N + (N == 1)"))
            self.assertEqual(stale(main, recorded, times=1), [])
            main.write_text("int broken(")
            with self.assertRaises(digest.CompilerError):
                digest.compiled(NVCC, CUOBJDUMP, [main], "90a")
