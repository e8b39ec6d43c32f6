"""./learn profile: which commands it runs, what it shows of them, and what it says where something is missing."""

import os
import re
import shlex
import subprocess
import sys
import unittest

import fake

from warp.base.ui import Palette
from warp.record import counters, profiling

# ncu: writes a report and, asked to import one, a page of it. FAKE_NCU says what goes wrong.
NCU = """\
#!/bin/sh
echo "ncu $* timing=$LAB_TIMING guard=$LAB_GUARD" >>@CALLS@
previous= report= import=
for word; do
  case $previous in
    --export | -o) report=$word ;;
    --import) import=$word ;;
    --page) page=$word ;;
    --metrics) metrics=$word ;;
  esac
  previous=$word
done
if [ -n "$import" ]; then
  if [ "$page" = details ]; then
    echo "  copy (4, 1, 1)x(32, 1, 1), Context 1"
    echo "    Section: GPU Speed Of Light Throughput"
    exit 0
  fi
  cat @PAGE@
  exit 0
fi
echo "==PROF== Connected to process 7"
case $FAKE_NCU in
  denied)
    echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
    echo "01_first_steps on NVIDIA H200, n = 1000, seed 1"
    exit 1 ;;
  nothing) echo "==WARNING== No kernels were profiled."; exit 0 ;;
  broken) echo "==ERROR== Cuda driver is not compatible with Nsight Compute"; echo "a line of the program"; exit 1 ;;
  unknown)
    case $metrics in
      *lts__t_sector_hit_rate.pct*) echo "==ERROR== Failed to find metric lts__t_sector_hit_rate.pct"; exit 1 ;;
    esac ;;
esac
: >"${report%.ncu-rep}.ncu-rep"
"""

NSYS = """\
#!/bin/sh
echo "nsys $*" >>@CALLS@
if [ "$1" = stats ]; then
  echo " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):"
  exit 0
fi
[ -n "$FAKE_NSYS" ] && { echo "FATAL ERROR: made up"; exit 1; }
for word; do
  case $word in
    --output=*) : >"${word#*=}.nsys-rep" ;;
  esac
done
"""

MEASURED = {
    "gpu__time_duration.sum": "500,000",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "1,000",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "16,000",
    "smsp__sass_branch_targets_threads_divergent.sum": "42",
    "l1tex__t_sector_hit_rate.pct": "12.5",
    "lts__t_sector_hit_rate.pct": "50",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": "500,000,000",
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": "0",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": "0",
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained": "16,896",
    "sm__cycles_elapsed.avg.per_second": "2,000,000,000",
    "dram__bytes.sum": "2,000,000,000",
    "dram__bytes.sum.peak_sustained": "2,500",
    "dram__cycles_elapsed.avg.per_second": "2,000,000,000",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "93.2",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "7.1",
    "smsp__average_warp_latency_per_inst_issued.ratio": "40.5",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": "36.2",
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": "2.1",
    "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio": "1",
}


def raw_page(metrics=MEASURED, launches=2):
    """What `ncu --page raw --csv` prints of launches of `one`."""

    def row(cells):
        return ",".join(f'"{cell}"' for cell in cells)

    lines = ["==PROF== Disconnected", row(["ID", "Process Name", "Kernel Name", "Block Size", "Grid Size", *metrics])]
    lines.append(row(["", "", "", "", "", *("" for _ in metrics)]))
    for number in range(launches):
        lines.append(row([number, "first_steps", "one(float *)", "(32, 8, 1)", "(4000, 1, 1)", *metrics.values()]))
    return "\n".join(lines) + "\n"


