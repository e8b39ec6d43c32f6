"""The live figure: what one access of a warp costs, two states side by side.

`{live} NAME` stands for it. docs/_static/access.js makes it live, by the simulator's own rules (rules.py); without
JavaScript it is the drawing of its first state. Standard library only; live_nodes.py has the directive. A state is written as in the page's address:
`shared:float*32:float*32+1` are two reads of shared memory, a stride of 32 floats apart, the second one with rows that have
one more. `^` swizzles, `@1` begins one element later. `float[lane*3]` has an index of its own, `float[lane][0]+1` a place in a
tile of 32 x 32, and a store ends in `=`.
"""

from __future__ import annotations

import ast
import html
import math
import operator
import re
from dataclasses import dataclass, replace
from urllib.parse import quote

from warp.chapter import maps
from warp.site import figures
from warp.site.blocks import Ask, Block, Card, Html, Listing, Live, Page, Text, every
from warp.site.stage import BuildError

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
    "own_index": ("An index of your own", "shared:float[lane*5%32]:float[lane>>1]"),
    "tile": ("A tile's column: none, pad or swizzle", "shared:float[lane][0]:float[lane][0]^"),
    "stores": ("Stores of a row and of a column", "shared:float[0][lane]=:float[lane][0]="),
}

# Lines of the chapters: what they show, the state, and where its two accesses stand, or both: chapter/rung: line.
LINES: list[tuple[str, str, list[str]]] = [
    (
        "A matrix along its rows, and along its columns",
        "global:float*1:float[lane*200]",
        [
            "01_thread_indexing/copy_x_fastest: if (row < rows && col < cols) out[row * cols + col] = in[row * cols + col];",
            "01_thread_indexing/copy_y_fastest: if (row < rows && col < cols) out[row * cols + col] = in[row * cols + col];",
        ],
    ),
    (
        "Rows in, columns out: the load and the store of a transpose",
        "global:float*1:float[lane*96]=",
        ["06_transpose/naive_rows: out[std::size_t{col} * rows + row] = in[std::size_t{row} * cols + col];"],
    ),
    (
        "A tile's column, plain and padded",
        "shared:float[lane][0]:float[lane][0]+1",
        ["06_transpose/tiled: out[std::size_t{col0 + i} * rows + row0 + x] = tile[x][i];"],
    ),
    (
        "A swizzled tile: a row is stored, a column is read",
        "shared:float[0][lane]^=:float[lane][0]^",
        [
            "06_transpose/swizzled: tile[i][x ^ i] = in[std::size_t{row0 + i} * cols + col0 + x];",
            "06_transpose/swizzled: out[std::size_t{col0 + i} * rows + row0 + x] = tile[x][i ^ x];",
        ],
    ),
    (
        "Structs of three floats, and three arrays",
        "global:float*3:float*1",
        [
            "06_transpose/points_aos: const float x = in[3 * p], y = in[3 * p + 1], z = in[3 * p + 2];",
            "06_transpose/points_soa: const float x = in[p], y = in[points + p], z = in[2 * points + p];",
        ],
    ),
    (
        "A tree of neighbours, and a tree of halves",
        "shared:float*2:float*1",
        [
            "07_reductions/interleaved_strided: if (left < blockDim.x) sums[left] += sums[left + s];",
            "07_reductions/sequential: if (t < s) sums[t] += sums[t + s];",
        ],
    ),
    (
        "A tile of A stored transposed, and with padded rows",
        "shared:float[lane%2*512+lane/2]=:float[lane%2*528+lane/2]=",
        ["05_bank_conflicts/: tile[k][row] = four.x;"],
    ),
]

# Where a chapter has one: its rung, in whose section it stands behind the first paragraph, and its examples. They answer no
# prediction that is still to come: sliders may.
PLACES: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "05_bank_conflicts": [("strided_reads", ("strides", "even", "broadcast", "wide"))],
    "06_transpose": [("copy_strided", ("apart", "wide_global")), ("swizzled", ("swizzle", "column", "strides"))],
}

# What the scenes of the player take from others.
BESIDE = {"tiles": ("rules.js", "access.js", "scene_sm.js"), "lookback": ("timeline.js",), "ring": ("timeline.js",)}


def files_of(scene: str) -> tuple[str, ...]:
    """The scripts of a figure that docs/_static/player.js plays, in their order, behind the player's own."""
    return (*BESIDE.get(scene, ()), f"scene_{scene}.js")


# Exercises that ask for counts, and what answers them beside the explanation.
ANSWERS: dict[str, tuple[str, ...]] = {
    "count_sectors": ("offset", "second_or_32nd"),
    "six_patterns": ("one_or_many", "strides", "one_more"),
    "wide_loads": ("float2", "float4"),
    "sectors_of_a_stride": ("apart", "eighth_or_third", "third_float", "wide_global"),
}

