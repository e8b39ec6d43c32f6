"""Chapter 08, run as a reader runs it: what its text says of counts, any size and input, and kernels with a mistake."""

import unittest

from chapter import Chapter, Mutant, Tiled, conflicts, notice, only

CHAPTER = Chapter("08_scan")

# The chapter's functions on extreme sizes and inputs; the host functions at 0, too.
EXTREMES = r"""
  std::vector<unsigned> exclusive(n), inclusive(n), in_runs(n);
  unsigned sum = 0;
  for (size_t i = 0; i < n; ++i) {
    exclusive[i] = sum;
    inclusive[i] = sum += host[i];
    in_runs[i] = i % RUN == 0 ? host[i] : in_runs[i - 1] + host[i];
  }
  lab::DeviceBuffer<unsigned> in(host, "in"), out(n, "out"), spare(std::bit_ceil(n), "spare");
  lab::DeviceBuffer<Word> state(blocks_for(n, TILE) + 1, "state");
  const unsigned tiles = blocks_for(n, TILE);
  lab::DeviceBuffer<unsigned> sums(tiles, "sums");
  const auto check = [&](const char* what, const std::vector<unsigned>& want) {
    expect(out, want, n, kind, what);
    out.poison();
  };
  if (n > 0) {
    hillis_steele_launches(out.data(), in.data(), n, spare.data());
    check("hillis_steele_launches", inclusive);
    blelloch_launches(out.data(), in.data(), n, spare.data());
    check("blelloch_launches", exclusive);
  }
  out.upload(host);  // more tiles of sums than one
  scan_sums<<<1, THREADS>>>(out.data(), n);
  check("scan_sums", exclusive);
  three_kernels(out.data(), in.data(), n, sums.data(), false);
  check("three_kernels, scan first", exclusive);
  three_kernels(out.data(), in.data(), n, sums.data(), true);
  check("three_kernels, reduce first", exclusive);
  clear(state.data(), n, TILE);
  chained<<<tiles, THREADS>>>(out.data(), in.data(), n, state.data());
  check("chained", exclusive);
  for (auto& launch : looks_back(std::make_integer_sequence<unsigned, std::size(STEPS)>())) {
    Arrays arrays{.n = n, .out = out.data(), .in = in.data(), .state = state.data()};
    launch(arrays);
    check("a step of look_back", exclusive);
  }
  in_chunks<1><<<blocks_for(n, RUN), 1>>>(spare.data(), in.data(), n);
  in_chunks<32><<<blocks_for(n, RUN), 32>>>(out.data(), in.data(), n);
  check("in_chunks", in_runs);
  expect(spare, in_runs, n, kind, "in_chunks by one");"""


class Sizes(Tiled, unittest.TestCase):
    chapter = CHAPTER
    extremes = EXTREMES
    many_tiles = "look_back"

    def test_a_million_elements_but_one(self):
        rungs = ("look_back", "three_kernels", "look_ahead")
        CHAPTER.right("--size", str(2**20 - 1), *only(*rungs), fast=True)


class Counts(unittest.TestCase):
    """Formulas hold at sizes of which the text says nothing."""

    def test_steps_and_work(self):
        run = CHAPTER.run("--size", "5000", "--rung", "hillis_steele_launches", "--rung", "blelloch_launches")
        steele, blelloch = (run.row(name)["counts"] for name in ("hillis_steele_launches", "blelloch_launches"))
        self.assertEqual(steele["global_store_active_lanes"], 13 * 5000)
        additions = steele["global_load_active_lanes"] - steele["global_store_active_lanes"]
        self.assertEqual(additions, 13 * 5000 - (2**13 - 1))
        self.assertEqual(blelloch["global_store_active_lanes"], 3 * (2**13 - 1))

    def test_padding_leaves_no_conflict(self):
        run = CHAPTER.run("--size", "4096", "--rung", "blelloch", "--rung", "block_scan")
        for name, variant in (("blelloch", "pad=1"), ("block_scan", None)):
            self.assertEqual(conflicts(run.row(name, variant)), 0, name)

    def test_blocks_that_wait_for_each_other_count_the_same_in_every_run(self):
        """With one thread, as on the pages: a block runs until it waits, and then the next one does."""
        runs = [CHAPTER.run("--size", "20011", "--rung", "one_wave", environment={"SIMT_THREADS": "1"}) for _ in "123"]
        first, *others = (run.row("one_wave", None)["counts"] for run in runs)
        self.assertGreater(first["global_load_requests"], 0)
        self.assertEqual(others, [first, first])

    def test_every_step_of_the_look_back_stores_the_same(self):
        """20,011 elements: 5,002 stores of four, three of one, and a sum and a prefix of each tile but the first."""
        run = CHAPTER.run("--size", "20011", "--rung", "look_back")
        rows = [row for row in run.rows if row["rung"] == "look_back"]
        self.assertEqual(len(rows), 7)
        for row in rows:
            tiles = 3 if row["variant"] in ("rows=8", "pause", "blockIdx") else 5
            self.assertEqual(row["counts"]["global_store_active_lanes"], 5005 + 2 * tiles - 1, row["variant"])

    def test_bytes_of_three_kernels(self):
        run = CHAPTER.run("--size", str(2**18), "--rung", "three_kernels")
        for variant, expected in (("scan first", 16), ("reduce first", 12)):
            counts = run.row("three_kernels", variant)["counts"]
            moved = 32 * (counts["global_load_sectors"] + counts["global_store_sectors"]) / 2**18
            self.assertAlmostEqual(moved, expected, delta=0.1)


