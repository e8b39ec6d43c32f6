"""How many blocks fit on an SM: what they take of its threads, registers and shared memory."""

from __future__ import annotations

from warp.machinecode import occupancy
from warp.site.figures.drawing import FOREGROUND, LINE, MUTED, Drawing, rect, svg, text
from warp.site.figures.roles import fill, legend

SM = "sm_90"


def resident(threads: int, registers: int, shared_kib: int) -> Drawing:
    """Blocks of so many threads, with so many registers a thread and so much shared memory, on an SM of an H200."""
    limits = occupancy.LIMITS["90"]
    held = occupancy.occupancy(SM, threads, registers, 1024 * shared_kib)
    assert held is not None  # the table has this architecture
    warps = -(-threads // occupancy.WARP)
    taken = occupancy.up(1024 * shared_kib + limits.reserved, limits.unit)
    of_warp = occupancy.up(registers * occupancy.WARP, occupancy.REGISTER_UNIT)
    parts = [
        ("threads", 32 * limits.warps, 32 * warps, 1, ""),
        ("registers", occupancy.REGISTERS, of_warp * warps, 1, ""),
        ("shared memory", limits.shared, taken, 1024, " KiB"),
    ]

    def draw(wide: float) -> str:
        shapes, y = [], 0.0
        for name, has, takes, unit, of in parts:
            weight = ' font-weight="700"' if name == held.by else ""
            used = (
                f"{held.blocks * takes / unit:,.4g} of {has / unit:,.4g}{of}"
                if unit > 1
                else f"{held.blocks * takes:,} of {has:,}"
            )
            shapes += [
                text(0, y + 14, name, 13, FOREGROUND, more=weight),
                text(wide, y + 14, used, 12, MUTED, "end"),
                rect(0, y + 20, wide, 24, fill("idle"), f' stroke="{LINE}"'),
            ]
            for block in range(held.blocks):
                long = takes * wide / has
                shapes.append(rect(block * long + 1, y + 21, long - 1.5, 22, fill("computing")))
            y += 58
        below, tall = legend(0, y, wide, {"computing": "taken by a block", "idle": "left"})
        return svg([*shapes, *below], wide, y + tall)

    alt = (
        f"An SM of an H200 with blocks of {threads} threads, {registers} registers a thread and {shared_kib} KiB of shared "
        f"memory: {held.blocks} fit, {held.share:.0%} of its warps. "
        + " ".join(f"Of the {name} a block takes {takes:,} of {has:,}." for name, has, takes, _, _ in parts)
        + f" The {held.by} are used up first."
    )
    data = {
        "threads": threads,
        "registers": registers,
        "shared": shared_kib,
        "limits": limits._asdict(),
        "kind": "The rules of allocation of an H200 (compute capability 9.0).",
    }
    return Drawing(draw(560), alt, draw(340), scene="sm", data=data)