# What these exercises ask, in the order of their constants: a name that the page shows, and the access.
ASKED = {
    "count_sectors": [
        ("neighbours", "global:float[lane]"),
        ("shifted", "global:float[lane + 1]"),
        ("every_second", "global:float[2 * lane]"),
        ("every_32nd", "global:float[32 * lane]"),
        ("backwards", "global:float[31 - lane]"),
        ("all_the_same", "global:float[7]"),
    ],
    "six_patterns": [
        ("Same", "shared:float[5]"),
        ("Neighbours", "shared:float[lane]"),
        ("Stride2", "shared:float[2 * lane]"),
        ("Stride32", "shared:float[32 * lane]"),
        ("Stride33", "shared:float[33 * lane]"),
        ("RowsOf8", "shared:float[lane / 8 * 32 + lane % 8]"),
    ],
    "wide_loads": [
        ("Neighbours", "shared:float2[lane]"),
        ("EverySecond", "shared:float2[2 * lane]"),
        ("Mixed", "shared:float2[lane * (1 + lane / 16)]"),
        ("Neighbours", "shared:float4[lane]"),
        ("EverySecond", "shared:float4[2 * lane]"),
    ],
    "sectors_of_a_stride": [
        ("kEverySecond", "global:float[2 * lane]"),
        ("kEveryEighth", "global:float[8 * lane]"),
        ("kColumn", "global:float[1000 * lane]"),
        ("kFromTheThird", "global:float[2 + lane]"),
        ("kDoubles", "global:double[lane]"),
        ("kEveryThird", "global:float[3 * lane]"),
        ("kFloat4", "global:float4[lane]"),
    ],
}

ELEMENTS = {"float": 4, "double": 8, "float2": 8, "float4": 16}


_MEANS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),  # as C rounds
    ast.Mod: lambda a, b: int(math.fmod(a, b)),
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


def index_of(expression: str) -> list[int]:
    """The lanes' indices by an expression of `lane`; docs/_static/lane_index.js reads the same."""

    def value(node: ast.expr, lane: int) -> int:
        if isinstance(node, ast.BinOp) and type(node.op) in _MEANS:
            return _MEANS[type(node.op)](value(node.left, lane), value(node.right, lane))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand, lane)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name) and node.id in ("lane", "tid", "t", "i"):
            return lane
        raise ValueError(f"'{expression}' is no index of lane")

    tree = ast.parse(expression.replace("threadIdx.x", "lane"), mode="eval").body
    return [value(tree, lane) for lane in range(32)]


@dataclass
class Access:
    """One access of a warp: lane i's element is i * (stride + pad) + first, or swizzled within its row. With an index it is that,
    and with a column, too, it lies in a tile of 32 x 32."""

    element: str
    stride: int = 1
    pad: int = 0
    swizzled: bool = False
    first: int = 0
    index: str = ""
    column: str = ""
    store: bool = False

    def addresses(self) -> list[int]:
        at = [
            lane * (self.stride + self.pad) + (lane & (self.stride - 1) if self.swizzled else 0) + self.first
            for lane in range(32)
        ]
        if self.column:
            places = zip(index_of(self.index), index_of(self.column))
            at = [row * (32 + self.pad) + (row ^ column if self.swizzled else column) for row, column in places]
        elif self.index:
            at = index_of(self.index)
        return [ELEMENTS[self.element] * place for place in at]

    def words(self, space: str) -> str:
        """As the source has it."""
        behind = f" + {self.first}" if self.first else ""
        stored = " = …" if self.store else ""
        array = "words" if space == "shared" else "out" if self.store else "in"
        of = f" of {self.element}" if space == "shared" else ""
        if self.column:
            column = f"{self.column} ^ {self.index}" if self.swizzled else self.column
            return f"tile[{self.index}][{column}]{stored}{of} tile[32][32{f' + {self.pad}' if self.pad else ''}]"
        if self.index:
            return f"{array}[{self.index}]{stored}{of}"
        if space == "shared" and (self.pad or self.swizzled or self.stride == 32):
            row = f"{self.stride} + {self.pad}" if self.pad else f"{self.stride}"
            return f"tile[lane][{'0 ^ lane' if self.swizzled else '0'}]{stored}{of} tile[32][{row}]"
        step = f"lane{f' * {self.stride}' if self.stride != 1 else ''}"
        return f"{array}[{step}{behind if space == 'global' else ''}]{stored}{of}"

    def example(self, space: str) -> dict:
        """As a trace has it."""
        size = ELEMENTS[self.element]
        phase = {4: 32, 8: 16, 16: 8}[size]
        access = "store" if self.store else "load"
        return {"space": space, "access": access, "size": size, "phase_lanes": phase, "addresses": self.addresses()}


PART = re.compile(
    r"(float[24]?|double)(?:\*(\d+)(?:\+(\d+))?(\^)?(?:@(\d+))?|\[([^\][]*)\](?:\[([^\][]*)\](?:\+(\d+)|(\^))?)?)(=)?"
)


def parse(state: str) -> tuple[str, list[Access]]:
    """The memory and the two accesses of a state."""
    space, *parts = state.replace(" ", "").split(":")
    found = [PART.fullmatch(part) for part in parts]
    if space not in ("shared", "global") or len(found) != 2 or not all(found):
        raise ValueError(f"'{state}' is no state: it has to be like shared:float*32:float*32+1")
    return space, [
        Access(
            m[1],
            int(m[2] or 1),
            int(m[3] or m[8] or 0),
            bool(m[4] or m[9]),
            int(m[5] or 0),
            m[6] or "",
            m[7] or "",
            bool(m[10]),
        )
        for m in found
        if m
    ]


