"""The drawings of chapter 10: what each instruction of a kernel is for, and what the inner loops consist of."""

import json
import re

from warp.site import figures
from warp.site.figures import FOREGROUND, MUTED, roles

LADDER = "GB/s"

# Of the kernels of section 7: as its table names them, and as nvcc does.
LOOPS = {
    "naive_flat": "02:naive_flat",
    "shared_tiles": "03:shared_tiles<32>",
    "thread_tile_1d": "04:thread_tile_1d",
    "thread_tile_2d": "04:thread_tile_2d",
    "thread_tile_float4": "04:thread_tile_float4<8, 2>",
    "warp_tile": "05:product<Transposed<8, 4>, InPairs<4>, true>",
}
KINDS = {
    "computing": (("FFMA",), "FFMA"),
    "shared": (("LDS", "STS"), "shared memory"),
    "loaded": (("LDG", "STG"), "global memory"),
    "idle": ((), "addresses, the loop, barriers"),
}


def mix(recorded):
    """The instructions of each inner loop, by what they do."""
    counts = {}
    for name, kernel in LOOPS.items():
        loop = recorded["kernels"][kernel]["loop"]
        of = {role: sum(loop.get(opcode, 0) for opcode in opcodes) for role, (opcodes, _) in KINDS.items()}
        counts[name] = {**of, "idle": loop["instructions"] - sum(of.values())}

    def draw(width):
        shapes, pitch = [], 42
        for row, (name, of) in enumerate(counts.items()):
            total, x, y = sum(of.values()), 0.0, row * pitch
            shapes.append(figures.text(0, y + 13, f'<tspan class="mono">{name}</tspan>', 12.5))
            words = f"{of['computing']} FFMA of {total}: {of['computing'] / total:.0%}"
            shapes.append(figures.text(width, y + 13, words, 12, MUTED, "end"))
            for role, count in of.items():
                wide = width * count / total
                if count:
                    more = f' stroke="{roles.colour(role)}" stroke-width="0.7"'
                    shapes.append(figures.rect(x, y + 19, wide - 1, 14, roles.fill(role), more))
                x += wide
        below, tall = roles.legend(
            0, len(counts) * pitch + 4, width, {role: words for role, (_, words) in KINDS.items()}
        )
        return figures.svg([*shapes, *below], width, len(counts) * pitch + 4 + tall)

    said = "; ".join(
        f"{name}: " + ", ".join(f"{count} {KINDS[role][1]}" for role, count in of.items())
        for name, of in counts.items()
    )
    return figures.Drawing(draw(690), f"The instructions of six inner loops. {said}.", draw(340))


def registers_of(words, wide):
    """The registers that an operand names: two of a pair."""
    found = []
    for name, number, pair in re.findall(r"(?<!\w)(U?R|P)(\d+)(\.64)?", words):
        found += [f"{name}{int(number) + i}" for i in range(2 if pair or wide else 1)]
    return found


def parts_of(listing):
    """For each instruction the parts of the source that need its result: guard, load or store; it may be all of them."""
    code = []
    for line in listing:
        _, guard, opcode, operands = re.fullmatch(r"(\w{4})\s+(@!?U?P\d+)?\s*([\w.]+)\s*(.*)", line).groups()
        first, *rest = re.split(r",\s*", operands) if operands else [""]
        sink = {"ISETP": "guard", "LDG": "load", "STG": "store", "EXIT": "guard" if guard else ""}.get(
            opcode.split(".")[0]
        )
        pair = ".64" in opcode or ".WIDE" in opcode
        writes = [] if opcode[:3] == "STG" else registers_of(first, pair)
        reads = registers_of(guard or "", False) + [
            r for word in rest + ([first] if opcode[:3] == "STG" else []) for r in registers_of(word, "desc" in word)
        ]
        if ".WIDE" in opcode:  # the addend is a pair
            reads += [f"R{int(r[1:]) + 1}" for r in registers_of(rest[-1], False)]
        code.append((writes, reads, sink))
    needed = [set() for _ in code]
    for i in reversed(range(len(code))):
        writes, _, sink = code[i]
        if sink is not None:
            needed[i] = {sink} - {""}
            continue
        live = set(writes)
        for j in range(i + 1, len(code)):
            if live & set(code[j][1]):
                needed[i] |= needed[j]
            live -= set(code[j][0])
    return needed


