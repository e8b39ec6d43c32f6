"""The report of ./learn explain as one HTML file that needs nothing else: no network, no other file.

The words and numbers are those of the terminal (trace.report, trace.problems). In addition a line shows,
when pointed at, which lane of a warp touches which bank or sector.
"""

import html
import json
import os
import re

from warp.base import paths, records
from warp.base.text import read_source, thousands
from warp.chapter import maps
from warp.explain import problems, report, speed
from warp.machinecode import bounds
from warp.trace import trace

# A painted piece of text, between characters that no source line keeps.
OPEN, MIDDLE, CLOSE = "\x01", "\x02", "\x03"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f]")


def marks(colour, text):
    """Stands where ui.Palette does: marks what is painted, so that it can be told apart after escaping."""
    return OPEN + colour + MIDDLE + text + CLOSE if colour and text else text


def escaped(text):
    """The text as HTML, with spans where it was painted."""
    safe = html.escape(text)
    return re.sub(f"{OPEN}(.*?){MIDDLE}(.*?){CLOSE}", r'<span class="\1">\2</span>', safe, flags=re.DOTALL)


def plain(text):
    """Text of a source file or a program, which may hold anything: escaped, without control characters."""
    return html.escape(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


def embedded(value):
    """JSON that can stand in a script element: nothing in it ends the element or starts a comment."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def render(recorded, label, main="", launch=None, failed=False, compiled=(), gpu=None):
    """The page as text; raises LearnError when there is no launch with that index."""
    kernels, findings = trace.selected(recorded, launch, compiled)
    is_in_doubt = failed or trace.may_spoil_results(findings)
    page = _Page(kernels, findings, os.path.realpath(main) if main else "", is_in_doubt, gpu or speed.gpu_named(""))
    page.notes = report.notes_of(recorded, failed)
    return page.whole(label)


class _Page:
    def __init__(self, kernels, findings, main, failed, gpu):
        self.kernels = kernels
        self.gpu = gpu
        self.failed = failed
        self.findings = findings
        self.notes = []  # what the counts leave out
        self.main = main
        self.maps = {}  # id of a source row -> its maps and its advice
        self.out = []

    def add(self, text):
        self.out.append(text)

    def whole(self, label):
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
        self.add("</main>")
        if self.maps:
            self.add(PANEL)
            self.add(f'<script type="application/json" id="maps">{embedded(self.maps)}</script>')
            self.add(f"<script>{SCRIPT}</script>")
        return PAGE % {"title": plain(title), "style": STYLE, "body": "\n".join(self.out)}

    def _summary(self):
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

    # Findings.

    def _findings(self):
        for heading, colour, found in trace.by_severity(self.findings):
            name = "findings" if colour == "red" else "warnings"
            self.add(f'<section id="{name}"><h2>{heading}</h2>')
            for count, finding in trace.group(found):
                self._finding(count, finding, colour)
            self.add("</section>")

    def _finding(self, count, finding, colour):
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

    def _kernel(self, index, kernel):
        totals = kernel.totals()
        self.add(f'<section id="k{index}"><h2>Kernel <code>{plain(kernel.name)}</code></h2>')
        self.add(f'<p class="dim">{html.escape(kernel.shapes())}; {html.escape(kernel.which())}</p>')
        if kernel.variants_in_words():
            self.add(f'<p class="dim">{plain(kernel.variants_in_words())}</p>')
        if kernel.cut_short():
            self.add(f'<p class="red">{html.escape(kernel.cut_short())}</p>')
        self.add("<ul>")
        for text in report.totals_in_words(totals, marks, kernel.reads_textures()):
            self.add(f"<li>{escaped(text)}</li>")
        self.add("</ul>")
        if kernel.lines:
            rows = {}  # (file, line) -> id of its row
            for file in kernel.files(self.main):
                for number in kernel.lines[file]:
                    rows[file, number] = f"k{index}-{len(rows)}"
            found = report.advice(kernel, self.gpu)
            self._hottest(kernel, rows)
            self._advice(kernel, found, rows)
            self._machine_code(kernel, rows)
            self._speed(kernel)
            self._source(kernel, totals, rows, found)
        self.add("</section>")

    def _link(self, rows, file, number):
        where = f"{paths.shown(file)}:{number}"
        return f'<a href="#{rows[file, number]}"><code>{plain(where)}</code></a>'

    def _hottest(self, kernel, rows):
        lines = report.hottest(kernel, marks)
        if len(lines) < 2:
            return
        self.add('<h3>Hottest lines</h3><table class="hottest">')
        for share, file, number, text in lines:
            self.add(f'<tr><td class="n">{share} %</td>')
            self.add(f"<td>{self._link(rows, file, number)} {escaped(text)}</td></tr>")
        self.add("</table>")

    def _advice(self, kernel, found, rows):
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

    def _machine_code(self, kernel, rows):
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
                known = (file, number) in rows
                where = self._link(rows, file, number) if known else f"<code>{plain(paths.shown(file))}:{number}</code>"
                self.add(f"<li>{where} {html.escape(sentence)}</li>")
            self.add("</ul>")

    def _speed(self, kernel):
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

    def _source(self, kernel, totals, rows, found):
        columns = [column for column in report.COLUMNS if column.used(totals)]
        advice = {place: problem.sentence for problem in found for place in problem.lines}
        self.add("<h3>Source</h3>")
        if any(kernel.examples.values()):
            self.add('<p class="dim">Lines with <span class="dot">◆</span> show, when pointed at, tapped or focused,')
            self.add("which lane of one warp touches which bank or sector.</p>")
        self.add('<div class="wide"><table class="source"><thead><tr>')
        for column in columns:
            self.add(f'<th class="n">{html.escape(column.heading)}</th>')
        self.add('<th class="n">line</th><th>source</th></tr></thead><tbody>')
        for file in kernel.files(self.main):
            self._file(kernel, file, columns, rows, advice)
        self.add("</tbody></table></div>")

    def _file(self, kernel, file, columns, rows, advice):
        counted = kernel.lines[file]
        self.add(f'<tr class="file"><td colspan="{len(columns) + 2}">{plain(paths.shown(file))}</td></tr>')
        source = read_source(file)
        numbers = sorted(counted) if source is None else report.shown_lines(source, counted, kernel.function)
        before = None
        for number in numbers:
            if before is not None and number != before + 1:
                self.add(f'<tr class="gap"><td colspan="{len(columns) + 2}">…</td></tr>')
            before = number
            text = "(source not found)" if source is None else source[number - 1].rstrip()
            self._row(kernel, file, number, text, columns, rows, advice)

    def _row(self, kernel, file, number, text, columns, rows, advice):
        place = (file, number)
        drawn = [
            drawing
            for drawing in (maps.of_example(records.write(example)) for example in kernel.examples_at(file, number))
            if drawing
        ]
        name = rows.get(place)
        classes = " ".join(kind for kind, on in (("problem", place in advice), ("map", drawn)) if on)
        opening = "<tr"
        if name:
            opening += f' id="{name}"'
        if classes:
            opening += f' class="{classes}"'
        if drawn:
            opening += ' tabindex="0" aria-describedby="panel"'
            where = f"{paths.shown(file)}:{number}"
            self.maps[name] = {"where": where, "advice": advice.get(place, ""), "maps": drawn}
        self.add(opening + ">")
        totals = kernel.totals(file, number) if name else None
        cells = []
        for column in columns:
            shown, colour = column.cell(totals) if totals else ("", "")
            label = f' data-label="{html.escape(column.heading)}"' if shown else ""
            cells.append(f'<td class="n c {colour}"{label}>{html.escape(shown)}</td>')
        dot = '<span class="dot" aria-hidden="true">◆</span>' if drawn else ""
        cells.append(f'<td class="n line">{dot}{number}</td>')
        cells.append(f'<td class="code"><pre>{plain(text)}</pre></td></tr>')
        self.add("".join(cells))


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
  --page: #ffffff; --text: #1b1f24; --dim: #59636e; --line: #d5dae0; --soft: #f4f6f8; --link: #0b57b0;
  --green: #17692f; --yellow: #7f5300; --red: #b3261e;
  --green-soft: #d5f0dc; --yellow-soft: #fbe8bd; --red-soft: #fbd9d5; --hot: #fff7e3;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --text: #e3e7eb; --dim: #9aa5b0; --line: #353c44; --soft: #1d2228; --link: #82b7ff;
    --green: #7ad38f; --yellow: #e6bb55; --red: #ff9a90;
    --green-soft: #1d4a2a; --yellow-soft: #55420f; --red-soft: #652520; --hot: #2a2618;
  }
}
* { box-sizing: border-box; }
html { scroll-padding: 1rem 0 40vh; }
body {
  margin: 0 auto; padding: 1.2rem 1.5rem 4rem; max-width: 84rem; background: var(--page); color: var(--text);
  font: 16px/1.5 "Source Sans 3", "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 0.2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 2.4rem 0 0.5rem; overflow-wrap: anywhere; }
h3 { font-size: 1.02rem; margin: 1.3rem 0 0.4rem; overflow-wrap: anywhere; }
p, ul, ol { margin: 0.35rem 0; max-width: 50rem; }
ul, ol { padding-left: 1.3rem; }
li { margin: 0.2rem 0; }
a { color: var(--link); text-underline-offset: 0.15em; }
code, pre {
  font-family: "JetBrains Mono", "Cascadia Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono",
    "Liberation Mono", monospace;
  font-size: 0.86em; overflow-wrap: anywhere;
}
pre { margin: 0; white-space: pre; overflow-wrap: normal; }
.dim { color: var(--dim); }
.green { color: var(--green); } .yellow { color: var(--yellow); } .red { color: var(--red); font-weight: 600; }
.legend { color: var(--dim); font-size: 0.9rem; }
.legend span + span::before { content: "· "; color: var(--dim); font-weight: 400; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { color: var(--dim); font-weight: 500; font-size: 0.85rem; text-align: left; vertical-align: bottom; }
th, td { padding: 0.12rem 0.9rem 0.12rem 0; vertical-align: top; }
.n { text-align: right; white-space: nowrap; }
.numbers th { border-bottom: 1px solid var(--line); }
.numbers td:first-child { min-width: 9rem; }
.numbers td { border-bottom: 1px solid var(--line); padding-top: 0.25rem; padding-bottom: 0.25rem; }
article { border-left: 3px solid var(--red); padding-left: 0.9rem; margin: 1rem 0; }
article.warning { border-color: var(--yellow); }
article h3 { margin-top: 0; }
pre.excerpt { background: var(--soft); padding: 0.5rem 0.8rem; margin: 0.5rem 0; overflow-x: auto; }
mark { background: var(--red-soft); color: inherit; }
.warning mark { background: var(--yellow-soft); }
table.source { width: 100%; font-size: 0.86rem; border: 1px solid var(--line); }
table.source th { background: var(--soft); padding: 0.3rem 0.7rem; }
table.source td { padding: 0.08rem 0.7rem; vertical-align: baseline; }
table.source .code { width: 100%; border-left: 1px solid var(--line); }
table.source .line { color: var(--dim); }
tr.file td { background: var(--soft); color: var(--dim); overflow-wrap: anywhere; }
tr.gap td { color: var(--dim); }
tr.problem { background: var(--hot); }
tr.map { cursor: pointer; }
tr.map:hover, tr.map:focus, tr.on { background: var(--soft); outline: 2px solid var(--link); outline-offset: -2px; }
tr:target { outline: 2px solid var(--link); outline-offset: -2px; }
.dot { color: var(--link); margin-right: 0.4em; }
#panel {
  position: fixed; left: 0; right: 0; bottom: 0; max-height: 46vh; overflow: auto; padding: 0.6rem 1.5rem 0.9rem;
  background: var(--page); border-top: 2px solid var(--link); box-shadow: 0 0 18px rgb(0 0 0 / 0.25);
}
#panel.top { bottom: auto; top: 0; border-top: 0; border-bottom: 2px solid var(--link); }
#panel > div { max-width: 81rem; margin: 0 auto; position: relative; }
#panel h3 { margin: 0 2.8rem 0.2rem 0; }
#panel h4 { margin: 0.5rem 0 0; font-size: 0.92rem; font-weight: 600; }
#panel p { font-size: 0.92rem; margin: 0.1rem 0 0.3rem; }
#panel svg { display: block; max-width: 100%; height: auto; }
#panel svg text { fill: var(--text); font-family: inherit; text-anchor: middle; }
#panel svg .name { fill: var(--dim); }
#panel svg .left { text-anchor: start; }
#panel svg rect { stroke: var(--line); fill: none; }
#panel svg rect.green { fill: var(--green-soft); } #panel svg rect.yellow { fill: var(--yellow-soft); }
#panel svg rect.red { fill: var(--red-soft); }
#close {
  position: absolute; right: 0; top: 0; width: 2.2rem; height: 2.2rem; font-size: 1.1rem; line-height: 1;
  color: inherit; background: none; border: 1px solid var(--line); border-radius: 4px; cursor: pointer;
}
@media (max-width: 48rem) {
  body { padding: 0.8rem 0.8rem 4rem; }
  #panel { padding-left: 0.8rem; padding-right: 0.8rem; }
  table.source thead { display: none; }
  table.source, table.source tbody { display: block; }
  table.source tr { display: flex; flex-wrap: wrap; align-items: baseline; padding: 0.08rem 0 0.08rem 3.4rem; }
  table.source td { display: block; padding: 0 0 0 0.5rem; text-align: left; } /* the counts under their line */
  table.source td.c:not([data-label]) { display: none; }
  table.source td.c[data-label] { font-size: 0.8rem; }
  table.source td.c[data-label]::before { content: attr(data-label) " "; color: var(--dim); font-weight: 400; }
  table.source td.line { order: -2; flex: 0 0 3.4rem; margin-left: -3.4rem; text-align: right; font-size: 0.8rem; }
  table.source td.code { order: -1; flex: 0 0 100%; width: auto; min-width: 0; border: 0; font-size: 0.9em; }
  table.source tr.file, table.source tr.gap { padding-left: 0; }
  tr.file td, tr.gap td { flex: 1 0 100%; }
}
@media print { #panel { display: none; } }
"""

PANEL = """\
<aside id="panel" aria-live="polite" hidden><div>
<button id="close" type="button" aria-label="Close">✕</button><div id="drawing"></div>
</div></aside>"""

# Draws what course.maps has laid out: stacks of words over the banks, or sectors with their eight words.
SCRIPT = """\
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("maps").textContent);
  const panel = document.getElementById("panel");
  const drawing = document.getElementById("drawing");
  let shown = null;

  const make = (parent, name, attributes, text) => {
    const svg = name === "svg" || parent.namespaceURI === "http://www.w3.org/2000/svg";
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  };

  const CELL = 22, HIGH = 17, TALLEST = 8;

  // A word of 4 bytes and the lanes that touch it.
  const word = (svg, x, y, entry, colour) => {
    const cell = make(svg, "g", {});
    make(cell, "title", {}, entry ? entry.all : "moved, but no lane wants it");
    make(cell, "rect", {x: x, y: y, width: CELL, height: HIGH, class: entry ? colour : ""});
    if (entry) {
      const size = entry.lanes.length > 3 ? 7.5 : 10;
      make(cell, "text", {x: x + CELL / 2, y: y + 12.5, "font-size": size}, entry.lanes);
    }
  };

  const canvas = (parent, label, wide, high) => make(parent, "svg",
    {role: "img", "aria-label": label, viewBox: `0 0 ${wide} ${high}`, width: wide, height: high});

  const banks = (parent, map, columns) => {
    for (const group of map.groups) {
      for (let first = 0; first < 32; first += columns) {
        const stacks = group.stacks.slice(first, first + columns);
        const tall = Math.max(1, ...stacks.map(stack => Math.min(stack.length, TALLEST)));
        const over = stacks.some(stack => stack.length > TALLEST) ? HIGH : 0;
        const top = over + (group.label && first === 0 ? 16 : 2);
        const svg = canvas(parent, map.caption, columns * CELL + 2, top + tall * HIGH + 16);
        const left = {x: 1, y: 11, "font-size": 11, class: "name left"};
        if (group.label && first === 0) make(svg, "text", left, group.label);
        stacks.forEach((stack, i) => {
          const x = 1 + i * CELL, floor = top + tall * HIGH;
          const colour = stack.length > 2 ? "red" : stack.length > 1 ? "yellow" : "green";
          stack.slice(0, TALLEST).forEach((entry, j) => word(svg, x, floor - (j + 1) * HIGH, entry, colour));
          if (!stack.length) make(svg, "rect", {x: x, y: floor - HIGH, width: CELL, height: HIGH});
          const rest = stack.length - TALLEST;
          if (rest > 0) make(svg, "text", {x: x + CELL / 2, y: top - 4, "font-size": 10}, "+" + rest);
          make(svg, "text", {x: x + CELL / 2, y: floor + 12, "font-size": 10, class: "name"}, first + i);
        });
      }
    }
  };

  const sectors = (parent, map, columns) => {
    const perRow = columns / 8, row = HIGH + 19, wide = 8 * CELL + 12;
    const lines = Math.ceil(map.sectors.length / perRow);
    const across = Math.min(perRow, map.sectors.length);
    const svg = canvas(parent, map.caption, across * wide + 2, lines * row);
    map.sectors.forEach((sector, i) => {
      const x = 1 + (i % perRow) * wide, y = Math.floor(i / perRow) * row + 14;
      const wanted = sector.words.filter(entry => entry).length;
      const colour = wanted === 8 ? "green" : wanted >= 4 ? "yellow" : "red";
      make(svg, "text", {x: x, y: y - 3, "font-size": 10, class: "name left"}, sector.label + " bytes");
      sector.words.forEach((entry, j) => word(svg, x + j * CELL, y, entry, colour));
    });
  };

  const KEY = {
    shared: "Below the boxes: the banks. In a box: the lanes that touch one word of 4 bytes.",
    global: "A bar is a sector of 32 bytes. In a box: the lanes that touch 4 of them.",
  };

  const show = row => {
    if (shown === row) return;
    if (shown) shown.classList.remove("on");
    shown = row;
    row.classList.add("on");
    const entry = data[row.id];
    drawing.replaceChildren();
    make(drawing, "h3", {}, entry.where);
    if (entry.advice) make(drawing, "p", {}, entry.advice);
    const columns = window.innerWidth < 768 ? 16 : 32;
    for (const map of entry.maps) {
      make(drawing, "h4", {}, map.title + ": " + map.caption);
      (map.space === "shared" ? banks : sectors)(drawing, map, columns);
    }
    const spaces = new Set(entry.maps.map(map => map.space));
    for (const space of spaces) make(drawing, "p", {class: "dim"}, KEY[space]);
    const place = row.getBoundingClientRect();
    panel.classList.toggle("top", place.top + place.bottom > window.innerHeight);
    panel.hidden = false;
    panel.scrollTop = 0;
  };

  const close = () => {
    panel.hidden = true;
    if (shown) shown.classList.remove("on");
    shown = null;
  };

  for (const row of document.querySelectorAll("tr.map")) {
    for (const event of ["mouseenter", "focus", "click"]) row.addEventListener(event, () => show(row));
  }
  document.getElementById("close").addEventListener("click", close);
  document.addEventListener("keydown", event => { if (event.key === "Escape") close(); });
})();
"""
