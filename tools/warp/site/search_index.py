"""The site's search: an index of sections, not of pages, so that a hit leads to where the words stand.

An entry is a section, a rung's panel or a declaration of the reference: its title, its page, its anchor, its prose
without tables and listings, and the names of CUDA that its listings use. `_static/search.js` unpacks the index on the
search page, from file:// as well.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from warp.site.reading import is_card
from warp.site.tree import has_class

Entry = tuple[str, str, str, str]  # anchor, title, prose, names of CUDA
NAMES = re.compile(
    r"\b(?:__\w+__|__\w{4,}|cuda[A-Z]\w+|cu[A-Z]\w{4,}|atomic\w+|cp_async\w*|mbarrier\w*|wmma|float[24])\b"
)


def apart(node: nodes.Node) -> bool:
    """Whether what lies in the node belongs to an entry of its own."""
    panel = isinstance(node, nodes.container) and has_class(node, "rung", "provenance")
    return isinstance(node, (nodes.section, addnodes.desc)) or panel


def names_of(node: nodes.Node) -> str:
    """The names of CUDA in a node's own listings."""
    found: set[str] = set()
    for child in node.children:
        if isinstance(child, nodes.literal_block):
            found |= set(NAMES.findall(child.astext()))
        elif not apart(child):
            found |= set(names_of(child).split())
    return " ".join(sorted(found))


def words_of(node: nodes.Node, own: nodes.Node | None = None) -> list[str]:
    """The paragraphs of a node, without what belongs to an entry of its own, to a table or to a listing."""
    texts = []
    for child in node.children:
        if apart(child) or isinstance(child, (nodes.table, nodes.literal_block, nodes.raw, nodes.Invisible)):
            continue
        if isinstance(child, (nodes.paragraph, nodes.caption, nodes.term)):
            if not has_class(child, "rung-title"):
                texts.append(re.sub(r"\s+", " ", child.astext()).strip())
        else:
            texts += words_of(child)
    return [text for text in texts if text]


def entries_of(doctree: nodes.document) -> list[Entry]:
    found: list[Entry] = []
    for section in doctree.findall(nodes.section):
        title = next((child for child in section.children if isinstance(child, nodes.title)), None)
        if title is not None and section["ids"]:
            top = isinstance(section.parent, nodes.document)
            found.append(
                ("" if top else section["ids"][0], title.astext(), " ".join(words_of(section)), names_of(section))
            )
    for panel in doctree.findall(is_card):
        idea = next((node.astext() for node in panel.findall(nodes.inline) if has_class(node, "idea")), "")
        found.append((panel["ids"][0], panel["ids"][0], idea, names_of(panel)))
    for item in doctree.findall(nodes.definition_list_item):
        for term in item.findall(nodes.term):
            if term["ids"]:
                meaning = next(iter(item.findall(nodes.definition)), None)
                found.append((term["ids"][0], term.astext(), " ".join(words_of(meaning)) if meaning else "", ""))
    for described in doctree.findall(addnodes.desc):
        for signature in described.findall(addnodes.desc_signature):
            name = next(iter(signature.findall(addnodes.desc_name)), None)
            if signature.parent is described and signature["ids"] and name is not None:
                content = next(iter(described.findall(addnodes.desc_content)), None)
                found.append((signature["ids"][0], name.astext(), " ".join(words_of(content)) if content else "", ""))
    return found


def collect(app: Sphinx, doctree: nodes.document) -> None:
    app.env.metadata[app.env.docname]["search"] = entries_of(doctree)


def write_index(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    pages = []
    for name, known in sorted(app.env.metadata.items()):
        if "search" in known and name in app.env.titles and name != "404":
            pages.append({"page": f"{name}.html", "title": app.env.titles[name].astext(), "entries": known["search"]})
    packed = zlib.compress(json.dumps(pages, ensure_ascii=False, separators=(",", ":")).encode(), 9)
    text = f'const searchIndex = "{base64.b64encode(packed).decode()}";\n'
    path = app.outdir / "_static" / "search-index.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def no_index_of_pages(app: Sphinx) -> None:
    """Sphinx's own index has pages without their sections; nothing here reads it."""
    app.builder.search = False  # type: ignore[attr-defined]  # a builder of HTML has it


def search_page(_app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    yield "search", {"title": "Search"}, "search.html"


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", no_index_of_pages)
    app.connect("doctree-read", collect, priority=950)  # after all folds
    app.connect("html-collect-pages", search_page)
    app.connect("build-finished", write_index)
