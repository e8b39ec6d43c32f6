"""The report of ./learn explain as one HTML file that needs nothing else: no network, no other file.

The words and numbers are those of the terminal (explain.report, explain.problems). The source is a listing like those of the
site, with the same gutter, sheet and scripts: listing.py.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from warp.base import palette, paths, records
from warp.base.text import read_source, thousands
from warp.chapter import maps
from warp.explain import listing, order, problems, report, speed
from warp.explain.order import Chart
from warp.explain.problems import Problem
from warp.machinecode import bounds
from warp.machinecode.bounds import Gpu
from warp.machinecode.code import Compiled
from warp.trace import trace
from warp.trace.model import Finding, Trace
from warp.trace.trace import Kernel

# A painted piece of text, between characters that no source line keeps.
OPEN, MIDDLE, CLOSE = "\x01", "\x02", "\x03"
WIDE = 400  # characters of a chart, which scrolls
CONTROL = re.compile("[\x00-\x08\x0b-\x1f]")


def marks(colour: str, text: str) -> str:
    """Stands where ui.Palette does: marks what is painted, so that it can be told apart after escaping."""
    return OPEN + colour + MIDDLE + text + CLOSE if colour and text else text


def escaped(text: str) -> str:
    """The text as HTML, with spans where it was painted."""
    safe = html.escape(text)
    return re.sub(f"{OPEN}(.*?){MIDDLE}(.*?){CLOSE}", r'<span class="\1">\2</span>', safe, flags=re.DOTALL)


def plain(text: str) -> str:
    """Text of a source file or a program, which may hold anything: escaped, without control characters."""
    return html.escape(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


def render(
    recorded: Trace,
    label: str,
    main: str = "",
    launch: int | None = None,
    failed: bool = False,
    compiled: Sequence[Compiled] = (),
    gpu: Gpu | None = None,
) -> str:
    """The page as text; raises LearnError when there is no launch with that index."""
    kernels, findings = trace.selected(recorded, launch, compiled)
    is_in_doubt = failed or trace.may_spoil_results(findings)
    page = _Page(kernels, findings, os.path.realpath(main) if main else "", is_in_doubt, gpu or speed.gpu_named(""))
    page.notes = report.notes_of(recorded, failed)
    page.charts = order.charts(recorded.rounds) if launch is None else []
    return page.whole(label)


@dataclass(eq=False)
class _Page:
    kernels: list[Kernel]
    findings: list[Finding]
    main: str
    failed: bool
    gpu: Gpu
    notes: list[str] = field(default_factory=list)  # what the counts leave out
    charts: list[Chart] = field(default_factory=list)  # of the order of work in streams
    draws: bool = False  # some line has a picture
    out: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        self.out.append(text)

    def whole(self, label: str) -> str:
        title = f"{label}, explained"
        self.add(f"<header><h1>{plain(title)}</h1>")
        self.add("<p>What the simulator counted, line by line, by the rules of the hardware.</p></header>")
        self.add("<main>")
        self._summary()
        for note in self.notes:
            self.add(f"<p>{plain(note)}</p>")
        self._findings()
        for index, kernel in enumerate(self.kernels):
            self._kernel(index, kernel)
        self._order()
        self.add("</main>")
        if self.draws:
            self.add(f"<script>{static('rules.js', 'access.js', 'counted.js')}</script>")
        return PAGE % {"title": plain(title), "style": style(), "body": "\n".join(self.out)}

    def _summary(self) -> None:
        if not self.kernels:
            self.add("<p>The program launched no kernel.</p>")
            return
        self.add('<section id="summary"><h2>Summary</h2><div class="wide"><table class="numbers">')
        self.add("<thead><tr><th>kernel</th>")
        least = f"at least, {self.gpu.name}"
        for heading in ("requests", "bytes asked for", "bytes moved", "sectors", "wavefronts", "advice", least):
            self.add(f'<th class="n">{heading}</th>')
        self.add("</tr></thead><tbody>")
        for index, kernel in enumerate(self.kernels):
            totals = kernel.totals()
            numbers = (totals.requests, totals.asked, totals.moved, totals.sectors, totals.wavefronts)
            cells = [thousands(number) for number in numbers]
            found = report.advice(kernel, self.gpu)
            count = sum(len(problem.lines) for problem in found)
            lines = "{} line{}".format(count, "" if count == 1 else "s")
            cells.append("none" if not found else lines if count else "the launch")
            bound = None if self.failed else speed.of_kernel(kernel, self.gpu)
            cells.append(bounds.in_time(bound.limit.seconds) if bound else "")
            self.add(f'<tr><td><a href="#k{index}"><code>{plain(kernel.name)}</code></a></td>')
            self.add("".join(f'<td class="n">{cell}</td>' for cell in cells) + "</tr>")
        self.add("</tbody></table></div>")
        self.add(
            '<p class="legend"><span class="green">as few as the bytes need</span> '
            '<span class="yellow">up to twice as many</span> <span class="red">more</span></p></section>'
        )

    def _order(self) -> None:
        if not self.charts:
            return
        self.add(f'<section id="order"><h2>{order.HEADING}</h2><p>{html.escape(order.MEANING)}</p>')
        for chart in self.charts:
            self.add(f"<h3>{plain(order.heading(chart))}</h3>")
            self.add(f'<div class="wide"><pre>{plain(chr(10).join(order.lines(chart, WIDE)))}</pre></div>')
        self.add("</section>")

    # Findings.

    def _findings(self) -> None:
        for heading, colour, found in trace.by_severity(self.findings):
            name = "findings" if colour == "red" else "warnings"
            self.add(f'<section id="{name}"><h2>{heading}</h2>')
            for count, finding in trace.group(found):
                self._finding(count, finding, colour)
            self.add("</section>")

    def _finding(self, count: int, finding: Finding, colour: str) -> None:
        where = "in kernel " + finding.kernel if finding.kernel else "in host code"
        file, line = finding.file, finding.line
        if file:
            where += f" at {paths.shown(file)}:{line}"
        kind = "error" if colour == "red" else "warning"
        title = (kind, colour, plain(finding.kind), plain(where))
        self.add('<article class="{}"><h3><span class="{}">{}</span> {}</h3>'.format(*title))
        if finding.kernel:
            self.add(f'<p class="dim">{plain(report.where_it_ran(finding))}</p>')
        for text in finding.message.splitlines():
            self.add(f"<p>{plain(text)}</p>")
        for text in report.circumstances(finding, count):
            self.add(f'<p class="dim">{plain(text)}</p>')
        source = read_source(file) if file else None
        if source:
            self.add('<pre class="excerpt">')
            for number in range(max(1, line - 2), min(len(source), line + 2) + 1):
                text = plain(f"{number:>5}  {source[number - 1].rstrip()}")
                self.add(f"<mark>{text}</mark>" if number == line else text)
            self.add("</pre>")
        self.add("</article>")

    # A kernel.

    def _kernel(self, index: int, kernel: Kernel) -> None:
        self.add(f'<section id="k{index}"><h2>Kernel <code>{plain(kernel.name)}</code></h2>')
        self.add(f'<p class="dim">{html.escape(kernel.shapes())}; {html.escape(kernel.which())}</p>')
        if kernel.variants_in_words():
            self.add(f'<p class="dim">{plain(kernel.variants_in_words())}</p>')
        if kernel.cut_short():
            self.add(f'<p class="red">{html.escape(kernel.cut_short())}</p>')
        self.add("<ul>")
        for text in report.totals_in_words(kernel.totals(), marks, kernel.reads_textures()):
            self.add(f"<li>{escaped(text)}</li>")
        self.add("</ul>")
        if kernel.lines:
            rows: dict[tuple[str, int], str] = {}  # (file, line) -> its anchor
            for place, file in enumerate(kernel.files(self.main)):
                for number in kernel.lines[file]:
                    rows[file, number] = f"{prefix_of(index, place)}L{number}"
            found = report.advice(kernel, self.gpu)
            self._hottest(kernel, rows)
            self._advice(kernel, found, rows)
            self._machine_code(kernel, rows)
            self._speed(kernel)
            self._source(index, kernel, found)
        self.add("</section>")

    def _link(self, rows: dict[tuple[str, int], str], file: str, number: int) -> str:
        """To a line that is listed. What nvcc alone knows, as a line with arithmetic and no access, is not."""
        where = f"<code>{plain(paths.shown(file))}:{number}</code>"
        return f'<a href="#{rows[file, number]}">{where}</a>' if (file, number) in rows else where

    def _hottest(self, kernel: Kernel, rows: dict[tuple[str, int], str]) -> None:
        lines = report.hottest(kernel, marks)
        if len(lines) < 2:
            return
        self.add('<h3>Hottest lines</h3><table class="hottest">')
        for share, file, number, text in lines:
            self.add(f'<tr><td class="n">{share} %</td>')
            self.add(f"<td>{self._link(rows, file, number)} {escaped(text)}</td></tr>")
        self.add("</table>")

    def _advice(self, kernel: Kernel, found: list[Problem], rows: dict[tuple[str, int], str]) -> None:
        waits = problems.waits(kernel)
        if waits:
            self.add(f"<p>{html.escape(waits)}</p>")
        if not found:
            text = report.in_short(kernel, self.gpu, self.failed)
            if text:
                self.add(f"<p>{html.escape(text)}</p>")
            return
        self.add('<h3>What to do about it</h3><ol class="advice">')
        for problem in found:
            links = ", ".join(self._link(rows, file, number) for file, number in problem.lines) or problem.places()
            self.add(f"<li>{links} {html.escape(problem.sentence)}</li>")
        self.add("</ol>")

    def _machine_code(self, kernel: Kernel, rows: dict[tuple[str, int], str]) -> None:
        if not kernel.compiled:
            return
        from warp.explain import lines

        changed, unknown = lines.what_nvcc_makes(kernel)
        if changed or unknown:
            self.add("<h3>What nvcc makes of it</h3>")
        if unknown:
            self.add(f"<p>{html.escape(unknown)}</p>")
        if changed:
            self.add("<ul>")
            for file, number, sentence in changed:
                self.add(f"<li>{self._link(rows, file, number)} {html.escape(sentence)}</li>")
            self.add("</ul>")

    def _speed(self, kernel: Kernel) -> None:
        found = None if self.failed else speed.of_kernel(kernel, self.gpu)
        if not found:
            why = "" if self.failed else speed.why_none(kernel)
            self.out += [f"<p>{html.escape(why)}</p>"] if why else []
            return
        self.add(f"<h3>How fast could it be?</h3><p>{html.escape(speed.heading(found))}</p>")
        self.add(
            '<table class="numbers"><thead><tr><th>resource</th><th class="n">at least</th><th>what there is to do</th>'
        )
        self.add("</tr></thead><tbody>")
        for resource, time, what in speed.rows(found):
            self.add(f'<tr><td>{html.escape(resource)}</td><td class="n">{time}</td><td>{html.escape(what)}</td></tr>')
        self.add("</tbody></table>")
        for note in speed.notes(kernel, found):
            self.add(f'<p class="dim">{html.escape(note)}</p>')

    def _source(self, index: int, kernel: Kernel, found: list[Problem]) -> None:
        advice = {place: problem.sentence for problem in found for place in problem.lines}
        self.add("<h3>Source</h3>")
        if any(kernel.examples.values()):
            self.add(
                '<p class="dim">A number beside a line draws which lane of one warp touches which bank or sector.</p>'
            )
        for place, file in enumerate(kernel.files(self.main)):
            counted = kernel.lines[file]
            source = read_source(file)
            numbers = sorted(counted) if source is None else report.shown_lines(source, counted, kernel.function)
            told = listing.Told({n: told_of(kernel, file, n, advice) for n in counted}, prefix_of(index, place))
            texts = ["(source not found)" if source is None else source[number - 1].rstrip() for number in numbers]
            self.add(f'<p class="file">{plain(paths.shown(file))}</p>')
            self.add(listing.markup([(number, plain(text) + "\n") for number, text in zip(numbers, texts)], told))
            self.draws |= told.has_counts()


def prefix_of(kernel: int, file: int) -> str:
    """What begins the anchors of the lines of a kernel's file; its first is the one that was explained."""
    return f"k{kernel}-" + (f"{file}-" if file else "")


