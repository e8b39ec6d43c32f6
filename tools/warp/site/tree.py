"""Questions to the tree of a page."""

from __future__ import annotations

from docutils import nodes


def has_class(node: nodes.Node | None, *classes: str) -> bool:
    """Whether it has one of these classes."""
    return isinstance(node, nodes.Element) and not set(classes).isdisjoint(node.get("classes", ()))


def nearest(node: nodes.Node | None, *kinds: type) -> nodes.Node | None:
    """The node, or the nearest one around it, that is of one of these kinds."""
    while node is not None and not isinstance(node, kinds):
        node = node.parent
    return node
