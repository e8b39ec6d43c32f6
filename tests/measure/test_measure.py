"""The scripts of tools/measure, as far as they need no GPU."""

import csv
import gzip
import io
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
            counts = {"shared_load_requests": 4}
            launch = {"index": 0, "grid": [1, 1, 1], "block": [32, 1, 1], "counts": {"shared_load_requests": 5},
                      "metrics": {"x": 1, "smsp__sass_inst_executed_op_shared_ld.sum": 4}}
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


class Caches(unittest.TestCase):
    """record_caches.py, on what ncu and a program print for three launches, one of them not the chapter's."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name) / "02_sample"
        self.folder.mkdir()
        (self.folder / "sample.cu").write_text(KERNELS)
        self.metrics = run("record_caches.py", "--metrics").stdout.strip().split(",")

    def page(self, name="02.csv", device="NVIDIA H200", size=4096, rows=("near wide=2  PASS", "tiled        PASS"),
             time="ns", metrics=None):
        """Writes one file of ncu's; gzipped if its name says so."""
        metrics = metrics or self.metrics
        text = io.StringIO()
        print("==PROF== Connected to process 7 (/somewhere/sample)", file=text)
        print(f"02_sample on {device}, M = {size}, N = {size}, K = 64, seed 1\n\nrung", file=text)
        print(*rows, f"{len(rows)} PASS, 0 FAIL, 0 SKIP, 0 ERROR", sep="\n", file=text)
        table = csv.writer(text, quoting=csv.QUOTE_ALL)
        table.writerow(["ID", "Kernel Name", "Block Size", "Grid Size", *metrics])
        units = {"gpu__time_duration.sum": time, "dram__bytes_read.sum": "byte"}
        table.writerow(["", "", "", "", *(units.get(metric, "") for metric in metrics)])
        for launch, kernel in enumerate(("near(float *, int)", "lab::<unnamed>::pick(int)", "void tiled<16>(T1 *)")):
            table.writerow([launch, kernel, "(32, 1, 1)", "(9, 1, 1)",
                            *(f"1,{launch}{i:02}.25" for i in range(len(metrics)))])
        path = self.folder.parent / name
        with (gzip.open if name.endswith(".gz") else open)(path, "wt") as file:
            file.write(text.getvalue())
        return path

    def record(self, *files):
        return run("record_caches.py", "--commit", "0123", "--toolkit", "13.0", "--ncu", "2025.3", self.folder, *files)

    def test_each_launch_has_its_rung(self):
        done = self.record(self.page("a.csv.gz"), self.page("b.csv", size=128))
        self.assertEqual(done.returncode, 0, done.stderr)
        written = json.loads((self.folder / "results" / "h200_caches.json").read_text())
        self.assertEqual([written[key] for key in ("device", "toolkit", "ncu", "commit")],
                         ["NVIDIA H200", "13.0", "2025.3", "0123"])
        self.assertEqual([(each["rung"], each["variant"], each["kernel"], each["size"]["N"]) for each in written["launches"]],
                         [("near", "wide=2", "near", 4096), ("tiled", None, "tiled", 4096),
                          ("near", "wide=2", "near", 128), ("tiled", None, "tiled", 128)])
        self.assertEqual((written["launches"][1]["grid"], written["launches"][1]["block"]), ([9, 1, 1], [32, 1, 1]))
        self.assertEqual(written["launches"][1]["metrics"],
                         {metric: 1200.25 + i for i, metric in enumerate(self.metrics)})

    def test_what_does_not_fit_is_refused(self):
        for message, files in (
                ("gpu__time_duration.sum is in ms", [self.page(time="ms")]),
                ("1 rungs passed and 2 launches", [self.page("c.csv", rows=("near wide=2  PASS",))]),
                ("1 rungs passed and 2 launches", [self.page("d.csv", rows=("near wide=2  PASS", "tiled  FAIL"))]),
                ("has no", [self.page("e.csv", metrics=self.metrics[:-1])]),
                ("several devices", [self.page("f.csv"), self.page("g.csv", device="NVIDIA H100")]),
                ("No such file", [self.folder / "h.csv"])):
            with self.subTest(message=message):
                done = self.record(*files)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
                self.assertIn(message, done.stderr)
        self.assertFalse((self.folder / "results").exists())
        self.assertEqual(run("record_caches.py", self.folder, self.page()).returncode, 2)


if __name__ == "__main__":
    unittest.main()