def told_of(kernel: Kernel, file: str, number: int, advice: dict[tuple[str, int], str]) -> listing.Line:
    """What a line of a kernel costs, its pictures, and the advice on it."""
    totals = kernel.totals(file, number)
    costs: dict[tuple[str, str], listing.Cost] = {}
    listing.add_costs(costs, "", totals.counts)
    for example in map(records.write, kernel.examples_at(file, number)):
        cost = costs.get(("", f"{example['space']} {example['access']}s"))
        pattern = maps.pattern(example)
        if cost and pattern:
            cost.patterns.append(pattern)
    line = listing.Line()
    if costs:
        line.requests, line.cost = listing.requests_of(costs.values()), listing.cost_of(costs.values())
        line.wasted = any(cost.wasted for cost in costs.values())
    for cost in costs.values():
        space, kind = cost.label.rstrip("s").split()
        would_do = report.ideal_in_words(totals.part(kind)) if space == "global" else ""
        line.parts.append((cost.words() + would_do, cost.patterns))
    if totals.divergent:
        line.parts.append((f"divergent branches: {thousands(totals.divergent)}", []))
        line.requests = line.requests or listing.in_brief(totals.divergent)
        line.cost = f"{line.cost} {listing.DIVERGENT}".strip()
    if (file, number) in advice:
        line.parts.append((advice[file, number].rstrip("."), []))
        line.mark = "advised"
    return line


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>%(title)s</title>
<style>
%(style)s</style>
</head>
<body>
%(body)s
</body>
</html>
"""

STYLE = """\
:root {
  --draw-foreground: var(--color-foreground-primary); --draw-muted: var(--color-foreground-muted); --draw-soft: var(--warp-soft);
  --draw-loaded: var(--warp-loaded); --draw-shared: var(--warp-shared); --draw-wasted: var(--warp-second);
  --font-stack: "Source Sans 3", "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.2rem 1.5rem 4rem; max-width: 84rem; background: var(--color-background-primary); color: var(--color-foreground-primary);
  font: 16px/1.5 var(--font-stack);
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 0.2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 2.4rem 0 0.5rem; overflow-wrap: anywhere; }
h3 { font-size: 1.02rem; margin: 1.3rem 0 0.4rem; overflow-wrap: anywhere; }
p, ul, ol { margin: 0.35rem 0; max-width: 50rem; }
ul, ol { padding-left: 1.3rem; }
li { margin: 0.2rem 0; }
a { color: var(--color-link); text-underline-offset: 0.15em; }
code, pre {
  font-family: "JetBrains Mono", "Cascadia Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono",
    "Liberation Mono", monospace;
  font-size: 0.86em; overflow-wrap: anywhere;
}
pre { margin: 0; white-space: pre; overflow-wrap: normal; }
.dim { color: var(--color-foreground-muted); }
.green { color: var(--color-brand-content); } .yellow { color: var(--warp-other); } .red { color: var(--warp-second); font-weight: 600; }
.legend { color: var(--color-foreground-muted); font-size: 0.9rem; }
.legend span + span::before { content: "· "; color: var(--color-foreground-muted); font-weight: 400; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { color: var(--color-foreground-muted); font-weight: 500; font-size: 0.85rem; text-align: left; vertical-align: bottom; }
th, td { padding: 0.12rem 0.9rem 0.12rem 0; vertical-align: top; }
.n { text-align: right; white-space: nowrap; }
.numbers th { border-bottom: 1px solid var(--color-background-border); }
.numbers td:first-child { min-width: 9rem; }
.numbers td { border-bottom: 1px solid var(--color-background-border); padding-top: 0.25rem; padding-bottom: 0.25rem; }
article { border-left: 3px solid var(--warp-second); padding-left: 0.9rem; margin: 1rem 0; }
article.warning { border-color: var(--warp-other); }
article h3 { margin-top: 0; }
pre.excerpt { background: var(--color-background-secondary); padding: 0.5rem 0.8rem; margin: 0.5rem 0; overflow-x: auto; }
mark { background: var(--warp-soft); color: inherit; }
.warning mark { background: var(--warp-soft); }
p.file { color: var(--color-foreground-muted); font-size: 0.9rem; margin: 0.8rem 0 0; overflow-wrap: anywhere; }
.highlight pre { background: var(--color-background-secondary); padding: 0.45rem 1rem; line-height: 1.36; overflow-x: auto; border-radius: 6px; }
.highlight .linenos { color: var(--warp-line-number); margin-right: 1.4em; user-select: none; -webkit-user-select: none; }
@media (max-width: 48rem) { body { padding: 0.8rem 0.8rem 4rem; } }
"""


def style() -> str:
    """The page's own rules, the site's colours, and its sheet for listings."""
    dark = palette.rule(":root", palette.DARK, palette.PLAIN_DARK)
    light = palette.rule(":root", palette.LIGHT, palette.PLAIN_LIGHT)
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n{STYLE}{static('counted.css')}"


def static(*names: str) -> str:
    """Files of the site."""
    texts = []
    for name in names:
        with open(os.path.join(paths.ROOT, "docs", "_static", name), encoding="utf-8") as file:
            texts.append(file.read())
    return "\n".join(texts)
