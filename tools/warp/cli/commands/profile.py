"""./learn profile: a chapter under Nsight Compute or Nsight Systems."""

from __future__ import annotations

import os
import shlex

from warp.base import build, install, paths, steps, ui
from warp.base.errors import LearnError, UsageError
from warp.base.files import check_writable
from warp.base.machine import Machine
from warp.chapter import chapters
from warp.chapter.chapters import Chapter
from warp.cli.commands.explain import as_chapter
from warp.cli.options import Arguments
from warp.record import counters, counts, profiling

SUFFIX = {"ncu": ".ncu-rep", "nsys": ".nsys-rep"}
EXPORT = {"ncu": ("-o", "--export"), "nsys": ("-o", "--output")}
WIDTH = 90  # of a command line that is printed
# Each rung is launched once, on bare allocations: the profiler repeats the launches as it needs them.
ENVIRONMENT = {"LAB_GUARD": "0", "LAB_TIMING": "off"}


def main(arguments: Arguments) -> int:
    if len(arguments.words) != 1:
        raise UsageError("profile takes one chapter, as in ./learn profile 06 --rung naive")
    chapter = as_chapter(arguments.words[0])
    if chapter is None:
        raise UsageError(
            f"{arguments.words[0]} is no chapter; your own program: nvcc -lineinfo, then ncu --set full ./program"
        )
    if chapter.problem:
        raise LearnError(chapter.problem)
    for rung in arguments.rung:
        chapters.check_rung(rung, [chapter])
        if chapter.rungs[rung].raises:
            raise UsageError(f"{rung} demonstrates a mistake, on the simulator alone: ./learn explain {chapter.number}")
    for size in arguments.size:
        chapters.check_size(size, [chapter])
    tool = arguments.tool or "ncu"
    if arguments.section and tool == "nsys":
        raise UsageError("--section is of Nsight Compute; it does not go with --tool nsys")
    if arguments.out:
        check_writable(with_suffix(arguments.out, tool), "--out")

    profile = Profile(Machine(), chapter, tool, arguments)
    if arguments.dry_run:
        profile.show()
        return 0
    lack = profile.lack()
    if lack:
        profile.show()
        raise UsageError(lack)
    return profile.run()


def with_suffix(file: str, tool: str) -> str:
    return file if file.endswith(SUFFIX[tool]) else file + SUFFIX[tool]


def typed(words: list[str]) -> str:
    """A command line as a shell reads it, on lines of a bearable length."""
    lines = [""]
    for word in map(shlex.quote, words):
        if len(lines[-1]) + len(word) > WIDTH and lines[-1].strip():
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


