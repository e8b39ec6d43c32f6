"""A chapter's results, put together size by size, and what of an earlier recording is still good."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SAME = ("chapter", "device", "driver", "toolkit", "commit")


def size_of(row: dict[str, Any]) -> str:
    """The size of a row as a command line spells it: 16384,10007."""
    return ",".join(str(extent) for extent in row.get("size", {}).values())


def read(file: Path) -> dict[str, Any] | None:
    """Results that a program wrote, or None."""
    try:
        return json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def same_code(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether both results are of the same committed code on the same machine."""
    committed = one.get("commit", "unknown") != "unknown" and not one["commit"].endswith("-dirty")
    return committed and all(one.get(name) == other.get(name) for name in SAME)


def joined(earlier: dict[str, Any], found: dict[str, Any], order: list[str]) -> dict[str, Any]:
    """What `found` holds of some sizes, with what `earlier` holds of others; the sizes in the `order` given."""
    new = {size_of(row) for row in found["rows"]}
    rows = [row for row in earlier["rows"] if size_of(row) not in new] + found["rows"]
    places = {size: place for place, size in enumerate(order)}
    rows.sort(key=lambda row: places.get(size_of(row), len(places)))  # stable: rungs stay in their order
    return {**found, "limits": {**found.get("limits", {}), **earlier.get("limits", {})}, "rows": rows}
