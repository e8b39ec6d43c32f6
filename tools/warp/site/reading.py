"""How a page is read: questions before their answers, and what matters before the rest.

`question`  a prediction; what follows it in its section, listings aside, is folded as its answer
`folded`    an answer, or a part of a rung's card that is closed at first

Both fold into <details>, which open without JavaScript. With it (docs/_static/predict.js) a question has a field, the
answer opens when it is given, and one switch opens all answers of a page.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from warp.site.figures import quoted
from warp.site.tree import has_class


class question(nodes.container):  # noqa: N801  docutils names its nodes so
    """A prediction."""


class folded(nodes.General, nodes.Element):  # noqa: N801
    """What a reader opens; `summary` is the line that is seen before."""


def is_listing(node: nodes.Node) -> bool:
    """The source stands in the open, with its line numbers: it is what a prediction is made from. A formula of the prose
    belongs to its answer."""
    is_numbered = isinstance(node, nodes.literal_block) and bool(node.get("linenos"))
    return is_numbered or has_class(node, "fold", "counted-listing")


def is_hidden(node: nodes.Node) -> bool:
    """Nodes without anything to see: folding them alone would make an empty answer."""
    return isinstance(node, (nodes.target, nodes.comment, nodes.Invisible)) and not node.astext().strip()


def stays_open(node: nodes.Node) -> bool:
    """A drawing is looked at without a click, and an exercise is no answer."""
    return isinstance(node, nodes.figure) or has_class(node, "live-place", "trains")


def is_card(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and has_class(node, "rung")


def fold_answers(_app: Sphinx, doctree: nodes.document) -> None:
    """Folds what follows each prediction up to the next heading or prediction: one answer, in the card of the first rung
    where there is one. The listing that the prediction is made from stays in the open, and so do drawings and exercises, behind the
    answer."""
    for section in list(doctree.findall(nodes.section)):
        questions: list[nodes.Node] = []
        following: list[nodes.Node] = []
        for child in [*section.children, None]:
            ends = child is None or isinstance(child, (question, nodes.section))
            if ends and following:
                _fold(section, questions, following)
                questions, following = [], []
            if child is None or isinstance(child, nodes.section):
                break
            if isinstance(child, question):
                questions.append(child)
            elif questions and not (is_hidden(child) and not following):
                following.append(child)


def _fold(section: nodes.section, questions: list[nodes.Node], following: list[nodes.Node]) -> None:
    """Puts what follows some questions into one fold; the answers themselves are its first lines."""
    while following and is_listing(following[0]):
        following.pop(0)
    open_ones = [node for node in following if stays_open(node)]
    rest = [node for node in following if not stays_open(node)]
    said = [one["said"] for one in questions if one["said"]]
    names = " ".join(one["name"] for one in questions)
    kernels = [node["ids"][0] for node in rest[1 if rest and is_card(rest[0]) else 0 :] if is_card(node)]
    summary = f"Answer, with {' and '.join(kernels)}" if kernels else "Answer"
    fold = folded(classes=["answer"], names_for=names, summary=summary)
    for text in said:
        fold += nodes.paragraph("", "", nodes.inline(text=text), classes=["said"])
    card = rest.pop(0) if rest and is_card(rest[0]) else None
    if card is not None:
        inside = [child for child in card.children if not _is_open(child)]
        card.insert(card.index(inside[0]) if inside else len(card), fold)
        for child in inside:
            card.remove(child)
            fold += child
    for node in rest:
        section.remove(node)
        fold += node
    if card is None and len(fold):
        at = section.index(open_ones[0]) if open_ones else section.index(questions[-1]) + 1
        while not open_ones and at < len(section) and (is_listing(section[at]) or is_hidden(section[at])):
            at += 1
        section.insert(at, fold)
    elif card is not None and not len(fold):
        card.remove(fold)


def _is_open(node: nodes.Node) -> bool:
    """Of a card before its answer is opened: its title and its contract."""
    is_contract = isinstance(node, folded) and node["summary"] == "Contract"
    return has_class(node, "rung-title") or isinstance(node, nodes.Invisible) or is_contract


def visit_question(self: Any, node: Any) -> None:
    self.body.append(
        f'<div class="prediction" id="{node["ids"][0]}" data-name="{node["name"]}" data-prediction="{quoted(node["data"])}">\n'
    )


def depart_question(self: Any, _node: Any) -> None:
    self.body.append("</div>\n")


def visit_folded(self: Any, node: Any) -> None:
    names = f' data-for="{node["names_for"]}"' if node["names_for"] else ""
    self.body.append(f'<details class="{" ".join(node["classes"])}"{names}><summary>{node["summary"]}</summary>\n')


def depart_folded(self: Any, _node: Any) -> None:
    self.body.append("</details>\n")


def setup(app: Sphinx) -> None:
    app.add_node(question, html=(visit_question, depart_question))
    app.add_node(folded, html=(visit_folded, depart_folded))
    app.connect("doctree-read", fold_answers, priority=900)  # after the panels' own anchors and links
    app.add_js_file("predict.js", loading_method="defer")
    app.add_css_file("predict.css")
