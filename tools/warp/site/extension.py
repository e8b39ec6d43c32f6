"""The site's own Sphinx directives and roles. The role `rung` links to a panel, and so does every `name` in code type that is a rung
of its page."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from warp.base import needs, ui
from warp.chapter import results
from warp.explain import report, speed
from warp.site import (
    colours,
    doxygen,
    live_nodes,
    margin,
    markup,
    one_style,
    reading,
    rendering,
    search_index,
    source_parser,
    terms,
    valid_html,
)
from warp.site.tree import has_class, nearest
from warp.trace import trace


class RungRole(SphinxRole):
    """`name` on the same page, or `NN_chapter/name`."""

    def run(self) -> tuple[list[nodes.Node], list[Any]]:
        folder, _, name = self.text.rpartition("/")
        uri = f"#{name}"
        if folder:
            uri = self.env.app.builder.get_relative_uri(self.env.docname, f"chapters/{folder}") + uri
        link = nodes.reference("", "", refuri=uri, internal=True, classes=["rung-link"])
        link += nodes.literal(text=name)
        return [link], []


def drop_section_anchors(_app: Sphinx, doctree: nodes.document) -> None:
    """Breathe titles the parts of each class ("Public Members") with one and the same anchor: a page may have it once."""
    for title in doctree.findall(nodes.rubric):
        title["ids"] = [name for name in title["ids"] if not name.startswith("breathe-section-title")]


def drop_links_to_contracts(_app: Sphinx, doctree: nodes.document, _docname: str) -> None:
    """The name of a template parameter links to the function that has it; a rung's contract has no anchor (its
    panel has), so such a link would lead nowhere."""
    known = {name for node in doctree.findall(nodes.Element) for name in node.get("ids", [])}
    for link in list(doctree.findall(nodes.reference)):
        target = link.get("refid") or link.get("refuri", "").removeprefix("#")
        if target.startswith("_CPPv4") and target not in known:
            link.parent.replace(link, link.children)


def rungs_in_contents(app: Sphinx, doctree: nodes.document) -> None:
    """The rungs of a section stand below it in the page's contents."""
    toc = app.env.tocs.get(app.env.docname)
    if toc is None:
        return
    entries = {link.get("anchorname", ""): link.parent.parent for link in toc.findall(nodes.reference)}
    for panel in doctree.findall(reading.is_card):
        section = nearest(panel, nodes.section)
        if section is None:
            continue
        item = next((entries[f"#{name}"] for name in section["ids"] if f"#{name}" in entries), None)
        if item is None:
            continue
        name = panel["ids"][0]
        link = nodes.reference(
            "", "", nodes.literal(text=name), internal=True, refuri=app.env.docname, anchorname=f"#{name}"
        )
        below = next((child for child in item.children if isinstance(child, nodes.bullet_list)), None)
        if below is None:
            below = nodes.bullet_list()
            item += below
        below += nodes.list_item("", addnodes.compact_paragraph("", "", link))


def link_rung_names(app: Sphinx, doctree: nodes.document) -> None:
    """`add_guarded` in code type on its chapter's page is a link to its panel."""
    rungs = set(app.env.metadata[app.env.docname].get("rungs", "").split())
    if not rungs:
        return
    for literal in list(doctree.findall(nodes.literal)):
        name, parent = literal.astext(), literal.parent
        if name not in rungs or isinstance(parent, (nodes.title, nodes.reference)) or has_class(parent, "rung-title"):
            continue
        if any(has_class(up, "facts") for up in (parent, parent.parent)):
            continue  # an exercise of the same name
        panel = nearest(parent, nodes.container)
        while panel is not None and name not in panel["ids"]:
            panel = nearest(panel.parent, nodes.container)
        if panel is not None:
            continue  # its own panel
        link = nodes.reference("", "", refuri=f"#{name}", internal=True, classes=["rung-link"])
        parent.replace(literal, link)
        link += literal


