"""The variables of the environment that simulated programs read, as the simulator's own table tells them."""

from __future__ import annotations

import re
from pathlib import Path

from warp.site.blocks import Block, Table

HEADER = Path(__file__).resolve().parents[3] / "common" / "simt" / "base" / "settings_table.h"
ENTRY = re.compile(r'\{"(\w+)", "(\w+)",\s*((?:"[^"]*"\s*)+)\}')


def read(header: str) -> list[tuple[str, str, str]]:
    """(variable, value, effect) of each entry of base/settings_table.h."""
    entries = [
        (name, value, "".join(re.findall(r'"([^"]*)"', effect))) for name, value, effect in ENTRY.findall(header)
    ]
    if len(entries) != len(re.findall(r"SIMT_\w+\",", header)):
        raise ValueError("base/settings_table.h has an entry that is not {variable, value, effect}")
    return entries


def table() -> list[Block]:
    """The table for the page of the simulator."""
    entries = read(HEADER.read_text(encoding="utf-8"))
    return [
        Table(["variable", "what it does"], [[f"`{name}={value}`", effect] for name, value, effect in entries], "ll")
    ]
