"""The drawings, all of one kind: an SVG that goes into the page itself and takes its colours from it. drawing.py has what all are made of."""

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
from warp.site.figures.simulator import way_of_an_access
from warp.site.figures.stairs import Stair, stairs
from warp.site.figures.steps import Levels
from warp.site.figures.tiles import block_grid, measured_walk, tile_walk, warp_reads
from warp.site.figures.timeline import Span, timeline
from warp.site.figures.variants import Variants, side_by_side
from warp.site.figures.warp_time import Panel, warp_time
from warp.site.figures.warps import lane_map, warp_map
