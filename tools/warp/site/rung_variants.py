"""Which variants of a rung its card draws: those that differ in one parameter."""

from __future__ import annotations

import re

from warp.chapter.results import Results
from warp.site.figures.variants import Variants
from warp.site.key_figures import timed

MOST_COLUMNS, MOST_BARS = 8, 3  # that a card has room for
LONGEST_VALUE, MOST_LETTERS = 8, 18  # of a parameter, below a column; of words, beside a bar
ROLES = {"GFLOP/s": "computing", "GB/s": "loaded"}


def one_parameter(names: list[str]) -> tuple[str, list[str]] | None:
    """(`BK`, [`8`, `16`]) of names that differ in that alone; ("", the parts that differ) where it has no name."""
    parts = [re.split(r", ?", name) for name in names]
    if len({len(one) for one in parts}) != 1:
        return None
    differ = [at for at in range(len(parts[0])) if len({one[at] for one in parts}) > 1]
    if len(differ) != 1:
        return None
    own = [one[differ[0]] for one in parts]
    known = [re.fullmatch(r"(\w+)=(.+)", part) for part in own]
    parameters = {found[1] for found in known if found}
    if not all(known) or len(parameters) > 1:
        return "", own
    values = [found[2] for found in known if found]
    return ("" if max(map(len, values)) > LONGEST_VALUE else parameters.pop()), values


def variants_of(name: str, measured: Results | None) -> Variants | None:
    """The rates of a rung's variants, else their times; None where they differ in more than one parameter, are too many for a
    card, or were not timed."""
    rows = timed(name, measured)
    names = [row.variant for row in rows]
    differ = one_parameter(names) if len(rows) > 1 and len(set(names)) == len(names) else None
    if not differ:
        return None
    parameter, values = differ
    if len(values) > (MOST_COLUMNS if parameter else MOST_BARS) or max(map(len, values)) > MOST_LETTERS:
        return None
    units = {row.rate_unit if row.rate else None for row in rows}
    unit = units.pop() if len(units) == 1 else None
    if unit:
        return Variants(parameter, values, [row.rate or 0 for row in rows], unit, ROLES.get(unit, "computing"))
    return Variants(
        parameter, values, [row.time_ms.median for row in rows if row.time_ms], "ms", "computing", less_is_better=True
    )
