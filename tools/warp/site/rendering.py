"""Makes docutils' nodes of a page's blocks: prose by MyST, under the lines of its source, all else directly."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from functools import singledispatchmethod
from typing import Any

from docutils import nodes
from myst_parser.mdit_to_docutils.sphinx_ import SphinxRenderer
from myst_parser.warnings_ import create_warning
from sphinx.directives.code import container_wrapper
from sphinx.util.docutils import SphinxDirective
from sphinx_design.shared import create_component

from warp.site import live_nodes, margin, pictures, reading
from warp.site.blocks import (
    Ask,
    Block,
    Box,
    Card,
    Contract,
    Elsewhere,
    Figure,
    Fold,
    Html,
    Listing,
    Live,
    Output,
    Page,
    Question,
    Rubric,
    Tab,
    Table,
    Text,
)

ALIGNED = {"l": "text-left", "r": "text-right", "c": "text-center"}


class Renderer(SphinxRenderer):
    """MyST's renderer, whose warnings name what it reads: a source, not the page."""

    def create_warning(
        self,
        message: str,
        subtype: Any,
        *,
        wtype: str | None = None,
        line: int | None = None,
        append_to: nodes.Element | None = None,
    ) -> nodes.system_message | None:
        place = nodes.Element()
        place.source, place.line = self.document["source"], line
        return create_warning(self.document, message, subtype, wtype=wtype, node=place, append_to=append_to)


