"""Inline PTX counts as the C++ that says the same, and is PTX by nvcc's judgement where there is one."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from suites import SIMULATOR  # noqa: E402

NEEDS = ["sample_inline_ptx"]

HERE = pathlib.Path(__file__).resolve().parent
SAMPLE = SIMULATOR / "tests/simulator/samples/sample_inline_ptx"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


class InlinePtx(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_counts_are_those_of_cpp(self):
        trace = self.folder / "trace.json"
        subprocess.run([SAMPLE], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SIMT_JSON": str(trace)})
        ptx, cpp = json.loads(trace.read_text(encoding="utf-8"))["launches"]
        self.assertIn("tiles_ptx", ptx["kernel"])
        self.assertIn("tiles_cuda", cpp["kernel"])
        self.assertGreater(ptx["counts"]["global_load_requests"], 0)
        self.assertEqual(ptx["counts"], cpp["counts"])

    def test_nvcc_compiles_what_the_tests_call_ptx(self):
        if not NVCC:
            self.skipTest("no nvcc")
        names = ["ptx_values.cu", "ptx_threads.cu", "ptx_matrices.cu", "ptx_bulk.cu", "wgmma.cu"]
        sources = [HERE / name for name in names] + [HERE.parent / "samples" / "inline_ptx.cu"]
        for source in sources:
            with self.subTest(source=source.name):
                command = [
                    NVCC,
                    "-std=c++20",
                    "-gencode=arch=compute_90a,code=sm_90a",
                    "-w",
                    "-c",
                    source,
                    "-o",
                    self.folder / "object.o",
                ]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
