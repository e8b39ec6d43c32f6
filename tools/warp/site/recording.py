"""What ./learn watch says while an exercise is mended, as a recording for the landing page: docs/recordings/watch.json, which
record_watch.py makes. One frame after the other where motion is welcome, all of them where it is not. No JavaScript."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from warp.site.blocks import Block, Html

COLOURS = {"31;1": "bad", "31": "bad", "32;1": "good", "32": "good", "36": "code", "1": "name", "2": "dim"}


def coloured(line: str) -> str:
    """A line of a terminal as HTML."""
    text = html.escape(line, quote=False)
    return re.sub(
        r"\x1b\[([\d;]+)m(.*?)\x1b\[0m",
        lambda found: f'<b class="{COLOURS[found[1]]}">{found[2]}</b>',
        text,
        flags=re.DOTALL,
    )


def watch(root: Path) -> list[Block]:
    """The recording, if there is one."""
    path = root / "docs" / "recordings" / "watch.json"
    if not path.exists():
        return []
    recorded = json.loads(path.read_text(encoding="utf-8"))
    frames = []
    for number, frame in enumerate(recorded["frames"], 1):
        edit = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(frame["edit"], quote=False))
        says = "\n".join(coloured(line) for line in frame["says"])
        frames.append(f"<li><p>{number}. {edit}</p><pre>{says}</pre></li>")
    text = "\n".join(
        [
            '<div class="recording" role="group" aria-label="A recording of ./learn watch">',
            f'<p class="typed"><code>$ ./learn watch {html.escape(recorded["exercise"])}</code>'
            '<label><input type="checkbox"> all at once</label></p>',
            f"<ol>{''.join(frames)}</ol></div>",
        ]
    )
    return [Html(text)]
