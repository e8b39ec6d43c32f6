"""Links from the chapters to the glossary: the first use of each of its terms on a page, with the meaning as a tooltip."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

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


def load(app):
    path = Path(app.srcdir) / "glossary.md"
    app.warp_terms = meanings(path.read_text(encoding="utf-8")) if path.exists() else {}


def link_terms(app, doctree):
    """The first use of each term in the prose of a chapter leads to the glossary."""
    if not re.match(r"chapters/\d", app.env.docname) or not app.warp_terms:
        return
    app.env.note_dependency(str(Path(app.srcdir) / "glossary.md"))
    left = {term.lower(): term for term in app.warp_terms}
    for reference in doctree.findall(
        lambda node: node.get("reftype") == "term" if isinstance(node, nodes.Element) else False
    ):
        left.pop(reference.get("reftarget", "").lower(), None)  # the author links it
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if not left:
            return
        if _inside(paragraph, (nodes.table, nodes.caption)) or "rung-title" in paragraph.get("classes", []):
            continue
        if {"question", "facts"} & set(paragraph.parent.get("classes", [])):
            continue  # the head of the page
        for text in list(paragraph.findall(nodes.Text)):
            if not _inside(text, OUTSIDE):
                _link(app, text, left)


def _inside(node, kinds) -> bool:
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False


def _link(app, text, left) -> None:
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


def explain_terms(app, doctree, _docname):
    """A link to the glossary that an author wrote has the meaning as its tooltip, too."""
    by_anchor = {anchor(term): meaning for term, meaning in app.warp_terms.items()}
    for link in doctree.findall(nodes.reference):
        meaning = by_anchor.get(link.get("refuri", "").partition("glossary.html#")[2])
        if meaning:
            link["reftitle"] = meaning
            link["classes"] = [*link.get("classes", []), "term"]


def setup(app):
    app.connect("builder-inited", load)
    app.connect("doctree-read", link_terms, priority=940)
    app.connect("doctree-resolved", explain_terms)
