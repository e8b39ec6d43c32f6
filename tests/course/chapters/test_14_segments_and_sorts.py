"""Chapter 14, run as a reader runs it: what its text says of counts, any size and input, and kernels with a mistake."""

import re
import unittest

from chapter import ROOT, Chapter, Mutant, Tiled, notice

CHAPTER = Chapter("14_segments_and_sorts")

# The chapter's functions on extreme sizes and inputs; the host functions at 0, too.
EXTREMES = r"""
  std::vector<unsigned> inclusive(n), repeats, even;
  unsigned sum = 0;
  for (size_t i = 0; i < n; ++i) {
    inclusive[i] = sum += host[i];
    if (i + 1 < n && host[i] == host[i + 1]) repeats.push_back(static_cast<unsigned>(i));
    if (host[i] % 2 == 0) even.push_back(host[i]);
  }
  lab::DeviceBuffer<unsigned> in(host, "in"), out(n, "out"), spare(n, "spare"), size(1, "size"), flags(n, "flags");
  lab::DeviceBuffer<Word> state(blocks_for(n, TILE) + 1, "state");
  lab::DeviceBuffer<unsigned char> heads(n, "heads");
  heads.zero();
  const unsigned tiles = blocks_for(n, TILE);
  const auto check = [&](const char* what, const std::vector<unsigned>& want) {
    expect(out, want, n, kind, what);
    out.poison();
  };
  clear(state.data(), n, SEGMENT_TILE);
  segmented<<<blocks_for(n, SEGMENT_TILE), THREADS>>>(out.data(), in.data(), heads.data(), n, state.data());
  check("segmented", inclusive);
  clear(state.data(), n, KEEP_TILE);
  compact<<<blocks_for(n, KEEP_TILE), THREADS>>>(out.data(), size.data(), in.data(), n, state.data());
  expect(size, {static_cast<unsigned>(even.size())}, n, kind, "size of compact");
  check("compact", even);
  clear(state.data(), n, TILE);
  repeats_in_one<<<tiles, THREADS>>>(out.data(), size.data(), in.data(), n, state.data());
  expect(size, {static_cast<unsigned>(repeats.size())}, n, kind, "size of repeats_in_one");
  check("repeats_in_one", repeats);

  if (n > 0) {
    repeats_in_steps(out.data(), size.data(), in.data(), n, flags.data(), spare.data(), state.data());
    expect(size, {static_cast<unsigned>(repeats.size())}, n, kind, "size of repeats_in_steps");
    check("repeats_in_steps", repeats);
  }
  // Rows of 0 to 40 values, and one that takes half of them: what each thread, lane, segment and share makes of them.
  std::vector<unsigned> starts{0}, columns(n), y;
  while (starts.back() < n) {
    const size_t length = starts.size() == 5 ? n / 2 : kind == 4 ? 1 : starts.size() * (kind + 1) % 41;
    starts.push_back(static_cast<unsigned>(std::min(n, starts.back() + length)));
  }
  starts.push_back(starts.back());  // and an empty one at the end
  const auto rows = static_cast<unsigned>(starts.size() - 1);
  for (size_t k = 0; k < n; ++k) columns[k] = static_cast<unsigned>(k * 7 % rows);
  for (unsigned r = 0; r < rows; ++r) {
    y.push_back(0);
    for (size_t k = starts[r]; k < starts[r + 1]; ++k) y[r] += host[k] * (columns[k] + 1);
  }
  std::vector<unsigned> vector(rows);
  std::iota(vector.begin(), vector.end(), 1u);
  lab::DeviceBuffer<unsigned> begins(starts, "starts"), of_column(columns, "columns"), x(vector, "x"),
      product(rows, "product"), first(blocks_for(rows + n, SHARE) + size_t{1}, "first");
  const SparseMatrix matrix{begins.data(), of_column.data(), in.data(), rows, n};
  Arrays arrays{.n = n, .out = product.data(), .in = x.data(), .matrix = matrix, .state = state.data()};
  arrays.scratch = {heads.data(), reinterpret_cast<unsigned char*>(spare.data())};
  const std::pair<const char*, Launch> launches[] = {{"multiply_rows", by_rows(multiply_rows, 1)},
                                                     {"2 lanes", by_rows(multiply_in_warps<2>, 2)},
                                                     {"32 lanes", by_rows(multiply_in_warps<32>, 32)},
                                                     {"multiply_segments", by_segments}};
  for (const auto& [what, launch] : launches) {
    launch(arrays);
    expect(product, y, n, kind, what);
    product.poison();
  }
  multiply_in_shares(product.data(), matrix, x.data(), first.data());
  expect(product, y, n, kind, "multiply_in_shares");

  if (kind == 0 || kind == 3) return;
  // Keys of any number of bits, and the values tell whether equal keys have kept their order.
  std::vector<unsigned> order(n), keys(n), want(n);
  std::iota(order.begin(), order.end(), 0u);
  const size_t words = DIGITS * std::max<size_t>(blocks_for(n, SORT_TILE), PASSES);
  lab::DeviceBuffer<unsigned> k0(n, "k0"), k1(n, "k1"), v0(n, "v0"), v1(n, "v1"), places(order, "places"),
      counts(words, "counts");
  lab::DeviceBuffer<Word> of_tiles(words + FIRST_WORD, "words");
  const Sorted memory{k0.data(), v0.data(), k1.data(), v1.data(), counts.data(), of_tiles.data()};
  for (const unsigned bits : {8u, 9u, 32u}) {
    for (size_t i = 0; i < n; ++i) keys[i] = (kind == 2 ? host[i] * 2654435761u : host[i]) >> (32 - bits);
    lab::DeviceBuffer<unsigned> unsorted(keys, "unsorted");
    want = order;
    std::stable_sort(want.begin(), want.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
    std::vector<unsigned> ascending;
    for (const unsigned place : want) ascending.push_back(keys[place]);
    using Sort = void (*)(Sorted&, const unsigned*, const unsigned*, size_t, unsigned);
    for (const Sort sort : {Sort{sort_in_steps}, Sort{sort_in_sweeps<false, Word>}, Sort{sort_in_sweeps<true, unsigned>}}) {
      Sorted sorted = memory;
      sort(sorted, unsorted.data(), places.data(), n, bits);
      expect(sorted.values == v0.data() ? v0 : v1, want, n, kind, "a sort");
      expect(sorted.keys == k0.data() ? k0 : k1, ascending, n, kind, "keys of a sort");
    }
  }
  for (const unsigned size_of_sums : {2u, 257u, 65536u}) {
    for (size_t i = 0; i < n; ++i) keys[i] = kind == 4 ? size_of_sums - 1 : host[i] % size_of_sums;
    want.assign(size_of_sums, 0);
    for (size_t i = 0; i < n; ++i) want[keys[i]] += host[i];
    lab::DeviceBuffer<unsigned> index(keys, "index"), added(size_of_sums, "sums");
    for (const By by : {By::atomic, By::warps, By::blocks, By::sort}) {
      scatter_add(added.data(), size_of_sums, index.data(), in.data(), n, by, memory, heads.data());
      expect(added, want, n, kind, "scatter_add");
    }
  }"""


