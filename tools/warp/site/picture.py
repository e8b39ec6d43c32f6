"""./learn author picture: docs/ladder.svg, the picture of the README, from the recorded results: the landing page's staircase."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from warp.chapter import results, source
from warp.site import chapter_drawings
from warp.site.blocks import Figure

ROOT = Path(__file__).resolve().parents[3]
PICTURE = ROOT / "docs" / "ladder.svg"
# The names of the drawings' colours in furo, and furo's own values for those that docs/conf.py leaves as they are.
COLOURS = {
    "foreground": ("color-foreground-primary", "#000000", "#cfd0d0"),
    "muted": ("color-foreground-muted", "", ""),
    "line": ("color-background-border", "#dcdcdc", "#303335"),
    "accent": ("color-brand-primary", "", ""),
    "soft": ("warp-soft", "", ""),
    "second": ("warp-second", "", ""),
    "ground": ("color-background-primary", "#ffffff", ""),
}


def colours(shade: str, standard: int) -> str:
    """The declarations of one shade: light or dark."""
    own = runpy.run_path(str(ROOT / "docs" / "conf.py"))["html_theme_options"][f"{shade}_css_variables"]
    return " ".join(f"--draw-{name}: {own.get(row[0]) or row[standard]};" for name, row in COLOURS.items())


def picture(root: Path = ROOT) -> str:
    """The SVG, with its words for who cannot see it."""
    recorded = []
    for main in source.find_chapters(root / "chapters"):
        measured = list(results.load_recorded(main.parent / "results").values())
        recorded.append((source.parse_chapter(main, source.other_files(main)), measured[0] if measured else None))
    (figure,) = chapter_drawings.stairs(chapter_drawings.story(recorded))
    assert isinstance(figure, Figure)
    drawn = figure.drawing
    style = f"svg {{ {colours('light', 1)} }}\n"
    style += f"@media (prefers-color-scheme: dark) {{ svg {{ {colours('dark', 2)} }} }}\n"
    style += "text { font-family: 'Source Sans 3', 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif }\n"
    style += ".mono { font-family: 'JetBrains Mono', Menlo, Consolas, 'Liberation Mono', monospace }\n"
    _, _, width, height = re.findall(r'viewBox="([\d. ]+)"', drawn.svg)[0].split()
    head = f"<title>{drawn.alt}</title>\n<style>\n{style}</style>\n"
    head += f'<rect x="-12" y="-8" width="{float(width) + 24:g}" height="{float(height) + 16:g}" fill="var(--draw-ground)"/>\n'
    # A picture has no links.
    text = re.sub(r"</?a\b[^>]*>", "", drawn.svg).replace(">", ">\n" + head, 1).replace("><", ">\n<")
    text = re.sub(r'viewBox="[\d. ]+"', f'viewBox="-12 -8 {float(width) + 24:g} {float(height) + 16:g}"', text, count=1)
    return re.sub(r' style="[^"]*"', f' width="{width}"', text, count=1) + "\n"


def main(_words: list[str]) -> int:
    PICTURE.write_text(picture(), encoding="utf-8")
    return 0
