"""The drawings of chapter 03: how a block walks along K, and which banks its inner loop reads."""

import figures
from course import maps, results


def draw(simulated, source):
    """(rung, name, drawing, caption) of each."""
    size = simulated.rows[0]["size"]
    walk = figures.tile_walk(size["M"], size["N"], size["K"], 16, (4, 3))
    walk_caption = ("What the block of one tile of C takes, drawn for tiles of 16: in each slice along K the two tiles with "
                    "the same number. They take the place of those before them, and the sums stay where they are.")

    def example(kernel, line, lanes_differ):
        for request in results.examples_of(simulated, kernel, source, line):
            if request["space"] == "shared" and (len(set(request["addresses"])) > 1) == lanes_differ:
                return maps.of_example(request)
        raise results.ResultsError(f"{source}: no such request of {kernel} on a line with '{line}'")

    inner = "a_tile[ty][l] * b_tile[l][tx]"
    banks = figures.bank_map([
        ("a_tile[ty][l]", example("shared_tiles", inner, False)),
        ("b_tile[l][tx]", example("shared_tiles", inner, True)),
        ("float4 at a_tile[ty][l]", example("wide_reads", "const float4 left", False)),
    ])
    banks_caption = ("One request of each kind in the inner loop, as the simulator saw it: 32 banks, and below each that is "
                     "used the lanes that it serves. From A a request gets 4 or 16 bytes, from B 128.")
    return [("shared_tiles", "walk", walk, walk_caption), ("wide_reads", "banks", banks, banks_caption)]