class Profile(fake.Checkout):
    def setUp(self):
        super().setUp()
        self.add_gpu()
        fake.write(os.path.join(self.home, "page"), raw_page())
        self.tool("ncu", NCU.replace("@PAGE@", os.path.join(self.home, "page")))
        self.tool("nsys", NSYS)

    def profile(self, *words, code=0, **env):
        return self.learn("profile", *words, env=env, code=code)

    def ran(self, tool):
        """The profiler's own call, its program and all; the calls that read the report left out."""
        calls = self.calls(f"{tool} ")
        return [call for call in calls if call.startswith(tool) and "--import" not in call and "stats" not in call]

    def test_the_counters_of_a_rung(self):
        done = self.profile("01", "--rung", "one")
        self.assertIn("one  4,000 blocks of 32 x 8, first of 2 launches", done.stdout)
        for line in (
            "time                            500 us",
            "device memory                   2.00 GB, 4.00 TB/s, 80 % of the peak",
            "hits in the caches              L1 12 %, L2 50 %",
            "global loads                    1,000 requests, 16.00 sectors each",
            "divergent branches              42",
            "occupancy reached               93 %",
            "cycles that issued              7 %",
            "a warp's cycles per instruction  40.5: long_scoreboard 36.2, wait 2.1",
            "0.50 FLOP per byte: device memory allows 2.50 TFLOP/s, reached 2.00 TFLOP/s (80 %)",
        ):
            self.assertIn(" ".join(line.split()), " ".join(done.stdout.split()))
        self.assertIn("report: build/profile/01_first_steps-one.ncu-rep", done.stdout)
        self.assertIn("ncu-ui build/profile/01_first_steps-one.ncu-rep", done.stdout)
        (call,) = self.ran("ncu")
        self.assertIn("--kernel-name regex:^(one)$", call)
        self.assertTrue(call.endswith("first_steps --rung one timing=off guard=0"), call)
        self.assertIn("--target first_steps", self.calls("--build")[0])

    def test_sections_of_ncu_and_its_page(self):
        done = self.profile("01", "--section", "SpeedOfLight", "--section", "Occupancy", "--size", "77")
        self.assertIn("Section: GPU Speed Of Light Throughput", done.stdout)
        (call,) = self.ran("ncu")
        self.assertIn("--section SpeedOfLight --section Occupancy", call)
        self.assertNotIn("--metrics", call)
        self.assertIn("first_steps --size 77", call)

    def test_raw_options_take_the_place_of_ours(self):
        raw = ["--set", "full", "-k", "regex:^two", "--launch-skip", "3", "--clock-control=base"]
        done = self.profile("01", "--out", os.path.join(self.home, "mine"), "--", *raw)
        self.assertIn("Section: GPU Speed Of Light", done.stdout)
        (call,) = self.ran("ncu")
        self.assertIn(" ".join(raw), call)
        for ours in ("--kernel-name ", "--metrics", "--clock-control none"):
            self.assertNotIn(ours, call)
        self.assertTrue(os.path.exists(os.path.join(self.home, "mine.ncu-rep")))
        self.profile("01", "--", "-o", "here")
        self.assertTrue(os.path.exists(os.path.join(self.root, "here.ncu-rep")))

    def test_a_metric_that_this_gpu_does_not_have(self):
        done = self.profile("01", FAKE_NCU="unknown")
        self.assertIn("this ncu or GPU has no lts__t_sector_hit_rate.pct", done.stderr)
        first, second = self.ran("ncu")
        self.assertIn("lts__t_sector_hit_rate.pct", first)
        self.assertNotIn("lts__t_sector_hit_rate.pct", second)
        self.assertIn("16.00 sectors each", done.stdout)

    def test_the_counters_are_not_permitted(self):
        done = self.profile("01", "--rung", "one", FAKE_NCU="denied", code=1)
        self.assertIn("this user may not read the GPU's counters (ERR_NVGPUCTRPERM)", done.stderr)
        for cure in (
            'sudo -E env PATH="$PATH" ./learn profile 01 --rung one',
            "NVreg_RestrictProfilingToAdminUsers=0",
            "--cap-add=SYS_ADMIN",
            "./learn explain 01 --rung one",
            "--tool nsys",
        ):
            self.assertIn(cure, done.stdout + done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.root, "build", "profile", "01_first_steps-one.ncu-rep")))

    def test_no_kernel_was_profiled(self):
        done = self.profile("01", FAKE_NCU="nothing", code=1)
        self.assertIn("ncu profiled no kernel: the rungs that ran launch no kernel of theirs", done.stderr)
        done = self.profile("01", "--", "--launch-skip", "99", FAKE_NCU="nothing", code=1)
        self.assertIn("ncu profiled no kernel: a filter of yours matches no launch", done.stderr)

    def test_what_else_goes_wrong_is_shown(self):
        done = self.profile("01", FAKE_NCU="broken", code=1)
        self.assertIn("not compatible with Nsight Compute", done.stdout + done.stderr)
        self.assertNotIn("a line of the program", done.stdout + done.stderr)
        self.assertIn("wrote no report; all that it said is in build/logs/profile-01.log", done.stderr)
        done = self.profile("01", "--tool", "nsys", FAKE_NSYS="1", code=1)
        self.assertIn("FATAL ERROR: made up", done.stdout + done.stderr)

    def test_an_old_report_is_not_taken_for_a_new_one(self):
        self.profile("01")
        self.assertIn("no kernel", self.profile("01", FAKE_NCU="nothing", code=1).stderr)

    def test_nsys(self):
        done = self.profile("01", "--tool", "nsys", "--", "--trace=cuda")
        self.assertIn("CUDA GPU Kernel Summary", done.stdout)
        self.assertIn("nsys-ui build/profile/01_first_steps.nsys-rep", done.stdout)
        (call,) = self.ran("nsys")
        self.assertEqual(call.count("--trace"), 1)
        self.assertIn("nsys stats --force-export=true --report cuda_gpu_kern_sum,", self.calls("stats")[0])

    def test_what_a_dry_run_prints_is_what_runs(self):
        for words in (["--rung", "one"], ["--section", "Occupancy"], ["--tool", "nsys"]):
            tool = "nsys" if "nsys" in words else "ncu"
            done = self.profile("01", "--dry-run", *words)
            self.assertEqual(self.ran(tool), [])
            build, folder, run, page = done.stdout.replace("\\\n", "").splitlines()
            self.assertTrue(build.startswith("./learn run 01 --backend gpu"))
            self.assertEqual(folder, "mkdir -p build/profile")
            self.profile("01", *words)
            called = self.ran(tool)[0].partition(" timing=")[0].split()[1:]
            typed = shlex.split(run)
            self.assertEqual(typed[:2], ["LAB_GUARD=0", "LAB_TIMING=off"])
            place = self.root + os.sep
            self.assertEqual(typed[3:], [word.replace(place, "") for word in called])
            self.assertIn("stats" if tool == "nsys" else "--import", page)
            os.unlink(self.calls_file)

    def lacking(self, *words):
        """The line that says what is missing; the command stands before it."""
        done = self.profile("01", "--rung", "one", *words, code=2)
        self.assertIn("first_steps --rung one", done.stdout)
        (line,) = done.stderr.splitlines()
        self.assertEqual(self.calls("--build"), [])
        return line

    def test_what_is_missing(self):
        os.unlink(os.path.join(self.bin, "nsys"))
        line = self.lacking("--tool", "nsys")
        self.assertIn("Nsight Systems (nsys) is not installed", line)
        self.assertIn("https://developer.nvidia.com/nsight-systems", line)
        os.unlink(os.path.join(self.bin, "ncu"))
        self.assertIn("Nsight Compute (ncu) is not installed", self.lacking())
        os.unlink(os.path.join(self.bin, "nvcc"))
        self.assertIn("needs nvcc", self.lacking())
        os.unlink(os.path.join(self.bin, "nvidia-smi"))
        self.assertIn("./learn explain 01 --rung one", self.lacking())

    def test_what_is_refused(self):
        source = os.path.join(self.root, "chapters", "02_matrix", "matrix.cu")
        text = fake.read(source)
        self.write(source, text.replace("the first idea", "the first idea  [raises shared-race]"))
        for words, part in (
            ((), "takes one chapter"),
            (("01", "02"), "takes one chapter"),
            (("9",), "unknown chapter"),
            (("my.cu",), "my.cu is no chapter; your own program:"),
            (("01", "--rung", "oen"), "did you mean one"),
            (("02", "--rung", "naive"), "naive demonstrates a mistake, on the simulator alone: ./learn explain 02"),
            (("01", "--size", "3,3"), "legal is n"),
            (("01", "--tool", "nvprof"), "legal is ncu or nsys"),
            (("01", "--tool", "nsys", "--section", "Occupancy"), "--section is of Nsight Compute"),
            (("01", "--out", "nowhere/report"), "there is no folder nowhere"),
        ):
            self.assertIn(part, self.refused("profile", *words), words)


