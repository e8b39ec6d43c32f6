"""The live figure: what one access of a warp costs, two states side by side.

`{live} NAME` stands for it. docs/_static/access.js makes it live, by the simulator's own rules (docs/rules); without
JavaScript it is the drawing of its first state. Standard library only; live_nodes.py has the directive. A state is written as in the page's address:
`shared:float*32:float*32+1` are two reads of shared memory, a stride of 32 floats apart, the second one with rows that have
one more. `^` swizzles, `@1` begins one element later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import figures
import markup
from stage import BuildError

from warp.chapter import maps

# What a reader can choose: the words on the button, and the state.
EXAMPLES = {
    "strides": ("A stride of 2 or 3", "shared:float*2:float*3"),
    "even": ("A stride of 4 or 6", "shared:float*4:float*6"),
    "broadcast": ("One word for all, or neighbours", "shared:float*0:float*1"),
    "column": ("A column: no padding, or one word", "shared:float*32:float*32+1"),
    "swizzle": ("Padded or swizzled", "shared:float*32+1:float*32^"),
    "tree_steps": ("sums[2 * s * t] of s = 1 or 4", "shared:float*2:float*8"),
    "tree_orders": ("sums[2 * s * t] of s = 4, or sums[t]", "shared:float*8:float*1"),
    "one_or_many": ("s[5] or s[lane]", "shared:float*0:float*1"),
    "one_more": ("s[32 * lane] or s[33 * lane]", "shared:float*32:float*33"),
    "float2": ("float2: neighbours, or every other", "shared:float2*1:float2*2"),
    "wide": ("float or float4", "shared:float*1:float4*1"),
    "float4": ("float4: neighbours, or every other", "shared:float4*1:float4*2"),
    "rows": ("A row or a column", "global:float*1:float*64"),
    "offset": ("Aligned, or one element off", "global:float*1:float*1@1"),
    "apart": ("A stride of 2 or 4", "global:float*2:float*4"),
    "wide_global": ("float or float4", "global:float*1:float4*1"),
    "second_or_32nd": ("x[2 * lane] or x[32 * lane]", "global:float*2:float*32"),
    "eighth_or_third": ("in[8 * lane] or in[3 * lane]", "global:float*8:float*3"),
    "third_float": ("in[lane], or from the third float on", "global:float*1:float*1@3"),
    "structs": ("Structs of three floats, or three arrays", "global:float*3:float*1"),
}

# Where a chapter has one: its rung, in whose section it stands behind the first paragraph, and its examples. They answer no
# prediction that is still to come: sliders may.
PLACES = {
    "05_bank_conflicts": [("strided_reads", ("strides", "even", "broadcast", "wide"))],
    "06_transpose": [("copy_strided", ("apart", "wide_global")), ("swizzled", ("swizzle", "column", "strides"))],
}

# What the scenes of the player take from others.
BESIDE = {
    "tiles": ("rules.js", "access.js", "scene_sm.js"),
    "lookback": ("timeline.js",),
    "ring": ("timeline.js",),
}


def files_of(scene: str) -> tuple[str, ...]:
    """The scripts of a figure that docs/_static/player.js plays, in their order, behind the player's own."""
    return (*BESIDE.get(scene, ()), f"scene_{scene}.js")


# Exercises that ask for counts, and what answers them beside the explanation.
ANSWERS = {
    "count_sectors": ("offset", "second_or_32nd"),
    "six_patterns": ("one_or_many", "strides", "one_more"),
    "wide_loads": ("float2", "float4"),
    "sectors_of_a_stride": ("apart", "eighth_or_third", "third_float", "wide_global"),
}

ELEMENTS = {"float": 4, "float2": 8, "float4": 16}


@dataclass
class Access:
    """One access of a warp: lane i's element is i * (stride + pad) + first, or swizzled within its row."""

    element: str
    stride: int
    pad: int = 0
    swizzled: bool = False
    first: int = 0

    def addresses(self) -> list[int]:
        return [
            ELEMENTS[self.element]
            * (lane * (self.stride + self.pad) + (lane & (self.stride - 1) if self.swizzled else 0) + self.first)
            for lane in range(32)
        ]

    def words(self, space: str) -> str:
        """As the source has it."""
        behind = f" + {self.first}" if self.first else ""
        if space == "global":
            return f"in[lane{f' * {self.stride}' if self.stride != 1 else ''}{behind}]"
        if self.pad or self.swizzled or self.stride == 32:
            row = f"{self.stride} + {self.pad}" if self.pad else f"{self.stride}"
            return f"tile[lane][{'0 ^ lane' if self.swizzled else '0'}] of {self.element} tile[32][{row}]"
        return f"words[lane{f' * {self.stride}' if self.stride != 1 else ''}] of {self.element}"

    def example(self, space: str) -> dict:
        """As a trace has it."""
        size = ELEMENTS[self.element]
        phase = {4: 32, 8: 16, 16: 8}[size]
        return {"space": space, "access": "load", "size": size, "phase_lanes": phase, "addresses": self.addresses()}


def parse(state: str) -> tuple[str, list[Access]]:
    """The memory and the two accesses of a state."""
    space, *parts = state.split(":")
    found = [re.fullmatch(r"(float[24]?)\*(\d+)(?:\+(\d+))?(\^)?(?:@(\d+))?", part) for part in parts]
    if space not in ("shared", "global") or len(found) != 2 or not all(found):
        raise ValueError(f"'{state}' is no state: it has to be like shared:float*32:float*32+1")
    return space, [Access(m[1], int(m[2]), int(m[3] or 0), bool(m[4]), int(m[5] or 0)) for m in found if m]


def still(state: str) -> figures.Drawing:
    """The two accesses as a drawing."""
    space, accesses = parse(state)
    draw = figures.bank_map if space == "shared" else figures.word_map
    return draw([(access.words(space), maps.of_example(access.example(space))) for access in accesses])


def directive(name: str, examples: tuple[str, ...]) -> str:
    return markup.fence("", f"{{live}} {name}", [f":examples: {' '.join(examples)}", ""])


def answer(exercise: str) -> str:
    """The figure on the page of an exercise's solution; "" of one that does not ask for such counts."""
    return directive("access-answer", ANSWERS[exercise]) if exercise in ANSWERS else ""


def placed(page: str, folder: str) -> str:
    """The page of a chapter with its live figures: each behind the first paragraph of the section that its rung is in,
    and behind the list that the paragraph begins."""
    for rung, examples in PLACES.get(folder, ()):
        panel = page.find(f"::::::{{rung}} {rung}\n")
        if panel < 0:
            raise BuildError(f"docs/_ext/live.py: a live figure stands at rung {rung}, which {folder} does not have")
        heading = page.rindex("\n## ", 0, panel)
        at = page.index("\n\n", page.index("\n\n", heading) + 2)
        while page[at - 1] == ":":  # of a list or a listing
            at = page.index("\n\n", at + 2)
        page = f"{page[:at]}\n\n{directive(f'access-{rung}', examples)}{page[at:]}"
    return page
