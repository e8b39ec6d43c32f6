"""What a page has that reacts: the live figure (live.py).

`live`  an access of a warp, two states side by side
"""

from __future__ import annotations

import html
import json

import live
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


class Live(SphinxDirective):
    """`{live} NAME`, with the names of its examples, the first of which it shows."""

    required_arguments = 1
    option_spec = {"examples": directives.unchanged_required}

    def run(self):
        name, names = self.arguments[0], self.options["examples"].split()
        unknown = [one for one in names if one not in live.EXAMPLES]
        if unknown:
            raise self.error(f"no example {unknown[0]}; there are {', '.join(live.EXAMPLES)}")
        drawn = live.still(live.EXAMPLES[names[0]][1])
        given = html.escape(json.dumps([live.EXAMPLES[one] for one in names]))
        pictures = "".join(
            f'<div class="drawing {only}" role="img" aria-label="{html.escape(drawn.alt)}">{svg}</div>'
            for svg, only in ((drawn.svg, "only-wide"), (drawn.narrow, "only-narrow"))
        )
        node = nodes.container(classes=["live-place"])
        node["ids"].append(name)
        self.state.document.note_explicit_target(node)
        node += nodes.raw("", f'<div class="live" data-examples="{given}">{pictures}</div>', format="html")
        self.env.metadata[self.env.docname]["live"] = "yes"
        return [node]


def add_scripts(app, pagename, _template, _context, _doctree):
    """The files of what a page has."""
    if app.env.metadata.get(pagename, {}).get("live"):
        for name in ("rules.js", "access.js"):
            app.add_js_file(name, loading_method="defer")
        app.add_css_file("access.css")


def setup(app):
    app.add_directive("live", Live)
    app.connect("html-page-context", add_scripts)