class Blocks:
    """Puts blocks where a renderer is; `source` is where what no source has is said to stand."""

    def __init__(self, myst: SphinxRenderer, source: str):
        self.myst, self.source = myst, source
        self.document, self.env = myst.document, myst.sphinx_env

    def page(self, page: Page) -> None:
        """A whole page."""
        self.myst._render_initialise()
        if page.is_beside:
            self.env.metadata[self.env.docname]["orphan"] = True
        self.env.temp_data["warp_page"] = page
        if page.space:
            self.directive("cpp:namespace", page.space)
        self.put(page.blocks)
        self.myst._render_finalise()

    def put(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self.document["source"] = self.source
            self.block(block)

    def box(self, node: nodes.Element, blocks: Iterable[Block]) -> None:
        """Puts a node that holds blocks onto the page."""
        with self.myst.current_node_context(node, append=True):
            self.put(blocks)

    def directive(self, name: str, argument: str, options: Sequence[str] = ()) -> None:
        """What a directive of an extension makes."""
        self.myst.current_node += self.myst.run_directive(name, argument, "\n".join(options), 1)

    def inline(self, text: str) -> list[nodes.Node]:
        """Markdown within a line."""
        holder = nodes.Element()
        with self.myst.current_node_context(holder):
            self.myst.nested_render_text(text, 0, inline=True)
        return holder.children

    @singledispatchmethod
    def block(self, block: Block) -> None:
        raise TypeError(block)

    @block.register
    def _(self, block: Text) -> None:
        self.document["source"] = str(block.source or self.source)
        self.env.temp_data["warp_links"] = dict(block.links)
        tokens = self.myst.md.parse(block.text + "\n", self.myst.md_env)
        rows = block.rows or (1,)
        for token in tokens:
            if token.map:
                first, last = (rows[min(line, len(rows) - 1)] for line in (token.map[0], token.map[1] - 1))
                token.map = [first - 1, last]
        self.myst._heading_offset = -block.raised
        self.myst._render_tokens(tokens)
        self.myst._heading_offset = 0

    @block.register
    def _(self, block: Listing) -> None:
        text = "\n".join(block.code.lines)
        listing = literal(text, "cuda")
        listing["linenos"], listing["highlight_args"] = True, {"linenostart": block.code.line}
        if block.told is None:
            self.myst.current_node += listing
            return
        node = live_nodes.counted(classes=["counted-listing"], told=block.told, names_for="")
        node += listing
        self.myst.current_node += node
        if block.told.has_counts():
            live_nodes.needs(self.env, "counted")

    @block.register
    def _(self, block: Output) -> None:
        self.myst.current_node += literal(block.text, block.language, block.classes)

    @block.register
    def _(self, block: Table) -> None:
        columns = len(block.head)
        table = nodes.table(classes=["colwidths-auto"])
        group = nodes.tgroup(cols=columns)
        table += group
        group += [nodes.colspec(colwidth=100 // columns) for _ in range(columns)]
        for part, rows in ((nodes.thead(), [block.head]), (nodes.tbody(), block.rows)):
            for cells in rows:
                row = nodes.row()
                for cell, align in zip(cells, block.align):
                    row += nodes.entry("", nodes.paragraph("", "", *self.inline(cell)), classes=[ALIGNED[align]])
                part += row
            if rows:
                group += part
        self.myst.current_node += table

    @block.register
    def _(self, block: Box) -> None:
        kind = create_component("div") if block.is_plain else nodes.container()
        kind["classes"] += block.classes.split()
        self.box(kind, block.blocks)

    @block.register
    def _(self, block: Html) -> None:
        self.myst.current_node += nodes.raw("", block.text, format="html")

    @block.register
    def _(self, block: Rubric) -> None:
        self.myst.current_node += nodes.rubric(block.text, "", *self.inline(block.text), classes=block.classes.split())

    @block.register
    def _(self, block: Fold) -> None:
        node = create_component(
            "dropdown",
            opened=block.is_open,
            type="dropdown",
            has_title=True,
            icon=None,
            chevron=None,
            container_classes=["sd-mb-3", *block.classes.split()],
            title_classes=[],
            body_classes=[],
        )
        node += nodes.rubric(block.title, "", *self.inline(block.title))
        self.box(node, block.blocks)

    @block.register
    def _(self, block: Tab) -> None:
        self.box(reading.folded(classes=["tab"], names_for="", summary=block.title), block.blocks)

    @block.register
    def _(self, block: Card) -> None:
        card = nodes.container(classes=["rung"])
        self.anchor(card, block.name)
        title = nodes.paragraph(classes=["rung-title"])
        title += nodes.literal(text=block.name)
        idea = self.inline(block.idea)
        if idea:
            title += nodes.inline("", "", *idea, classes=["idea"])
        title += nodes.reference("", "#", refuri=f"#{block.name}", classes=["headerlink"], reftitle="Link to this rung")
        card += title
        if block.numbers:
            card += key_figures(block.numbers)
        if block.chart:
            card += pictures.in_card(block.chart)
        self.box(card, block.blocks)
        self.myst.current_node += margin.numbers(block.beside)

    @block.register
    def _(self, block: Elsewhere) -> None:
        place = nodes.container(classes=["rung-elsewhere"])
        self.anchor(place, block.name)
        uri = self.env.app.builder.get_relative_uri(self.env.docname, block.page)
        line = nodes.paragraph(
            "", "", nodes.reference("", "", nodes.literal(text=block.name), refuri=f"{uri}#{block.name}")
        )
        line += nodes.inline("", " ", *self.inline(block.idea), classes=["idea"])
        place += line
        self.myst.current_node += place

    def anchor(self, node: nodes.Element, rung: str) -> None:
        node["ids"].append(rung)
        self.document.note_explicit_target(node)
        known = self.env.metadata[self.env.docname]
        known["rungs"] = f"{known.get('rungs', '')} {rung}"

    @block.register
    def _(self, block: Question) -> None:
        said = json.dumps(block.known, ensure_ascii=False)
        node = reading.question(classes=["prediction"], name=block.name, data=said, said=block.said)
        node["ids"].append(f"predict-{block.name}")
        self.document.note_explicit_target(node)
        self.box(node, [block.text])

    @block.register
    def _(self, block: Figure) -> None:
        self.myst.current_node += self.figure(block)

    def figure(self, block: Figure) -> nodes.figure:
        caption = nodes.Element()
        if block.caption:
            with self.myst.current_node_context(caption):
                self.myst.nested_render_text(block.caption, 0)
        return pictures.figure(self.env, block.drawing, caption.children)

    @block.register
    def _(self, block: Contract) -> None:
        self.directive("doxygenfunction", block.signature, [f":project: {block.project}", ":no-link:"])

    @block.register
    def _(self, block: Live) -> None:
        self.myst.current_node += live_nodes.live_figure(self.env, self.document, block.name, block.examples)

    @block.register
    def _(self, block: Ask) -> None:
        self.myst.current_node += live_nodes.fields(self.env, block.exercise)


def literal(text: str, language: str, classes: str = "") -> nodes.literal_block:
    return nodes.literal_block(text, text, language=language, classes=classes.split(), force=False, highlight_args={})


def key_figures(numbers: list[list[str]]) -> nodes.container:
    """The numbers of a card: what it was before, what it is, of what."""
    box = nodes.container(classes=["numbers"])
    for before, value, of_what in numbers:
        line = nodes.paragraph(classes=["figure-of-rung"])
        if before:
            line += nodes.inline(text=f"{before} → ", classes=["before"])
        line += nodes.strong(text=value)
        line += nodes.inline(text=f" {of_what}")
        box += line
    return box


class OfAPage(SphinxDirective):
    """A fence in the prose of a chapter."""

    @property
    def page(self) -> Page:
        page = self.env.temp_data.get("warp_page")
        if page is None:
            raise self.error(f"{{{self.name}}} stands in a chapter's source alone")
        return page


class OwnDrawing(OfAPage):
    """`{drawing} NAME`: what the chapter's figures.py draws."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in self.page.drawings:
            raise self.error(f"figures.py draws no '{name}' for the prose")
        figure = self.page.drawings[name]
        return [pictures.figure(self.env, figure.drawing, self.parse_text_to_nodes(figure.caption))]


class MachineCode(OfAPage):
    """`{sass} KERNEL OPTIONS` or `{ptx} ...`: an excerpt of machine code with what it is of and what compiled it. It stands in a
    container: unlike a kernel, it may be the answer to a prediction, and is folded with it. The first of each of the chapter's
    own kernels has a link that opens the kernel in Compiler Explorer."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    WORDS = {"in": "its inner loop", "only": "only {}", "from": "from {} on", "control": "with its control codes"}

    def run(self) -> list[nodes.Node]:
        name, *options = shlex.split(self.arguments[0])
        pairs = [option.split("=", 1) for option in options]
        which = [self.WORDS[key].format(value.replace(",", ", ")) for key, value in pairs if key in self.WORDS]
        said = f"{self.name.upper()} of `{name}`{': ' if which else ''}{', '.join(which)} ({self.page.compiled})"
        box = nodes.container(classes=["machine-code"])
        box += container_wrapper(self, literal("\n".join(self.content), "text"), said)
        link = self.env.temp_data["warp_links"].pop(name, "") if self.name == "sass" else ""
        if link:
            box += self.parse_text_to_nodes(f"[`{name}` in Compiler Explorer]({link})")
        return [box]
