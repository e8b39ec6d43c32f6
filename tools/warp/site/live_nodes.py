"""What a page has that reacts: the live figure (live.py) and the counts beside a listing (counted_listing.py).

`live`     an access of a warp, two states side by side
`fields`   the accesses of an exercise, each with a field for a guess of what it costs
`counted`  holds a listing: warp.explain.listing

A drawing with a scene is played by docs/_static/player.js; `needs` says so of its page.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from warp.explain import listing
from warp.site import live
from warp.site.reading import question


def needs(env: BuildEnvironment, what: str, which: str = "yes") -> None:
    """The page has one, and needs its files: `live`, `counted`, or `player` with a scene."""
    known = env.metadata[env.docname].get(what, "").split()
    env.metadata[env.docname][what] = " ".join(sorted({*known, which}))


class Live(SphinxDirective):
    """`{live} NAME`, with the names of its examples, the first of which it shows."""

    required_arguments = 1
    option_spec = {"examples": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        names = self.options["examples"].split()
        unknown = [one for one in names if one not in live.EXAMPLES]
        if unknown:
            raise self.error(f"no example {unknown[0]}; there are {', '.join(live.EXAMPLES)}")
        return [live_figure(self.env, self.state.document, self.arguments[0], names)]


def live_figure(env: BuildEnvironment, document: nodes.document, name: str, names: Sequence[str]) -> nodes.container:
    """The live figure, with these examples."""
    drawn = live.still(live.EXAMPLES[names[0]][1])
    given = html.escape(json.dumps([live.EXAMPLES[one] for one in names]))
    node = nodes.container(classes=["live-place"])
    node["ids"].append(name)
    document.note_explicit_target(node)
    node += nodes.raw("", f'<div class="live" data-examples="{given}">{drawn.elements()}</div>', format="html")
    needs(env, "live")
    return node


def fields(env: BuildEnvironment, name: str) -> nodes.container:
    """A field for each access that an exercise asks for."""
    given = html.escape(json.dumps(live.ASKED[name]))
    node = nodes.container(classes=["live-place"])
    without = f"With JavaScript, each of them can be guessed here; <code>./learn check {name}</code> counts them in a terminal."
    node += nodes.raw("", f'<div class="live ask" data-asked="{given}"><p>{without}</p></div>', format="html")
    needs(env, "ask")
    return node


class counted(nodes.General, nodes.Element):  # noqa: N801  docutils names its nodes so
    """A listing with the costs of its lines."""


def ask_first(_app: Sphinx, doctree: nodes.document) -> None:
    """The counts of a listing wait for all predictions of its section, those below included."""
    for node in doctree.findall(counted):
        section = node.parent
        while isinstance(section.parent, nodes.section) and isinstance(section.parent.parent, nodes.section):
            section = section.parent
        if isinstance(section, nodes.section):
            node["names_for"] = " ".join(one["name"] for one in section.findall(question))


def visit_counted(self: Any, node: Any) -> None:
    node["begins"] = len(self.body)


NUMBER = re.compile(r'<span class="linenos">\s*(\d+)\s*</span>')


def depart_counted(self: Any, node: Any) -> None:
    """Takes what Sphinx made of the code apart into its lines, for warp.explain.listing."""
    shown = "".join(self.body[node["begins"] :])
    del self.body[node["begins"] :]
    body, end, tail = shown.partition("</pre>")
    head, *found = NUMBER.split(body)
    rows = list(zip(map(int, found[::2]), found[1::2]))
    self.body.append(listing.markup(rows, node["told"], head, end + tail, node["names_for"]))


def add_scripts(app: Sphinx, pagename: str, _template: str, _context: dict[str, Any], _doctree: nodes.document) -> None:
    """The files of what a page has."""
    has, scripts, styles = app.env.metadata.get(pagename, {}), list[str](), list[str]()
    if has.get("live") or has.get("ask") or has.get("counted"):
        parser = ["lane_index.js"] if has.get("live") or has.get("ask") else []
        scripts += ["rules.js", *parser, "access.js", *(f"{name}.js" for name in ("ask", "counted") if has.get(name))]
        styles += ["access.css", "counted.css"]
    if has.get("player"):
        files = [file for scene in has["player"].split() for file in live.files_of(scene)]
        scripts += ["player.js", *dict.fromkeys(files)]
        styles.append("player.css")
    for name in scripts:
        app.add_js_file(name, loading_method="defer")
    for name in styles:
        app.add_css_file(name)


def setup(app: Sphinx) -> None:
    app.add_node(counted, html=(visit_counted, depart_counted))
    app.add_directive("live", Live)
    app.connect("doctree-read", ask_first, priority=800)  # before the answers are folded
    app.connect("html-page-context", add_scripts)
