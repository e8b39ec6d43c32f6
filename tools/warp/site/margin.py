"""What stands beside prose, in the room that its lines leave on a wide screen: drawings, a rung's numbers, meanings of terms.

A line of prose is 66 to 75 letters long, a listing 100: beside prose a third of the page is free. A drawing that is no wider than a
phone's goes there where the paragraphs around it are at least nearly as high as itself; it then stands before them. Numbers and
terms are notes: a narrow screen hides them, as a card and the glossary say the same, and one that finds no room is not made.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

from warp.site.reading import folded
from warp.site.tree import has_class

WIDTH = 328  # pixels, as docs/_static/warp.css gives a drawing in the margin
LETTERS, LINE, GAP = 66, 24, 8  # of prose: letters a line, pixels a line, pixels between paragraphs
CAPTION_LETTERS, CAPTION_LINE = 48, 19
TALLEST = 460  # pixels: what is higher is looked at, not glanced at
ENOUGH = 0.85  # of a drawing's height that has to be prose


def height_of(svg: str) -> float:
    """How high a drawing is in the margin."""
    (size,) = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    wide, high = map(float, size)
    return high * WIDTH / wide if wide >= WIDTH else high


def prose_height(node: nodes.Node) -> float:
    """About how high a paragraph or a list is; 0 for what is no prose."""
    if isinstance(node, nodes.paragraph):
        return LINE * -(-len(node.astext()) // LETTERS) + GAP
    if isinstance(node, (nodes.bullet_list, nodes.enumerated_list)):
        return sum(prose_height(child) for item in node.children for child in item.children)
    return 0


def into_margin(_app: Sphinx, doctree: nodes.document) -> None:
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


NOTE_LETTERS, NOTE_LINE = 44, 18  # of a note: letters a line, pixels a line
LONGEST_NOTE = 190  # letters: what is longer is read in the glossary


def numbers(figures: list[list[str]]) -> list[nodes.container]:
    """The note with the numbers of a rung, if there are any."""
    if not figures:
        return []
    note = nodes.container(classes=["margin-note", "margin-numbers"])
    for value, of_what in figures:
        note += nodes.paragraph("", "", nodes.strong(text=value), nodes.inline(text=f" {of_what}"))
    return [note]


def is_note(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and has_class(node, "margin-note")


def runs_of(parent: nodes.Element) -> list[list[nodes.Node]]:
    """Prose without anything between, with the notes and drawings that stand beside it."""
    runs: list[list[nodes.Node]] = [[]]
    for child in parent.children:
        if prose_height(child) or is_note(child) or has_class(child, "in-margin"):
            runs[-1].append(child)
        elif not isinstance(child, nodes.Invisible):
            runs.append([])
    return [run for run in runs if run]


def place_notes(_app: Sphinx, doctree: nodes.document) -> None:
    """Numbers stay where the prose behind them is as high as they are; where nothing stands beside a run of prose, the first of
    its terms that finds room does."""
    for note in [node for node in doctree.findall(nodes.container) if is_note(node)]:
        (run,) = [run for run in runs_of(note.parent) if note in run]
        behind = sum(prose_height(node) for node in run[run.index(note) + 1 :])
        alone = not any(has_class(node, "in-margin") for node in run)
        if not alone or behind < 2 * (NOTE_LINE + 12):
            note.parent.remove(note)
    said: set[str] = set()
    answers = [fold for fold in doctree.findall(folded) if "answer" in fold["classes"]]
    for parent in [*doctree.findall(nodes.section), *answers]:
        for run in runs_of(parent):
            if all(prose_height(node) for node in run):
                _explain(parent, run, said)


def _explain(parent: nodes.Element, run: list[nodes.Node], said: set[str]) -> None:
    """The meaning of the first term of a run of prose that has room beside it."""
    for at, paragraph in enumerate(run):
        room = sum(prose_height(node) for node in run[at:])
        for link in paragraph.findall(nodes.reference) if isinstance(paragraph, nodes.paragraph) else ():
            meaning = link.get("reftitle", "")
            term = link.astext()
            letters = len(term) + 2 + len(meaning)
            high = NOTE_LINE * -(-letters // NOTE_LETTERS) + 12
            if "term" not in link["classes"] or meaning in said or letters > LONGEST_NOTE or room < high:
                continue
            said.add(meaning)
            words = nodes.paragraph("", "", nodes.strong(text=term), nodes.inline(text=f": {meaning}"))
            parent.insert(parent.index(paragraph), nodes.container("", words, classes=["margin-note", "margin-term"]))
            return


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", into_margin, priority=902)  # after the answers are folded
    app.connect("doctree-read", place_notes, priority=960)  # after terms have links, and search has read the page
