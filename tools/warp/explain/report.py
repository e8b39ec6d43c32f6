"""The report of ./learn explain as text: each kernel's source with its counts, then advice and findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from warp.base import paths, ui
from warp.base.text import read_source, thousands
from warp.base.ui import Paint
from warp.chapter.functions import find_function
from warp.explain import changes, order, problems, speed
from warp.explain.problems import Problem
from warp.machinecode.bounds import Gpu
from warp.machinecode.code import Compiled
from warp.trace.model import Finding, Trace
from warp.trace.trace import (
    HOTTEST,
    KINDS,
    Kernel,
    Totals,
    by_severity,
    grade,
    group,
    kernels_of,
    lanes_grade,
    may_spoil_results,
    ratio,
    selected,
)


@dataclass(eq=False)
class Column:
    """One column of the gutter: a heading, what it means and, for a line's totals, a text and its colour."""

    heading: str
    used: Callable[..., Any]  # used(totals of the kernel): is the column worth printing?
    cell: Callable[..., Any]
    meaning: str


def amount(number: int, thing: str) -> str:
    """1 request, 2,048 requests."""
    return "{} {}{}".format(thousands(number), thing, "" if number == 1 else "s")


def _requests(totals: Totals) -> tuple[str, str]:
    return (thousands(totals.requests), "") if totals.requests else ("", "")


def per_request(part: Totals) -> tuple[str, str]:
    """Sectors per request of one kind of access, and the colour."""
    return f"{part.sectors / part.requests:.1f}", grade(part.sectors, part.ideal_sectors)


def _sectors(kind: str) -> Callable[..., Any]:
    def cell(totals: Totals) -> tuple[str, str]:
        part = totals.part(kind)
        return per_request(part) if part.requests else ("", "")

    return cell


def _wavefronts(totals: Totals) -> tuple[str, str]:
    if not totals.wavefronts:
        return "", ""
    return f"{ratio(totals.wavefronts, totals.ideal_wavefronts):.1f}x", grade(
        totals.wavefronts, totals.ideal_wavefronts
    )


def _lanes(totals: Totals) -> tuple[str, str]:
    if not totals.requests:
        return "", ""
    return f"{totals.lanes:.1f}", lanes_grade(totals.lanes)


def _divergent(totals: Totals) -> tuple[str, str]:
    return (thousands(totals.divergent), "yellow") if totals.divergent else ("", "")


COLUMNS = [
    Column("requests", lambda t: True, _requests, "memory instructions, each issued once for a warp"),
    Column(
        "sect/load",
        lambda t: t.part("load").requests,
        _sectors("load"),
        "sectors of 32 bytes that a load request touches; 32 neighbouring floats lie in 4",
    ),
    Column(
        "sect/store",
        lambda t: t.part("store").requests,
        _sectors("store"),
        "sectors of 32 bytes that a store request touches; 32 neighbouring floats lie in 4",
    ),
    Column(
        "sect/atom",
        lambda t: t.part("atomic").requests,
        _sectors("atomic"),
        "sectors that an atomic request touches; lanes with one address take turns, each counted as a sector",
    ),
    Column(
        "wave/ideal",
        lambda t: t.wavefronts,
        _wavefronts,
        "wavefronts, passes through shared memory, over the fewest possible; 1.0x has no bank conflict",
    ),
    Column("lanes", lambda t: True, _lanes, "lanes that take part in a request, on average, of 32"),
    Column("diverge", lambda t: t.divergent, _divergent, "how often the lanes of a warp took both ways of a branch"),
]
MEND_FIRST = "The program failed, and the counts are of what it did: mend it first."
NOTHING_TO_IMPROVE = "Nothing to improve in its memory accesses: sectors, wavefronts and lanes are what the bytes need."


# ---- the same words for the terminal and the page --------------------------------------------------