class Profile:
    """One run of a profiler over a chapter's program: the commands, and what came of them."""

    def __init__(self, machine: Machine, chapter: Chapter, tool: str, arguments: Arguments) -> None:
        self.machine = machine
        self.chapter = chapter
        self.tool = tool
        self.name, self.home = profiling.TOOLS[tool]
        self.sections = arguments.section
        self.rungs = arguments.rung
        self.raw = arguments.rest
        self.metrics = list(profiling.METRICS)
        self.found = machine.cuda_tool(tool)
        name = "-".join([chapter.key, *arguments.rung])
        report = arguments.out or os.path.join(paths.BUILD, "profile", name)
        if report.endswith(SUFFIX[tool]):
            report = report[: -len(SUFFIX[tool])]
        self.report = report
        self.file = profiling.own_report(self.raw, EXPORT[tool], report, SUFFIX[tool])
        # Which metrics stand in the report: ours, and with them our table; or what was asked of ncu, and its pages.
        asked = {word.partition("=")[0] for word in self.raw}
        self.own_table = tool == "ncu" and not self.sections and not asked & profiling.REPLACES["--metrics"]
        self.program = [chapter.program("gpu")]
        for rung in arguments.rung:
            self.program += ["--rung", rung]
        for size in arguments.size:
            self.program += ["--size", size]

    # --- What would be done.

    def words(self, readable: bool = False) -> list[str]:
        """The profiler's command line; `readable` as it is typed in the current folder."""
        shown = paths.shown if readable else str
        report, program = shown(self.report), [shown(self.program[0]), *self.program[1:]]
        if self.tool == "nsys":
            return profiling.nsys_words(self.found or "nsys", report, self.raw, program)
        kernels = counts.kernels_of(self.chapter.folder)
        return profiling.ncu_words(self.found or "ncu", report, kernels, self.sections, self.metrics, self.raw, program)

    def after(self, readable: bool = False) -> list[str]:
        """The commands that print what the report holds."""
        file = paths.shown(self.file) if readable else self.file
        if self.tool == "nsys":
            reports = ",".join(profiling.NSYS_REPORTS)
            return [self.found or "nsys", "stats", "--force-export=true", "--report", reports, file]
        page = ["--csv", "--page", "raw", "--print-units", "base"] if self.own_table else ["--page", "details"]
        return [self.found or "ncu", "--import", file, *page]

    def show(self) -> None:
        """The very commands, to be pasted into a shell."""
        variables = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
        rungs = "".join(f" --rung {rung}" for rung in self.rungs)
        ui.say(f"./learn run {self.chapter.number} --backend gpu{rungs}")
        ui.say("mkdir -p " + shlex.quote(os.path.dirname(paths.shown(self.file)) or "."))
        ui.say(typed(variables + self.words(readable=True)))
        ui.say(typed(self.after(readable=True)))

    def lack(self) -> str:
        """What is missing here and what gives it, in one line; "" if nothing is."""
        rung = f" --rung {self.rungs[0]}" if self.rungs else ""
        if not self.machine.gpus():
            return (
                "profile needs a machine with an NVIDIA GPU, and nvidia-smi lists none here; "
                f"the simulator counts without one: ./learn explain {self.chapter.number}{rung}"
            )
        if not self.machine.nvcc():
            return "profile needs nvcc of the CUDA Toolkit, 12.4 or newer: https://developer.nvidia.com/cuda-downloads"
        if not self.found:
            return f"{self.name} is not installed; it is part of the CUDA Toolkit, or alone: {self.home}"
        return ""

    # --- Doing it.

    def run(self) -> int:
        install.ensure(self.machine, "gpu")
        build.build("gpu", self.machine, f"chapter {self.chapter.number} for the GPU", [self.chapter.name])
        steps.make_folder(os.path.dirname(os.path.abspath(self.file)))
        output = self.measure()
        if not os.path.exists(self.file):
            self.explain(output)
        env = dict(os.environ, NO_COLOR="1")
        title = f"Reading the report of {self.name}"
        _, text = steps.run(title, self.after(), f"profile-{self.chapter.number}-report", env, patience=2.0)
        if self.own_table:
            launches = counters.parse_raw_page(text, self.metrics)
            if not launches:
                raise LearnError(f"{paths.shown(self.file)} has no kernel")
            ui.say(profiling.table(launches, ui.palette()))
        else:
            ui.say(text.strip("\n"))
        ui.say()
        ui.say(f"report: {paths.shown(self.file)}")
        if self.tool == "ncu":
            ui.say(f"  ncu-ui {paths.shown(self.file)}    opens it, here or on any machine that you copy it to")
            if self.own_table:
                ui.say("  --section SpeedOfLight, or -- --set full, measures what Nsight Compute itself advises on")
        else:
            ui.say(f"  nsys-ui {paths.shown(self.file)}    opens it, here or on any machine that you copy it to")
        return 0

    def measure(self) -> str:
        """Runs the profiler, once more for each set of metrics that it does not know; what it said."""
        env = dict(os.environ, NO_COLOR="1", **ENVIRONMENT)
        log = f"profile-{self.chapter.number}"
        while True:
            if os.path.exists(self.file):
                os.unlink(self.file)
            title = f"{self.name} on chapter {self.chapter.number}"
            _, output = steps.run(title, self.words(), log, env, check=False)
            refused = counters.refused_metrics(output, self.metrics) if self.own_table else []
            if os.path.exists(self.file) or not refused or len(refused) == len(self.metrics):
                return output
            ui.note(f"learn: this ncu or GPU has no {', '.join(refused)}")
            self.metrics = [metric for metric in self.metrics if metric not in refused]

    def explain(self, output: str) -> None:
        """Why there is no report."""
        rung = f" --rung {self.rungs[0]}" if self.rungs else ""
        again = f"./learn profile {self.chapter.number}{rung}"
        if profiling.PERMISSION in output:
            cure = profiling.CURE.format(again=again, chapter=self.chapter.number, rung=rung)
            raise LearnError(profiling.not_permitted(output), detail=cure)
        if profiling.NOTHING_PROFILED in output:
            own = "a filter of yours matches no launch" if self.raw else "the rungs that ran launch no kernel of theirs"
            raise LearnError(f"ncu profiled no kernel: {own}; what it said is in {self.log()}")
        words = counters.complaints(output) or steps.tail(output, 8)
        raise LearnError(f"{self.name} wrote no report; all that it said is in {self.log()}", detail=words)

    def log(self) -> str:
        return paths.shown(os.path.join(paths.LOGS, f"profile-{self.chapter.number}.log"))
