"""Chapter 08, run as a reader runs it: what its text says of counts, any size and input, and kernels with a mistake."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from chapter import BINARY_DIR, LAB_OPTIONS, NVCC, ROOT, Chapter, Mutant, Run, nvcc_is_the_one_of_the_text

CHAPTER = Chapter("08_scan")
SM90 = CHAPTER.source.with_name("scan_sm90.cu")

# Sizes at which tiles, warps and quads end, and the host functions at 0; inputs of small and of large numbers.
EXTREMES = r"""
#define main chapter_main
#include "scan.cu"
#undef main

#include <cstdio>

namespace {

std::vector<unsigned> made(size_t n, int kind) {
  std::vector<unsigned> in(n);
  for (size_t i = 0; i < n; ++i) {
    in[i] = kind == 0 ? 2 : kind == 1 ? i % 2 : kind == 2 ? (i > n / 3 && i < n / 2 ? 8 : i) : kind == 3 ? i / 5 : ~0u;
  }
  return in;
}

int wrong = 0;

void expect(const lab::DeviceBuffer<unsigned>& out, const std::vector<unsigned>& want, size_t n, int kind,
            const char* what) {
  std::vector<unsigned> got = out.download();
  got.resize(want.size());
  if (got == want && !lab::check_all_canaries()) return;
  std::printf("%s is wrong for n = %zu, input %d\n", what, n, kind);
  wrong = 1;
}

}  // namespace

int main() {
  for (const size_t n : {0, 1, 2, 31, 32, 33, 255, 1023, 1024, 1025, 4096, 4097, 20011}) {
    for (int kind = 0; kind < 5; ++kind) {
      const std::vector<unsigned> host = made(n, kind);
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
      expect(spare, in_runs, n, kind, "in_chunks by one");

    }
  }
  return wrong;
}
"""


class Sizes(unittest.TestCase):
    def test_all_cases(self):
        run = CHAPTER.run("--cases", "all")
        self.assertEqual(run.code, 0, run.explain())

    def test_a_million_elements_and_a_ragged_end(self):
        run = Run(CHAPTER.fast, "--size", str(2**20 + 7))
        self.assertEqual(run.code, 0, run.explain())
        run = Run(CHAPTER.fast, "--size", str(2**20 - 1), "--rung", "look_back", "--rung", "three_kernels")
        self.assertEqual(run.code, 0, run.explain())

    def test_so_many_tiles_that_blocks_pause(self):
        run = Run(CHAPTER.fast, "--size", str(513 * 8192 + 1), "--rung", "look_back")
        self.assertEqual(run.code, 0, run.explain())

    def test_no_index_of_more_than_32_bits(self):
        run = CHAPTER.run("--size", str(2**32), results=False)
        self.assertEqual(run.code, 2, run.explain())
        self.assertEqual(run.err.count("\n"), 1, run.err)

    def test_extreme_sizes_and_inputs(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder) / "extremes.cu", pathlib.Path(folder) / "extremes"
            source.write_text(EXTREMES)
            subprocess.run(
                [BINARY_DIR / "bin" / "simtcc", *LAB_OPTIONS, f"-I{CHAPTER.source.parent}", "-o", program, source]
                + CHAPTER.lab(),
                check=True,
            )
            done = subprocess.run([program], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stdout + done.stderr)


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
            counts = run.row(name, variant)["counts"]
            self.assertEqual(counts["shared_load_bank_conflicts"] + counts["shared_store_bank_conflicts"], 0, name)

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
        with Mutant(CHAPTER, [mutant[:3] for mutant in MUTANTS], traced=True) as program:
            for kernel, _, mistake, rung, said in MUTANTS:
                with self.subTest(kernel=kernel, mistake=mistake):
                    run = program.run("--size", "5000", "--rung", rung)
                    self.assertEqual(run.code, 1, run.explain())
                    self.assertIn(said, run.out + run.err)

    def test_writing_past_the_end_is_noticed(self):
        with Mutant(CHAPTER, [mutant[:3] for mutant in PAST_THE_END], traced=True) as program:
            for _, _, _, rung in PAST_THE_END:
                run = program.run("--size", "5000", "--rung", rung)
                self.assertEqual(run.code, 1, run.explain())
                self.assertIn("out-of-bounds: write", run.out + run.err)

    def test_demonstrations_raise_nothing_without_their_mistake(self):
        with Mutant(CHAPTER, [*MENDED, PREFIX], traced=True) as program:
            for rung, _, _ in MENDED:
                with self.subTest(rung=rung):
                    run = program.run("--rung", rung)
                    self.assertEqual(run.code, 1, run.explain())
                    self.assertIn("raised nothing", " ".join(run.out.split()))
            run = program.run("--size", "20000", "--rung", "look_back")
            self.assertEqual(run.code, 1, run.explain())


@unittest.skipUnless(nvcc_is_the_one_of_the_text(), "the registers are those of nvcc 13.0, which is not here")
class Compiled(unittest.TestCase):
    def test_the_kernels_for_hopper_keep_everything_in_registers(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [NVCC, "-std=c++20", "--extended-lambda", "-O3", "-arch=sm_90a", "-cubin", "-Xptxas", "-v"]
                + [f"-I{ROOT}/common/lab/include", "-o", f"{folder}/a.cubin", str(SM90)],
                capture_output=True,
                text=True,
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr)
        self.assertEqual(spills, [("0", "0")] * 2, done.stderr)  # look_ahead comes with two rings
        # Blocks of 480 threads, one for each SM.
        for registers in re.findall(r"Used (\d+) reg", done.stderr):
            self.assertLessEqual(int(registers), 65536 // 480)


if __name__ == "__main__":
    unittest.main()
