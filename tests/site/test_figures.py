"""The drawings: what they show is what the counts say, and everyone can read them."""

import itertools
import math
import pathlib
import re
import runpy
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

import sample  # puts tools on the path

import labels

from warp.chapter import maps, recording
from warp.chapter.written import Row, Times
from warp.site import chapter_drawings, figures, rung_variants
from warp.site.figures import bars, roles, rooflines

SVG = "{http://www.w3.org/2000/svg}"


class Variants(unittest.TestCase):
    """The chart on a rung's card: which variants it draws, and what it says of them."""

    def of(self, rows):
        times = {name: Times(1 / value, 1 / value, 1 / value, 1) for name, value in rows.items()}
        rows = [
            Row("r", {}, "PASS", name, time_ms=times[name], rate=value, rate_unit="GB/s")
            for name, value in rows.items()
        ]
        measured = unittest.mock.Mock(of=lambda name: [row for row in rows if row.rung == name])
        return rung_variants.variants_of("r", measured)

    def test_those_that_differ_in_one_parameter(self):
        found = self.of({"BK=8": 2.0, "BK=16": 4.0})
        self.assertEqual((found.parameter, found.values, found.numbers), ("BK", ["8", "16"], [2.0, 4.0]))
        self.assertEqual((found.unit, found.role, found.best()), ("GB/s", "loaded", 4.0))
        self.assertEqual(self.of({"float, stride=1": 2.0, "float, stride=2": 1.0}).values, ["1", "2"])
        words = self.of({"op=largest": 2.0, "op=dot_product": 1.0})  # too long to stand below a column
        self.assertEqual((words.parameter, words.values), ("", ["largest", "dot_product"]))
        for rows in (
            {"BK=8": 1.0},
            {"BK=8, stages=2": 1.0, "BK=16, stages=3": 2.0},
            {"BK=8": 1.0, "plain": 2.0, "x, y": 3.0},
            {f"BK={n}": 1.0 for n in range(9)},
            {"one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0},
        ):
            self.assertIsNone(self.of(rows), rows)

    def test_times_are_better_where_they_are_less(self):
        medians = (("graph", 1.5), ("stays", 1.25))
        rows = [Row("r", {}, "PASS", f"how={how}", time_ms=Times(ms, ms, ms, 1)) for how, ms in medians]
        found = rung_variants.variants_of("r", unittest.mock.Mock(of=lambda _: rows))
        self.assertEqual((found.unit, found.best()), ("ms", 1.25))

    def test_the_best_is_filled_and_what_is_asked_is_covered(self):
        for parameter, values in (("BK", ["8", "16"]), ("", ["along rows", "down columns"])):
            given = figures.Variants(parameter, values, [2.0, 4.0], "GB/s", "loaded")
            drawing = figures.side_by_side(given, "k", [])
            ElementTree.fromstring(drawing.svg)
            self.assertEqual(drawing.svg.count("url(#role-loaded)"), 1)
            self.assertTrue(drawing.alt.endswith(f": {values[0]} 2; {values[1]} 4."), drawing.alt)
            covered = figures.side_by_side(given, "k", ["which"])
            self.assertNotIn("url(#role-loaded)", covered.svg)
            self.assertNotIn("4", covered.alt)
            self.assertEqual(covered.covered["k"]["for"], ["which"])
            before, after = covered.covered["k"]["said"]
            self.assertEqual(covered.alt.replace(before, after), drawing.alt)
            self.assertIn(covered.covered["k"]["wide"], drawing.svg)


class Drawings(unittest.TestCase):
    def check(self, svg):
        root = ElementTree.fromstring(svg)
        self.assertRegex(root.get("viewBox"), r"^[\d. ]+$")
        self.assertNotIn('width="100', svg.split(">")[0])
        # Colours come from the page, so that light and dark both work.
        for colour in re.findall(r"#[0-9a-fA-F]{6}\b", svg):
            self.fail(f"the colour {colour} is not the page's")
        self.assertNotRegex(svg, r"<style|https?://(?!www\.w3\.org)")
        return root

    def test_scans(self):
        """The drawings of chapter 08 end with the scans of what they begin with."""
        drawn = runpy.run_path(str(sample.ROOT / "chapters" / "08_scan" / "figures.py"))
        steps, tree, parts, words = (drawing for _, _, drawing, _ in drawn["draw"](None, None))
        for drawing in (steps, tree, parts, words):
            self.check(drawing.svg)
        # Warps, rows, lanes and elements make the tile that is drawn.
        whole, *shares = (int(n) for n in re.findall(r"of (4096)|: (\d+) ", parts.alt) for n in n if n)
        self.assertEqual((whole, math.prod(shares), len(shares)), (4096, 4096, 4))
        inclusive = list(itertools.accumulate(drawn["VALUES"]))
        self.assertTrue(steps.alt.endswith(f"d = 4: {' '.join(map(str, inclusive))}."), steps.alt)
        self.assertTrue(tree.alt.endswith(f"down, 1: 0 {' '.join(map(str, inclusive[:-1]))}."), tree.alt)
        added = [drawing.svg.count('stroke="var(--draw-accent)" stroke-width="1.6"') for drawing in (steps, tree)]
        self.assertEqual(added, [7 + 6 + 4, 2 * (4 + 2 + 1)])
        self.assertIn(f"= {inclusive[-1] + 2}: the sums of tiles 8 to 4 and the prefix of tile 3", words.alt)

    def drawn(self, chapter):
        """What a chapter's figures.py has."""
        return runpy.run_path(str(sample.ROOT / "chapters" / chapter / "figures.py"))

    def test_levels(self):
        """The circle of chapter 09 touches as many blocks and pixels as its tile has pixels inside of it say."""
        drawn = self.drawn("09_renderer")
        drawing = drawn["levels"]()
        self.check(drawing.svg)
        x, y, radius = drawn["CIRCLE"]
        inside = [(i, j) for j in range(32) for i in range(32) if math.hypot(i + 0.5 - x, j + 0.5 - y) <= radius]
        blocks = {(i // 8, j // 4) for i, j in inside}
        self.assertIn(f"it touches {len(blocks)} of 32 blocks", drawing.alt)
        self.assertIn(f"{sum((i // 8, j // 4) == (1, 3) for i, j in inside)} of 32 pixels are inside", drawing.alt)

    def test_segments_and_sorts(self):
        """The drawings of chapter 14: segments are scanned, shares are equal, keys end sorted, and each digit finds its sum."""
        drawn = self.drawn("14_segments_and_sorts")
        drawings = {name: drawing for _, name, drawing, _ in drawn["draw"](None, None)}
        self.assertEqual(list(drawings), ["segments", "merge", "passes", "words"])
        for drawing in drawings.values():
            self.check(drawing.svg)
        sums = []
        for value, head in zip(drawn["VALUES"], drawn["HEADS"]):
            sums.append(value if head else sums[-1] + value)
        self.assertTrue(drawings["segments"].alt.endswith(f"d = 4: |{' |'.join(map(str, sums))}."))
        steps = [
            sum(map(int, found)) for found in re.findall(r"(\d+) values and (\d+) row ends", drawings["merge"].alt)
        ]
        self.assertEqual(steps, [drawn["STEPS"]] * drawn["SHARES"])
        self.assertEqual(sum(steps), sum(drawn["ROWS"]) + len(drawn["ROWS"]))
        self.assertTrue(drawings["passes"].alt.endswith(f"{' '.join(map(str, sorted(drawn['KEYS'])))}."))
        self.assertEqual(re.findall(r"finds (\d+)", drawings["words"].alt), ["13", "11", "13", "11"])

    def test_reductions(self):
        """The drawings of chapter 07 end with the sum, and their warps add as often as the text says."""
        drawn = self.drawn("07_reductions")
        total = sum(drawn["VALUES"])
        for tree, last in ((drawn["neighbours"](), "s = 4"), (drawn["halves"](), "s = 1")):
            self.check(tree.svg)
            self.assertRegex(tree.alt, rf"{last}, thread 0: {total} ")
        exchange = drawn["exchange"]()
        self.check(exchange.svg)
        self.assertTrue(exchange.alt.endswith(f"d = 1:{f' {total}' * 8}."), exchange.alt)
        lanes = drawn["lanes_that_add"]()
        self.check(lanes.narrow)
        self.assertEqual(
            re.findall(r"(\d+) additions of a warp, (\d+) of a lane", lanes.svg), [("47", "255"), ("12", "255")]
        )
        self.check(drawn["last_block"]().svg)

    def test_warps_over_time(self):
        """Lanes that take part are filled, the others hatched; a barrier is a line, and a race is framed."""
        step = recording.Step
        half, all_lanes = 0x55555555, 2**32 - 1
        source = pathlib.Path(__file__)
        steps = [
            step(0, 0, "load", "global", 1, half, cost=4),
            step(0, 0, "enter", "", 2, all_lanes, times=8),
            step(0, 0, "wait", "", 3, all_lanes),
            step(0, 1, "store", "shared", 4, all_lanes, cost=2, races=True),
        ]
        panel = figures.Panel(recording.Recording("kernel", steps, [3]), source, [0])
        drawing = figures.warp_time([panel], "One warp.")
        for svg in (drawing.svg, drawing.narrow):
            root = self.check(svg)
            columns = root.findall(f".//{SVG}g[@data-column]")
            self.assertEqual(len(columns), 4)
            used = [[kind for kind in ("loaded", "computing", "wasted", "shared")
                     if f"role-{kind}" in ElementTree.tostring(column, encoding="unicode")] for column in columns]  # fmt: skip
            self.assertEqual(used, [["loaded", "wasted"], ["computing"], [], ["shared"]])
        self.assertEqual(drawing.svg.count('stroke="var(--draw-wasted)" stroke-width="2.5"'), 1)
        self.assertIn("10 steps, 95% of their lanes used", drawing.alt)
        first, *_, last = drawing.data["panels"][0]["frames"]
        self.assertEqual(first, [1, "16 lanes load from global memory, 4 sectors", 1, 16, 0])
        self.assertEqual(last[1:], ["all lanes store to shared memory, 2 wavefronts: a race", 10, 304, 2])
        with self.assertRaisesRegex(ValueError, "'lost' is no role: loaded, shared, computing, wasted, idle"):
            roles.fill("lost")

    def test_transposes(self):
        """The drawings of chapter 06: padded and swizzled, a column of the matrix is in every bank."""
        drawn = self.drawn("06_transpose")
        edge = drawn["EDGE"]
        tiles = drawn["bank_tiles"](
            [
                ("pad=0", edge, lambda r, c: c),
                ("pad=1", edge + 1, lambda r, c: c),
                ("swizzled", edge, lambda r, c: c ^ r),
            ]
        )
        self.check(tiles.svg)
        self.assertEqual(re.findall(r"a column of the matrix: (\d) banks?<", tiles.svg), ["1", "8", "8"])
        for name in ("tile", "tile_orders", "pitch"):
            self.check(drawn[name]().svg)

    def test_machine_code(self):
        """The drawings of chapter 10: each instruction is for what reads its result, and the loops add up."""
        drawn = self.drawn("10_sass_inspection")
        source = sample.ROOT / "chapters" / "10_sass_inspection" / "sass_inspection.cu"
        drawings = {name: drawing for _, name, drawing, _ in drawn["draw"](None, source)}
        for drawing in drawings.values():
            self.check(drawing.svg)
        self.assertIn(
            "if (i < n): ULDC, ISETP.GE.U32.AND, EXIT; in[i]: LDC.64, IMAD.WIDE.U32, LDG.E;", drawings["beside"].alt
        )
        self.assertIn("shared_tiles: 32 FFMA, 42 shared memory, 2 global memory, 23 addresses", drawings["mix"].alt)
        code = ["0000 LDC.64 R2, c[0x0][0x210]", "0010 IMAD R2, R5, R5, R6", "0020 LDG.E R3, desc[UR4][R2.64]"]
        self.assertEqual(drawn["parts_of"](code), [{"load"}, {"load"}, {"load"}])  # R3 of the first, R2 of the second
        self.assertEqual(drawn["parts_of"](code[:2])[0], set())  # nobody reads it

    def test_grids(self):
        """The strips of chapter 01: each element has one thread, and the rest of the last pass is wasted."""
        strip = self.drawn("01_thread_indexing")["strip"]
        for blocks, spare in ((4, 24), (2, 24), (3, 536)):
            drawing = strip("title", blocks, "note")
            self.check(drawing.svg)
            self.assertIn(f"in the last pass {spare} threads have no element", drawing.alt)
            rects = list(self.check(drawing.narrow).iter(f"{SVG}rect"))
            wide = [float(r.get("width")) + 2 for r in rects if r.get("fill") == roles.fill("computing")][
                :-1
            ]  # the legend's last
            all_of_it = float(rects[0].get("width"))
            self.assertAlmostEqual(sum(w for w in wide if w > 0), all_of_it, delta=1)

    def test_masks(self):
        """A tile's circles in chapter 09 are those that touch both its column and its row."""
        drawn = self.drawn("09_renderer")
        self.check(drawn["masks"]().svg)
        self.check(drawn["links"]().svg)
        columns, rows, both = re.search(r"(\d{8}) and (\d{8}) give (\d{8})", drawn["masks"]().alt).groups()
        near = [abs(x - 1.5) < r + 0.5 and abs(y - 1.5) < r + 0.5 for x, y, r in drawn["MASKED"]]
        self.assertEqual(both, "".join("1" if one else "0" for one in near))
        self.assertEqual(int(both, 2), int(columns, 2) & int(rows, 2))
        self.assertEqual(both.count("1"), 3)

    def test_pipelines(self):
        """The drawings of chapters 11 and 12 agree with the figures of the text."""
        drawings = {name: drawing for _, name, drawing, _ in self.drawn("11_pipelines")["draw"](None, None)}
        for drawing in drawings.values():
            self.check(drawing.svg)
        self.assertIn("at 15 places both", drawings["fma-orders"].alt)
        self.assertIn("that happens at 0 places", drawings["fma-orders"].alt)
        self.assertIn("serpentine: those are in 5 rows and 32 columns", drawings["tile-orders"].alt)
        self.assertIn("grouped_tiles: those are in 8 rows and 17 columns", drawings["tile-orders"].alt)
        self.assertEqual(
            drawings["ahead"].svg.count("stroke-dasharray") - drawings["ring"].svg.count("stroke-dasharray"), 6
        )
        drawings = {name: drawing for _, name, drawing, _ in self.drawn("12_past_cublas")["draw"](None, None)}
        for drawing in drawings.values():
            self.check(drawing.svg)
        self.assertIn("a wave of 116 in which 16 SMs have none", drawings["waves"].alt)
        self.assertEqual(len(re.findall(r"block \d has K-tiles", drawings["pieces"].alt)), 6)

    def test_letters_stay_large_on_a_phone(self):
        """A drawing that is too wide for a phone is scrolled there, not shrunk until nobody can read it."""
        shapes = [figures.text(0, 20, "words", 12)]
        self.assertNotIn("min-width", figures.svg(shapes, 340, 40))
        self.assertIn("max-width: 680px; min-width: 624px", figures.svg(shapes, 680, 40))
        self.assertIn("max-width: 680px; min-width: 680px", figures.svg([figures.text(0, 9, "x", 10)], 680, 40))

        def said(svg, only=""):
            return labels.small(f'<div class="drawing {only}" role="img">{svg}</div>')

        self.assertEqual(said(figures.svg(shapes, 680, 40)), [])
        shrunk = '<svg viewBox="0 0 680 40" style="max-width: 680px"><text font-size="12">words</text></svg>'
        self.assertEqual(said(shrunk), ["6.0 pixels in a drawing of 680: words"])
        self.assertEqual(said(shrunk, "only-wide"), [])  # a phone has another one
        self.assertEqual(
            said(figures.svg([figures.text(0, 9, "x", 10)], 300, 40)), ["10.0 pixels in a drawing of 300: x"]
        )

    def test_word_map(self):
        def read(step):
            return {"space": "global", "access": "load", "size": 4, "addresses": [4 * step * i for i in range(32)]}

        drawing = figures.word_map([("near", maps.of_example(read(1))), ("far", maps.of_example(read(64)))])
        for svg in (drawing.svg, drawing.narrow):
            root = self.check(svg)
            fills = [r.get("fill") for r in root.iter(f"{SVG}rect")]
            self.assertEqual(len(fills), (4 + 32) * 8 + 2)  # and the legend
            self.assertEqual(fills.count(roles.fill("loaded")), 64 + 1)  # 32 words each
        self.assertIn("near: 4 sectors, 128 bytes moved, 128 of them wanted.", drawing.alt)
        self.assertIn("far: 32 sectors, 1024 bytes moved, 128 of them wanted.", drawing.alt)

    def test_block_grid(self):
        drawing = figures.block_grid(5, 7, (4, 4), [[16, 12], [4, 3]])
        root = self.check(drawing.svg)
        rects = list(root.iter(f"{SVG}rect"))
        self.assertEqual(
            [[float(r.get(key)) for key in ("width", "height")] for r in rects],
            [[175, 125]] + [[100, 100]] * 4 + [[175, 125]],
        )  # the matrix, its blocks, its frame
        texts = [text.text for text in root.iter(f"{SVG}text")]
        self.assertEqual(
            texts,
            [
                "5 × 7 elements, blocks of 4 × 4 threads",
                "16",
                "inside",
                "12",
                "right edge",
                "4",
                "bottom edge",
                "3",
                "corner",
            ],
        )
        self.assertIn("block by block: 16 (inside), 12 (right edge); 4 (bottom edge), 3 (corner).", drawing.alt)
        whole = figures.block_grid(4, 8, (4, 4), [[16, 16]])
        self.assertNotRegex(whole.svg, "edge|corner")
        with self.assertRaisesRegex(ValueError, "5 x 7 in blocks of 4 x 4"):
            figures.block_grid(5, 7, (4, 4), [[16, 12]])

    def test_warp_reads(self):
        row = [(0, lane) for lane in range(32)]
        column = [(lane, 0) for lane in range(32)]
        drawing = figures.warp_reads([("down", column, [(0, 0)] * 32, column), ("along", [(0, 0)] * 32, row, row)])
        for svg in (drawing.svg, drawing.narrow):
            rects = list(self.check(svg).iter(f"{SVG}rect"))
            fills = [r.get("fill") for r in rects]
            # Sectors: 32 of A and 1 of B, then 1 and 4. Floats: 32, 1 and 32 of C, then 1, 32 and 32.
            kinds = ("wasted", "loaded", "computing")
            self.assertEqual([fills.count(roles.fill(what)) for what in kinds], [33 + 5, 33 + 33, 32 + 32])
            self.assertEqual(fills.count("none"), 6)
            for words in (
                "of A 32 floats in 32 sectors; of B 1 float in 1 sector",
                "of A 1 float in 1 sector; of B 32 floats in 4 sectors",
            ):
                self.assertIn(f">{words}</text>", svg)
        self.assertIn("in 1 sector; they compute 32 x 1 elements of C. along: ", drawing.alt)

    def test_bank_map(self):
        def shared(addresses):
            return maps.of_example({"space": "shared", "access": "load", "size": 4, "addresses": addresses})

        drawing = figures.bank_map(
            [
                ("all[0]", shared([0] * 32)),
                ("each[lane]", shared([4 * i for i in range(32)])),
                ("each[2 * lane]", shared([8 * i for i in range(32)])),
            ]
        )
        for svg in (drawing.svg, drawing.narrow):
            root = self.check(svg)
            fills = [r.get("fill") for r in root.iter(f"{SVG}rect")]
            # What a second wavefront serves is told apart; one more of each in the legend.
            counts = [fills.count(what) for what in (roles.fill("shared"), roles.fill("wasted"), "var(--draw-soft)")]
            self.assertEqual(counts, [1 + 32 + 16 + 1, 16 + 1, 31 + 16])
        self.assertIn(">0-31</text>", drawing.svg)
        self.assertIn(
            "all[0]: 1 wavefront: at most 1 word in one bank, in 1 bank. each[lane]: 1 wavefront: at most 1 word in "
            "one bank, in 32 banks. each[2 * lane]: 2 wavefronts: at most 2 words in one bank, in 16 banks.",
            drawing.alt,
        )

    def test_lane_map(self):
        places = [(lane // 2 % 2 + lane // 16 * 2, lane % 2 + lane // 4 % 4 * 2) for lane in range(32)]
        drawing = figures.lane_map([("in pairs", places, set(range(16)))])
        root = self.check(drawing.svg)
        rects = list(root.iter(f"{SVG}rect"))
        self.assertEqual([r.get("fill") for r in rects], [roles.fill("shared")] * 16 + ["none"] * 16)
        self.assertEqual((float(rects[6].get("x")), float(rects[6].get("y")) - float(rects[0].get("y"))), (45, 22))
        self.assertIn("in pairs: row by row, lanes 0 1 4 5 8 9 12 13; 2 3 6 7 10 11 14 15; 16 17 ", drawing.alt)

    def test_stride_bars(self):
        drawing = figures.stride_bars(
            [("a float", [1, 1, 2, 1, 4], [1, 1, 2, 1, 4]), ("a float2", [1, 2, 4, 2, 8], [1, 2, 4, 2, 16])], "NVIDIA X"
        )
        for svg in (drawing.svg, drawing.narrow):
            root = self.check(svg)
            drawn = list(root.iter(f"{SVG}rect"))
            self.assertEqual([float(bar.get("height")) for bar in drawn], [11, 11, 22, 11, 33, 11, 22, 33, 22, 44])
            dots = list(root.iter(f"{SVG}circle"))
            # A dot on the end of its bar where both say the same, a step above it where the hardware counts twice as many.
            tops = [float(dot.get("cy")) - float(bar.get("y")) for dot, bar in zip(dots, drawn, strict=True)]
            self.assertEqual(tops, [0] * 9 + [-11])
        self.assertIn("a float: from stride 0 on 1 1 2 1 4; NVIDIA X counted the same.", drawing.alt)
        self.assertIn("a float2: from stride 0 on 1 2 4 2 8; NVIDIA X counted 1 2 4 2 16.", drawing.alt)
        with self.assertRaises(ValueError):  # not every stride was counted
            figures.stride_bars([("a float", [1, 1, 2], [1, 1])], "NVIDIA X")

    def test_warp_map(self):
        places = [divmod(lane, 16) for lane in range(32)]
        drawing = figures.warp_map(
            [("rows", places), ("columns", [(col, row) for row, col in places])],
            [divmod(lane, 2) for lane in range(32)],
            [(0, lane) for lane in range(32)],
        )
        for svg in (drawing.svg, drawing.narrow):
            rects = list(self.check(svg).iter(f"{SVG}rect"))
            fills = [r.get("fill") for r in rects]
            # Two drawings of 64 quads loaded, 2 and 16 strips read, 32 places, 3 frames.
            self.assertEqual(
                [fills.count(what) for what in (roles.fill("loaded"), "var(--draw-soft)")], [128, 2 * (18 + 32)]
            )
            self.assertEqual(fills.count("none"), 6)
        loaded = [r for r in self.check(drawing.svg).iter(f"{SVG}rect") if r.get("fill") == roles.fill("loaded")]
        self.assertEqual(sum(float(r.get("width")) * float(r.get("height")) for r in loaded[:32]), 18 * 36)  # 8 x 16
        self.assertIn(
            "It loads rows 0 to 15 of A's K-tile and row 0 of B's. rows: 2 x 16 places, row by row lanes 0 1 2",
            drawing.alt,
        )
        self.assertIn("columns: 16 x 2 places, row by row lanes 0 16; 1 17;", drawing.alt)

    def test_graph(self):
        chapters = [("01_a", "01", "A", []), ("02_b", "02", "B <&", ["01_a"]), ("03_c", "03", "C", ["01_a", "02_b"])]
        drawing = figures.chapter_graph(chapters)
        for svg in (drawing.svg, drawing.narrow):
            root = self.check(svg)
            self.assertEqual(
                [a.get("href") for a in root.iter(f"{SVG}a")],
                ["01_a.html", "02_b.html", "03_c.html"],
            )
            self.assertEqual(len(list(root.iter(f"{SVG}path"))), 3)
        self.assertIn("03 C builds on 01 A and 02 B <&.", drawing.alt)
        self.assertEqual(figures.chapter_graph(chapters[:1]).narrow, "")
        # The edge from 01 to 03 passes the row of 02: beside its box.
        root = self.check(drawing.svg)
        x, top, wide = (float(list(root.iter(f"{SVG}rect"))[1].get(key)) for key in ("x", "y", "width"))
        past = [float(d.split("V")[0].split()[-2]) for line in root.iter(f"{SVG}path") if "V" in (d := line.get("d"))]
        self.assertEqual(len(past), 1)
        self.assertFalse(x <= past[0] <= x + wide, (x, wide, past))

    def texts(self, svg):
        return ["".join(node.itertext()) for node in self.check(svg).iter(f"{SVG}text")]

    def test_ladder(self):
        steps = [
            figures.Step("one <x>", 4000.0, "idea", [1000.0, 2000.0]),
            figures.Step("two", 12.5, "a long idea, " * 8, peer=4100.0, gain=440.0, variant="pad=1"),
            figures.Step("three", 300.0, peer=300.0, is_peer=True),
        ]
        drawing = figures.ladder(steps, "GB/s", 4200.0, "The ladder")
        for svg, width in ((drawing.svg, 690), (drawing.narrow, 340)):
            texts = self.texts(svg)
            self.assertEqual(texts[:3], ["copy limit", "one <x>idea", "4,000"])
            self.assertEqual(
                texts[3:8], ["two", "× 440 the rung above12.5", "three", "300", "0 GB/s"]
            )  # no room for the long idea
            scale = (width - 2) / 4200
            rects = list(self.check(svg).iter(f"{SVG}rect"))
            self.assertEqual([r.get("fill") for r in rects], ["var(--draw-loaded)"] * 2 + ["var(--draw-second)"])
            for drawn, value in zip(rects, (4000, 12.5, 300), strict=True):
                self.assertAlmostEqual(float(drawn.get("width")), value * scale, delta=0.1)
            lines = list(self.check(svg).iter(f"{SVG}path"))
            others = next(line.get("d") for line in lines if line.get("stroke") == "var(--draw-ground)")
            for at, value in zip(re.findall(r"M([\d.]+)", others), (1000, 2000), strict=True):
                self.assertAlmostEqual(float(at), 1 + value * scale, delta=0.1)
            marks = [
                float(re.match(r"M([\d.]+)", line.get("d"))[1])
                for line in lines
                if line.get("stroke") in ("var(--draw-second)", "var(--draw-muted)")
            ]
            for mark, value in zip(marks, (4200, 4100, 300), strict=True):  # the limit, and the two peers
                self.assertAlmostEqual(mark, 1 + value * scale, delta=0.1)
        self.assertIn("two 12.5 GB/s (the peer 4,100)", drawing.alt)
        self.assertIn("limit is 4,200 GB/s", drawing.alt)

    def test_a_peer_that_never_changes_is_one_line(self):
        def named(peers, limit):
            steps = [figures.Step(f"k{i}", 100.0 + i, peer=peer) for i, peer in enumerate(peers)]
            drawing = figures.ladder(steps, "GFLOP/s", limit, "T", "cuBLAS")
            lines = [line.get("stroke") for line in self.check(drawing.svg).iter(f"{SVG}path")]
            return [text for text in self.texts(drawing.svg) if text in ("cuBLAS", "limit", "FP32 limit")], lines.count(
                "var(--draw-second)"
            )

        self.assertEqual(named((500.0, 505.0), 700.0), (["cuBLAS", "FP32 limit"], 1))
        self.assertEqual(named((655.0, 656.0), 730.0), (["cuBLAS", "limit"], 1))  # there is no room for more
        far = figures.ladder([figures.Step("k", 9000.0), figures.Step("l", 9.0)], "GFLOP/s", 700.0, "T")
        self.assertIn("FP32 limit", self.texts(far.svg))
        self.assertEqual(named((500.0, 505.0), 510.0), (["cuBLAS"], 1))  # the limit would be on top of it
        self.assertEqual(named((500.0, 600.0), 700.0), (["FP32 limit"], 2))

    def test_a_ladder_on_many_inputs(self):
        drawing = figures.heat(["slow", "fast"], ["a", "b"], [[2000.0, None], [1.0, 3.0]], "The ladder")
        for svg in (drawing.svg, drawing.narrow):
            self.assertEqual(
                [t for t in self.texts(svg) if t not in ("a", "b", "slow", "fast")], ["2.0k", "–", "1.0", "1.0"]
            )
            fills = [r.get("fill") for r in self.check(svg).iter(f"{SVG}rect")]
            self.assertEqual(fills, ["var(--draw-soft)", "var(--draw-accent)", "var(--draw-accent)"])
        self.assertIn("slow a 2.0k; fast a 1.0, b 1.0.", drawing.alt)
        self.assertEqual(
            [bars.ratio(v) for v in (1.04, 9.96, 440.4, 999.7, 28173)], ["1.0", "10", "440", "1.0k", "28k"]
        )

    def test_what_bounds_each_rung(self):
        shares = [[0.9, 0.301, None], [0.2, 0.4, 0.001]]
        drawing = figures.limiters(["tiled", "naive"], ["FP32", "L1", "DRAM"], shares, "Limits")
        for svg in (drawing.svg, drawing.narrow):
            self.assertEqual(
                [t for t in self.texts(svg) if t[0] in "0123456789<–"], ["90", "30", "–", "20", "40", "<1"]
            )
            cells = [(r.get("fill")[11:-1], r.get("stroke")) for r in self.check(svg).iter(f"{SVG}rect")]
            edge = "var(--draw-accent)"
            self.assertEqual(cells[:2], [("accent", edge), ("soft", None)])  # filled: more than a half of its time
            self.assertEqual(cells[2:], [("soft", None), ("soft", edge), ("soft", None)])
        self.assertEqual(
            drawing.alt, "Limits, in per cent of the time: tiled FP32 90, L1 30; naive FP32 20, L1 40, DRAM 0."
        )

    def test_where_the_bound_moves(self):
        alone = [{"L1": 0.7, "DRAM": 0.2}, {"L1": 0.3, "DRAM": 0.4}, {"L1": 0.4, "DRAM": 1.6}]
        rungs = list(zip(["naive", "waits", "tiled"], [1.0, 1.0, 2.0], alone))
        self.assertEqual(chapter_drawings.where_it_moves(rungs), " The filled column moves at `tiled` to DRAM.")
        self.assertEqual(chapter_drawings.where_it_moves(rungs[:2]), "")

    def test_what_each_rung_does_about_the_one_above(self):
        rungs = [("flat", 9.0, {"L1": 8.0, "FP32": 2.0}), ("tiled", 5.0, {"L1": 4.0, "FP32": 2.0})]
        self.assertEqual(chapter_drawings.what_went(rungs), " From rung to rung: `tiled` takes L1 from 8 to 4 ms.")
        rungs += [("ahead", 4.5, {"L1": 3.9, "FP32": 2.0}), ("same", 4.4, {"L1": 3.9}), ("slow", 9.0, {"L1": 3.9})]
        went = chapter_drawings.what_went(rungs)
        self.assertTrue(went.endswith("4 ms; `ahead` needs as much of the largest in less time."), went)
        self.assertEqual(chapter_drawings.what_went(rungs[3:]), "")

    def test_ticks(self):
        self.assertEqual(bars.ticks(55345, 7), [0, 10000, 20000, 30000, 40000, 50000])
        self.assertEqual(bars.ticks(55345, 3), [0, 20000, 40000])
        self.assertEqual(bars.ticks(10, 5), [0, 2, 4, 6, 8, 10])
        for step in bars.ticks(0.7, 7):
            self.assertAlmostEqual(step, round(step, 1))

    def dots(self, svg):
        return [(float(c.get("cx")), float(c.get("cy"))) for c in self.check(svg).iter(f"{SVG}circle")]

    def test_roofline(self):
        points = [
            figures.Point("far", 0.06, 500.0),
            figures.Point("near", 0.4, 6200.0),
            figures.Point("nearly the same", 0.41, 6100.0),
        ]
        drawing = figures.roofline(points, 65000.0, [("memory", 4200.0), ("L2", 9000.0)], "The roofline")
        figures_of = ("0.06 FLOP/byte, 0.5 TFLOP/s", "0.4 FLOP/byte, 6.2 TFLOP/s")
        for svg, legend in (
            (drawing.svg, ("far", "near", "nearly the same")),
            (drawing.narrow, ("1", "2", "3", "1  far:", "2  near:", *figures_of)),
        ):
            texts = self.texts(svg)
            for text in (*legend, "memory 4.2 TB/s", "L2 9 TB/s", "FP32 FMA 65.0 TFLOP/s", "FLOP per byte"):
                self.assertIn(text, texts)
            # Logarithmic both ways: as far from 0.06 to 0.4 as the logarithms say, measured by two ticks.
            (x1, y1), (x2, y2), _ = self.dots(svg)
            ticks = {
                "".join(node.itertext()): (float(node.get("x")), float(node.get("y")), node.get("text-anchor"))
                for node in self.check(svg).iter(f"{SVG}text")
            }
            decade = ticks["1"][0] - ticks["0.1"][0] if ticks["1"][2] == "middle" else None
            if decade:
                self.assertAlmostEqual((x2 - x1) / decade, math.log10(0.4 / 0.06), delta=0.02)
            self.assertLess(y2, y1)
        self.assertIn(
            "near 0.4 FLOP per byte, 6.2 TFLOP/s; nearly the same 0.41 FLOP per byte, 6.1 TFLOP/s. Limits: FP32 FMA 65.0 TFLOP/s, memory 4,200 GB/s",
            drawing.alt,
        )

    def test_a_label_that_is_cut_is_noticed(self):
        def said(*shapes, width=100):
            return labels.cut(f"<p>x</p>{figures.svg(list(shapes), width, 40)}")

        self.assertEqual(said(figures.text(0, 20, "twelve words")), [])
        self.assertEqual(
            said(figures.text(20, 20, "twelve words, too many")), ["'twelve words, too many' by 78 pixels of 100 x 40"]
        )
        self.assertEqual(len(said(figures.text(50, 20, "twelve words", anchor="end"))), 1)
        self.assertEqual(said(figures.text(50, 20, "twelve words", anchor="middle")), [])
        self.assertEqual(len(said(figures.text(50, 42, "low"))), 1)
        self.assertEqual(len(said(figures.text(50, 5, "high"))), 1)
        self.assertEqual(len(said(f'<g transform="translate(60 0)">{figures.text(0, 20, "moved")}</g>', width=90)), 1)
        self.assertEqual(said(f'<g transform="translate(60 0)">{figures.text(-60, 20, "moved")}</g>', width=90), [])
        bold = figures.text(0, 20, '<tspan font-weight="600">twelve words</tspan>')
        self.assertEqual((said(bold, width=98), len(said(bold, width=90))), ([], 1))
        mono = figures.text(0, 20, "iiiiiiiiii", more=' class="mono"')
        self.assertEqual((said(mono, width=73), len(said(mono, width=68))), ([], 1))

    def test_an_axis_has_at_least_two_ticks(self):
        self.assertEqual(rooflines.ticks(0.3, 130), [1, 10, 100])
        self.assertEqual(rooflines.ticks(1, 10), [1, 10])
        self.assertEqual(rooflines.ticks(13, 126), [20, 50, 100])
        self.assertEqual(rooflines.ticks(2, 9), [2, 5])

    def test_a_point_on_a_roof_is_drawn_on_it(self):
        drawing = figures.roofline(
            [figures.Point("a", 2.0, 8400.0), figures.Point("b", 1.0, 1000.0)], 65000.0, [("m", 4200.0)], "T"
        )
        for svg in (drawing.svg, drawing.narrow):
            x, y = self.dots(svg)[0]
            slope = next(line.get("d") for line in self.check(svg).iter(f"{SVG}path") if "L" in line.get("d"))
            ax, ay, bx, by = map(float, re.findall(r"[\d.]+", slope))
            self.assertAlmostEqual(y, ay + (x - ax) * (by - ay) / (bx - ax), delta=0.2)

    def test_roofs_end_at_the_edge_of_the_plot(self):
        drawing = figures.roofline([figures.Point("a", 20.0, 45000.0)], 65000.0, [("L1", 32500.0), ("m", 4200.0)], "T")
        for svg in (drawing.svg, drawing.narrow):
            paths = [line.get("d") for line in self.check(svg).iter(f"{SVG}path")]
            lower = max(float(d.split("V")[1]) for d in paths if "V" in d)
            slopes = [[float(number) for number in re.findall(r"[\d.]+", d)] for d in paths if "L" in d][:2]
            self.assertEqual(len(slopes), 2)
            for _, y, *_ in slopes:
                self.assertLessEqual(y, lower + 0.1)

    def test_names_of_a_roofline(self):
        """Names stand in the order of their points, do not touch, and each has a line to its own; a line joins the points in
        the order of the rungs."""
        points = [figures.Point(f"rung{i}", 19.0, 30000.0 + 10 * i) for i in range(9)]
        drawing = figures.roofline(points, 65000.0, [("memory", 4200.0)], "The roofline")
        for svg, labels_of in (
            (drawing.svg, [f"rung{i}" for i in range(9)]),
            (drawing.narrow, [str(i + 1) for i in range(9)]),
        ):
            dots = self.dots(svg)
            names = {node[0].text: float(node.get("y")) for node in self.check(svg).iter(f"{SVG}text") if len(node)}
            self.assertEqual(sorted(names, key=names.get), labels_of[::-1])
            heights = sorted(names.values())
            self.assertGreaterEqual(min(b - a for a, b in zip(heights, heights[1:])), 15.8)
            paths = [line.get("d") for line in self.check(svg).iter(f"{SVG}path")]
            for (x, y), name in zip(dots, labels_of):
                ends = [float(d.split()[-1]) for d in paths if d.startswith(f"M{x:.1f} {y:.1f}L") and d.count("L") == 1]
                self.assertLess(min(abs(end - names[name] + 4) for end in ends), 0.2)
            self.assertIn("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in dots), paths)

    def test_roofs_far_left_of_all_points_have_their_names(self):
        points = [figures.Point("a", 8, 8200.0), figures.Point("b", 31, 32800.0)]
        drawing = figures.roofline(
            points, 62900.0, [("memory", 4260.0), ("L2 cache", 8104.0), ("L1 cache", 32500.0)], "The roofline"
        )
        for svg in (drawing.svg, drawing.narrow):
            names = re.findall(
                r'<text x="([\d.]+)"[^>]*text-anchor="end"[^>]*rotate\(-([\d.]+)[^>]*>([^<]* TB/s)<', svg
            )
            self.assertEqual(
                [name for _, _, name in names], ["memory 4.26 TB/s", "L2 cache 8.1 TB/s", "L1 cache 32.5 TB/s"]
            )
            for x, turned, name in names:
                self.assertGreater(float(x) - 5.5 * len(name) * math.cos(math.radians(float(turned))), 30, name)
