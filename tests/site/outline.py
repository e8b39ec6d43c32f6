"""The blocks of a page as text, for tests that look for words, cells and the order of things."""

from warp.site import blocks
from warp.site.blocks import every


def outline(page):
    """A line or several for each block of a page, or of a list of blocks: prose as it stands, of others what a reader sees."""
    return "\n\n".join(map(line, every(page.blocks if isinstance(page, blocks.Page) else page))) + "\n"


def line(block):
    kind = type(block).__name__.lower()
    if isinstance(block, blocks.Text):
        return block.text
    if isinstance(block, blocks.Table):
        return "\n".join("| " + " | ".join(cells) + " |" for cells in (block.head, *block.rows))
    if isinstance(block, blocks.Listing):
        return f"{{listing}} {block.code.line}\n" + "\n".join(block.code.lines)
    if isinstance(block, blocks.Output):
        return f"{{output}} {block.classes}\n{block.text}"
    if isinstance(block, (blocks.Box, blocks.Ask)):
        return f"{{{kind}}} {getattr(block, 'classes', '')}"
    if isinstance(block, (blocks.Fold, blocks.Tab)):
        return f"{{{kind}}} {block.title}"
    if isinstance(block, blocks.Contract):
        return f"{{contract}} {block.signature}"
    if isinstance(block, blocks.Elsewhere):
        return f"{{elsewhere}} {block.name}\n{block.page}"
    if isinstance(block, blocks.Rubric):
        return f"{{rubric}} {block.text}"
    return f"{{{kind}}} {block.name}"
