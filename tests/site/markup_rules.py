"""Rules of HTML and ARIA that a page can be read for without a browser. `faults(html)` says what breaks them."""

import html.parser
import re

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
INTERACTIVE = {"a", "button", "select", "textarea", "summary", "label"}
NAMED = {"a", "button", "summary"}  # what is activated needs words
BLOCK_IN_P = {
    "div",
    "p",
    "ul",
    "ol",
    "dl",
    "table",
    "pre",
    "section",
    "figure",
    "details",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "form",
    "fieldset",
}
LANDMARKS = {"nav": "navigation", "aside": "complementary", "main": "main"}


class Node:
    """An element with its attributes and children; text stands among the children."""

    def __init__(self, tag, attributes, parent, line):
        self.tag, self.attributes, self.parent, self.line = tag, attributes, parent, line
        self.children = []

    def elements(self):
        """All elements below it."""
        for child in self.children:
            if isinstance(child, Node):
                yield child
                yield from child.elements()

    def own_text(self):
        return "".join(child for child in self.children if isinstance(child, str))

    def words(self):
        """All that is read of it and of what is below."""
        shown = (child if isinstance(child, str) else child.words() for child in self.children)
        return "" if self.tag in ("script", "style") else "".join(shown)

    def above(self):
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def name(self):
        """Its words for who cannot see it."""
        if self.attributes.get("aria-label", "").strip():
            return self.attributes["aria-label"]
        if self.tag == "img":
            return self.attributes.get("alt", "")
        words = "".join(
            child if isinstance(child, str) else child.name()
            for child in self.children
            if isinstance(child, str) or child.attributes.get("aria-hidden") != "true"
        ).strip()
        return words or self.attributes.get("title", "").strip()


class Tree(html.parser.HTMLParser):
    """The elements of a page, and what is wrong with its tags."""

    def __init__(self, text):
        super().__init__()
        self.root = self.at = Node("", {}, None, 0)
        self.wrong = []
        self.feed(text)
        self.close()
        for node in [self.at, *self.at.above()]:
            if node.tag:
                self.wrong.append(f"line {node.line}: <{node.tag}> is not closed")

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        line = self.getpos()[0]
        self.wrong += [f"line {line}: <{tag}> has {name} twice" for name in set(names) if names.count(name) > 1]
        if tag in BLOCK_IN_P and any(node.tag == "p" for node in [self.at, *self.at.above()]):
            self.wrong.append(f"line {line}: <{tag}> inside a <p>")
        node = Node(tag, {name: value or "" for name, value in attributes}, self.at, line)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.at = self.at.parent

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if self.at.tag != tag:
            self.wrong.append(f"line {self.getpos()[0]}: </{tag}> closes <{self.at.tag or 'nothing'}>")
            if not any(node.tag == tag for node in self.at.above()):
                return
            while self.at.tag != tag:
                self.at = self.at.parent
        self.at = self.at.parent or self.root

    def handle_data(self, data):
        self.at.children.append(data)


def faults(text):
    """What a page does that HTML or ARIA forbids, each with its line."""
    tree = Tree(text)
    elements = list(tree.root.elements())
    found = list(tree.wrong)
    ids = {}

    def say(node, words):
        found.append(f"line {node.line}: {words}")

    for node in elements:
        a = node.attributes
        if "id" in a:
            if a["id"] in ids:
                say(node, f"the id {a['id']} stands twice")
            ids[a["id"]] = node
            if not a["id"] or re.search(r"\s", a["id"]):
                say(node, f"the id '{a['id']}' is no id")
            in_svg = any(up.tag == "svg" for up in [node, *node.above()])
            if in_svg and not re.match(r"[A-Za-z_][\w.-]*$", a["id"]):
                say(node, f"the id {a['id']} in an SVG is no name in XML")
    labelled = {node.attributes["for"] for node in elements if node.tag == "label" and "for" in node.attributes}
    for node in elements:
        a, role = node.attributes, node.attributes.get("role", "")
        for attribute in ("for", "aria-labelledby", "aria-describedby", "aria-controls"):
            for target in a.get(attribute, "").split():
                if target not in ids:
                    say(node, f"{attribute} names {target}, which is not there")
        if node.tag == "use" and a.get("href", "").startswith("#") and a["href"][1:] not in ids:
            say(node, f"<use> shows {a['href']}, which is not there")
        if node.tag == "th" and not node.name():
            say(node, "a heading cell without words")
        if node.tag in NAMED and ("href" in a or node.tag != "a") and not node.name():
            say(node, f"<{node.tag}> without words")
        # The logo stands beside the course's name, so it needs no words; all others do.
        if node.tag == "img" and ("alt" not in a or not (node.name().strip() or "sidebar-logo" in a.get("class", ""))):
            say(node, "<img> without words")
        if node.tag in ("input", "select", "textarea") and a.get("type") not in ("hidden", "submit", "button"):
            inside = any(up.tag == "label" for up in node.above())
            if not (inside or a.get("aria-label") or a.get("id") in labelled):
                say(node, f"<{node.tag}> without a label")
        if role in ("switch", "checkbox", "radio") and "aria-checked" not in a:
            say(node, f"role {role} without aria-checked")
        if role == "heading" and "aria-level" not in a:
            say(node, "role heading without aria-level")
        if role == "img" and not node.name():
            say(node, "role img without words")
        if node.tag == "dl":
            kinds = [child.tag for child in node.children if isinstance(child, Node)]
            if any(kind not in ("dt", "dd", "div", "script", "template") for kind in kinds):
                say(node, "<dl> holds something else than terms and their descriptions")
            if not kinds or (kinds[0] not in ("dt", "div")) or kinds[-1] == "dt":
                say(node, "<dl> without a term and its description")
        if node.tag in ("ul", "ol"):
            others = [child.tag for child in node.children if isinstance(child, Node) and child.tag != "li"]
            if others and not role:
                say(node, f"<{node.tag}> holds <{others[0]}>")
        if node.tag in INTERACTIVE or "tabindex" in a:
            outer = next(
                (
                    up
                    for up in node.above()
                    if up.tag in ("a", "button", "summary") or up.attributes.get("role") == "img"
                ),
                None,
            )
            if outer is not None:
                say(node, f"<{node.tag}> inside <{outer.tag}>: something to activate in something else that is")
        if node.tag == "summary" and (node.parent is None or node.parent.tag != "details"):
            say(node, "<summary> outside <details>")
    for tag, role in LANDMARKS.items():
        same = [node for node in elements if node.tag == tag or node.attributes.get("role") == role]
        names = [node.attributes.get("aria-label", "") for node in same]
        if len(same) > 1 and (len(set(names)) < len(names) or "" in names):
            say(same[1], f"several landmarks of the kind {role} without names that tell them apart")
    root = next((node for node in elements if node.tag == "html"), None)
    if root is None or not root.attributes.get("lang"):
        found.append("line 1: <html> without lang")
    titles = [node for node in elements if node.tag == "title" and not any(up.tag == "svg" for up in node.above())]
    if len(titles) != 1 or not titles[0].name():
        found.append("line 1: no <title>, or several")
    headings = [node for node in elements if re.fullmatch(r"h[1-6]", node.tag)]
    if [node.tag for node in headings].count("h1") != 1:
        found.append("line 1: not exactly one <h1>")
    for before, after in zip(headings, headings[1:]):
        if int(after.tag[1]) > int(before.tag[1]) + 1:
            say(after, f"<{after.tag}> behind <{before.tag}>: a level is left out")
    return found
