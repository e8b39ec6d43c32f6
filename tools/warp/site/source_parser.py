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

from warp.site.blocks import Page
from warp.site.rendering import MachineCode, OwnDrawing, Renderer

PAGES: dict[str, Page] = {}  # by name


class SourceParser(MystParser):
    """Makes the page of which Sphinx reads the source."""

    supported = ("cu",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        env = document.settings.env
        parser = create_md_parser(env.myst_config, Renderer)
        parser.options["document"] = document
        renderer: Any = parser.renderer
        renderer.setup_render(parser.options, {})
        renderer.render_page(PAGES[env.docname])


def changed_pages(_app: Sphinx, env: Any, _added: set[str], changed: set[str], _removed: set[str]) -> list[str]:
    """The pages that are made of other blocks than before, whose source may be as it was. The other way round, a page that none
    of its source's edits has reached stays as it is."""
    before = getattr(env, "warp_pages", {})
    env.warp_pages = {name: page.digest() for name, page in PAGES.items()}
    same = {name for name, digest in env.warp_pages.items() if before.get(name) == digest}
    changed -= {name for name in changed & same if is_as_read(env, name)}
    return sorted(env.warp_pages.keys() - same)


def is_as_read(env: Any, name: str) -> bool:
    """Whether a page's tree is there, and what it read besides its source, such as the glossary, is as it was."""
    files = [Path(env.srcdir, file) for file in env.dependencies.get(name, ())]
    tree = Path(env.doctreedir, f"{name}.doctree")
    return tree.exists() and all(file.exists() and file.stat().st_mtime_ns <= 1000 * env.all_docs[name] for file in files)


def setup(app: Sphinx) -> None:
    app.add_source_suffix(".cu", "cu")
    app.add_source_parser(SourceParser)
    app.add_directive("drawing", OwnDrawing)
    app.add_directive("sass", MachineCode)
    app.add_directive("ptx", MachineCode)
    app.connect("env-get-outdated", changed_pages)