def totals_in_words(totals: Totals, paint: Paint, textures: bool = False) -> Iterator[str]:
    """A kernel's totals, one text a line. `textures`: it reads some."""
    if textures:
        yield "textures: neither counted nor checked for races"
    if not totals.requests:
        yield "no other access to global or shared memory" if textures else "no access to global or shared memory"
    for kind in KINDS:
        part = totals.part(kind)
        if part.requests:
            text, colour = per_request(part)
            yield "global {}s: {}, {}, {} per request; {} active lanes".format(
                kind,
                amount(part.requests, "request"),
                amount(part.sectors, "sector"),
                paint(colour, text),
                paint(lanes_grade(part.lanes), f"{part.lanes:.1f}"),
            )
    if totals.moved and totals.asked:
        yield bytes_in_words(totals, paint)
    if totals.wavefronts:
        yield "shared memory: {}, {}, {} the ideal {}".format(
            amount(totals.shared_requests, "request"),
            amount(totals.wavefronts, "wavefront"),
            paint(grade(totals.wavefronts, totals.ideal_wavefronts), times_ideal(totals)),
            thousands(totals.ideal_wavefronts),
        )
    if totals.divergent:
        yield f"divergent branches: {thousands(totals.divergent)}"


def bytes_in_words(totals: Totals, paint: Paint) -> str:
    """What loads and stores asked for and what they moved, in bytes."""
    share = totals.asked / totals.moved
    if share > 1.005:  # lanes that share a word: more asked than moved
        use = f"each moved byte serves {share:.1f} lanes"
    else:
        use = paint(grade(totals.moved, totals.asked), f"{100 * share:.1f} %") + " used"
    return f"bytes of global memory: {thousands(totals.asked)} asked for, {thousands(totals.moved)} moved, {use}"


def times_ideal(totals: Totals) -> str:
    return f"{ratio(totals.wavefronts, totals.ideal_wavefronts):.1f} times"


def notes_of(recorded: Trace, failed: bool) -> list[str]:
    """What is to be said of all counts together."""
    return [MEND_FIRST] * failed + recorded.notes


def advice(kernel: Kernel, gpu: Gpu) -> list[Problem]:
    """The problems of a kernel: of its launch as a whole first, then of its lines, the costliest first, then what costs little."""
    whole = speed.problems(kernel, gpu)
    minor = [problem for problem in whole if problem.is_minor]
    return [problem for problem in whole if problem not in minor] + problems.of_kernel(kernel) + minor


def in_short(kernel: Kernel, gpu: Gpu, failed: bool = False) -> str:
    """What to say of a kernel that needs no advice; "" where nothing is certain, as after a wrong result."""
    if failed or kernel.findings():
        return ""
    if kernel.reads_textures():
        return next(iter(problems.in_passing(kernel)), "")
    if not kernel.totals().requests:
        return ""
    text = next(iter(problems.in_passing(kernel)), NOTHING_TO_IMPROVE)
    is_good = text in (NOTHING_TO_IMPROVE, problems.WIDE_ENOUGH)
    if not is_good:
        return text
    found = speed.of_kernel(kernel, gpu)
    return " ".join([speed.in_short(found) or text, *speed.branch(kernel, found)])


def hottest(kernel: Kernel, paint: Paint) -> list[tuple[int, str, int, str]]:
    """[(percent of the kernel's cost, file, line, text)], hottest first."""
    rows = [(kernel.totals(file, number), file, number) for file, lines in kernel.lines.items() for number in lines]
    rows = [row for row in rows if row[0].cost]
    rows.sort(key=lambda row: (-row[0].cost, row[1], row[2]))
    whole = kernel.totals().cost
    return [
        (round(100 * row.cost / whole), file, number, line_in_words(row, paint)) for row, file, number in rows[:HOTTEST]
    ]


