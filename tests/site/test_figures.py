"""The drawings: what they show is what the counts say, and everyone can read them."""

import math
import re
import unittest
import xml.etree.ElementTree as ElementTree

import sample  # noqa: F401  puts docs/_ext on the path

import figures

from course import maps

try:
    import matplotlib  # noqa: F401
except ImportError:
    matplotlib = None


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

    def test_sector_map(self):
        drawing = figures.sector_map([figures.Request("near", "load", 4, 128), figures.Request("far", "load", 32, 128)])
        for svg in (drawing.svg, drawing.narrow):
            root = self.check(svg)
            fills = [r.get("fill") for r in root.iter("{http://www.w3.org/2000/svg}rect")]
            self.assertEqual(len(fills), (4 + 32) * 8)
            self.assertEqual(fills.count("var(--draw-accent)"), 64)  # 32 words each
        self.assertIn("near: one load: 4 sectors, 128 of 128 bytes used.", drawing.alt)
        self.assertIn("far: one load: 32 sectors, 128 of 1,024 bytes used.", drawing.alt)

    def test_tile_walk(self):
        drawing = figures.tile_walk(48, 40, 50, 16, (1, 2))
        root = self.check(drawing.svg)
        rects = list(root.iter("{http://www.w3.org/2000/svg}rect"))
        fills = [r.get("fill") for r in rects]
        self.assertEqual((fills.count("var(--draw-soft)"), fills.count("var(--draw-accent)")), (8, 1))  # 50 is 4 slices
        texts = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(texts, ["1", "2", "3", "4", "A 48 × 50", "1", "2", "3", "4", "B 50 × 40", "C 48 × 40"])
        scale = 336 / 90
        last = [float(rects[3].get(key)) / scale for key in ("width", "height")]
        self.assertAlmostEqual(last[0], 2, delta=0.1)  # the last slice of A has 2 columns left,
        self.assertAlmostEqual(last[1], 16, delta=0.1)
        c = rects[fills.index("var(--draw-accent)")]
        self.assertAlmostEqual(float(c.get("width")) / scale, 8, delta=0.1)  # the last tile of C 8
        self.assertIn("in row 2 and column 3", drawing.alt)

    def test_block_grid(self):
        drawing = figures.block_grid(5, 7, (4, 4), [[16, 12], [4, 3]])
        root = self.check(drawing.svg)
        rects = list(root.iter("{http://www.w3.org/2000/svg}rect"))
        self.assertEqual(
            [[float(r.get(key)) for key in ("width", "height")] for r in rects],
            [[175, 125]] + [[100, 100]] * 4 + [[175, 125]],
        )  # the matrix, its blocks, its frame
        texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
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
            rects = list(self.check(svg).iter("{http://www.w3.org/2000/svg}rect"))
            fills = [r.get("fill") for r in rects]
            # Sectors: 32 of A and 1 of B, then 1 and 4. Floats: 32, 1 and 32 of C, then 1, 32 and 32.
            self.assertEqual([fills.count(f"var(--draw-{what})") for what in ("soft", "accent")], [33 + 5, 65 + 65])
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
            fills = [r.get("fill") for r in root.iter("{http://www.w3.org/2000/svg}rect")]
            self.assertEqual(
                (fills.count("var(--draw-accent)"), fills.count("var(--draw-soft)")), (1 + 32 + 32, 31 + 16)
            )
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
        rects = list(root.iter("{http://www.w3.org/2000/svg}rect"))
        self.assertEqual([r.get("fill") for r in rects], ["var(--draw-soft)"] * 16 + ["none"] * 16)
        self.assertEqual((float(rects[6].get("x")), float(rects[6].get("y")) - float(rects[0].get("y"))), (61, 30))
        self.assertIn("in pairs: row by row, lanes 0 1 4 5 8 9 12 13; 2 3 6 7 10 11 14 15; 16 17 ", drawing.alt)

    def test_stride_bars(self):
        drawing = figures.stride_bars(
            [("a float", [1, 1, 2, 1, 4], [1, 1, 2, 1, 4]), ("a float2", [1, 2, 4, 2, 8], [1, 2, 4, 2, 16])], "NVIDIA X"
        )
        for svg in (drawing.svg, drawing.narrow):
            root = self.check(svg)
            bars = list(root.iter("{http://www.w3.org/2000/svg}rect"))
            self.assertEqual([float(bar.get("height")) for bar in bars], [11, 11, 22, 11, 33, 11, 22, 33, 22, 44])
            dots = list(root.iter("{http://www.w3.org/2000/svg}circle"))
            # A dot on the end of its bar where both say the same, a step above it where the hardware counts twice as many.
            tops = [float(dot.get("cy")) - float(bar.get("y")) for dot, bar in zip(dots, bars, strict=True)]
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
            rects = list(self.check(svg).iter("{http://www.w3.org/2000/svg}rect"))
            fills = [r.get("fill") for r in rects]
            # Two drawings of 64 quads loaded, 2 and 16 strips read, 32 places, 3 frames.
            self.assertEqual([fills.count(f"var(--draw-{what})") for what in ("second", "soft")], [128, 2 * (18 + 32)])
            self.assertEqual(fills.count("none"), 6)
        loaded = [
            r
            for r in self.check(drawing.svg).iter("{http://www.w3.org/2000/svg}rect")
            if r.get("fill") == "var(--draw-second)"
        ]
        self.assertEqual(sum(float(r.get("width")) * float(r.get("height")) for r in loaded[:32]), 18 * 36)  # 8 x 16
        self.assertIn(
            "It loads rows 0 to 15 of A's slice and row 0 of B's. rows: 2 x 16 places, row by row lanes 0 1 2",
            drawing.alt,
        )
        self.assertIn("columns: 16 x 2 places, row by row lanes 0 16; 1 17;", drawing.alt)

    def test_graph(self):
        chapters = [("01_a", "01", "A", []), ("02_b", "02", "B <&", ["01_a"]), ("03_c", "03", "C", ["01_a", "02_b"])]
        drawing = figures.chapter_graph(chapters)
        for svg in (drawing.svg, drawing.narrow):
            root = self.check(svg)
            self.assertEqual(
                [a.get("href") for a in root.iter("{http://www.w3.org/2000/svg}a")],
                ["01_a.html", "02_b.html", "03_c.html"],
            )
            self.assertEqual(len(list(root.iter("{http://www.w3.org/2000/svg}path"))), 3)
        self.assertIn("03 C builds on 01 A and 02 B <&.", drawing.alt)
        self.assertEqual(figures.chapter_graph(chapters[:1]).narrow, "")

    @unittest.skipUnless(matplotlib, "matplotlib is not installed here")
    def test_ladder(self):
        bars = [{"label": "one", "value": 4000.0, "peer": None}, {"label": "two x=2", "value": 12.5, "peer": 4100.0}]
        drawing = figures.ladder(bars, "GB/s", 4200.0, "p", "The ladder")
        for svg in (drawing.svg, drawing.narrow):
            self.check(svg.replace("xlink:", ""))
            for text in ("one", "two x=2", "4,000", "12.5"):
                self.assertIn(f">{text}</text>", svg)
        self.assertNotEqual(
            set(re.findall(r'id="([^"]+)"', drawing.svg)) & set(re.findall(r'id="([^"]+)"', drawing.narrow)),
            set(re.findall(r'id="([^"]+)"', drawing.svg)),
        )
        self.assertIn("two x=2 12.5 GB/s (peer 4,100)", drawing.alt)
        self.assertIn("limit is 4,200 GB/s", drawing.alt)
        self.assertEqual(drawing.svg, figures.ladder(bars, "GB/s", 4200.0, "p", "The ladder").svg)

    @unittest.skipUnless(matplotlib, "matplotlib is not installed here")
    def test_roofline(self):
        points = [
            figures.Point("far", 0.06, 500.0),
            figures.Point("near", 0.4, 6200.0),
            figures.Point("nearly the same", 0.41, 6100.0),
        ]
        drawing = figures.roofline(points, 65000.0, [("memory", 4200.0), ("L2", 9000.0)], "p", "The roofline")
        figures_of = ("0.06 FLOP/byte, 0.5 TFLOP/s", "0.4 FLOP/byte, 6.2 TFLOP/s")
        for svg, legend in (
            (drawing.svg, (f"1  far: {figures_of[0]}", f"2  near: {figures_of[1]}")),
            (drawing.narrow, ("1  far:", "2  near:", *figures_of)),
        ):
            self.check(svg.replace("xlink:", ""))
            for text in ("1", "2, 3", *legend, "memory 4.2 TB/s", "L2 9 TB/s", "FP32 FMA 65.0 TFLOP/s"):
                self.assertIn(f">{text}</text>", svg)
        self.assertIn(
            "near 0.4 FLOP per byte, 6.2 TFLOP/s; nearly the same 0.41 FLOP per byte, 6.1 TFLOP/s. Limits: FP32 FMA 65.0 TFLOP/s, memory 4,200 GB/s",
            drawing.alt,
        )

    @unittest.skipUnless(matplotlib, "matplotlib is not installed here")
    def test_numbers_of_a_roofline_keep_apart(self):
        points = [figures.Point("left", 0.4, 2650.0), figures.Point("right", 0.45, 2860.0)]
        drawing = figures.roofline(points, 65000.0, [("memory", 4200.0)], "p", "The roofline")
        for svg in (drawing.svg, drawing.narrow):
            dots = [
                float(x)
                for x in re.findall(r'<use [^>]*? x="([\d.]+)" y="[\d.]+" style="fill: var\(--draw-accent\)', svg)
            ]
            numbers = [
                float(x) for x in re.findall(r'fill: var\(--draw-foreground\)" x="([\d.]+)"[^>]*>\d</text>', svg)
            ]
            self.assertEqual((len(dots), len(numbers)), (2, 2))
            self.assertLess(numbers[0], dots[0])
            self.assertGreater(numbers[1], dots[1])

    @unittest.skipUnless(matplotlib, "matplotlib is not installed here")
    def test_numbers_of_a_roofline_are_not_written_over_one_another(self):
        at = [(3.56, 8050), (6.4, 8230), (6.4, 8850), (6.4, 9490), (3.56, 6020), (3.56, 8030), (6.4, 8226)]
        points = [figures.Point(f"p{i}", *where) for i, where in enumerate(at)] + [
            figures.Point("naive", 0.395, 2640.0)
        ]
        drawing = figures.roofline(points, 63000.0, [("memory", 4260.0)], "p", "The roofline")
        for svg in (drawing.svg, drawing.narrow):
            boxes = []
            for anchor, x, y, text in re.findall(
                r'text-anchor: (\w+); fill: var\(--draw-foreground\)" x="([\d.]+)" y="([\d.]+)"'
                r"[^>]*>(\d[\d–, ]*)</text>",
                svg,
            ):
                long = 6.5 * len(text)
                start = float(x) - (long if anchor == "end" else 0)
                boxes.append((start, start + long, float(y) - 10, float(y), text))
            self.assertIn("2–4, 7", [box[4] for box in boxes])
            for i, (a, b, c, d, text) in enumerate(boxes):
                for e, f, g, h, other in boxes[i + 1 :]:
                    self.assertFalse(a < f and e < b and c < h and g < d, (text, other))

    @unittest.skipUnless(matplotlib, "matplotlib is not installed here")
    def test_roofs_far_left_of_all_points_have_their_names(self):
        points = [figures.Point("a", 8, 8200.0), figures.Point("b", 31, 32800.0)]
        drawing = figures.roofline(
            points, 62900.0, [("memory", 4260.0), ("L2 cache", 8104.0), ("L1 cache", 32500.0)], "p", "The roofline"
        )
        for svg in (drawing.svg, drawing.narrow):
            names = re.findall(
                r'<text [^>]*?text-anchor: end[^>]*? x="([\d.]+)"[^>]*?rotate\(-([\d.]+)[^>]*>([^<]* TB/s)<', svg
            )
            self.assertEqual(
                [name for _, _, name in names], ["memory 4.26 TB/s", "L2 cache 8.1 TB/s", "L1 cache 32.5 TB/s"]
            )
            for x, turned, name in names:
                self.assertGreater(float(x) - 5.5 * len(name) * math.cos(math.radians(float(turned))), 30, name)

    def test_runs_of_numbers(self):
        self.assertEqual(figures.number_runs([7]), ["7"])
        self.assertEqual(figures.number_runs([9, 1, 2, 4, 5, 6]), ["1", "2", "4–6", "9"])

    @unittest.skipUnless(matplotlib, "matplotlib is not installed here")
    def test_a_long_row_of_numbers_is_broken_where_roofs_are_near(self):
        points = [
            figures.Point("p", 30, rate) for rate in (32100, 937, 28700, 32800, 32800, 3180, 29900, 22400, 6000, 30000)
        ]
        roofs = [("memory", 4260.0), ("L2 cache", 8104.0), ("L1 cache", 32500.0)]
        drawing = figures.roofline(points, 62900.0, roofs, "p", "The roofline")
        text = re.compile(r'<text [^>]*?(?: x="([\d.]+)"|translate\(([\d.]+))[^>]*>(\d[\d–, ]*)</text>')
        labels = {name: float(x or moved) for x, moved, name in text.findall(drawing.narrow)}
        (dot,) = set(
            re.findall(r'<use [^>]*? x="([\d.]+)" y="[\d.]+" style="fill: var\(--draw-accent\)', drawing.narrow)
        )
        for name in ("1, 3–5,", "7, 8, 10"):
            self.assertGreater(labels[name], float(dot), name)


if __name__ == "__main__":
    unittest.main()
