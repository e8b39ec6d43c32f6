"""Chapter 16, run as a reader runs it: what its text says of counts, layers of many shapes, and kernels with a mistake."""

import unittest

from chapter import Chapter, Mutant, conflicts, notice, only, right_for

CHAPTER = Chapter("16_convolution")


class Counts(unittest.TestCase):
    def test_the_matrix_of_windows_is_stored_and_an_implicit_product_stores_results_alone(self):
        # 2 images of 8 x 8, 3 channels, 4 filters: 27 rows of 128 columns, and 4 x 128 results, from filters in 32 rows of 64.
        run = CHAPTER.right("--layer", "2,3,8,8,4,3,3,1,1", *only("im2col", "implicit"))
        columns = run.row("im2col", "layer=given")["counts"]["global_store_sectors"]
        implicit = run.row("implicit", "layer=given")["counts"]["global_store_sectors"]
        self.assertEqual(columns - implicit, 27 * 128 * 4 // 32)
        self.assertEqual(implicit, (32 * 64 + 4 * 128) * 4 // 32)

    def test_no_bank_conflicts(self):
        run = CHAPTER.right(
            "--layer",
            "2,9,6,6,12,3,3,1,1",
            *only("implicit", "implicit_nhwc", "split", "winograd", "fourier", "pooled"),
        )
        for row in run.rows:
            self.assertEqual(conflicts(row), 0, (row["rung"], row.get("variant")))

    def test_chunks_are_copied_once_for_each_tile_and_conflict_with_none(self):
        # 2 x 6 x 6 windows of 9 taps of 64 channels: K-tiles of 8 chunks of 128 windows and 64 filters, four chunks a sector pair.
        run = CHAPTER.right("--layer", "2,64,6,6,64,3,3,1,1", *only("implicit_bf16"))
        row = run.row("implicit_bf16", "layer=given")
        self.assertEqual(conflicts(row), 0)
        self.assertEqual(row["counts"]["global_store_sectors"], 2 * 6 * 6 * 64 * 2 // 32)


class Layers(unittest.TestCase):
    def test_layers_of_odd_shapes(self):
        # N,C,H,W,K,R,S,stride,padding,dilation,groups
        for layer in (
            "1,1,1,1,1,1,1",
            "2,5,1,1,65,3,3,1,1",
            "1,3,7,13,5,3,3,1,1",
            "1,3,7,13,65,5,5,3,2",
            "3,65,7,13,3,5,3,2,2",
            "1,1,57,46,3,3,3,1,1",
            "2,6,9,11,4,3,3,2,1,2,2",
            "1,8,23,22,8,3,3,3,2,2,8",
            "2,5,8,6,70,1,1",
            "3,4,5,4,4,1,1,2",
            "1,3,9,8,5,3,3,1,0",
            "1,3,9,8,5,3,3,1,3",
            "2,3,7,5,130,3,3,1,1",
            "2,9,7,13,65,5,5,1,2",
            "1,3,9,8,5,5,5,1,0",
            "1,2,5,5,3,5,5,1,4",
            "2,3,13,11,5,3,3,3,1",
            "1,5,7,13,65,5,5,3,2",
            "1,1,224,223,3,3,3,1,1",
            "1,3,224,223,1,7,7,3,3",
        ):
            with self.subTest(layer=layer):
                CHAPTER.right("--layer", layer, fast=True)

    def test_layers_of_bf16_with_odd_tails(self):
        for layer in (
            "1,8,1,1,1,1,1",
            "2,8,9,11,5,3,3,2,1,2",
            "1,72,7,13,65,5,5,1,2",
            "3,16,1,1,130,1,1",
            "1,8,20,19,8,15,15,1,3",
            "1,8,190,190,64,1,1",  # large enough for tiles of 128 x 64
            "1,8,190,190,136,1,1",  # and of 128 x 128
            "2,24,13,11,9,3,5,3,2",
            "1,40,29,17,136,3,3,1,0",
        ):
            with self.subTest(layer=layer):
                run = CHAPTER.right("--layer", layer, *only("implicit_bf16"), fast=True)
                self.assertEqual([row["status"] for row in run.rows], ["PASS"])

    def test_bf16_says_what_it_takes(self):
        for layer in ("1,12,5,5,4,3,3", "1,16,5,5,4,3,3,1,1,1,2", "1,8,20,20,4,16,1"):
            run = CHAPTER.right("--layer", layer, *only("implicit_bf16"), fast=True)
            self.assertEqual([row["status"] for row in run.rows], ["SKIP"])

    def test_other_sizes(self):
        right_for(self, CHAPTER, ("1", "13", "32", "44"))

    def test_a_rung_says_what_it_takes(self):
        run = CHAPTER.right(
            "--layer", "1,4,6,6,4,3,3,2,1,1,2", *only("winograd", "split", "pointwise", "implicit"), fast=True
        )
        status = {row["rung"]: row["status"] for row in run.rows}
        self.assertEqual(status, {"implicit": "PASS", "pointwise": "SKIP", "split": "SKIP", "winograd": "SKIP"})

    def test_what_is_no_layer(self):
        for layer, words in (
            ("1,2", "has 2 numbers"),
            ("1,3,4,4,4,3,x", "is no layer"),
            ("1,3,4,4,4,3,3,1,1,1,2", "groups divide C and K"),
            ("1,3,4,4,4,7,7", "no larger than the padded image"),
            ("0,3,4,4,4,3,3", "at least 1"),
            ("1,3,4,4,4,3,3,0", "stride"),
            ("1,64,65536,65536,4,3,3", "2^31"),
            ("1,1,99999,1,1,99999,1", "2^15"),
            ("1,9000,4,4,4,3,3,1,1", "at most 65528"),
            ("1,1,4,4,70000,1,1", "at most 65528"),
            ("1,3,4,4,4,3,3,1,1,1,1,1", "has 12 numbers"),
            ("1,3,4,4,4,3,99999999999", "is no layer"),
        ):
            with self.subTest(layer=layer):
                CHAPTER.refused("--layer", layer, says=words)

    def test_an_image_that_is_too_large(self):
        CHAPTER.refused("--size", "1000")


# Programs of mistakes, each with other rungs: (function, text, what it becomes, what runs it, the variants that must fail).
PROGRAMS = [
    [
        (
            "window_sum",
            "k / (l.k / l.groups) * depth",
            "0 * depth",
            ("naive", "--layer", "1,4,5,5,4,3,3,1,1,1,2"),
            "given",
        ),
        ("im2col", "x0 + s * l.dilation", "x0 + r * l.dilation", ("im2col",), "c128"),
        ("implicit_plain", "window_of(l, column)", "window_of(l, column + 1)", ("implicit_plain",), "c128"),
        ("implicit", "column < count ?", "column + 1 < count ?", ("implicit",), ""),
        ("implicit_nhwc", "col0 + j < count ?", "col0 + j + 1 < count ?", ("implicit_nhwc",), ""),
        ("pointwise", "column - n * each", "column", ("pointwise",), ""),
        ("split", "taps + first * BK", "taps", ("split",), "one14"),
        ("products", "* pitch_a + k0", "* pitch_a", ("winograd",), "c512"),
        ("transform_outputs", "fmaxf(best + bias[k], 0)", "best", ("pooled",), "fused"),
        ("window_in_pool", "j % 4 / 2", "j % 2", ("pooled",), "implicit"),
        ("max_pool", "from[q + 1]", "from[q]", ("pooled",), "apart"),
    ],
    [
        ("add_parts", "part < count_parts", "part + 1 < count_parts", ("split",), ""),
        ("relu", "fmaxf(x[i], 0)", "x[i] + 1", ("network",), "apart"),
    ],
    [("transform_filter", "w[r * R + s]", "w[s * R + r]", ("winograd",), "c64")],
    [("transform_mixed", "mixed.q.first(b) - l.pad", "mixed.q.first(b)", ("winograd",), "c512,tile=4+3")],
    [("transform_input", "first.x - l.pad", "first.x", ("winograd",), "five")],
]


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        for mistakes in PROGRAMS:
            with Mutant(CHAPTER, [mistake[:3] for mistake in mistakes]) as program:
                for function, _, mistake, arguments, variant in mistakes:
                    with self.subTest(function=function, mistake=mistake):
                        run = program.run("--rung", *arguments)
                        self.assertEqual(run.code, 1, run.explain())
                        failed = [row.get("variant", "") for row in run.rows if row["status"] == "FAIL"]
                        self.assertTrue(any(variant in one for one in failed), run.explain())
                        if arguments in (("pooled",), ("network",)):  # its neighbours are other kernels
                            self.assertEqual(len(failed), {"pooled": 3, "network": 1}[arguments[0]], run.explain())

    def test_every_mistake_in_spectra_is_noticed(self):
        for function, text, mistake in (
            ("fourier32", "j << level", "j"),
            ("Places", "(SIDE - fy) % SIDE", "SIDE - 1 - fy"),
            ("spectra_of_pixels", "opposite ? -value.y : value.y", "value.y"),
            ("spectra_of_filters", "re[r] * sine(fy * r) +", "re[r] * sine(fy * r) -"),
            ("results_of_spectra", "i < rows", "i + 1 < rows"),
        ):
            mistakes = [(function, text, mistake)]
            with self.subTest(mistake=mistake), Mutant(CHAPTER, mistakes, file="convolution_fft.cu") as program:
                run = program.run("--rung", "fourier", "--layer", "1,2,6,5,3,5,5,1,2")
                self.assertEqual(run.code, 1, run.explain())

    def test_every_mistake_in_bf16_is_noticed(self):
        for function, text, mistake in (
            ("carry", "s = 0, ++r", "s = 0"),
            ("copy", "T::step * i < filters", "true"),
            ("place_of", "1u << (16 + s)", "1u << (15 + s)"),
            ("implicit_bf16", "min(8, l.k - k)", "min(7, l.k - k)"),
            ("implicit_bf16", "lane / 8 % 2", "lane / 16 % 2"),
        ):
            mistakes = [(function, text, mistake)]
            with self.subTest(mistake=mistake), Mutant(CHAPTER, mistakes, file="convolution_bf16.cu") as program:
                run = program.run("--rung", "implicit_bf16")
                self.assertIn(run.code, (1, 86), run.explain())

    def test_what_only_the_simulator_notices(self):
        barrier = ("tile_product", "__pipeline_wait_prior(STAGES - 2);\n        __syncthreads();", "__syncthreads();")
        notice(self, CHAPTER, [(*barrier, "pointwise")], traced=True)
