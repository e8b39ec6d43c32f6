"""Which labels of a drawing reach out of it, reckoned from the widths of letters: no browser, and no font has to be there.

The widths are those of DejaVu Sans, the widest of the fonts that the site asks for, in thousandths of the font's size."""

import html
import re
from html.parser import HTMLParser

WIDTHS = {
    280: "'ijl",
    300: "IJ",
    320: " ,.’·",
    340: "/:;\\|",
    360: "f",
    380: "-",
    400: "()[]t",
    420: "!r²³⁰⁴",
    460: '"',
    500: "*_`–",
    540: "?sz⁻",
    560: "Lc",
    580: "Fk",
    600: "vxy",
    620: "PTYaeo",
    640: "$0123456789ESbdghnpqu{}",
    660: "K",
    700: "ABCRVXZ",
    740: "U",
    760: "HN",
    780: "&DG",
    800: "OQ",
    820: "w",
    840: "#+<=>^~×↓→≥≤",
    880: "M",
    960: "%",
    980: "m",
    1000: "@W…",
}
WIDTH = {letter: width / 1000 for width, letters in WIDTHS.items() for letter in letters}
MONO = 0.602 * 0.92  # warp.css draws .mono smaller
BOLD = 1.12
ROUNDED = 1.5  # pixels: what the eye does not see


def width_of(words: str, size: float, mono: bool = False, bold: bool = False) -> float:
    """The width of a line of text in pixels; of a letter that is in no list, a whole em."""
    letters = MONO * len(words) if mono else sum(WIDTH.get(letter, 1.0) for letter in words)
    return letters * size * (BOLD if bold else 1)


class _Drawings(HTMLParser):
    """The labels of each drawing of a page: (the drawing's extents, [(words, left, right, base line, size)])."""

    def __init__(self):
        super().__init__()
        self.found, self.svg, self.label, self.moved = [], None, None, []

    def handle_starttag(self, tag, attributes):
        at = dict(attributes)
        if tag == "svg" and "viewbox" in at:
            self.svg = (tuple(map(float, at["viewbox"].split())), [])
            self.found.append(self.svg)
        elif tag == "g":
            move = re.match(r"translate\((-?[\d.]+)[ ,]+(-?[\d.]+)\)", at.get("transform") or "")
            self.moved.append((float(move[1]), float(move[2])) if move else (0.0, 0.0))
        elif tag in ("text", "tspan") and self.svg:
            if tag == "text":
                self.label = {"at": at, "runs": []}
            self.style = [*(self.style if tag == "tspan" else []), at]

    def handle_data(self, words):
        if self.label is not None:
            classes = " ".join(one.get("class") or "" for one in self.style)
            weight = next((one["font-weight"] for one in reversed(self.style) if "font-weight" in one), "400")
            gap = sum(float(one.get("dx", 0)) for one in self.style[1:])
            self.label["runs"].append((words, "mono" in classes.split(), weight not in ("400", "normal"), gap))

    def handle_endtag(self, tag):
        if tag == "tspan" and self.label is not None:
            self.style.pop()
        elif tag == "text" and self.label is not None:
            self.place(self.label)
            self.label = None
        elif tag == "g":
            self.moved.pop()
        elif tag == "svg":
            self.svg, self.moved = None, []

    def place(self, label):
        at, runs = label["at"], label["runs"]
        size, spacing = float(at.get("font-size", 13)), float(at.get("letter-spacing", 0))
        words = "".join(run[0] for run in runs)
        wide = sum(width_of(text, size, mono, bold) + gap for text, mono, bold, gap in runs) + spacing * len(words)
        x = float(at.get("x", 0)) + sum(move[0] for move in self.moved)
        y = float(at.get("y", 0)) + sum(move[1] for move in self.moved)
        if not words.strip():
            return
        begin = {"middle": -wide / 2, "end": -wide}.get(at.get("text-anchor"), 0.0)
        box = [x + begin, x + begin + wide, y - 0.72 * size, y + 0.2 * size]
        turned = re.match(r"rotate\((-?[\d.]+)", at.get("transform") or "")
        if turned and abs(float(turned[1])) == 90:
            up = [y - begin - wide, y - begin]
            box = [
                x - 0.72 * size,
                x + 0.2 * size,
                *(up if turned[1].startswith("-") else [y + begin, y + begin + wide]),
            ]
        elif turned:
            return  # along a slope of a chart, which places it by itself
        self.svg[1].append((words, box))


def cut(page: str) -> list[str]:
    """The labels of a page's drawings that reach out of their drawing, each with how far."""
    parser = _Drawings()
    parser.feed(page)
    said = []
    for (left, top, width, height), labels in parser.found:
        for words, (begin, end, above, below) in labels:
            out = max(left - begin, end - left - width, top - above, below - top - height)
            if out > ROUNDED:
                said.append(f"{html.unescape(words)!r} by {out:.0f} pixels of {width:g} x {height:g}")
    return said


PHONE, TABLET = 340, 690  # pixels for a drawing: on a phone, and on the narrowest screen that has the wide one of two
LEAST = 10.9  # 11 pixels, rounded


def small(page: str) -> list[str]:
    """The drawings of a page whose letters are smaller than 11 pixels somewhere, each with its size."""
    said = []
    for only, tag, inside in re.findall(
        r'<div class="drawing ?([^"]*)"[^>]*>(<svg [^>]*>)(.*?)</svg>', page, re.DOTALL
    ):
        wide = float(re.search(r'viewBox="0 0 ([\d.]+)', tag)[1])
        least = re.search(r"min-width: ([\d.]+)px", tag)
        shown = max(min(wide, TABLET if only == "only-wide" else PHONE), float(least[1]) if least else 0)
        sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', inside)]
        if sizes and min(sizes) * shown / wide < LEAST:
            words = re.search(rf'font-size="{min(sizes):g}"[^>]*>([^<]*)', inside)
            said.append(f"{min(sizes) * shown / wide:.1f} pixels in a drawing of {wide:g}: {words[1] if words else ''}")
    return said
