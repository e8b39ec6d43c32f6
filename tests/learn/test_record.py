"""./learn record: one line a step, one limit for the whole, results written only where everything was clean."""

import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import fake

from warp.chapter.results import as_text
from warp.cli.commands.record import gpu_slug, not_permitted
from warp.machinecode import digest
from warp.record import counts


def runs(program):
    """Whether a process is there and has not ended: one that nobody has collected yet has the state Z."""
    try:
        return pathlib.Path(f"/proc/{program}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


PROGRAM = """\
#!/bin/sh
echo "$*${LAB_FURTHER_SIZE:+ further}" >>@CALLS@.programs
previous= size=1000
for word; do
  [ "$previous" = --json ] && json=$word
  [ "$previous" = --size ] && size=$word
  previous=$word
done
if [ "${FAKE_SLEEP_AT:-$size}" = "$size" ] && [ -n "$FAKE_SLEEP" ]; then
  echo $$ >@CALLS@.running
  sleep "$FAKE_SLEEP"
fi
[ "$FAKE_CRASH_AT" = "$size" ] && kill -SEGV $$
rows='{"rung": "one", "size": {"n": '${size%%,*}'}, "status": "'${FAKE_STATUS:-PASS}'", "at": "'$FAKE_AT'"}'
[ -z "$json" ] || echo '{"commit": "'$WARP_COMMIT'", "device": "H200", "limits": {}, "rows": ['$rows']}' >"$json"
echo "01_first_steps on NVIDIA H200, n = 1000, seed 1"
exit "${FAKE_CODE:-0}"
"""

# SIGTERM as soon as the program is there, and before whoever started it has come to wait for it.
STARTING = """\
import os, signal, subprocess, sys
sys.path.insert(0, {tools!r})
from warp.cli import main as cli
from warp.record import timed
signal.signal(signal.SIGTERM, cli.leave)
start = subprocess.Popen
def started(*arguments, **options):
    process = start(*arguments, **options)
    print(process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    return process
subprocess.Popen = started
timed.follow(["sleep", "60"], 50)
"""

CUOBJDUMP = """\
#!/bin/sh
cat <<'END'
\t\tFunction : _Z3onePf
        /*0000*/                   LDC R1, c[0x0][0x28] ;    /* 0x00000a00ff017b82 */
                                                             /* 0x000fe20000000800 */
\t\tFunction : _ZN3lab4pickEPf
        /*0000*/                   EXIT ;                    /* 0x000000000000794d */
END
"""

NCU = """\
#!/bin/sh
echo "$* timing=$LAB_TIMING" >>@CALLS@.ncu
previous=
for word; do
  [ "$previous" = --export ] && : >"$word.ncu-rep"
  [ "$previous" = --page ] && page=$word
  previous=$word
done
[ "$page" = raw ] && cat <<'END'
"ID","Process ID","Process Name","Kernel Name","Block Size","Grid Size","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
"","","","","","","sector"
"0","7","first_steps","own_kernel","(32, 1, 1)","(4, 1, 1)","16"
END
exit 0
"""


class Record(fake.Checkout):
    def setUp(self):
        super().setUp()
        self.add_gpu()
        self.tool("chapter", PROGRAM, self.home)

    def results(self, name="h200.json"):
        path = os.path.join(self.root, "chapters", "01_first_steps", "results", name)
        if not os.path.exists(path):
            return None
        return fake.load(path)

    def words(self, done):
        """{step: ok, FAIL or SKIP}"""
        found = {}
        for line in done.stdout.splitlines():
            if re.match(r"(ok|FAIL|SKIP) ", line):
                found[line[6:50].strip()] = line[:4].strip()
        return found

    def programs(self):
        return fake.read(self.calls_file + ".programs").splitlines()

    def record(self, *words, code=0, **env):
        return self.learn("record", *words, env={"WARP_COMMIT": "0123abc", **env}, code=code)

    def test_a_machine_with_a_gpu_alone(self):
        self.tool("cuobjdump", CUOBJDUMP)
        done = self.record("01")
        self.assertEqual(
            self.words(done),
            {
                "configure": "ok",
                "build": "ok",
                "run 01_first_steps 1000": "ok",
                "machine code 01_first_steps": "ok",
                "sanitizers 01_first_steps": "SKIP",
                "count 01_first_steps": "SKIP",
            },
        )
        self.assertIn("Nsight Compute is not installed", done.stdout)
        self.assertIn("written: chapters/01_first_steps/results/h200.json", done.stdout)
        written = self.results()
        self.assertEqual(written["commit"], "0123abc")
        self.assertEqual(written["machine_code"]["nvcc"], "V13.0.88")
        self.assertEqual(list(written["machine_code"]["kernels"]), ["_Z3onePf"])
        self.assertTrue(any("--size 1000" in line for line in self.programs()))
        self.assertIn("--target first_steps", self.calls("--build")[0])
        self.assertIn("H200", pathlib.Path(self.root, "build", "record", "h200", "environment.txt").read_text())

    def test_sizes_and_parts(self):
        self.record("01", "--only", "run", "--size", "7", "--size", "8", "--out", os.path.join(self.home, "out"))
        for ending in "--size 7", "--size 8 further":
            self.assertTrue(any(line.endswith(ending) for line in self.programs()))
        self.assertEqual([row["size"]["n"] for row in self.results()["rows"]], [7, 8])
        self.assertTrue(os.path.exists(os.path.join(self.home, "out", "summary.txt")))

    def test_beside_the_cub_of_another_cccl(self):
        cccl = pathlib.Path(self.home, "cccl")
        (cccl / "cub").mkdir(parents=True)
        done = self.record("01", "--cccl", str(cccl), code=2)
        self.assertIn(f"--cccl {cccl}: there is no cub/version.cuh in it", done.stderr)
        (cccl / "cub" / "version.cuh").touch()
        done = self.record("01", "--cccl", str(cccl))
        self.assertIn(f"-DWARP_CCCL={cccl}", self.calls("--preset")[-1])
        self.assertIsNone(self.results())  # the toolkit's are left alone
        self.assertEqual(self.results("h200_cccl.json")["commit"], "0123abc")
        self.assertNotIn("sanitizers 01_first_steps", self.words(done))
        self.record("01")
        self.assertTrue(self.calls("--preset")[-1].endswith("-DWARP_CCCL="))

    def test_what_one_size_took_too_long_for_is_measured_by_another_recording(self):
        sizes = ("--size", "7", "--size", "8", "--size", "9")
        done = self.record("01", *sizes, "--seconds", "9", code=1, FAKE_SLEEP="60", FAKE_SLEEP_AT="8", FAKE_AT="first")
        words = self.words(done)
        self.assertEqual([words[f"run 01_first_steps {size}"] for size in "789"], ["ok", "FAIL", "FAIL"])
        self.assertIsNone(self.results())
        self.record("01", "--only", "counts")
        self.assertIsNone(self.results())  # nor what was kept, by another part
        self.record("01", "--size", "8", "--size", "9", FAKE_AT="second")
        rows = [(row["size"]["n"], row["at"]) for row in self.results()["rows"]]
        self.assertEqual(sorted(rows), [(7, "first"), (8, "second"), (9, "second")])
        self.record("01", "--size", "9", FAKE_AT="third")
        rows = [(row["size"]["n"], row["at"]) for row in self.results()["rows"]]
        self.assertEqual(sorted(rows), [(7, "first"), (8, "second"), (9, "third")])
        self.record("01", "--size", "9", WARP_COMMIT="4567def")  # another commit
        self.assertEqual([row["size"]["n"] for row in self.results()["rows"]], [9])
        for commit in "4567def-dirty", "unknown":  # nobody knows of what code
            for sizes in ("8", "9"), ("9",):
                self.record("01", *(word for size in sizes for word in ("--size", size)), WARP_COMMIT=commit)
                self.assertEqual([row["size"]["n"] for row in self.results()["rows"]], list(map(int, sizes)))

    def started(self, *words, **env):
        """(./learn record, the process id of the program that it runs), once that sleeps."""
        env = self.environment(WARP_COMMIT="0123abc", FAKE_SLEEP="60", **env)
        process = subprocess.Popen(self.command("record", *words), env=env, stdout=subprocess.DEVNULL)
        running = pathlib.Path(self.calls_file + ".running")
        until = time.monotonic() + 60
        while not (running.exists() and running.read_text()) and time.monotonic() < until:
            time.sleep(0.05)
        return process, int(running.read_text())

    def test_a_size_is_on_disk_before_the_next_one_runs(self):
        folder = pathlib.Path(self.home, "out", "01_first_steps")

        def measured():
            text = (folder / "h200.json").read_text(encoding="utf-8")
            return [(row["size"]["n"], row["at"]) for row in json.loads(text)["rows"]]

        words = ("01", "--only", "run", "--out", str(folder.parent))
        sizes = [word for size in "789" for word in ("--size", size)]
        process, program = self.started(*words, *sizes, FAKE_SLEEP_AT="8", FAKE_AT="first")
        process.kill()  # no handler of its own can write anything any more
        process.wait(timeout=20)
        os.killpg(program, signal.SIGKILL)
        self.assertEqual(measured(), [(7, "first")])
        self.assertIn("n = 1000", (folder / "table.txt").read_text(encoding="utf-8"))
        done = self.record(*words, *sizes[2:], code=1, FAKE_CRASH_AT="8", FAKE_AT="second")
        self.assertEqual(self.words(done)["run 01_first_steps 8"], "FAIL")
        self.assertEqual(sorted(measured()), [(7, "first"), (9, "second")])
        self.assertIsNone(self.results())
        self.record(*words, "--size", "8", FAKE_AT="third")
        self.assertEqual([row["size"]["n"] for row in self.results()["rows"]], [7, 9, 8])

    def test_results_have_a_row_a_line(self):
        self.record("01", "--only", "run", "--size", "7", "--size", "8")
        results = pathlib.Path(self.root, "chapters", "01_first_steps", "results", "h200.json")
        text = results.read_text(encoding="utf-8")
        for size in 7, 8:
            self.assertRegex(text, rf'\n  {{"rung": "one", "size": {{"n": {size}}}, [^\n]*}},?\n')
        self.assertEqual(text, as_text(json.loads(text)))

    def test_ended_from_outside_it_ends_its_program(self):
        process, program = self.started("01")
        process.terminate()
        self.assertEqual(process.wait(timeout=20), 143)
        until = time.monotonic() + 10
        while runs(program) and time.monotonic() < until:  # its parent is gone: whoever collects it may take a moment
            time.sleep(0.05)
        self.assertFalse(runs(program))

    def test_ended_while_its_program_starts(self):
        done = subprocess.run(
            [sys.executable, "-c", STARTING.format(tools=os.path.join(fake.ROOT, "tools"))],
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assertEqual(done.returncode, 143, done.stderr)
        self.assertFalse(runs(int(done.stdout)))

    def test_products_are_checked_on_their_cases(self):
        self.tool("compute-sanitizer", '#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift 2; done\nexec "$@"\n')
        words = self.words(self.record("02"))
        self.assertEqual(words["cases 02_matrix"], "ok")
        for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
            self.assertEqual((words[f"{tool} 02_matrix"], words[f"{tool} cases 02_matrix"]), ("ok", "ok"))
        ran = self.programs()
        self.assertIn("--cases all", ran)
        self.assertIn("--cases 0-23", ran)
        self.assertIn("--size 32,32,32", ran)

    def test_maps_are_checked_on_their_cases(self):
        self.tool("compute-sanitizer", '#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift 2; done\nexec "$@"\n')
        self.add_chapter("03_map", "Map", ("one", "two"), "1000", "100", kind="map")
        words = self.words(self.record("03"))
        self.assertEqual((words["cases 03_map"], words["memcheck cases 03_map"]), ("ok", "ok"))
        self.assertEqual([name for name in words if "cases" in name], ["cases 03_map", "memcheck cases 03_map"])
        self.assertEqual(sum("--cases all" in line for line in self.programs()), 2)
        self.assertNotIn("cases 01_first_steps", self.words(self.record("01")))

    def test_what_is_not_clean_is_not_written(self):
        self.tool("compute-sanitizer", '#!/bin/sh\necho "ERROR SUMMARY: 1 error"\nexit 9\n')
        done = self.record("01", code=1)
        self.assertEqual(self.words(done)["memcheck 01_first_steps"], "FAIL")
        self.assertIn("ERROR SUMMARY: 1 error", done.stdout)
        self.assertIn("not all was clean", done.stdout)
        self.assertIsNone(self.results())
        kept = pathlib.Path(self.root, "build", "record", "h200")
        self.assertTrue((kept / "01_first_steps" / "h200.json").exists())
        self.assertIn("ERROR SUMMARY", (kept / "log" / "memcheck_01_first_steps.log").read_text())

    def test_a_rung_that_fails(self):
        self.record("01", code=1, FAKE_STATUS="FAIL")
        self.assertIsNone(self.results())
        self.record("01", code=1, FAKE_CODE="1")
        self.assertIsNone(self.results())

    def test_the_profiler_is_not_permitted(self):
        self.tool("ncu", "#!/bin/sh\necho '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'\nexit 1\n")
        done = self.record("01")
        self.assertEqual(self.words(done)["count 01_first_steps"], "SKIP")
        self.assertIn("may not read the GPU's counters (ERR_NVGPUCTRPERM)", done.stdout)

    def test_only_the_chapter_s_own_kernels_are_counted(self):
        self.tool("ncu", NCU)
        folder = pathlib.Path(self.root, "chapters", "01_first_steps")
        with open(next(folder.glob("*.cu")), "a", encoding="utf-8") as source:
            source.write("__global__ void own_kernel(int n) {\n}\n")
        done = self.record("01", "--only", "counts")
        self.assertEqual(self.words(done)["count 01_first_steps"], "ok")
        with open(self.calls_file + ".ncu", encoding="utf-8") as file:
            counted = [line for line in file if "--kernel-name " in line]
        self.assertEqual(len(counted), 1)
        self.assertRegex(counted[0], r"--kernel-name regex:\^\([^)]*\bown_kernel\b[^)]*\)\$ .*timing=off")
        self.assertEqual(self.results("h200_counts.json")["launches"][0]["kernel"], "own_kernel")

    def test_the_whole_is_bounded(self):
        began = time.monotonic()
        done = self.record("01", "02", "--seconds", "7", code=1, FAKE_SLEEP="60")
        self.assertLess(time.monotonic() - began, 60)  # what one of them would have slept
        words = self.words(done)
        self.assertEqual((words["run 01_first_steps 1000"], words["run 02_matrix 64,64,64"]), ("FAIL", "FAIL"))
        self.assertIn("took longer than", done.stdout)
        self.assertIn("no time left", done.stdout)

    def test_what_is_refused(self):
        self.assertIn("name the chapters", self.refused("record"))
        self.assertIn("unknown chapter", self.refused("record", "9"))
        self.assertIn("--seconds 0: legal is a whole number", self.refused("record", "01", "--seconds", "0"))
        self.assertIn("is no size", self.refused("record", "01", "--size", "x"))
        self.assertIn("legal is run, sanitize, counts or caches", self.refused("record", "01", "--only", "times"))
        os.unlink(os.path.join(self.bin, "nvidia-smi"))
        self.assertIn("no usable NVIDIA GPU", self.learn("record", "01", code=1).stderr)

    def test_a_build_that_fails(self):
        done = self.record("01", code=1, FAKE_CMAKE="build-fails")
        self.assertIn("made_up.cu:7: error: made up", done.stdout)
        self.assertIn("the chapters do not build", done.stderr)


class Names(unittest.TestCase):
    def test_devices(self):
        for device, slug in (
            ("NVIDIA H200", "h200"),
            ("NVIDIA H100 80GB HBM3", "h100"),
            ("NVIDIA H100 PCIe", "h100pcie"),
            ("NVIDIA GeForce RTX 4090", "rtx4090"),
            ("NVIDIA A100-SXM4-80GB", "a100"),
            ("Tesla T4", "t4"),
            ("NVIDIA RTX 6000 Ada Generation", "rtx6000ada"),
            ("NVIDIA GH200 480GB", "gh200"),
        ):
            self.assertEqual(gpu_slug(device), slug)

    def test_permission(self):
        self.assertEqual(not_permitted("Segmentation fault"), "")


class MachineCode(unittest.TestCase):
    TEXT = CUOBJDUMP.split("END'\n")[1].split("END\n")[0] if "END'\n" in CUOBJDUMP else ""

    def test_digests(self):
        first = digest.digests(self.TEXT)
        self.assertEqual(list(first), ["_Z3onePf", "_ZN3lab4pickEPf"])
        again = digest.digests("other words\n" + self.TEXT.replace("\t\t", "   ").replace("                   ", " "))
        self.assertEqual(first, again)
        changed = digest.digests(self.TEXT.replace("0x000fe20000000800", "0x000fe20000000801"))
        self.assertEqual(digest.changed(first, changed, ["one", "pick"]), ["one"])
        self.assertEqual(digest.changed(first, {}, ["one", "other"]), ["one"])
        self.assertEqual(digest.changed(first, first, ["one", "pick"]), [])
        only = {"_Z3onePf": first["_Z3onePf"]}
        self.assertEqual(digest.changed(only, first, ["one", "pick"]), ["pick"], "an instance that was not recorded")

    def test_a_compiler_may_make_several_codes_of_one_source(self):
        recorded = {"one": "a", "two": "a"}
        made = [{"one": "a", "two": "b"}, {"one": "b", "two": "b"}, {"one": "b", "two": "a"}, {}]
        for times, two in ((1, "b"), (2, "b"), (3, "a"), (4, "a")):
            with self.subTest(times=times):
                runs = iter(made)
                today = digest.nearest(recorded, lambda runs=runs: next(runs), times)
                self.assertEqual(today, {"one": "a", "two": two})
                self.assertEqual(len(list(runs)), len(made) - min(times, 3), "it stops when all was seen")
        self.assertEqual(digest.nearest({"one": "a"}, lambda: {"one": "b", "new": "c"}, 2), {"one": "b", "new": "c"})

    def test_names(self):
        for mangled, name in (
            ("_Z10naive_flatiiifPKf", "naive_flat"),
            ("_ZN3lab4pickILi2EEEvi", "pick"),
            ("_ZN12_GLOBAL__N_15tiledILj1EEEvPf", "tiled"),
            ("main", "main"),
        ):
            self.assertEqual(digest.base_name(mangled), name)
        inner = "_GLOBAL__N__0123abcd_9_sample_cu_89abcdef_4567"
        one = f"_ZN{len(inner)}{inner}5tiledEv"
        self.assertEqual(list(digest.digests(f"Function : {one}\n")), ["_ZN12_GLOBAL__N_15tiledEv"])


KERNELS = """\
// # Chapter 02: Sample
//
// Question: What?
// Builds on: nothing
// Size gpu: 4096,4096,64
// Size simulator: 8,8,8
// Run: ./learn run 02
//   ./learn run 02 --rung near   one
//   ./learn run 02 --rung tiled  two

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

// It waits for 3 cycles, and 4 here.
//= 3 cycles: ncu("near/wide=2", "cycles")
//= 4: ncu("tiled", "cycles", 128) + ncu("02:tiled", "x", "8,8,9") + ncu("01:other", "y")
"""


class Counts(unittest.TestCase):
    """What is made of Nsight Compute's output, with kernels that are not the chapter's among the launches."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name) / "02_sample"
        (self.folder / "results").mkdir(parents=True)
        self.main = self.folder / "sample.cu"
        self.main.write_text(KERNELS)

    def test_counts(self):
        kernels = (
            "near(float *, int)",
            "void tiled<16>(const float *, T1 *)",
            "tiled",
            "declared(int)",
            "not_this",
            "lab::<unnamed>::pick(int)",
            "void sgemm<1>(int)",
        )
        launch = {
            "index": 0,
            "grid": [1, 1, 1],
            "block": [32, 1, 1],
            "counts": {"shared_load_requests": 5},
            "metrics": {"x": 1, "smsp__sass_inst_executed_op_shared_ld.sum": 4},
        }
        measured = {
            "what": "counts",
            "device": "NVIDIA H200",
            "driver": "580",
            "toolkit": "13.0",
            "ncu": "2025.3",
            "date": "2026-01-02",
            "commit": "0123",
            "program_exit_code": 0,
            "arguments": ["--size", "8,8,8"],
            "launches": [dict(launch, kernel=kernel) for kernel in kernels],
        }
        written = json.loads(counts.counts_file(measured, self.folder))
        self.assertEqual([entry["kernel"] for entry in written["launches"]], ["near", "tiled", "tiled"])
        self.assertEqual(
            written["launches"][0],
            {"kernel": "near", "grid": [1, 1, 1], "block": [32, 1, 1], "counts": {"shared_load_requests": 4}},
        )
        self.assertEqual((written["size"], written["device"]), ("8,8,8", "NVIDIA H200"))
        for change, message in (({"program_exit_code": 1}, "the program failed"), ({"launches": []}, "no launch")):
            with self.assertRaisesRegex(counts.CountsError, message):
                counts.counts_file({**measured, **change}, self.folder)

    def test_the_text_says_which_caches_are_wanted(self):
        wanted = [("near", "4096,4096,64"), ("tiled", "128,128,128"), ("tiled", "8,8,9")]
        results = self.folder / "results"
        self.assertEqual(counts.caches_wanted(self.main, results), wanted)
        rows = [{"rung": rung, "size": {"M": 1, "N": 2, "K": 3}} for rung in ("near", "gone")]
        (results / "h200_caches.json").write_text(json.dumps({"launches": rows}))
        self.assertEqual(counts.caches_wanted(self.main, results), [*wanted, ("near", "1,2,3")])

    def page(
        self, device="NVIDIA H200", size=4096, rows=("near wide=2  PASS", "tiled        PASS"), time="ns", metrics=None
    ):
        """What ncu and a program print for three launches, one of them not the chapter's."""
        metrics = metrics or counts.METRICS
        text = io.StringIO()
        print("==PROF== Connected to process 7 (/somewhere/sample)", file=text)
        print(f"02_sample on {device}, M = {size}, N = {size}, K = 64, seed 1\n\nrung", file=text)
        print(*rows, f"{len(rows)} PASS, 0 FAIL, 0 SKIP, 0 ERROR", sep="\n", file=text)
        table = csv.writer(text, quoting=csv.QUOTE_ALL)
        table.writerow(["ID", "Kernel Name", "Block Size", "Grid Size", *metrics])
        units = {**counts.UNITS, "gpu__time_duration.sum": time}
        table.writerow(["", "", "", "", *(units.get(metric, "") for metric in metrics)])
        for launch, kernel in enumerate(("near(float *, int)", "lab::<unnamed>::pick(int)", "void tiled<16>(T1 *)")):
            table.writerow(
                [launch, kernel, "(32, 1, 1)", "(9, 1, 1)", *(f"1,{launch}{i:02}.25" for i in range(len(metrics)))]
            )
        return text.getvalue()

    def rows(self, **page):
        return counts.caches_of(self.page(**page), counts.kernels_of(self.folder))

    def test_each_launch_has_its_rung(self):
        written = json.loads(counts.caches_file({"toolkit": "13.0"}, [self.rows(), self.rows(size=128)]))
        self.assertEqual((written["device"], written["toolkit"]), ("NVIDIA H200", "13.0"))
        self.assertEqual(
            [(each["rung"], each["variant"], each["kernel"], each["size"]["N"]) for each in written["launches"]],
            [
                ("near", "wide=2", "near", 4096),
                ("tiled", None, "tiled", 4096),
                ("near", "wide=2", "near", 128),
                ("tiled", None, "tiled", 128),
            ],
        )
        self.assertEqual((written["launches"][1]["grid"], written["launches"][1]["block"]), ([9, 1, 1], [32, 1, 1]))
        self.assertEqual(
            written["launches"][1]["metrics"], {metric: 1200.25 + i for i, metric in enumerate(counts.METRICS)}
        )

    def test_what_does_not_fit_is_refused(self):
        for message, page in (
            ("gpu__time_duration.sum is in ms", {"time": "ms"}),
            ("1 rungs passed and 2 launches", {"rows": ("near wide=2  PASS",)}),
            ("1 rungs passed and 2 launches", {"rows": ("near wide=2  PASS", "tiled  FAIL")}),
            ("has no", {"metrics": counts.METRICS[:-1]}),
        ):
            with self.assertRaisesRegex(counts.CountsError, message):
                self.rows(**page)
        with self.assertRaisesRegex(counts.CountsError, "several devices"):
            counts.caches_file({}, [self.rows(), self.rows(device="NVIDIA H100")])
