"""Sphinx reads a chapter's source: the parser of `.cu`, and which of its pages have changed.

A source makes several pages, and what stands on them is from its program and its results, too. build.py makes the blocks of all
pages before Sphinx starts; Sphinx's processes are forks of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.parsers.mdit import create_md_parser
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from warp.site.blocks import Block, Page
from warp.site.rendering import Blocks, MachineCode, OwnDrawing, Renderer

PAGES: dict[str, Page] = {}  # by name
MADE: dict[str, list[Block]] = {}  # what pages of docs/ name: parts that a build makes


class SourceParser(MystParser):
    """Makes the page of which Sphinx reads the source."""

    supported = ("cu",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        env = document.settings.env
        parser = create_md_parser(env.myst_config, Renderer)
        parser.options["document"] = document
        renderer: Any = parser.renderer
        renderer.setup_render(parser.options, {})
        page = PAGES[env.docname]
        Blocks(renderer, str(page.source)).page(page)


class Made(SphinxDirective):
    """`{made} NAME`: a part of the page that a build makes, of the chapters or of a table; one that is empty leaves no trace."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name, known = self.arguments[0], self.env.metadata[self.env.docname]
        if name not in MADE:
            raise self.error(f"a page asks for '{name}'; there are {', '.join(sorted(MADE))}")
        known["made"] = f"{known.get('made', '')} {name}"
        myst, here = self.state._renderer, self.state.document["source"]  # the renderer that reads the page
        holder = nodes.Element()
        with myst.current_node_context(holder):
            Blocks(myst, here).put(MADE[name])
        self.state.document["source"] = here
        return holder.children


def changed_pages(_app: Sphinx, env: Any, _added: set[str], changed: set[str], _removed: set[str]) -> list[str]:
    """The pages that are made of other blocks than before, whose source may be as it was. The other way round, a page that none
    of its source's edits has reached stays as it is."""
    before = getattr(env, "warp_pages", {})
    env.warp_pages = {name: page.digest() for name, page in PAGES.items()}
    same = {name for name, digest in env.warp_pages.items() if before.get(name) == digest}
    changed -= {name for name in changed & same if is_as_read(env, name)}
    parts = getattr(env, "warp_made", {})
    env.warp_made = {name: repr(blocks) for name, blocks in MADE.items()}
    made = {name for name in env.warp_made if parts.get(name) != env.warp_made[name]}
    show = {name for name, known in env.metadata.items() if made & set(known.get("made", "").split())}
    return sorted(env.warp_pages.keys() - same | show)


def is_as_read(env: Any, name: str) -> bool:
    """Whether a page's tree is there, and what it read besides its source, such as the glossary, is as it was."""
    files = [Path(env.srcdir, file) for file in env.dependencies.get(name, ())]
    tree = Path(env.doctreedir, f"{name}.doctree")
    return tree.exists() and all(
        file.exists() and file.stat().st_mtime_ns <= 1000 * env.all_docs[name] for file in files
    )


def setup(app: Sphinx) -> None:
    app.add_source_suffix(".cu", "cu")
    app.add_source_parser(SourceParser)
    app.add_directive("made", Made)
    app.add_directive("drawing", OwnDrawing)
    app.add_directive("sass", MachineCode)
    app.add_directive("ptx", MachineCode)
    app.connect("env-get-outdated", changed_pages)
