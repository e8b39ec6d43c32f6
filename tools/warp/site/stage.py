"""The folder that Sphinx reads: what a build puts there, and what it leaves as it is. Standard library only."""

from __future__ import annotations

from pathlib import Path

from warp.base.errors import LearnError
from warp.site.blocks import Page


class BuildError(LearnError):
    """What stops the build, in one line, or with a tool's own lines below it."""


def write(path: Path, text: str) -> None:
    """Writes a file unless it says the same already: Sphinx then leaves its page alone."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class Stage:
    """The folder that Sphinx reads: the pages of docs/ and those made here."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.kept: set[Path] = set()
        self.pages: dict[str, Page] = {}  # that are read from a source, by name

    def write(self, name: str, text: str) -> None:
        write(self.folder / name, text)
        self.kept.add(self.folder / name)

    def page(self, name: str, page: Page) -> None:
        """A page that is read from its source."""
        self.write(f"{name}.cu", page.source.read_text(encoding="utf-8"))
        self.pages[name] = page

    def sweep(self) -> None:
        """Removes what an earlier build left and this one did not write."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_file() and path not in self.kept:
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()
