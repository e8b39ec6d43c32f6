"""The drawings of chapter 01: the program's parts beside the GPU's, and the sectors of two requests."""

from warp.chapter import maps, recording, results
from warp.site import figures
from warp.site.figures import ACCENT, FOREGROUND, MUTED, SOFT, roles

LADDER = "GB/s"

SMS = 132  # of an H200
SUB_PARTITIONS = 4
LANES = 32


def _text(x, y, words, size=13, colour=FOREGROUND, anchor="start", weight=400):
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{words}</text>'
    )


def _cells(x, y, columns, count, pitch, size, marked):
    """Small squares, row by row, of which one is marked."""
    return "".join(
        f'<rect x="{x + i % columns * pitch:g}" y="{y + i // columns * pitch:g}" width="{size:g}" '
        f'height="{size:g}" rx="1.5" fill="{ACCENT if i == marked else SOFT}"/>'
        for i in range(count)
    )


def _bars(x, y, count, width, height, pitch, marked):
    """Bars below each other, of which one is marked."""
    return "".join(
        f'<rect x="{x}" y="{y + i * pitch}" width="{width}" height="{height}" rx="2" '
        f'fill="{ACCENT if i == marked else SOFT}"/>'
        for i in range(count)
    )


def machine():
    """What a launch consists of, and the part of the GPU that each of its parts runs on."""
    left, right, wide = 2, 330, 250
    rows = [
        # top, height, name and words on the left, drawn there, the like on the right, words between
        (48, 112, "grid", "blocks, in any number", _cells(left, 58, 16, 96, 15, 12, 37),
         "GPU", f"{SMS} SMs", _cells(right, 58, 22, SMS, 11, 8.5, 52), "a block runs on one SM,|until it is done"),
        (214, 92, "block", "8 warps of 32 threads", _bars(left, 224, 8, 240, 7, 10, 2),
         "SM", f"{SUB_PARTITIONS} sub-partitions", _bars(right, 224, SUB_PARTITIONS, 240, 16, 20, 2),
         "a warp stays in one|sub-partition"),
        (360, 30, "warp", "32 threads", _cells(left, 370, LANES, LANES, 7.6, 6, 18),
         "sub-partition", "32 lanes", _cells(right, 370, LANES, LANES, 7.6, 6, 18),
         "one instruction at a time|for all lanes: one thread each"),
    ]  # fmt: skip

    def heading(x, y, name, words):
        return _text(x, y, f'<tspan font-weight="600">{name}</tspan><tspan fill="{MUTED}">: {words}</tspan>')

    def wide_svg():
        shapes = [
            _text(left, 16, "What the program launches", 13, MUTED),
            _text(right, 16, "What it runs on", 13, MUTED),
        ]
        for top, height, name, words, drawn, part, parts, drawn_right, link in rows:
            shapes += [heading(left, top, name, words), drawn, heading(right, top, part, parts), drawn_right]
            y = top + min(30, height / 2)
            shapes.append(
                f'<path d="M{left + wide} {y:g}h62m-7 -5l7 5l-7 5" stroke="{MUTED}" stroke-width="1.5" fill="none"/>'
            )
            lines = link.split("|")
            shapes += [_text(right + 262, y - 4 + 17 * i, line, 13, MUTED) for i, line in enumerate(lines)]
        return figures.svg(shapes, 800, 396)

    def narrow_svg():
        shapes, shift = [], 0
        for top, height, name, words, drawn, part, parts, drawn_right, link in rows:
            down = shift + 16 - top
            shapes.append(f'<g transform="translate(0 {down})">{heading(left, top, name, words)}{drawn}</g>')
            first, second = link.split("|")
            shapes += [
                _text(left, shift + height + 34, f"↓ {first}", 13, MUTED),
                _text(left + 15, shift + height + 51, second, 13, MUTED),
            ]
            across = down + height + 61
            shapes.append(f'<g transform="translate({left - right} {across})">'
                          f'{heading(right, top, part, parts)}{drawn_right}</g>')  # fmt: skip
            shift += 2 * height + 89
        return figures.svg(shapes, 256, shift - 10)

    alt = (
        f"Three levels side by side. A grid is made of blocks, a GPU of {SMS} SMs: a block runs on one SM until it is done. "
        f"A block of 256 threads is made of 8 warps, an SM of {SUB_PARTITIONS} sub-partitions: a warp stays in one. A warp "
        f"is made of {LANES} threads, and a sub-partition executes one instruction at a time for {LANES} lanes: a thread uses one."
    )
    return figures.Drawing(wide_svg(), alt, narrow_svg())


