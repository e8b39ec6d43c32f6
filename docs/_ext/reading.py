"""How a page is read: questions before their answers, and what a first reading may skip.

`prediction`      a question; what follows it in its section, listings aside, is folded as its answer
`second-reading`  stands under a heading: the rest of its section is folded

Both fold into <details>, which open without JavaScript. With it (docs/_static/predict.js) a question has a field, the
answer opens when it is given, and one switch opens all answers of a page.
"""

from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


class question(nodes.container):  # noqa: N801  docutils names its nodes so
    """A prediction."""


class folded(nodes.General, nodes.Element):  # noqa: N801
    """What a reader opens; `summary` is the line that is seen before."""


class second_reading(nodes.General, nodes.Element):  # noqa: N801
    """Stands right under the heading of a section that a first reader may skip."""


class Prediction(SphinxDirective):
    """`{prediction} name`: its content is the question; the options say what the run answers."""

    required_arguments = 1
    has_content = True
    option_spec = dict.fromkeys(("data", "said"), directives.unchanged)

    def run(self):
        name = self.arguments[0]
        node = question(
            classes=["prediction"], name=name, data=self.options.get("data", ""), said=self.options.get("said", "")
        )
        node["ids"].append(f"predict-{name}")
        self.state.document.note_explicit_target(node)
        node += self.parse_content_to_nodes()
        return [node]


class SecondReading(SphinxDirective):
    def run(self):
        return [second_reading()]


def is_listing(node: nodes.Node) -> bool:
    """The source stands in the open, with its line numbers: it is what a prediction is made from. A formula of the prose
    belongs to its answer."""
    classes = node.get("classes", []) if isinstance(node, nodes.Element) else []
    return (isinstance(node, nodes.literal_block) and bool(node.get("linenos"))) or bool(
        {"fold", "counted-listing"} & set(classes)
    )


def is_hidden(node: nodes.Node) -> bool:
    """Nodes without anything to see: folding them alone would make an empty answer."""
    return isinstance(node, (nodes.target, nodes.comment, nodes.Invisible)) and not node.astext().strip()


def fold_answers(_app, doctree):
    """Folds what follows each prediction up to the next heading or prediction."""
    for section in list(doctree.findall(nodes.section)):
        names, said, run = [], [], []
        explained = False
        for child in list(section.children):
            if isinstance(child, question):
                if explained:
                    _fold(section, run, names, said)
                    names, said, run, explained = [], [], [], False
                names.append(child["name"])
                said += [child["said"]] if child["said"] else []
            elif isinstance(child, nodes.section):
                break
            elif names and is_listing(child):
                _fold(section, run, names, said)
                said, run = ([], []) if run else (said, run)
                explained = True
            elif names and isinstance(child, nodes.container) and "rung" in child.get("classes", []):
                _fold(section, run, names, said)
                said, run = ([], []) if run else (said, run)
                explained = True
                said = _fold_panel(child, names, said)
            elif names and not is_hidden(child):
                run.append(child)
                explained = True
        _fold(section, run, names, said)


def _fold(parent, run, names, said):
    """Puts a run of neighbours into one fold; the answers themselves are its first lines."""
    if not run:
        return
    fold = folded(classes=["answer"], names_for=" ".join(names), summary="Answer" if said else "Answer, continued")
    parent.insert(parent.index(run[0]), fold)
    for text in said:
        fold += nodes.paragraph("", "", nodes.inline(text=text), classes=["said"])
    for node in run:
        parent.remove(node)
        fold += node


def _fold_panel(panel, names, said):
    """A rung's panel keeps its title and its contract; its counts and times are answers."""
    results = [child for child in panel.children if not _is_contract(child)]
    if results:
        _fold(panel, results, names, said)
        return []
    return said


def _is_contract(node):
    classes = node.get("classes", [])
    return (
        "rung-title" in classes
        or "cpp" in classes
        or isinstance(node, nodes.Invisible)
        or type(node).__name__ in ("desc", "index")
    )


def fold_second_readings(_app, doctree):
    """Folds the rest of each section that is marked."""
    for mark in list(doctree.findall(second_reading)):
        section = mark.parent
        following = section.children[section.index(mark) + 1 :]
        fold = folded(classes=["second-reading"], names_for="", summary="For a second reading")
        section.replace(mark, fold)
        for node in following:
            section.remove(node)
            fold += node


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def visit_question(self, node):
    self.body.append(
        f'<div class="prediction" id="{node["ids"][0]}" data-name="{node["name"]}" data-prediction="{_escaped(node["data"])}">\n'
    )


def depart_question(self, _node):
    self.body.append("</div>\n")


def visit_folded(self, node):
    names = f' data-for="{node["names_for"]}"' if node["names_for"] else ""
    self.body.append(f'<details class="{" ".join(node["classes"])}"{names}><summary>{node["summary"]}</summary>\n')


def depart_folded(self, _node):
    self.body.append("</details>\n")


def setup(app):
    app.add_node(question, html=(visit_question, depart_question))
    app.add_node(folded, html=(visit_folded, depart_folded))
    app.add_node(second_reading, html=(lambda *_: None, lambda *_: None))
    app.add_directive("prediction", Prediction)
    app.add_directive("second-reading", SecondReading)
    app.connect("doctree-read", fold_answers, priority=900)  # after the panels' own anchors and links
    app.connect("doctree-read", fold_second_readings, priority=901)
    app.add_js_file("predict.js", loading_method="defer")
    app.add_css_file("predict.css")