def line_in_words(row: Totals, paint: Paint) -> str:
    """4 sectors, 4.0 a load; 32 wavefronts, 32.0 times the ideal"""
    parts = []
    if row.global_requests:
        kinds = []
        for kind in KINDS:
            part = row.part(kind)
            if part.requests:
                text, colour = per_request(part)
                article = "an" if kind == "atomic" else "a"
                kinds.append(f"{paint(colour, text)} {article} {kind}{ideal_in_words(part)}")
        parts.append("{}, {}".format(amount(row.sectors, "sector"), ", ".join(kinds)))
    if row.wavefronts:
        text = amount(row.wavefronts, "wavefront")
        if row.ideal_wavefronts:
            text += f", {paint(grade(row.wavefronts, row.ideal_wavefronts), times_ideal(row))} the ideal"
        parts.append(text)
    return "; ".join(parts)


def shown_lines(source: list[str], counted: dict[int, dict[str, int]], function: str) -> list[int]:
    """Which lines of a file to print: the kernel whole if it stands there, the others with their neighbours."""
    last = len(source)
    lines: set[int] = set()
    if function:
        found = find_function("\n".join(source), function)
        if found and any(found.first <= line <= found.last for line in counted):
            lines.update(range(found.first, found.last + 1))
    for line in counted:
        if line not in lines:
            lines.update(range(max(1, line - 1), min(last, line + 1) + 1))
    return sorted(line for line in lines if 1 <= line <= last)


