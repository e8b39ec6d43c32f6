"""Drawings in the page itself, so that they take its colours."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.environment import BuildEnvironment

from warp.site import live_nodes, margin
from warp.site.figures import Drawing, quoted

BESIDE = (300, 400, 500)  # pixels: as wide as drawings may be that have their captions beside them


def figure(env: BuildEnvironment, drawing: Drawing, caption: list[nodes.Node]) -> nodes.figure:
    """A drawing with its caption; two may stand for one, the second for narrow screens."""
    pieces = [with_files(env, drawing.elements())]
    # A small drawing has its caption beside it, in the room that prose leaves.
    room = next((room for room in BESIDE if drawn_width(drawing.svg) <= room), 0)
    beside = room and caption and not drawing.scene
    node = nodes.figure(classes=["drawn", "beside", f"beside-{room}"] if beside else ["drawn"])
    if drawing.scene:
        live_nodes.needs(env, "player", drawing.scene)
        told = quoted(json.dumps(drawing.data, separators=(",", ":"), ensure_ascii=False))
        pieces = [f'<div class="player" data-scene="{drawing.scene}" data-told="{told}">', *pieces, "</div>"]
    else:
        node["margin_height"] = margin.height_of(drawing.narrow or drawing.svg)
    pieces = covered(drawing, pieces)
    node += nodes.raw("", "".join(pieces), format="html")
    if caption:
        below = nodes.caption()
        for paragraph in caption:
            below += paragraph.children if isinstance(paragraph, nodes.paragraph) else [paragraph]
        node += below
    return node


def covered(drawing: Drawing, pieces: list[str]) -> list[str]:
    """With what docs/_static/predict.js puts in where a prediction is answered."""
    if not drawing.covered:
        return pieces
    told = quoted(json.dumps(drawing.covered, separators=(",", ":"), ensure_ascii=False))
    return [f'<div data-covered="{told}">', *pieces, "</div>"]


def in_card(drawing: Drawing) -> nodes.raw:
    """A drawing as a part of a rung's card, without a caption."""
    picture = f'<div class="drawing" role="img" aria-label="{quoted(drawing.alt)}">{drawing.svg}</div>'
    inside = "".join(covered(drawing, [picture]))
    return nodes.raw(
        "", f'<div class="variants" style="width: {drawn_width(drawing.svg):g}px">{inside}</div>', format="html"
    )


def with_files(env: BuildEnvironment, drawing: str) -> str:
    """The drawing with its photographs as files beside the page: a wide and a narrow drawing share them."""

    def file_of(found: re.Match) -> str:
        data = base64.b64decode(found[1])
        name = f"_images/{hashlib.sha256(data).hexdigest()[:16]}.png"
        path = Path(env.app.outdir) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return f'href="{"../" * env.docname.count("/")}{name}"'

    return re.sub(r'href="data:image/png;base64,([^"]*)"', file_of, drawing)


def drawn_width(svg: str) -> float:
    return float(re.findall(r'viewBox="0 0 ([\d.]+) ', svg)[0])