def sectors(simulated, source):
    """The sectors of the first load of either copy."""
    text = source.read_text(encoding="utf-8").split("\n")
    requests = []
    for kernel in ("copy_x_fastest", "copy_y_fastest"):
        here = next(i for i, line in enumerate(text) if f" {kernel}(" in line)
        words = next(line.strip() for line in text[here:] if "out[row * cols + col] =" in line)
        requests.append((kernel, maps.of_example(results.examples_of(simulated, kernel, source, words, 0)[0])))
    return figures.word_map(requests)


ELEMENTS, BLOCK = 1000, 256  # of the drawing of a grid


def strip(title, blocks, note):
    """An array and the blocks of threads over it, pass after pass of a loop: `blocks` are in the grid. Threads without an
    element are wasted."""
    pitch, high = 40, 26

    def draw(width):
        passes = -(-ELEMENTS // (blocks * BLOCK))
        scale = width / max(ELEMENTS, passes * blocks * BLOCK)
        shapes = [
            _text(0, 13, title, 13, MUTED),
            figures.rect(0, 22, ELEMENTS * scale, 10, SOFT, f' stroke="{figures.LINE}"'),
            _text(4, 50, f"{ELEMENTS:,} elements", 12, MUTED),
        ]
        for number in range(passes * blocks):
            first = number * BLOCK
            work = max(0, min(BLOCK, ELEMENTS - first))
            x, y = first * scale, 62 + number // blocks * pitch
            shapes.append(figures.rect(x + 1, y, work * scale - 2, high, roles.fill("computing"), ' rx="2"'))
            if work < BLOCK:
                shapes.append(figures.rect(x + work * scale, y, (BLOCK - work) * scale - 1, high, roles.fill("wasted"),
                                           f' stroke="{roles.colour("wasted")}"'))  # fmt: skip
            words = f"block {number % blocks}"
            shapes.append(
                figures.text(x + work * scale / 2, y + 18, words, 12.5, anchor="middle", more=figures.halo(4))
            )
        bottom = 62 + passes * pitch
        below, tall = roles.legend(0, bottom, width, {"computing": "has an element", "wasted": note})
        return figures.svg([*shapes, *below], width, bottom + tall)

    spare = -ELEMENTS % (blocks * BLOCK)
    alt = (
        f"{ELEMENTS:,} elements and {blocks} blocks of {BLOCK} threads: {-(-ELEMENTS // (blocks * BLOCK))} times over the array; in the "
        f"last pass {spare} threads have no element."
    )
    return figures.Drawing(draw(690), alt, draw(340))


def divergence(simulated, source):
    """Two warps of either kernel on the same 64 elements."""
    kernels = ("diverge_between_warps", "diverge_within_warps")
    return figures.warp_time(
        [figures.Panel(recording.recorded(simulated, kernel, "--size", "64"), source, [0, 1]) for kernel in kernels],
        "Two warps of two kernels over time, which do the same for 64 elements.",
    )


def draw(simulated, source):
    """(rung, name, drawing, caption) of each; without a rung it stands where the prose names it."""
    return [
        (None, "machine", machine(), "A launch and the GPU that runs it. One block, one of its warps and one of its "
                                     "threads are marked, and where they run."),
        ("copy_y_fastest", "sectors", sectors(simulated, source),
         "The first load of each kernel. Each small square is a 4-byte word, each group of eight a sector; what the lanes "
         "asked for is filled."),
        (None, "guard", strip("one thread for each element", 4, "24 threads too many: the guard stops them"),
         "A thousand elements take four blocks of 256 threads. The last one sticks out."),
        (None, "grid-stride", strip("a grid of two blocks, and the loop", 2, "the loop has ended"),
         "Two blocks, 512 threads: in the second iteration thread i takes element i + 512."),
        (None, "divergence", divergence(simulated, source),
         "Warps 0 and 1 of both kernels, as the simulator recorded them: the 32 lanes from top to bottom, the warp's own steps "
         "from left to right. A step is an access or a basic block of the code."),
    ]  # fmt: skip
