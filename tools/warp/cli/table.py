"""The commands of ./learn: one table for parsing, help, completion and nearest-name advice."""

from __future__ import annotations

from warp.cli.options import Command, Option

BACKENDS = ("gpu", "simulator")
TOOLS = ("ncu", "nsys")

COMMANDS = [
    Command(
        "setup",
        "installs what is missing on Debian or Ubuntu; safe to repeat",
        [
            Option("--docs", "only what the site needs: doxygen and a Python virtual environment"),
            Option("--all", "also what only contributors need: gdb, chromium, clang-format, zsh, nvdisasm beside nvcc"),
            Option(
                "--sass", "only nvcc and the disassembler, for ./learn sass, where the CUDA Toolkit does not bring them"
            ),
        ],
    ),
    Command(
        "run",
        "builds and runs chapters: all of them, or those named",
        [
            Option("--backend", "default: the GPU if there is one, else the simulator", "gpu|simulator", BACKENDS),
            Option("--rung", "only this rung", "NAME", repeat=True, complete="rung"),
            Option(
                "--size",
                "n, rows,cols or M,N,K (of these several); default: as the chapter's header says",
                "SIZE",
                repeat=True,
            ),
            Option(
                "--cases", "maps and products: check each rung on small cases; all, a number or FIRST-LAST", "WHICH"
            ),
            Option("--json", "write the results to FILE (a folder for several chapters)", "FILE", complete="file"),
            Option("--fast", "on the simulator: without counting and checking"),
            Option(
                "--times", "on the simulator: the GPU whose recorded times are shown; default: h200; or none", "GPU"
            ),
        ],
        positional="[CHAPTER...]",
        complete="chapter",
        rest="OPTIONS...",
    ),
    Command(
        "explain",
        "runs a chapter or your own CUDA file on the simulator and prints its source with the counts",
        [
            Option("--rung", "only this rung of the chapter", "NAME", repeat=True, complete="rung"),
            Option("--launch", "only the launch with this index, counted from 0", "N"),
            Option("--blocks", "count about N blocks of each launch, spread over the grid: for big grids", "N"),
            Option("--gpu", "the GPU for the time that no launch can beat; default: H200", "NAME", complete="gpu"),
            Option("--against", "another file, or of a chapter another rung: what differs", "FILE.cu|NAME"),
            Option("--html", "write the report to FILE, a page that shows the lanes, too", "FILE", complete="file"),
            Option(
                "--sarif",
                "write findings and advice to FILE as SARIF 2.1.0, for editors and code hosts",
                "FILE",
                complete="file",
            ),
            Option(
                "--json",
                "write the trace to FILE; without one, the trace alone to standard output",
                "FILE",
                complete="file",
                otherwise="-",
            ),
            Option("--watch", "again each time that the source is saved, until Ctrl-C"),
        ],
        positional="CHAPTER|FILE.cu",
        complete="chapter-or-cu",
        rest="ARGS...",
    ),
    Command(
        "sass",
        "shows the machine code that nvcc makes of a chapter or of your own CUDA file; needs no GPU",
        [
            Option("--rung", "only this kernel", "NAME", repeat=True, complete="rung"),
            Option("--arch", "default: that of this machine's GPU, else sm_90a", "sm_NN"),
            Option("--threads", "occupancy for blocks of N threads; default: for four sizes", "N"),
            Option("--diff", "what differs between two kernels", "NAME NAME", complete="rung"),
            Option(
                "--json",
                "write all of it to FILE; without one, to standard output",
                "FILE",
                complete="file",
                otherwise="-",
            ),
        ],
        positional="CHAPTER|FILE.cu",
        complete="chapter-or-cu",
    ),
    Command(
        "profile",
        "runs a chapter under Nsight Compute or Nsight Systems on the GPU and tells what they measured",
        [
            Option("--rung", "only this rung", "NAME", repeat=True, complete="rung"),
            Option("--size", "in place of the GPU's size of the chapter's header", "SIZE", repeat=True),
            Option("--tool", "default: ncu, the counters of each kernel; nsys: when what ran", "ncu|nsys", TOOLS),
            Option("--section", "a section of ncu's own, as SpeedOfLight, and its page", "NAME", repeat=True),
            Option("--out", "the report; default in build/profile", "FILE", complete="file"),
            Option("--dry-run", "print the commands and do nothing; needs no GPU"),
        ],
        positional="CHAPTER",
        complete="chapter",
        rest="OPTIONS OF THE TOOL...",
    ),
    Command(
        "predict",
        "asks a chapter's predictions, one after the other, and shows what the run answers and why",
        [
            Option("--answers", "these guesses, separated by semicolons, in place of asking: for scripts", "LIST"),
            Option("--again", "all of them, those that you have answered too"),
        ],
        positional="CHAPTER",
        complete="chapter",
    ),
    Command(
        "start",
        "copies the exercises into my/, your own folder, and shows the first one",
        positional="[EXERCISE|CHAPTER...]",
        complete="exercise",
    ),
    Command(
        "check",
        "checks an exercise: result, findings, and the counts against its bars",
        [
            Option("--all", "all exercises"),
            Option(
                "--backend",
                "default: the simulator, which counts; on a GPU the result is checked",
                "gpu|simulator",
                BACKENDS,
            ),
            Option("--json", "write what came of it to FILE", "FILE", complete="file"),
            Option("--lines", "FILE:LINE: error: what, a line for each thing that is wrong, for editors"),
            Option("--junit", "the same as JUnit XML, for continuous integration", "FILE", complete="file"),
            Option("--markdown", "the same as a table", "FILE", complete="file"),
        ],
        positional="[EXERCISE|CHAPTER...]",
        complete="exercise",
    ),
    Command(
        "watch",
        "checks an exercise each time that you save it, until Ctrl-C",
        [Option("--lines", "as of check")],
        positional="[EXERCISE|CHAPTER]",
        complete="exercise",
    ),
    Command("hint", "shows the next hint of an exercise", positional="[EXERCISE|CHAPTER]", complete="exercise"),
    Command(
        "solution",
        "shows the solution of an exercise, why it works and what else does",
        [Option("--anyway", "before you have passed it")],
        positional="[EXERCISE|CHAPTER]",
        complete="exercise",
    ),
    Command(
        "next",
        "goes on to the next exercise, or to the one named",
        positional="[EXERCISE|CHAPTER]",
        complete="exercise",
        module="next_",
    ),
    Command(
        "later",
        "sets an exercise aside until the end of your path, and goes on",
        positional="[EXERCISE]",
        complete="exercise",
    ),
    Command(
        "path",
        "shows the way through the course with its minutes, and chooses the short or the full one",
        positional="[short|full]",
    ),
    Command(
        "reset",
        "puts an exercise back as it was; what you wrote is kept in my/backups",
        [Option("--all", "all exercises"), Option("--yes", "without asking")],
        positional="[EXERCISE|CHAPTER...]",
        complete="exercise",
    ),
    Command(
        "record",
        "measures chapters on this machine's GPU and writes their results/GPU.json",
        [
            Option("--size", "in place of the sizes of the chapter's header", "SIZE", repeat=True),
            Option("--only", "only this part of it", "PART", ("run", "sanitize", "counts", "caches"), repeat=True),
            Option("--seconds", "bounds the whole; default 540", "N"),
            Option(
                "--cccl",
                "times beside the CUB in the include folder of a newer CCCL; writes GPU_cccl.json",
                "FOLDER",
                complete="file",
            ),
            Option(
                "--out",
                "keep logs and all that was recorded in FOLDER; default build/record/GPU",
                "FOLDER",
                complete="file",
            ),
        ],
        positional="CHAPTER...",
        complete="chapter",
    ),
    Command(
        "new",
        "begins a CUDA program of your own in my/, and without a name runs and counts it; or a chapter's folder",
        positional="[FILE.cu | chapter NN_NAME]",
    ),
    Command(
        "list",
        "shows the chapters and exercises, what this machine can run and what is done",
        positional="[CHAPTER...]",
        complete="chapter",
        module="list_",
    ),
    Command(
        "docs",
        "builds the site in build/docs/html, or the pages of one chapter alone",
        [
            Option("--pdf", "then print the chapters of the short path as PDFs, with Chromium"),
            Option("--serve", "then serve it on this machine until Ctrl-C"),
            Option("--port", "port of --serve; default 8000", "PORT"),
        ],
        positional="[CHAPTER]",
        complete="chapter",
    ),
    Command("sheet", "prints launch, index, barriers, counts and findings on one page"),
    Command(
        "doctor",
        "tells what this machine has, what is missing, what that costs and how to get it",
        [Option("--json", "print it as JSON")],
    ),
    Command(
        "test",
        "runs the tests that a pattern names, and builds what they need alone; without one all but the slow ones",
        [
            Option("--all", "the slow tests, too: mistakes in chapters and exercises, all pages, a fresh clone, nvcc"),
            Option(
                "--label", "only the tests with this label, as unit, simt, learn, chapter, exercises, site", "LABEL"
            ),
            Option("--list", "only name them, with their labels"),
        ],
        positional="[PATTERN...]",
        module="test_",
    ),
    Command(
        "author",
        "checks, proves and records what the course is made of; without an action, lists them",
        positional="[ACTION ...]",
        complete="action",
        raw=True,
    ),
    Command(
        "completion",
        "prints the completion script for a shell",
        positional="bash|zsh",
        complete="shell",
    ),
    Command(
        "__complete",
        "prints what could stand at a place of a command line",
        positional="INDEX",
        rest="WORDS...",
        module="completion",
        hidden=True,
    ),
]


# The help's headings, and the commands below each.
GROUPS = (
    (
        "The course",
        ["path", "list", "run", "predict", "start", "check", "watch", "hint", "next", "later", "solution", "reset"]
        + ["sheet", "docs"],
    ),
    ("Your own programs", ["new", "explain", "sass", "profile"]),
    ("This machine", ["setup", "doctor", "completion"]),
    ("Writing the course", ["author", "record", "test"]),
)


def visible() -> list[Command]:
    return [command for command in COMMANDS if not command.hidden]


def find(name: str) -> Command | None:
    for command in COMMANDS:
        if command.name == name:
            return command
    return None
