"""The scripts of tools/measure, as far as they need no GPU."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools" / "measure"

KERNELS = """\
// __global__ void not_this(int) {
/// A rung.
__global__ void near(float* c, int n) { c[n] = 0; }
template <int size>
__global__ void __launch_bounds__(size * 2) tiled(const float* a,
                                                  float* c) {
  __shared__ float tile[size];
}
__global__ void declared(int n);
void host(int n) { near<<<1, 1>>>(nullptr, n); }
"""


def run(script, *arguments):
    return subprocess.run([sys.executable, str(TOOLS / script), *map(str, arguments)], capture_output=True, text=True,
                          timeout=100)


class Scripts(unittest.TestCase):
    def test_self_tests(self):
        for script in ("counters.py", "fp32_kernels.py"):
            done = run(script, "--self-test")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_shell_can_read_the_one_that_measures(self):
        done = subprocess.run(["bash", "-n", str(TOOLS / "h200.sh")], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_counts_are_recorded(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "02_sample"
            folder.mkdir()
            (folder / "sample.cu").write_text(KERNELS)
            counts = {"global_load_sectors": 4}
            launch = {"index": 0, "grid": [1, 1, 1], "block": [32, 1, 1], "counts": counts, "metrics": {"x": 1}}
            measured = {"what": "counts", "device": "NVIDIA H200", "driver": "580", "toolkit": "13.0", "ncu": "2025.3",
                        "date": "2026-01-02", "commit": "0123", "program_exit_code": 0,
                        "arguments": ["--size", "8,8,8"],
                        "launches": [dict(launch, kernel=kernel)
                                     for kernel in ("near(float *, int)", "void tiled<16>(const float *, T1 *)", "tiled",
                                                    "declared(int)", "not_this", "lab::<unnamed>::pick(int)",
                                                    "void sgemm<1>(int)")]}
            source = pathlib.Path(name) / "counters.json"
            source.write_text(json.dumps(measured))
            done = run("record_counts.py", source, folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            written = json.loads((folder / "results" / "h200_counts.json").read_text())
            self.assertEqual([entry["kernel"] for entry in written["launches"]], ["near", "tiled", "tiled"])
            self.assertEqual(written["launches"][0],
                             {"kernel": "near", "grid": [1, 1, 1], "block": [32, 1, 1], "counts": counts})
            self.assertEqual((written["size"], written["device"]), ("8,8,8", "NVIDIA H200"))
            for change, message in (({"program_exit_code": 1}, "the program failed"), ({"launches": []}, "no launch")):
                source.write_text(json.dumps({**measured, **change}))
                done = run("record_counts.py", source, folder)
                self.assertEqual(done.returncode, 1)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
