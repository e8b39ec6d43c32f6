#!/usr/bin/env python3
"""Draws the shapes of table.cu: lines of M N K TA TB KIND.

    python3 draw.py [--count 2000] [--seed 39] > shapes.txt

Most are log-uniform from 1 to 8192, a third odd, all four transpositions, as those of the map but others. The rest belong to kinds that
lose. All kinds are mixed, so that a run that ends early has some of each. The shapes that bench.cuh names come first.
"""

import argparse
import math
import pathlib
import random
import re

KINDS = {  # extents of one side, of the other, of K; how many of 2,000
    "large_middle_k": (((257, 8192), (257, 8192), (17, 1024)), 90),
    "band_middle_k": (((17, 256), (2048, 8192), (17, 1024)), 90),
    "thin": (((2, 32), (2048, 8192), (128, 8192)), 90),
    "vector": (((1, 1), (512, 8192), (16, 8192)), 50),
    "small_k": (((257, 8192), (257, 8192), (1, 32)), 70),
    "small_c": (((8, 256), (8, 256), (2048, 8192)), 70),
    "large": (((1024, 5000), (1024, 5000), (1024, 5000)), 40),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="shapes in all")
    parser.add_argument("--seed", type=int, default=39)
    options = parser.parse_args()
    draw = random.Random(options.seed)

    def extent(least, most, odd):
        e = int(math.exp(draw.uniform(math.log(least), math.log(most))))
        e = e | 1 if odd else e if e < 8 else e // 4 * 4
        return max(least, min(most, e))

    shapes = []
    for kind, ((first, second, k), share) in KINDS.items():
        for i in range(share * options.count // 2000):
            odd = i % 3 == 0
            sides = [extent(*first, odd), extent(*second, odd)]
            draw.shuffle(sides)
            shapes.append((*sides, extent(*k, odd), i // 3 % 2, i // 6 % 2, kind))
    named = []
    bench = pathlib.Path(__file__).resolve().with_name("bench.cuh")
    listing = bench.read_text().split("named[] = {")[1].split("}};")[0]
    for values in re.findall(r"\{([^{}]*)", listing):
        words = [w.strip() for w in values.split(",") if w.strip()]
        if len(words) >= 3:
            named.append((*map(int, words[:3]), *(int(w == "true") for w in (words + ["", ""])[3:5]), "named"))
    for i in range(max(0, options.count - len(shapes) - len(named))):
        odd = i % 3 == 0
        shapes.append((*(extent(1, 8192, odd) for _ in range(3)), i // 3 % 2, i // 6 % 2, "random"))
    draw.shuffle(shapes)
    for shape in named + shapes:
        print(*shape)


if __name__ == "__main__":
    main()