def listing_of(source, kernel):
    """The excerpt of a kernel's machine code as the chapter shows it."""
    text = source.read_text(encoding="utf-8")
    body = re.search(rf"^// ```\{{sass\}} {re.escape(kernel)} lines=\d+\n((?:// .*\n)*?)// ```$", text, re.MULTILINE)[1]
    return [line.removeprefix("// ") for line in body.rstrip("\n").split("\n")]


PARTS = [
    ({"guard", "load", "store"}, "i = blockIdx.x * blockDim.x + threadIdx.x", "computing"),
    ({"guard"}, "if (i < n)", "computing"),
    ({"load"}, "in[i]", "loaded"),
    ({"load", "store"}, "how to reach global memory", "idle"),
    ({"store"}, "out[i] =", "loaded"),
    (set(), "in no line of the source", "idle"),
]


def instruction(line):
    """A line of the excerpt without its address."""
    return " ".join(line.split()[1:])


def grouped(listing, needed):
    """The same on a narrow screen: below each part of the source the instructions that are for it."""
    shapes, y = [], 4.0
    for part, words, role in PARTS:
        mono = "" if role == "idle" else ' class="mono"'
        of = [line for line, need in zip(listing, needed) if need == part]
        shapes.append(figures.text(12, y + 14, f'<tspan{mono} font-weight="600">{figures.escape(words)}</tspan>', 12.5))
        for i, line in enumerate(of):
            words = f'<tspan class="mono">{figures.escape(instruction(line))}</tspan>'
            shapes.append(figures.text(24, y + 34 + 19 * i, words, 12))
        high = 24 + 19 * len(of)
        shapes.append(figures.path(f"M3 {y:g}v{high}", roles.colour(role), 3))
        y += high + 14
    return figures.svg(shapes, 340, y - 8)


def beside(source):
    """The instructions of copy_scalar, each with the part of the source that it is for."""
    listing = listing_of(source, "copy_scalar")
    needed = parts_of(listing)
    pitch, left, width = 20, 282, 690
    high = len(listing) * pitch
    boxes, groups = {}, {}  # a group for each part: to point at one of its pieces shows all of them
    for i, (need, words, role) in enumerate(PARTS):
        y = 16 + i * (high - 34) / (len(PARTS) - 1)
        boxes[frozenset(need)] = (y, role)
        more = f' rx="4" stroke="{roles.colour(role)}" stroke-width="1.4"'
        mono = "" if role == "idle" else ' class="mono"'
        groups[frozenset(need)] = [
            figures.rect(left + 52, y - 13, 354, 26, "none", more),
            figures.text(left + 62, y + 4.5, f"<tspan{mono}>{figures.escape(words)}</tspan>", 12.5, FOREGROUND),
        ]
    for i, (line, need) in enumerate(zip(listing, needed)):
        y, role = boxes[frozenset(need)]
        at = 16 + i * pitch
        words = f'<tspan class="mono">{figures.escape(instruction(line))}</tspan>'
        more = ' stroke-dasharray="2 3"' if role == "idle" else ""
        way = f"M{left - 6} {at - 4}C{left + 24} {at - 4} {left + 22} {y:.4g} {left + 51} {y:.4g}"
        groups[frozenset(need)] += [figures.text(0, at, words, 12.5), figures.path(way, roles.colour(role), 1.4, more)]
    shapes = [f'<g class="part">{"".join(group)}</g>' for group in groups.values()]
    said = "; ".join(
        f"{words}: " + ", ".join(line.split()[1 + ("@" in line)] for line, n in zip(listing, needed) if n == need)
        for need, words, _ in PARTS
    )
    return figures.Drawing(
        figures.svg(shapes, width, high + 4),
        f"The {len(listing)} instructions of copy_scalar, by what they are for. {said}.",
        grouped(listing, needed),
    )


def draw(_simulated, source):
    """(None, name, drawing, caption) of each: the prose has their places."""
    recorded = json.loads((source.parent / "recorded_sass.json").read_text(encoding="utf-8"))
    return [
        (
            None,
            "beside",
            beside(source),
            "What each instruction of `copy_scalar` is for, followed from the registers that it writes to those that read them.",
        ),
        (
            None,
            "mix",
            mix(recorded),
            "The instructions of the inner loops by what they do, each bar one iteration.",
        ),
    ]
