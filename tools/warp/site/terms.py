"""Terms: the first use on a chapter's page is a link to the glossary with the meaning beside it (terms.js), and the glossary
leads back to the chapters, has the letters at its top, and pictures where they help."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from warp.site import live
from warp.site.tree import has_class, nearest

# The terms that have a picture: what the live figure draws for a state, or for its first access.
PICTURES = {
    "bank conflict": "shared:float*1:float*2",
    "broadcast": "shared:float*0:float*1",
    "coalesced": "global:float*1:float*64",
    "sector": "global:float*1:float*1@1",
    "swizzle": "shared:float*32:float*32^",
    "float4": "global:float*1:float4*1",
}
MOST_CHAPTERS = 5  # that an entry names

# Where a word is no term: names, code, headings, and links to somewhere else.
OUTSIDE = (
    nodes.title,
    nodes.literal,
    nodes.reference,
    addnodes.pending_xref,
    addnodes.download_reference,
    nodes.literal_block,
    nodes.raw,
    nodes.rubric,
    nodes.table,
    nodes.caption,
)


def meanings(glossary: str) -> dict[str, str]:
    """Each term of the glossary's source with its meaning in one line."""
    body = re.search(r"^```\{glossary\}\n(.*?)^```", glossary, re.DOTALL | re.MULTILINE)
    found: dict[str, str] = {}
    for term, meaning in re.findall(r"^(\S[^\n]*)\n((?:  [^\n]*(?:\n|$))+)", body[1] if body else "", re.MULTILINE):
        if not term.startswith(":"):
            text = re.sub(r"\{\w+\}`([^`<]*?)(?:\s<[^`>]*>)?`", r"\1", " ".join(meaning.split()))
            found[term] = re.sub(r"[*`]", "", text)
    return found


def anchor(term: str) -> str:
    """The anchor that Sphinx gives a term."""
    return (
        "term-" + nodes.make_id(term)
        if nodes.make_id(term) == term
        else f"term-{re.sub(r'[^A-Za-z0-9_.-]+', '-', term).strip('-')}"
    )


def pattern(terms: list[str]) -> re.Pattern:
    """Any of the terms as a whole word, in singular or plural; longer ones first."""
    words = "|".join(re.escape(term) for term in sorted(terms, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])({words})(s|es)?(?![\w-])", re.IGNORECASE)


def load(app: Any) -> None:
    path = Path(app.srcdir) / "glossary.md"
    app.warp_terms = meanings(path.read_text(encoding="utf-8")) if path.exists() else {}


def link_terms(app: Any, doctree: nodes.document) -> None:
    """The first use of each term in the prose of a chapter leads to the glossary."""
    if not re.match(r"chapters/\d", app.env.docname) or not app.warp_terms:
        return
    app.env.note_dependency(str(Path(app.srcdir) / "glossary.md"))
    left = {term.lower(): term for term in app.warp_terms}
    note_sections(app, doctree)
    for reference in doctree.findall(
        lambda node: node.get("reftype") == "term" if isinstance(node, nodes.Element) else False
    ):
        left.pop(reference.get("reftarget", "").lower(), None)  # the author links it
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if not left:
            return
        if nearest(paragraph, nodes.table, nodes.caption) or has_class(paragraph, "rung-title"):
            continue
        if has_class(paragraph.parent, "question", "facts"):
            continue  # the head of the page
        for text in list(paragraph.findall(nodes.Text)):
            if not nearest(text, *OUTSIDE):
                _link(app, text, left)


def note_sections(app: Any, doctree: nodes.document) -> None:
    """Where the chapter speaks of each term: the section whose heading has it, else the first whose prose has it."""
    found: dict[str, tuple[bool, str]] = {}
    words = pattern(list(app.warp_terms))
    named = {term.lower(): term for term in app.warp_terms}
    for section in doctree.findall(nodes.section):
        for child in section.children:
            if not isinstance(child, (nodes.title, nodes.paragraph)) or not section["ids"]:
                continue
            heads = isinstance(child, nodes.title)
            for use in words.finditer(child.astext()):
                term = named[use[1].lower()]
                if heads > found.get(term, (-1, ""))[0]:
                    found[term] = (heads, "" if isinstance(section.parent, nodes.document) else section["ids"][0])
    app.env.metadata[app.env.docname]["terms"] = found


