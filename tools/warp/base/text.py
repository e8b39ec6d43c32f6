"""Text files and numbers, as every report shows them."""

from __future__ import annotations


def read_source(path: str) -> list[str] | None:
    """Lines of a source file; None if it cannot be read (moved, or generated)."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().expandtabs(4).split("\n")
    except OSError:
        return None


def thousands(number: float) -> str:
    """12,345"""
    return f"{int(number):,}"
