"""Drawings beside the prose that they belong to, in the room that its lines leave on a wide screen.

A line of prose is 66 to 75 letters long, a listing 100: beside prose a third of the page is free. A drawing that is no wider than a
phone's goes there where the paragraphs around it are at least nearly as high as itself; it then stands before them.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes

WIDTH = 328  # pixels, as docs/_static/warp.css gives a drawing in the margin
LETTERS, LINE, GAP = 66, 24, 8  # of prose: letters a line, pixels a line, pixels between paragraphs
CAPTION_LETTERS, CAPTION_LINE = 48, 19
TALLEST = 460  # pixels: what is higher is looked at, not glanced at
ENOUGH = 0.85  # of a drawing's height that has to be prose


def height_of(drawing: Path) -> float:
    """How high a drawing is in the margin."""
    wide, high = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawing.read_text(encoding="utf-8")).groups())
    return high * WIDTH / wide if wide >= WIDTH else high


def prose_height(node: nodes.Node) -> float:
    """About how high a paragraph or a list is; 0 for what is no prose."""
    if isinstance(node, nodes.paragraph):
        return LINE * -(-len(node.astext()) // LETTERS) + GAP
    if isinstance(node, (nodes.bullet_list, nodes.enumerated_list)):
        return sum(prose_height(child) for item in node.children for child in item.children)
    return 0


def into_margin(_app, doctree):
    for figure in list(doctree.findall(nodes.figure)):
        parent, high = figure.parent, figure.get("margin_height", 0)
        if not isinstance(parent, nodes.section) or isinstance(parent.parent, nodes.document) or not high:
            continue  # a page's own picture, at its top, is large
        words = sum(len(child.astext()) for child in figure.children if isinstance(child, nodes.caption))
        high += CAPTION_LINE * -(-words // CAPTION_LETTERS) + 16
        at = parent.index(figure)
        beside, first = 0.0, at
        for node in parent.children[at + 1 :]:
            if not prose_height(node):
                break
            beside += prose_height(node)
        while beside < high and first > 0 and prose_height(parent[first - 1]):
            first -= 1
            beside += prose_height(parent[first])
        if high <= TALLEST and beside >= ENOUGH * high:
            parent.remove(figure)
            parent.insert(first, figure)
            figure["classes"].append("in-margin")


def setup(app):
    app.connect("doctree-read", into_margin, priority=902)  # after the answers are folded
