"""The simulator's tables: the variables of the environment that programs read, and what is counted."""

from __future__ import annotations

import re
from pathlib import Path

from warp.base.counts import BY_NAME
from warp.site import doxygen
from warp.site.blocks import Block, Table
from warp.site.markup import escape

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


def counts(xml: Path) -> list[Block]:
    """Every count, what it is (from counts.h, whose `xml` Doxygen made) and the hardware counter that it equals."""
    rows = []
    for name, words in doxygen.members(xml, "simt::Counts"):
        counters = " plus ".join(f"`{metric}`" for metric in BY_NAME[name].counters) or "–"
        rows.append([f"`{name}`", escape(words.rstrip(".")), counters])
    return [Table(["count", "what", "Nsight Compute"], rows, "lll")]