def still(state: str) -> figures.Drawing:
    """The two accesses as a drawing."""
    space, accesses = parse(state)
    draw = figures.bank_map if space == "shared" else figures.word_map
    return draw([(access.words(space), maps.of_example(access.example(space)) or maps.Map("")) for access in accesses])


def answer(exercise: str) -> list[Block]:
    """The figure on the page of an exercise's solution, if it asks for such counts."""
    return [Live("access-answer", ANSWERS[exercise])] if exercise in ANSWERS else []


def ask(exercise: str) -> list[Block]:
    """The fields on the page of an exercise, if it asks for such counts."""
    return [Ask(exercise)] if exercise in ASKED else []


def place(road: list[Block], folder: str) -> None:
    """Puts the live figures of a chapter onto its page: each behind the first paragraph of the section that its rung is in,
    and behind the list that the paragraph begins."""
    for rung, examples in PLACES.get(folder, ()):
        card = next((at for at, one in enumerate(road) if isinstance(one, Card) and one.name == rung), None)
        if card is None:
            raise BuildError(
                f"tools/warp/site/live.py: a live figure stands at rung {rung}, which {folder} does not have"
            )
        at = max(i for i, one in enumerate(road[:card]) if isinstance(one, Text) and one.text.startswith("## "))
        section = road[at]
        assert isinstance(section, Text)
        lines = section.text.split("\n")
        ends = [i for i, line in enumerate(lines) if not line][1:]
        end = next((i for i in ends if not lines[i - 1].endswith(":")), len(lines))  # of a list or a listing
        first, rest = (
            replace(section, text="\n".join(lines[begin:to]), rows=section.rows[begin:to])
            for begin, to in ((0, end), (end + 1, len(lines)))
        )
        road[at : at + 1] = [first, Live(f"access-{rung}", examples), *([rest] if rest.text else [])]


@dataclass
class Line:
    """A line of a chapter whose access a state shows."""

    chapter: str  # its number
    number: int
    page: str  # with its anchor


def lines_of(folder: str, source: str, pages: dict[str, Page], trace: dict) -> dict[str, Line]:
    """Where the lines of LINES are that a chapter has. BuildError unless the simulator saw the access that is said of each."""
    found: dict[str, Line] = {}
    for _, state, places in LINES:
        space, accesses = parse(state)
        for access, place in zip(accesses, places * 2):
            at, _, code = place.partition(": ")
            chapter, _, rung = at.partition("/")
            if chapter == folder:
                number = _seen(access.example(space), rung, code, source, trace)
                if not number:
                    raise BuildError(f"tools/warp/site/live.py: {folder} has no line '{code}' with an access {state}")
                page = next((name for name, page in pages.items() if code in _shown(page)), "")
                if not page:
                    raise BuildError(f"tools/warp/site/live.py: no page of {folder} shows the line '{code}'")
                found[place] = Line(folder[:2], number, f"{page}.html#L{number}")
    return found


def _shown(page: Page) -> set[str]:
    """The lines of a page's listings."""
    listings = [block.code for block in every(page.blocks) if isinstance(block, Listing)]
    return {line.strip() for code in listings for line in code.lines}


def _seen(example: dict, rung: str, code: str, source: str, trace: dict) -> int:
    """The line of the source that has this code and, in a kernel of the rung, made this request; 0 if there is none."""
    text = source.split("\n")

    def relative(one: dict) -> list:
        # Banks are alike after 4 bytes, sectors after 32.
        first = one["addresses"][0]
        return [None if first is None or at is None else at - first for at in one["addresses"]] + [
            first % 32 if first is not None and one["space"] == "global" else 0
        ]

    for launch in trace.get("launches", []):
        if rung and not re.match(rf"(?:void )?(?:\w+::)*{rung}\b", launch["kernel"]):
            continue
        for line in launch["lines"]:
            if not 0 < line["line"] <= len(text) or text[line["line"] - 1].strip() != code:
                continue
            for one in line.get("examples", []):
                same = all(one[key] == example[key] for key in ("space", "access", "size"))
                if same and relative(one) == relative(example):
                    return line["line"]
    return 0


def lines_list(found: dict[str, Line]) -> list[Block]:
    """The lines of the chapters as a list for the figure's own page: each leads to its state and to where it stands."""
    out = []
    for words, state, places in LINES:
        if any(place not in found for place in places):
            continue  # of a chapter that this course does not have
        lines = [found[place] for place in places]
        hash = quote(state, safe=":*+@=/()&")
        links = [f'<a href="{line.page}">chapter {line.chapter}, line {line.number}</a>' for line in lines]
        out.append(f'<li><a href="#access={html.escape(hash)}">{html.escape(words)}</a>: {" and ".join(links)}</li>')
    return [Html("<ul>\n" + "\n".join(out) + "\n</ul>")] if out else []
