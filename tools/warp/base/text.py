"""Text files and numbers, as every report shows them."""

from __future__ import annotations

from typing import TypeVar

Known = TypeVar("Known")


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


def there(value: Known | None) -> Known:
    """A value that is known to be there, as a pipe that was asked for, or the match of a text that was matched before."""
    assert value is not None
    return value