class Sizes(Tiled, unittest.TestCase):
    chapter = CHAPTER
    extremes = EXTREMES
    many_tiles = "compact"


class OfChapter08(unittest.TestCase):
    """What tiles.h takes over from chapter 08 is still what stands there."""

    def functions(self, text):
        """{name: text} of the functions for the device, each with its contract; blanks and `inline` do not count."""
        whole = r"(?:^///.*\n)*(?:^template.*\n)?^__device__[^({;]*?(\w+)\((?:.*\{ .*\}|(?:.*\n)+?\})$"
        return {
            found.group(1): re.sub(r"\s+|inline ", " ", found.group().replace("inline ", ""))
            for found in re.finditer(whole, text, re.MULTILINE)
        }

    def test_each_function_is_the_same(self):
        theirs = ROOT / "chapters" / "08_scan"
        known = self.functions((theirs / "scan.cu").read_text())
        of_mine = self.functions(CHAPTER.source.with_name("tiles.h").read_text())
        shared = [name for name in of_mine if name in known]
        self.assertGreaterEqual(len(shared), 13, shared)
        for name in shared:
            self.assertEqual(of_mine[name], known[name], name)


# (kernel, text, what it becomes, the rung that it spoils, what is said): looked for behind the kernel's name.
MUTANTS = [
    ("left_of_lane", "% 32 == 0 ?", "% 32 == 1 ?", "segmented", "are wrong"),
    ("multiply_rows", "k < starts[r + 1]", "k + 1 < starts[r + 1]", "multiply_rows", "are wrong"),
    ("multiply_in_warps", "k += LANES", "k += LANES + 1", "multiply_in_warps", "are wrong"),
    # A row that began in a block before: its first part is lost.
    (
        "multiply_shares",
        "atomicAdd(&y[row + rest_row], before.sum + rest)",
        "y[row + rest_row] = before.sum + rest",
        "multiply_in_shares",
        "global-race",
    ),
    ("rows_ended", "<= steps - 1 - middle", "< steps - 1 - middle", "multiply_in_shares", "global-race"),
    ("keeps", "i < n && value % 2", "value % 2", "compact", "out-of-bounds"),
    # A well-known one: the comparison past the end.
    ("mark_repeats", "i + 1 < n && in", "in", "repeats_in_steps", "out-of-bounds: read"),
    ("repeats_in_one", "i + 4 < n && x[r].w", "x[r].w", "repeats_in_one", "are wrong"),
    ("scatter", "out[index[i]] = in[i]", "out[i] = in[index[i]]", "permute", "are wrong"),
    # The best known of all: without the atomic, what others add in between is lost.
    (
        "add_atomically",
        "atomicAdd(&sums[index[i]], values[i])",
        "sums[index[i]] += values[i]",
        "scatter_add",
        "global-race",
    ),
    ("scatter_ends", "i + 1 == n || ", "", "scatter_add", "out-of-bounds: read"),
    (
        "count_digits",
        "atomicAdd(&count[digit_of(key[k], shift)], 1u)",
        "++count[digit_of(key[k], shift)]",
        "sort_in_steps",
        "shared-race",
    ),
    ("add_in_warps", "(same & below) == 0", "same != 0", "scatter_add", "are wrong"),
    # The slot of another index.
    ("add_in_blocks", "before == ALL || before == target[e]", "true", "scatter_add", "are wrong"),
]
PAST_THE_END = [
    ("mark_repeats", "if (i < n) flags[i]", "flags[i]", "repeats_in_steps"),
    ("move_pairs", "if (i < here) keys_out", "keys_out", "sort_in_sweeps"),
]
# Two well-known ones: every thread writes the size; lanes read and write the same counter with nothing between.
SIZE = ("scatter_repeats", "if (i == n - 1) *size", "*size")
LANES = ("rank_keys", "__syncwarp();  // all have read", "")
# A look-back that goes on behind a prefix counts what the prefix has.
PREFIX = ("count_before", "if (word >> SHIFT == 2) break;", "")


class Mutants(unittest.TestCase):
    def test_every_mistake_is_noticed(self):
        notice(self, CHAPTER, MUTANTS, "--size", "5000", traced=True, at_once=True)

    def test_writing_past_the_end_is_noticed(self):
        mutants = [(*mutant, "out-of-bounds: write") for mutant in PAST_THE_END]
        notice(self, CHAPTER, mutants, "--size", "5000", traced=True, at_once=True)

    def test_races_and_a_look_back_too_far_are_noticed(self):
        with Mutant(CHAPTER, [SIZE, LANES, PREFIX], traced=True) as program:
            run = program.run("--size", "4000", "--rung", "repeats_in_steps")
            self.assertEqual(run.code, 1, run.explain())
            self.assertIn("global-race", run.out + run.err)
            run = program.run("--size", "4000", "--rung", "sort_in_steps")
            self.assertIn("shared-race", run.out + run.err)
            run = program.run("--size", "30000", "--rung", "sort_in_sweeps")
            self.assertEqual(run.code, 1, run.explain())
            self.assertRegex(run.out + run.err, "are wrong|out-of-bounds: write")
