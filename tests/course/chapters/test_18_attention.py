"""Chapter 18, run as a reader runs it: what its text says of counts, any length, and kernels with a mistake."""

import unittest

from chapter import LAB_OPTIONS, Chapter, Mutant, notice, only, right_for, run_source

CHAPTER = Chapter("18_attention")
HOPPER = ("boxes", "two_groups", "turns", "ahead", "three_groups", "persistent", "dealt_items")


class Counts(unittest.TestCase):
    """Formulas hold at lengths of which the text says nothing."""

    def test_a_row_in_registers_is_read_once(self):
        # 41 elements in a row of 4 * 41: whole float4s, which an L1 line's sectors hold.
        run = CHAPTER.right("--size", "164,4", *only("block_row", "three_passes"))
        bytes_of_rows = 328 * 8 * 164 * 4
        once = run.row("block_row", "softmax,long")["counts"]
        self.assertEqual(once["global_load_sectors"] * 32, bytes_of_rows)
        self.assertEqual(once["global_store_sectors"] * 32, bytes_of_rows)
        thrice = run.row("three_passes", "softmax,long")["counts"]
        self.assertEqual(thrice["global_load_sectors"] * 32, 3 * bytes_of_rows)

    def test_reads_of_the_products_take_two_wavefronts(self):
        run = CHAPTER.right("--size", "40,4", *only("fused"))
        for row in run.rows:
            counts = row["counts"]
            self.assertEqual(counts["shared_load_wavefronts"], 2 * counts["shared_load_requests"], row["variant"])

    def test_what_decoding_reads_does_not_depend_on_the_split(self):
        run = CHAPTER.run("--size", "64,4", *only("decode"))
        whole, split = (
            run.row("decode", f"one,long,{how}")["counts"]["global_load_sectors"] for how in ("whole", "split")
        )
        self.assertLess(split, 1.2 * whole)

    def test_a_swizzled_tile_is_read_without_conflicts(self):
        rungs = ("fragments", "fragments_swizzled")
        run = CHAPTER.right("--size", "40,4", *only(*rungs))
        in_order, swizzled = (
            run.row(rung, "bf16,d=128,short,full")["counts"]["shared_load_bank_conflicts"] for rung in rungs
        )
        self.assertEqual(swizzled, 0)
        self.assertGreater(in_order, 0)

    def test_no_thread_loads_what_the_tma_copies(self):
        """But its items, 8 bytes each: a warp that computes reads each of its two numbers, and so does the thread that requests."""
        for row in CHAPTER.right("--size", "40,4", *only("boxes", "three_groups")).rows:
            heads = {"short": 8 if "d=64" in row["variant"] else 4, "long": 1, "grouped": 2}[
                row["variant"].split(",")[2]
            ]
            groups = 3 if row["rung"] == "three_groups" else 1
            queries = {"short": 40, "long": 80, "grouped": 110}[row["variant"].split(",")[2]]
            items = heads * -(-queries // (64 * groups))
            with self.subTest(rung=row["rung"], variant=row["variant"]):
                self.assertEqual(row["counts"]["global_load_requests"], items * 2 * (4 * groups + 1))
                self.assertEqual(row["counts"]["shared_load_requests"], 0)


# For sequences of several lengths and blocks of several numbers: what has to hold of lists of items.
ITEMS = r"""
#include <cstdio>
#include <map>
#include <utility>

#include "items.h"

namespace {

int wrong = 0;

void check(Heads h, bool causal, int blocks, const std::vector<Item>& all, bool balanced) {
  std::map<std::pair<int, int>, int> times;
  std::vector<int> tiles(blocks), items(blocks);
  int most = 0;
  bool right = all.size() % blocks == 0, ended = false;
  for (int b = 0; b < blocks; ++b) {
    ended = false;
    for (std::size_t i = b; i < all.size(); i += blocks) {
      right &= !ended || all[i].head < 0;  // a block stops at the first item that is none
      if ((ended = all[i].head < 0)) continue;
      ++times[{all[i].head, all[i].row0}];
      const int of_item = (causal ? h.seen(std::min(all[i].row0 + 128, h.queries) - 1) : h.keys) / 128 + 1;
      tiles[b] += of_item, ++items[b], most = std::max(most, of_item);
    }
  }
  for (int head = 0; head < h.heads; ++head) {
    for (int row = 0; row < h.queries; row += 128) right &= times[{head, row}] == 1;
  }
  right &= times.size() == std::size_t(h.heads) * ((h.queries + 127) / 128);
  const auto [low, high] = std::minmax_element(tiles.begin(), tiles.end());
  if (balanced) right &= *high - *low <= 2 * most + 3;
  if (!right) {
    std::printf("%d heads, %d queries, %d keys, %d blocks, causal %d: %d to %d tiles\n", h.heads, h.queries, h.keys, blocks,
                causal, *low, *high);
    wrong = 1;
  }
}

}  // namespace

int main() {
  for (const Heads h : {Heads{1, 1, 1, 1}, Heads{3, 300, 300, 1}, Heads{16, 4096, 4096, 1}, Heads{8, 700, 2000, 4},
                        Heads{5, 2000, 700, 1}}) {
    for (const int blocks : {1, 2, 7, 132}) {
      for (const bool causal : {false, true}) {
        check(h, causal, blocks, in_order(h, 128, blocks), false);
        check(h, causal, blocks, dealt(h, 128, 128, causal, blocks, 4), h.heads > 4);
      }
    }
  }
  return wrong;
}
"""


class Items(unittest.TestCase):
    def run_with(self, old="", new=""):
        """What the check says of items.h, with a mistake."""
        text = (CHAPTER.source.parent / "items.h").read_text()
        self.assertIn(old, text)
        mistaken = {"items.h": text.replace(old, new, 1) if old else text}
        return run_source(ITEMS, "--fast", *LAB_OPTIONS, f"-I{CHAPTER.source.parent}", beside=mistaken)

    def test_each_item_is_computed_once_and_blocks_have_as_much_to_do(self):
        done = self.run_with()
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_mistakes_are_noticed(self):
        for old, new in (
            ("row >= 0", "row > 0"),
            ("head < shape.heads", "head < shape.heads - 1"),
            ("std::min_element(work.begin(), work.end())", "work.begin() + row % blocks"),
            ("all[r * blocks + b]", "all[r]"),
        ):
            with self.subTest(mistake=new):
                self.assertEqual(self.run_with(old, new).returncode, 1)


class Sizes(unittest.TestCase):
    def test_lengths_around_the_tiles(self):
        # Rows that are a multiple of 16 bytes, and rows that are not; one position; a few more than a tile.
        right_for(self, CHAPTER, ("1,4", "33,8", "132,4"))

    def test_what_is_no_legal_size(self):
        for size in ("75,0", "20000,4", "75,5000"):
            with self.subTest(size=size):
                CHAPTER.refused("--size", size)


class Given(unittest.TestCase):
    """Attention of a reader's own: its heads have scores in the thousands, keys that are all alike, maxima that come late."""

    def test_hard_heads_of_any_shape(self):
        # Queries that see no key, and one that sees one; a single key; groups; one more query and key than a tile; decoding.
        for attention in ("8,9,5,64,2", "8,20,12,128,2", "4,1,1,64", "4,3,1,128", "4,129,65,64", "32,1,37,128,4"):
            with self.subTest(attention=attention):
                rungs = [rung for rung in CHAPTER.rungs if "row" not in rung and rung not in NO_ATTENTION]
                CHAPTER.right("--attention", attention, *only(*rungs), fast=True)

    def test_decoding_of_batches(self):
        right_for(self, CHAPTER, ("9,2", "9,4", "9,8", "9,16", "9,32", "9,64"), "decode", "paged")

    def test_rows_that_no_block_can_keep(self):
        for keys in (4099, 4100):  # as float4s, and not
            with self.subTest(keys=keys):
                CHAPTER.right("--attention", f"1,2,{keys},64", *only("three_kernels"), fast=True)

    def test_what_is_no_attention(self):
        for attention, words in (
            ("4,9,5", "has 3 numbers"),
            ("4,9,5,64,2,1", "has 6 numbers"),
            ("4,9,x,64", "is no attention"),
            ("4,9,5,96", "has heads of 96 columns, not of 64 or 128"),
            ("4,0,5,64", "has a number below 1"),
            ("4,9,5,64,3", "has a GROUP that does not divide HEADS"),
            ("65536,1,1,64", "is too large"),
            ("1,2000000,1,64", "is too large"),
            ("64,1000000,1000000,64", "is too large"),
        ):
            with self.subTest(attention=attention):
                CHAPTER.refused("--attention", attention, says=words)


NO_ATTENTION = (
    "three_passes",
    "online",
    "no_maximum",
    "variance",
    "no_rescale",
    "late_mask",
    "early_exit",
    "early_fetch",
)
SIZE = ("--size", "75,4")

# (rung, text, what it becomes): each gives a wrong result at this size.
MUTANTS = [
    ("three_passes", "sum += expf(row[c] - max)", "sum += expf(row[c])"),
    ("online", "sum * expf(max - finite(now))", "sum"),
    ("merged_by_block", "part[threadIdx.x % WARPS]", "part[0]"),
    ("variance", "squares - mean * mean", "squares"),
    ("query_a_warp", "fmaf(sum, shrink, weight)", "sum + weight"),
    ("fused", "sum[i] *= shrink", "sum[i] *= 1"),
    ("store_output", "shape.seen(row0 + at.row_of(i))", "shape.seen(row0)"),
    ("scores_to_memory", "CAUSAL && key >= shape.seen(row)", "CAUSAL && key > shape.seen(row)"),
    ("weighted_sum", "weights + part * T::VK", "weights + 0 * T::VK"),
    ("decode", "sum *= shrink, max = now", "max = now"),
    ("merged", "exp2_fast(part.max - finite(all.max))", "1.0f"),
    ("decode", "exp2_fast(fact[i].x - finite(largest))", "1.0f"),
    ("unpack", "key % PAGE : key", "0 * PAGE : key"),
    ("make_pages", "std::uint16_t{0}", "std::uint16_t{0xffff}"),  # NaN behind the last key
]
# The same in BF16: (file, function, text, what it becomes).
BF16_MUTANTS = [
    ("attention_bf16.cu", "attention_by_fragments", "multiply_rows(sums[m], shrink);", ""),
    ("attention_bf16.cu", "attention_by_fragments", "CAUSAL ? shape.seen(row + 8)", "CAUSAL ? shape.seen(row)"),
    ("bf16.h", "add", "sum[r] *= shrink[r];", ""),
    ("bf16.h", "mask_scores", ">= last[e / 2]", "> last[e / 2]"),
    ("bf16.h", "to_operand", "s[2 * k + r / 2]", "s[2 * k + r % 2]"),
    ("bf16.h", "store_rows", "upper ? w[j] : w[j + far], far", "upper ? w[j + far] : w[j], far"),
]
# On Hopper: (file, function, text, what it becomes, rung, what the simulator says).
HOPPER_MUTANTS = [
    ("attention_bf16_hopper.cu", "attention_by_boxes", "wgmma_wait<HOW.ahead ? 1 : 0>();", "", "turns", "wgmma"),
    ("attention_bf16_hopper.cu", "attention_by_boxes", "      end_turn();", "", "turns", "barrier"),
    ("hopper.h", "tensor_map", "cuuint64_t(rows), cuuint64_t(heads)", "cuuint64_t(rows) * heads, 1", "boxes", "wrong"),
]
RUNG_OF = {
    "merged_by_block": "block_row",
    "scores_to_memory": "three_kernels",
    "weighted_sum": "three_kernels",
    "store_output": "fused",
    "merged": "decode",
    "unpack": "paged",
    "make_pages": "paged",
}


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        notice(self, CHAPTER, [(*mutant, RUNG_OF.get(mutant[0], mutant[0])) for mutant in MUTANTS], *SIZE, at_once=True)

    def test_a_row_that_is_read_again_counts_whole(self):
        mistake = ("reread_row", "own = Op::merge(own,", "own = Op::merge(Op::none(),")
        with Mutant(CHAPTER, [mistake]) as program:
            run = program.run("--rung", "special_rows")
            self.assertEqual(run.code, 1, run.explain())
            self.assertIn("kernel 4, row 0", run.out)  # of a softmax the one that reads again

    def test_a_nan_that_a_norm_loses_and_a_rounded_exponent_are_noticed(self):
        lost = ("of", "(x[i].z * x[i].z + x[i].w * x[i].w)", "fmaxf(x[i].z * x[i].z + x[i].w * x[i].w, 0)")
        rounded = ("merge", "LOG2E * (a.max - by)", "fmaf(LOG2E, a.max, -(LOG2E * by))")
        with Mutant(CHAPTER, [lost, rounded], file="rows.h", compiled=CHAPTER.source.name) as program:
            run = program.run("--rung", "special_rows")
            self.assertEqual(run.code, 1, run.explain())
            self.assertIn("kernel 8, row 3", run.out)  # of RMS norm the one by warps
            run = program.run("--attention", "4,9,5,64", "--rung", "three_kernels")
            self.assertEqual(run.code, 1, run.explain())
            self.assertRegex(run.out, r"is right; largest error 0\.000")

    def test_every_mistake_in_bf16_is_noticed(self):
        for file, *mutant in BF16_MUTANTS:
            wrong = Mutant(CHAPTER, [mutant], file=file, compiled="attention_bf16.cu")
            with self.subTest(file=file, mistake=mutant[2] or mutant[1]), wrong as program:
                run = program.run("--size", "40,4", "--rung", "fragments_reused")
                self.assertEqual(run.code, 1, run.explain())

    def test_every_mistake_on_hopper_is_noticed(self):
        for file, *mutant, rung, says in HOPPER_MUTANTS:
            wrong = Mutant(CHAPTER, [mutant], traced=True, file=file, compiled="attention_bf16_hopper.cu")
            with self.subTest(mistake=mutant[2] or mutant[1]), wrong as program:
                run = program.run("--size", "70,1", "--rung", rung)
                self.assertIn(run.code, (1, 86), run.explain())
                self.assertRegex(run.out + run.err, says)

    def test_what_only_the_simulator_notices(self):
        notice(self, CHAPTER, [("Stream", "__syncthreads();", "", "fused", "shared-race")], traced=True)