# (kernel, text, what it becomes, the rung that it spoils, what is said): looked for behind the kernel's name.
MUTANTS = [
    ("add_left", "i < d ? in[i]", "i <= d ? in[i]", "hillis_steele_launches", "are wrong"),
    ("down_sweep", "tree[right - d] = sum", "tree[right - d] = left", "blelloch_launches", "are wrong"),
    ("hillis_steele", "t < d ? sums", "t <= d ? sums", "hillis_steele", "are wrong"),
    ("blelloch", "if (t == 0) tree", "if (t == 1) tree", "blelloch", "shared-race"),
    ("warp_scan", "inclusive - v", "inclusive", "warp_scan", "are wrong"),
    ("block_scan", "offset += start[", "offset = start[", "three_kernels", "are wrong"),
    ("chained", "prefix + total)", "prefix)", "chained", "are wrong"),
    ("in_chunks", "p < threadIdx.x", "p <= threadIdx.x", "in_chunks", "are wrong"),
]
# The demonstrations without their mistake, and a mistake in what many rungs use.
MENDED = [
    ("one_row", "if (t >= d) sums[t] += sums[t - d];", "if (t < 0) sums[t] += sums[t - d];"),
    ("later_first", "gridDim.x - 1 - blockIdx.x", "blockIdx.x"),
    ("torn_word", "sums[tile] = sum;", "sums[tile] = sum; __threadfence();"),
]
PREFIX = ("find_prefix", "before + sum", "before")
PAST_THE_END = [("store_tile", "WHOLE && is_whole<R>(at, n)", "WHOLE", "block_scan")]


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        notice(self, CHAPTER, MUTANTS, "--size", "5000", traced=True, at_once=True)

    def test_writing_past_the_end_is_noticed(self):
        mutants = [(*mutant, "out-of-bounds: write") for mutant in PAST_THE_END]
        notice(self, CHAPTER, mutants, "--size", "5000", traced=True, at_once=True)

    def test_mistakes_of_warps_with_roles_are_noticed(self):
        for text, becomes, says in (
            ("before = exclusive + __reduce_add_sync(ALL, mine);", "before = exclusive;", "are wrong"),
            ("wait(&ready[s], k / STAGES % 2);", "", "shared-race|uninitialized-shared"),
        ):
            wrong = Mutant(CHAPTER, [("look_ahead", text, becomes)], traced=True, file="scan_hopper.cu")
            with self.subTest(mistake=becomes or text), wrong as program:
                run = program.run("--size", "200000", "--rung", "look_ahead")  # several tiles for each block
                self.assertIn(run.code, (1, 86), run.explain())
                self.assertRegex(" ".join((run.out + run.err).split()), says)

    def test_demonstrations_raise_nothing_without_their_mistake(self):
        with Mutant(CHAPTER, [*MENDED, PREFIX], traced=True) as program:
            for rung, _, _ in MENDED:
                with self.subTest(rung=rung):
                    run = program.run("--rung", rung)
                    self.assertEqual(run.code, 1, run.explain())
                    self.assertIn("raised nothing", " ".join(run.out.split()))
            run = program.run("--size", "20000", "--rung", "look_back")
            self.assertEqual(run.code, 1, run.explain())