def uses_of(env: Any) -> list[tuple[str, dict[str, tuple[bool, str]]]]:
    """Where each page speaks of each term."""
    return sorted((name, known["terms"]) for name, known in env.metadata.items() if "terms" in known)


def glossary_again(_app: Sphinx, env: Any) -> list[str]:
    """The glossary is written again when a chapter speaks of its terms elsewhere."""
    uses = uses_of(env)
    if getattr(env, "warp_terms_written", None) == uses or "glossary" not in env.all_docs:
        return []
    env.warp_terms_written = uses
    return ["glossary"]


def complete_glossary(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Letters above the terms; below each where the chapters speak of it, and its picture."""
    if docname != "glossary":
        return
    letters: dict[str, str] = {}
    for item in doctree.findall(nodes.definition_list_item):
        terms = [term for term in item.findall(nodes.term) if term["ids"]]
        if not terms:
            continue
        name = terms[0].astext()
        letters.setdefault(name[0].upper(), terms[0]["ids"][0])
        meaning = next(iter(item.findall(nodes.definition)))
        if name in PICTURES:
            shown = live.still(PICTURES[name]).elements()
            meaning += nodes.raw("", f'<figure class="drawn">{shown}</figure>', format="html")
        where = [line for line in (chapters_of(app, term.astext()) for term in terms) if line]
        if where:
            meaning += where[0]
    line = nodes.paragraph(classes=["letters"])
    for letter in sorted(letters):
        line += [nodes.reference("", letter, refid=letters[letter], internal=True), nodes.Text(" ")]
    title = next(iter(doctree.findall(nodes.title)))
    title.parent.insert(title.parent.index(title) + 1, line)


def chapters_of(app: Sphinx, term: str) -> nodes.paragraph | None:
    """Links to the sections about a term: those with it in their heading if there are any, else the first that use it."""
    uses = [(doc, *of[term]) for doc, of in uses_of(app.env) if term in of]
    shown = [use for use in uses if use[1]] or uses[:1]
    if not shown:
        return None
    line = nodes.paragraph("", "Chapter " if len(shown) == 1 else "Chapters ", classes=["in-chapters"])
    for i, (doc, _, anchor_) in enumerate(shown[:MOST_CHAPTERS]):
        number = re.findall(r"chapters/(\d+)", doc)[0]
        uri = app.builder.get_relative_uri("glossary", doc) + (f"#{anchor_}" if anchor_ else "")
        line += [nodes.Text(", ") if i else nodes.Text(""), nodes.reference("", number, refuri=uri, internal=True)]
    return line


def _link(app: Any, text: nodes.Text, left: dict[str, str]) -> None:
    pieces, at = [], 0
    words = text.astext()
    # All terms are looked for, also those that have a link: "map" is not linked within "tensor map".
    for found in pattern(list(app.warp_terms)).finditer(words):
        term = left.pop(found[1].lower(), None)
        if term is None:
            continue
        uri = app.builder.get_relative_uri(app.env.docname, "glossary") + "#" + anchor(term)
        link = nodes.reference("", found[0], refuri=uri, internal=True, classes=["term"], reftitle=app.warp_terms[term])
        pieces += [nodes.Text(words[at : found.start()]), link]
        at = found.end()
    if pieces:
        text.parent.replace(text, [*pieces, nodes.Text(words[at:])])


def explain_terms(app: Any, doctree: nodes.document, _docname: str) -> None:
    """A link to the glossary that an author wrote has the meaning as its tooltip, too."""
    by_anchor = {anchor(term): meaning for term, meaning in app.warp_terms.items()}
    for link in doctree.findall(nodes.reference):
        meaning = by_anchor.get(link.get("refuri", "").partition("glossary.html#")[2])
        if meaning:
            link["reftitle"] = meaning
            link["classes"] = [*link.get("classes", []), "term"]


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", load)
    app.connect("doctree-read", link_terms, priority=940)
    app.connect("doctree-resolved", explain_terms)
    app.connect("doctree-resolved", complete_glossary)
    app.connect("env-updated", glossary_again)
    app.add_js_file("terms.js", loading_method="defer")