class Page(unittest.TestCase):
    """docs/profiling.md: its commands are legal, and what it shows of a dry run is what a dry run prints."""

    def dry_run(self, words):
        env = {name: value for name, value in os.environ.items() if not name.startswith("WARP_")}
        env["PATH"] = "/usr/bin:/bin"  # no profiler of this machine
        env["CUDACXX"] = "/nowhere/nvcc"
        return subprocess.run(
            [sys.executable, os.path.join("tools", "warp", "__main__.py"), *words],
            cwd=fake.ROOT,
            env=env,
            capture_output=True,
            text=True,
        )

    def setUp(self):
        self.text = fake.read(os.path.join(fake.ROOT, "docs", "profiling.md"))

    def test_the_example_is_what_the_command_prints(self):
        shown = re.search(r"^\$ \./learn (profile .*--dry-run.* -- .*)\n((?:.*\n)*?)```$", self.text, re.MULTILINE)
        done = self.dry_run(shlex.split(shown[1]))
        self.assertEqual((done.returncode, done.stdout), (0, shown[2]), done.stderr)

    def test_every_command_is_legal(self):
        lines = re.findall(r"^\$ \./learn (profile [^#\n]*)", self.text, re.MULTILINE)
        self.assertGreater(len(lines), 4)
        for line in lines:
            words = shlex.split(line)
            place = words.index("--") if "--" in words else len(words)
            done = self.dry_run([*words[:place], *(["--dry-run"] if "--dry-run" not in words else []), *words[place:]])
            self.assertEqual((done.returncode, done.stderr), (0, ""), line)


