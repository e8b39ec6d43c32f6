"""The drawings, all of one kind: an SVG that goes into the page itself and takes its colours from it.

`bars`      the ladder of a chapter, as bars or as a table of colour; wavefronts by stride
`variants`  the variants of a rung, for its card
`stairs`    the course as a staircase, past the vendor's library
`icons`     a small picture of each chapter
`limiters`  what each resource would take alone, beside the time
`resident`  how many blocks fit on an SM
`rooflines` rate over arithmetic intensity
`memory`    the sectors of a request, the banks that its lanes want
`steps`     the values that the steps of an algorithm make
`tiles`     matrices cut into tiles and blocks, and what a warp reads of them
`warps`     where the lanes of a warp stand, and what they load
`roles`     five colours with fixed meanings, and their legend
`warp_time` warps over time, as the simulator recorded them
`timeline`  what happens when
`graph`     the chapters and what each builds on
`simulator` the way of one access through the simulator
`drawing`   what all of them are made of
"""

from warp.site.figures.bars import Step, heat, ladder, stride_bars
from warp.site.figures.drawing import (
    ACCENT,
    FOREGROUND,
    GROUND,
    LINE,
    MUTED,
    SECOND,
    SOFT,
    Drawing,
    escape,
    halo,
    path,
    quoted,
    rate,
    rect,
    svg,
    text,
)
from warp.site.figures.graph import chapter_graph
from warp.site.figures.icons import icon
from warp.site.figures.limiters import limiters
from warp.site.figures.memory import bank_map, word_map
from warp.site.figures.resident import resident
from warp.site.figures.rooflines import Point, roofline
from warp.site.figures.simulator import WAY_OF_AN_ACCESS, way_of_an_access
from warp.site.figures.stairs import Stair, stairs
from warp.site.figures.steps import Levels
from warp.site.figures.tiles import block_grid, measured_walk, tile_walk, warp_reads
from warp.site.figures.timeline import Span, timeline
from warp.site.figures.variants import Variants, side_by_side
from warp.site.figures.warp_time import Panel, warp_time
from warp.site.figures.warps import lane_map, warp_map