class Renderer:
    """Writes the report as a list of lines.

    `paint` colours (ui.Palette); `width` cuts source lines for a terminal, 0 leaves them whole;
    `main` is the file that was explained: its lines come first. `before`: the kernels of its last trace. `gpu`: course.bounds.Gpu.
    `failed`: the program said that its result is wrong, or a finding outside of its kernels makes that likely.
    """

    def __init__(
        self,
        paint: Paint,
        width: int = 0,
        main: str = "",
        before: Sequence[Kernel] = (),
        failed: bool = False,
        gpu: Gpu | None = None,
    ) -> None:
        self.paint = paint
        self.gpu = gpu or speed.gpu_named("")
        self.failed = failed
        self.before = before
        self.legend: dict[str, str] = {}  # heading of each column that was printed -> its meaning
        self.width = width
        self.main = os.path.realpath(main) if main else ""
        self.out: list[str] = []

    def line(self, text: str = "") -> None:
        self.out.append(text)

    def heading(self, text: str) -> None:
        self.line(self.paint("bold", text))

    # A kernel: its totals, its source, its hottest lines.

    def kernel(self, kernel: Kernel) -> None:
        totals = kernel.totals()
        self.heading("Kernel " + kernel.name)
        self.line(f"  {kernel.shapes()}; {kernel.which()}")
        if kernel.variants_in_words():
            text = kernel.variants_in_words()
            self.line("  " + (ui.wrap(text, 4, self.width - 2) if self.width else text))
        if kernel.cut_short():
            self.line("  " + self.paint("red", kernel.cut_short()))
        for text in totals_in_words(totals, self.paint, kernel.reads_textures()):
            self.line("  " + text)
        for place, (text, colour) in enumerate(changes.of_kernel(self.before, kernel)):
            self.line(("  since the last run: " if place == 0 else " " * 22) + self.paint(colour or "dim", text))
        if kernel.lines:
            self.line()
            columns = [column for column in COLUMNS if column.used(totals)]
            self.legend.update((column.heading, column.meaning) for column in columns)
            self._gutter_heading(columns)
            for file in kernel.files(self.main):
                self._file(kernel, file, columns)
            self._hottest(kernel)
            self._advice(kernel)
            self._machine_code(kernel)
            self._speed(kernel)
        self.line()

    def _widths(self, columns: list[Column]) -> list[int]:
        return [max(len(column.heading), 9) for column in columns]

    def _gutter_heading(self, columns: list[Column]) -> None:
        cells = [column.heading.rjust(width) for column, width in zip(columns, self._widths(columns))]
        self.line(self.paint("dim", " ".join(cells) + " |  line | source"))

    def _gutter(self, columns: list[Column], totals: Totals | None) -> str:
        cells = []
        for column, width in zip(columns, self._widths(columns)):
            text, colour = column.cell(totals) if totals else ("", "")
            cells.append(self.paint(colour, text.rjust(width)) if text else " " * width)
        return " ".join(cells)

    def _file(self, kernel: Kernel, file: str, columns: list[Column]) -> None:
        counted = kernel.lines[file]
        source = read_source(file)
        blank = " ".join(" " * width for width in self._widths(columns))
        self.line("{} |       | {}".format(blank, self.paint("cyan", paths.shown(file))))
        if source is None:
            for number in sorted(counted):
                self.line(f"{self._gutter(columns, Totals(counted[number]))} | {number:>5} | (source not found)")
            return
        before = None
        used = len(blank) + len(" | 12345 | ")
        for number in shown_lines(source, counted, kernel.function):
            if before is not None and number != before + 1:
                self.line(f"{blank} |   ... |")
            before = number
            totals = Totals(counted[number]) if number in counted else None
            text = source[number - 1].rstrip()
            room = self.width - used
            if self.width and len(text) > room > 10:
                text = text[: room - 3] + "..."
            self.line(f"{self._gutter(columns, totals)} | {number:>5} | {text}".rstrip())

    def _hottest(self, kernel: Kernel) -> None:
        rows = hottest(kernel, self.paint)
        if len(rows) < 2:
            return
        self.line()
        self.line("  Hottest lines, by sectors and wavefronts:")
        for share, file, number, text in rows:
            self.line(f"    {share:>3} %  {paths.shown(file)}:{number}  {text}")

    def _advice(self, kernel: Kernel) -> None:
        found = advice(kernel, self.gpu)
        self.line()
        waits = problems.waits(kernel)
        if waits:
            self.line("  " + (ui.wrap(waits, 2, self.width - 2) if self.width else waits))
        if not found:
            text = in_short(kernel, self.gpu, self.failed)
            if text:
                self.line("  " + (ui.wrap(text, 2, self.width - 2) if self.width else text))
            elif not waits:
                self.out.pop()
            return
        self.line("  What to do about it, costliest first:")
        for problem in found:
            text = f"{problem.places()}  {problem.sentence}"
            if self.width:
                text = ui.wrap(text, 6, self.width - 4)
            place = problem.places()
            if text.startswith(place):
                text = self.paint("cyan", place) + text[len(place) :]
            self.line("    " + text)

    def _machine_code(self, kernel: Kernel) -> None:
        """Where nvcc has made other accesses than the source has."""
        if not kernel.compiled:
            return
        from warp.explain import lines

        rows, unknown = lines.what_nvcc_makes(kernel)
        if rows or unknown:
            self.line()
            self.line("  What nvcc makes of it (./learn sass shows the machine code):")
            if unknown:
                self.line("    " + (ui.wrap(unknown, 4, self.width - 4) if self.width else unknown))
            for file, number, text in rows:
                place = f"{paths.shown(file)}:{number}"
                text = f"{place}  {text}"
                text = ui.wrap(text, 6, self.width - 4) if self.width else text
                self.line("    " + text.replace(place, self.paint("cyan", place), 1))

    def _speed(self, kernel: Kernel) -> None:
        """How fast it could be."""
        found = None if self.failed else speed.of_kernel(kernel, self.gpu)
        if not found:
            why = "" if self.failed else speed.why_none(kernel)
            self.out += ["", "  " + why] if why else []
            return
        self.line()
        self.line("  " + self._wrapped(speed.heading(found), 2))
        rows = speed.rows(found)
        for resource, time, what in rows:
            left = f"{resource:<{max(len(row[0]) for row in rows)}}  {time:>8}  "
            self.line("    " + self._wrapped(left + what, 4 + len(left)))
        for note in speed.notes(kernel, found):
            self.line("    " + self._wrapped(note, 4))

    def _wrapped(self, text: str, indent: int) -> str:
        return ui.wrap(text, indent, self.width - 4) if self.width else text

    def explain_columns(self, told: Collection[str]) -> None:
        """What the columns mean, once for all kernels; not what the reader was `told` before."""
        self.legend = {heading: meaning for heading, meaning in self.legend.items() if heading not in told}
        for column in COLUMNS:
            if column.heading in self.legend:
                text = f"{column.heading:>10}  {column.meaning}"
                self.line(self.paint("dim", ui.wrap(text, 12, self.width) if self.width else text))
        if self.legend:
            self.line()

    # Findings, in full.

    def findings(self, findings: list[Finding]) -> None:
        for place, (heading, colour, found) in enumerate(by_severity(findings)):
            self.out += [""] * (place > 0)
            self.heading(heading)
            self._findings(found, colour)

    def _findings(self, findings: list[Finding], colour: str) -> None:
        for count, finding in group(findings):
            self.line()
            place = f"{paths.shown(finding.file)}:{finding.line}" if finding.file else ""
            where = "in kernel " + finding.kernel if finding.kernel else "in host code"
            self.line(
                "{} {}{}".format(self.paint(colour + "+bold", finding.kind), where, " at " + place if place else "")
            )
            if finding.file:
                self._excerpt(finding.file, finding.line, colour)
            if finding.kernel:
                self.line("  " + where_it_ran(finding))
            for text in finding.message.splitlines():
                self.line("  " + (ui.wrap(text, 2, self.width - 2) if self.width else text))
            for text in circumstances(finding, count):
                self.line("  " + text)

    def _excerpt(self, file: str, line: int, colour: str) -> None:
        source = read_source(file)
        if source is None:
            return
        for number in range(max(1, line - 2), min(len(source), line + 2) + 1):
            mark = self.paint(colour, ">") if number == line else " "
            self.line(f"  {mark} {number:>5} | {source[number - 1].rstrip()}")