class Header(SphinxDirective):
    """`{header} lab check.h`: the file's own words, then its entities as Breathe renders them."""

    required_arguments = 2
    option_spec = {"skip": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        project, name = self.arguments
        xml = Path(self.env.config.breathe_projects[project])
        skipped = self.options.get("skip", "").split()
        everything = doxygen.entities(xml)
        documented = [
            e
            for e in everything
            if e.file.name == name and e.documented and "detail" not in e.name.split("::") and e.name not in skipped
        ]
        classes = tuple(f"{e.name}::" for e in documented if e.kind in ("class", "struct"))
        documented = [e for e in documented if not e.name.startswith(classes)]  # Breathe shows these with their class
        if not any(e.file.name == name for e in everything):
            raise self.error(f"Doxygen extracted nothing from {name} of {project}")
        lines = [
            f'`#include "{project}/{name}"`' if project == "lab" else f"`#include <{project}/{name}>`",
            "",
            f":::{{doxygenfile}} {name}\n:project: {project}\n:sections: briefdescription detaileddescription\n:::",
            "",
        ]
        for entity in documented:
            lines += [doxygen.breathe_directive(entity, project, everything), ""]
        self.env.note_dependency(str(doxygen.stamp_of(xml)))
        return self.parse_text_to_nodes("\n".join(lines))


class Explained(SphinxDirective):
    """`{explained} 07_reductions histogram_global`: the end of what ./learn explain prints of a kernel, on the launch with the highest
    bound."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        folder, kernel = self.arguments
        path = Path(self.env.srcdir) / "_data" / f"{folder}.trace.json"
        if not path.exists():
            raise self.error(f"no trace of {folder} was recorded")
        self.env.note_dependency(str(path))
        launches = [one for one in trace.load(str(path)).launches if results.kernel_base(one.kernel) == kernel]
        if not launches:
            raise self.error(f"the trace of {folder} has no kernel {kernel}")
        alike = [dataclasses.replace(launch, findings=[], kernel=kernel) for launch in launches]
        (whole,) = trace.kernels_of(trace.Trace(alike))
        bound = speed.of_kernel(whole, speed.gpu_named(""))
        shown = trace.Trace([bound.launch]) if bound else trace.Trace([])
        found = re.search(
            r"^  At least .*\n(?:.+\n)*", report.render(shown, ui.Palette(False), width=112), re.MULTILINE
        )
        if not found:
            raise self.error(f"./learn explain knows no bound for {kernel}")
        return [rendering.literal(found[0].rstrip("\n"), "text", "output")]


class SourceFile(SphinxDirective):
    """A file that is compiled and tested, shown as it is."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = Path(self.config.warp_root) / self.arguments[0]
        self.env.note_dependency(str(path))
        if not path.is_file():
            raise self.error(f"there is no file {self.arguments[0]}")
        block = rendering.literal(path.read_text(encoding="utf-8").rstrip("\n"), "cuda")
        block["linenos"] = True
        return [block]


class Packages(SphinxDirective):
    """`{packages} simulator docs`: what these kinds of work need, from the runner's own table."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"command": lambda given: given or "apt-get"}  # the package manager

    def run(self) -> list[nodes.Node]:
        works = self.arguments[0].split()
        for work in works:
            if work not in needs.WORK:
                raise self.error(f"the runner knows no work '{work}'; it knows {', '.join(needs.WORK)}")
        self.env.note_dependency(needs.__file__)
        if "command" in self.options:
            manager = self.options["command"]
            if manager not in needs.MANAGERS:
                raise self.error(f"the runner knows no '{manager}'; it knows {', '.join(needs.MANAGERS)}")
            named = [need.elsewhere.get(manager, need.package) for work in works for need in needs.WORK[work]]
            command = needs.install_command(named, manager, sudo="sudo ")
            return [rendering.literal("$ " + command, "console")]
        seen, rows = set(), []
        for work in works:
            for need in needs.WORK[work]:
                if need.package in seen:
                    continue
                seen.add(need.package)
                rows.append([need.name, f"`{need.package}`", need.cost])
        return self.parse_text_to_nodes(markup.table(["what", "Debian package", "without it"], rows, "lll"))


def contract_signs(words: str) -> str:
    """`m x n` and `>=` in a contract, whose extents are parameters."""
    shown = re.sub(r"\b([a-z]) x (?=[a-z]\b)", r"\1 × ", markup.typeset(words))
    return shown.replace(" >= ", " ≥ ").replace(" <= ", " ≤ ")


def typeset_contracts(app: Sphinx, doctree: nodes.document) -> None:
    """Signs in a contract, as prose has them. Sphinx writes two hyphens between a parameter and what it is."""
    for content in doctree.findall(addnodes.desc_content):
        for text in list(content.findall(nodes.Text)):
            if isinstance(text.parent, (nodes.paragraph, nodes.emphasis, nodes.strong)):
                words = text.astext()
                shown = " – " if words == " -- " else contract_signs(words)
                if shown != words:
                    text.parent.replace(text, nodes.Text(shown))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("header", Header)
    app.add_directive("source", SourceFile)
    app.add_directive("explained", Explained)
    app.add_directive("packages", Packages)
    app.add_config_value("warp_root", "", "env")
    app.add_role("rung", RungRole())
    app.add_lexer("cuda", colours.Cuda)
    for part in (source_parser, reading, margin, live_nodes, terms, search_index, valid_html, one_style):
        part.setup(app)
    app.connect("doctree-read", drop_section_anchors)
    app.connect("doctree-read", link_rung_names)
    app.connect("doctree-read", rungs_in_contents, priority=600)  # after Sphinx has collected the headings
    app.connect("doctree-read", typeset_contracts)
    app.connect("doctree-resolved", drop_links_to_contracts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
