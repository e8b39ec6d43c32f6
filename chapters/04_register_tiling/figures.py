"""The drawing of chapter 04: what a warp loads, reads and computes, for each order of the threads."""

import figures
from course import results

ORDERS = ("rows", "columns", "blocks", "z-curve")  # the launches of thread_map


def draw(simulated, source):
    """(rung, name, drawing, caption) of each."""

    def written(line, launch, cols):
        """Row and column of what each lane of warp 0 writes its number to, in an array of so many columns."""
        at = results.examples_of(simulated, "thread_map", source, line, launch)[0]["addresses"]
        return [divmod(address // 4, cols) for address in at]

    orders = [(order, written("computes[place.row * threads_across + place.col] = me", launch, 16))
              for launch, order in enumerate(ORDERS)]
    drawing = figures.warp_map(orders, written("loads_a[i] = me", 0, 2), written("loads_b[i] = me", 0, 32))
    caption = ("Warp 0 in each of the four orders, to scale, from what `thread_map` wrote: the tile of C with its 16 × 16 "
               "places of 8 × 8 elements and the lanes of the warp, A's slice to the left of it and B's above. Orange is what "
               "the warp *loads*, the same in all four; grey is what it *reads* for the places that it computes.")
    return [("thread_map", "places", drawing, caption)]