def ideal_in_words(part: Totals) -> str:
    """` (4.0 would do)` where there is something to win."""
    if ratio(part.sectors, part.ideal_sectors) <= 1.02:
        return ""
    return f" ({part.ideal_sectors / part.requests:.1f} would do)"


def where_it_ran(finding: Finding) -> str:
    return f"block {triple(finding.block)}, thread {triple(finding.thread)}, launch {finding.launch}"


def circumstances(finding: Finding, count: int) -> Iterator[str]:
    """What else there is to say of `count` equal findings: which memory, how many more."""
    allocation = finding.allocation
    if allocation and allocation not in finding.message:
        yield "allocation: " + allocation
    if count > 1:
        yield f"and {count - 1} more of this kind at this line"


def triple(three: list[int] | None) -> str:
    return "({})".format(",".join(str(number) for number in three or ()))


def headings(trace: Trace) -> list[str]:
    """The columns of a report of all launches."""
    kernels = [kernel for kernel in selected(trace, None, ())[0] if kernel.lines]
    return [column.heading for column in COLUMNS if any(column.used(kernel.totals()) for kernel in kernels)]


def render(
    trace: Trace,
    paint: Paint,
    width: int = 0,
    main: str = "",
    launch: int | None = None,
    before: Trace | None = None,
    compiled: Sequence[Compiled] = (),
    failed: bool = False,
    gpu: Gpu | None = None,
    told: Sequence[Any] = (),
) -> str:
    """The whole report as text; raises LearnError when there is no launch with that index.

    `before` is the last trace of the same file, None if there is none; `compiled` are its kernels' machine code; `told` the
    columns whose meaning is left out.
    """
    kernels, findings = selected(trace, launch, compiled)
    is_in_doubt = failed or may_spoil_results(findings)
    renderer = Renderer(paint, width, main, kernels_of(before, launch) if before else (), is_in_doubt, gpu)
    if not kernels:
        renderer.line("The program launched no kernel.")
        renderer.line()
    for kernel in kernels:
        renderer.kernel(kernel)
    renderer.explain_columns(told)
    if launch is None:
        renderer.out += order.text(trace.rounds, paint, width)
    for note in notes_of(trace, failed):
        renderer.line(note)
        renderer.line()
    renderer.findings(findings)
    return "\n".join(renderer.out).rstrip("\n") + "\n"
