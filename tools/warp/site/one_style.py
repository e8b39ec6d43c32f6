"""One style sheet for all pages, without what no page uses: a phone waits for it before it paints anything.

The theme's and the extensions' sheets come first, then the site's own in the order of their names, `warp.css` last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

FOREIGN = ("pygments.css", "styles/furo.css", "styles/furo-extensions.css", "copybutton.css", "sphinx-design.min.css")
UNUSED = ("basic.css", "debug.css", "skeleton.css")  # furo has its own
LAST = "warp.css"
BUNDLE = "site.css"
# Scripts that serve Sphinx's own search.
IDLE_SCRIPTS = ("_static/doctools.js", "_static/sphinx_highlight.js")


def rules(text: str) -> list[tuple[str, str]]:
    """[(what stands before a brace, what in it)] of a style sheet without comments."""
    found, depth, begin, head = [], 0, 0, ""
    for at, sign in enumerate(text):
        if sign == "{":
            if depth == 0:
                head, begin = text[begin:at].strip(), at + 1
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                found.append((head, text[begin:at]))
                begin = at + 1
    return found


def used_rules(text: str, classes: set[str]) -> str:
    """The style sheet without the selectors that need a class which no page has."""
    kept = []
    for head, body in rules(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)):
        if head.startswith("@media"):
            inner = used_rules(body, classes)
            kept += [f"{head}{{{inner}}}"] if inner else []
        elif head.startswith("@"):
            kept.append(f"{head}{{{body}}}")
        else:
            needed = {one: re.sub(r"\([^()]*\)", "", one) for one in re.split(r",(?![^(]*\))", head)}
            selectors = [one for one, of in needed.items() if set(re.findall(r"\.([A-Za-z][\w-]*)", of)) <= classes]
            kept += [f"{','.join(selectors)}{{{body}}}"] if selectors else []
    return "".join(kept)


def shorter(text: str) -> str:
    """Without comments, indents and empty lines."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"\s*\n\s*", "\n", text).strip()


def classes_of(pages: Iterable[Path], scripts: Iterable[Path] = ()) -> set[str]:
    """Of the pages, and what may be one that a script gives."""
    found = {word for script in scripts for word in re.findall(r"[A-Za-z][\w-]*", script.read_text(encoding="utf-8"))}
    for page in pages:
        for value in set(re.findall(r'class=["\']([^"\']+)["\']', page.read_text(encoding="utf-8"))):
            found.update(value.split())
    return found


def bundle(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    own = sorted(path.name for path in static.glob("*.css") if path.name not in (*FOREIGN, *UNUSED, LAST, BUNDLE))
    classes = classes_of(Path(app.outdir).rglob("*.html"), static.rglob("*.js"))
    foreign = (used_rules((static / name).read_text(encoding="utf-8"), classes) for name in FOREIGN)
    pieces = [
        shorter(text) for text in (*foreign, *((static / name).read_text(encoding="utf-8") for name in (*own, LAST)))
    ]
    (static / BUNDLE).write_text("\n".join(pieces) + "\n", encoding="utf-8")
    for map_ in static.rglob("*.map"):
        map_.unlink()


def one_style(_app: Sphinx, _pagename: str, _template: str, context: dict[str, Any], _doctree: nodes.document) -> None:
    context["css_files"] = [f"_static/{BUNDLE}"]
    context["script_files"] = [
        one for one in context["script_files"] if getattr(one, "filename", "") not in IDLE_SCRIPTS
    ]


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", one_style, priority=900)
    app.connect("build-finished", bundle, priority=900)  # after the theme has written its colours of code in the dark