class Tables(unittest.TestCase):
    def test_quantities(self):
        for value, units, text in (
            (999, profiling.TIMES, "999 ns"),
            (1234, profiling.TIMES, "1.23 us"),
            (51_980_000, profiling.TIMES, "52.0 ms"),
            (0, profiling.BYTES, "0 B"),
            (4.47e12, profiling.PER_SECOND, "4.47 TB/s"),
            (7e15, profiling.BYTES, "7000 TB"),
        ):
            self.assertEqual(profiling.quantity(value, units), text)

    def test_the_roof_is_the_lower_of_the_two(self):
        metrics = {name: counters.number(value) for name, value in MEASURED.items()}
        self.assertEqual(profiling.roofline(metrics)["attainable"], 2.5e12)
        metrics["dram__bytes.sum"] = 1000
        high = profiling.roofline(metrics)
        self.assertEqual(high["attainable"], high["peak"])
        self.assertEqual(high["peak"], 2 * 16896 * 2e9)
        del metrics["dram__bytes.sum"]
        self.assertIsNone(profiling.roofline(metrics))

    def test_a_launch_without_counters(self):
        launch = {"kernel": "one", "grid": [1, 1, 1], "block": [32, 1, 1], "metrics": {}, "counts": {}}
        self.assertEqual(profiling.table([launch], Palette(False)).splitlines()[-1], "  no counters")

    def test_permission(self):
        self.assertIn("ERR_NVGPUCTRPERM", profiling.not_permitted("==ERROR== ERR_NVGPUCTRPERM"))
        self.assertEqual(profiling.not_permitted("Segmentation fault"), "")
