// What is noted about global memory: who touched it, what fences order, which bytes have been written.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "base/lane_simd.h"
#include "memory/allocations.h"
#include "races/block_races.h"
#include "races/vector_clock.h"

namespace {

using simt::engine::AccessKind;
using simt::engine::AccessRecord;
using simt::engine::BlockRaceCheck;
using simt::engine::span_of;
using simt::engine::VectorClock;
namespace shadow = simt::engine::shadow;

constexpr uint32_t kAll = ~0u;

// ---- What fences order --------------------------------------------------------------------------

// Against a table of all blocks.
TEST(KnowledgeOfBlocks, IsTheMostThatAnyoneKnew) {
  constexpr uint32_t kBlocks = 40;
  std::mt19937 random(1);
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  for (int round = 0; round < 300; ++round) {
    std::array<VectorClock, 2> known;
    std::array<std::array<uint32_t, kBlocks>, 2> table{};
    for (int step = 0; step < 12; ++step) {
      const unsigned who = below(2);
      const uint32_t version = known[who].version;
      if (below(4) == 0) {
        known[who].add(known[1 - who]);
        for (uint32_t b = 0; b < kBlocks; ++b) {
          table[who][b] = std::max(table[who][b], table[1 - who][b]);
        }
      } else {
        const uint32_t first = below(kBlocks);
        const uint32_t last = first + below(std::min(6u, kBlocks - first));
        const VectorClock::Run run{first, last, 1 + below(4)};
        known[who].add(&run, 1);
        for (uint32_t b = first; b <= last; ++b) {
          table[who][b] = std::max(table[who][b], run.epoch);
        }
      }
      EXPECT_NE(known[who].version, version);
      for (uint32_t b = 0; b < kBlocks; ++b) {
        ASSERT_EQ(known[who].of(b), table[who][b]) << "block " << b << ", round " << round;
      }
    }
  }
}

TEST(KnowledgeOfBlocks, ReachesToTheLastNumber) {
  VectorClock known;
  const VectorClock::Run run{~0u - 1, ~0u, 3};
  known.add(&run, 1);
  EXPECT_EQ(known.of(~0u - 2), 0u);
  EXPECT_EQ(known.of(~0u - 1), 3u);
  EXPECT_EQ(known.of(~0u), 3u);
}

// ---- Notes of what blocks do --------------------------------------------------------------------

// A block, and what it does to an array of ints.
class Block {
 public:
  explicit Block(uint64_t linear) { check.begin_block(linear); }

  // The lanes of one request; the clash, if there is one.
  struct Outcome {
    uint32_t left = 0;  // lanes of which nothing could be said in brief
    std::vector<AccessRecord> clashes;
  };
  Outcome request(const std::vector<const int*>& words, AccessKind kind, uint32_t pc) {
    std::array<uint64_t, 32> address{};
    for (size_t i = 0; i < words.size(); ++i) address[i] = reinterpret_cast<uint64_t>(words[i]);
    const uint32_t lanes = words.size() == 32 ? kAll : (1u << words.size()) - 1;
    uint32_t fresh = 0;
    bool again = false;
    Outcome outcome;
    outcome.left = kind == AccessKind::atomic
                       ? lanes
                       : check.record_words(address.data(), lanes, sizeof(int),
                                            span_of(address.data(), lanes).is_row(sizeof(int)),
                                            kind, pc, fresh, again);
    for (unsigned i = 0; i < 32; ++i) {
      if (!(outcome.left >> i & 1)) continue;
      AccessRecord clash[2];
      const uint64_t line = address[i] / 64 * 64;
      const unsigned clashes =
          check.record(line, uint64_t{0xf} << (address[i] - line), kind, pc, clash);
      for (const unsigned half : {0u, 1u}) {
        if (clashes >> half & 1) outcome.clashes.push_back(clash[half]);
      }
    }
    return outcome;
  }
  Outcome read(const int* word, uint32_t pc = 1) { return request({word}, AccessKind::read, pc); }
  Outcome store(const int* word, uint32_t pc = 2) { return request({word}, AccessKind::write, pc); }
  Outcome update(const int* word, uint32_t pc = 3) {  // an atomic operation
    const Outcome outcome = request({word}, AccessKind::atomic, pc);
    look(word);
    return outcome;
  }
  void look(const int* word) {  // a volatile load
    const auto address = reinterpret_cast<uint64_t>(word);
    check.acquire(address / 32 * 32, 0xfu << address % 32);
  }

  BlockRaceCheck check;
};

class Notes : public testing::Test {
 protected:
  static constexpr int kInts = 1 << 16;
  void SetUp() override {
    base_ = simt::memory::allocate(simt::memory::Kind::device, kInts * sizeof(int), 0);
    ints = reinterpret_cast<int*>(base_);
    std::fill_n(ints, kInts, 0);
    shadow::begin_phase(8);
  }
  void TearDown() override { simt::memory::release(base_, simt::memory::Kind::device, 0); }

  int* ints = nullptr;

 private:
  uint64_t base_ = 0;
};

TEST_F(Notes, OfOneBlockAreBriefAndClashWithNothing) {
  Block block(0);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(block.read(&ints[i]).left, 0u);
      EXPECT_EQ(block.store(&ints[i]).left, 0u);
    }
  }
}

TEST_F(Notes, OfTwoBlocksClashWhereOneStores) {
  Block first(0), second(1);
  first.store(&ints[5], 77);
  const auto read = second.read(&ints[5]);
  EXPECT_EQ(read.left, 1u);
  ASSERT_EQ(read.clashes.size(), 1u);
  EXPECT_EQ(BlockRaceCheck::linear(read.clashes[0].block), 0u);
  EXPECT_EQ(read.clashes[0].kind, AccessKind::write);
  EXPECT_EQ(read.clashes[0].pc, 77u);
  EXPECT_EQ(read.clashes[0].bytes, 0xf00000u);

  first.read(&ints[13], 78);
  const auto store = second.store(&ints[13]);
  ASSERT_EQ(store.clashes.size(), 1u);
  EXPECT_EQ(store.clashes[0].kind, AccessKind::read);
  EXPECT_EQ(store.clashes[0].pc, 78u);

  first.read(&ints[21]);
  EXPECT_EQ(second.read(&ints[21]).clashes.size(), 0u);
  first.store(&ints[29]);
  EXPECT_EQ(second.store(&ints[29]).clashes.size(), 1u);
}

// What a block adds to its note is not lost, nor what it reads in a sector to which it stores.
TEST_F(Notes, AddUp) {
  Block first(0);
  for (int i = 0; i < 4; ++i) first.read(&ints[i], 10);
  for (int i = 4; i < 7; ++i) first.store(&ints[i], 11);
  for (int i = 0; i < 8; ++i) {
    Block reader(1);
    EXPECT_EQ(reader.read(&ints[i]).clashes.size(), i >= 4 && i < 7) << i;
  }
  for (int i = 0; i < 8; ++i) first.read(&ints[8 + i], 10);
  for (int i = 0; i < 8; ++i) {
    Block writer(2);
    EXPECT_EQ(writer.store(&ints[8 + i]).clashes.size(), 1u) << i;
  }
}

TEST_F(Notes, OfOtherWordsDoNotClash) {
  Block first(0), second(1);
  first.store(&ints[0]);
  EXPECT_EQ(second.store(&ints[1]).clashes.size(), 0u);
  EXPECT_EQ(first.store(&ints[2]).clashes.size(), 0u);
  EXPECT_EQ(first.read(&ints[1]).clashes.size(), 1u);
}

TEST_F(Notes, AreHistoryInTheNextPhase) {
  Block(0).store(&ints[0]);
  shadow::begin_phase(8);
  Block next(1);
  EXPECT_EQ(next.store(&ints[0]).left, 0u);
  Block(2).update(&ints[8]);
  shadow::begin_phase(8);
  Block(0).update(&ints[8]);
  EXPECT_EQ(Block(1).store(&ints[8]).clashes.size(), 1u);
}

TEST_F(Notes, AreForgottenWhenBlocksHaveNoMoreNumbers) {
  shadow::begin_phase(0xffff'0000);
  shadow::begin_phase(1 << 20);  // from 1 again
  Block first(0), second(1);
  first.store(&ints[4088]);
  first.check.fence();
  first.update(&ints[4096]);
  second.update(&ints[4096]);
  first.store(&ints[4104]);
  second.store(&ints[4105]);
  for (uint64_t i = 0; i < 64; ++i) {
    Block(i).store(&ints[8 * i]);
    Block(i).update(&ints[1024 + 8 * i]);
  }
  shadow::begin_phase(0xffff'0000);
  shadow::begin_phase(1 << 20);
  EXPECT_FALSE(BlockRaceCheck::has_fences());
  for (uint64_t i = 0; i < 64; ++i) {
    Block other(i + 1);
    EXPECT_EQ(other.store(&ints[8 * i]).clashes.size(), 0u);
    EXPECT_EQ(other.store(&ints[1024 + 8 * i]).clashes.size(), 0u);
  }
  Block(20).read(&ints[4106]);
  EXPECT_EQ(Block(21).read(&ints[4104]).clashes.size(), 0u);
  EXPECT_EQ(Block(21).read(&ints[4105]).clashes.size(), 0u);
  Block(2).check.fence();
  Block(0).store(&ints[2048]);
  EXPECT_EQ(Block(1).store(&ints[2048]).clashes.size(), 1u);  // the other block 1 knew of it
  // What was written is forgotten as well: nothing may be called unwritten any more.
  EXPECT_TRUE(simt::memory::find(reinterpret_cast<uint64_t>(ints))->written);
}

// More places in the program, or fences, than a short note can name.
TEST_F(Notes, NeedNoNumberForTheirPlace) {
  Block first(0), second(1);
  uint32_t left = 0;
  for (int i = 0; i < 20000; ++i) left |= first.store(&ints[i / 8 * 8 % kInts], 100 + i).left;
  EXPECT_EQ(left, 0u);  // one sector after another: the first place counts
  for (int i = 0; i < kInts / 8; ++i) {
    left |= first.store(&ints[i * 8 + 1], 100'000 + i).left;
  }
  for (int i = 0; i < kInts / 8; ++i) first.read(&ints[i * 8 + 2], 200'000 + i);
  EXPECT_EQ(second.read(&ints[kInts - 7]).clashes.size(), 1u);
  EXPECT_EQ(second.store(&ints[kInts - 6]).clashes.size(), 1u);
}

TEST_F(Notes, OfOneWarpGoByTheWordsOfEachLane) {
  std::vector<std::vector<const int*>> requests(4);
  for (int lane = 0; lane < 32; ++lane) {
    requests[0].push_back(&ints[3 + lane]);               // a row, not at the start of a sector
    requests[1].push_back(&ints[1024 + 256 * lane]);      // a column
    requests[2].push_back(&ints[512 + 3 * lane % 32]);    // all of four sectors, in disorder
    requests[3].push_back(&ints[640 + 5 * (lane % 16)]);  // every fifth word, twice
  }
  Block first(0), second(1);
  for (const auto& request : requests) {
    EXPECT_EQ(first.request(request, AccessKind::write, 5).left, 0u);
    EXPECT_EQ(first.request(request, AccessKind::read, 6).left, 0u);
  }
  std::map<const int*, bool> touched;
  for (const auto& request : requests) {
    for (const int* word : request) touched[word] = true;
  }
  for (int i = 0; i < 1024 + 256 * 32; ++i) {
    ASSERT_EQ(second.read(&ints[i]).clashes.size(), touched.count(&ints[i])) << "word " << i;
  }
}

// ---- Fences -------------------------------------------------------------------------------------

enum class Missing { nothing, fence, acquire, store_first };

// Block 0 stores, fences, raises a flag; block 1 sees the flag and reads.
size_t clashes_of_flag(int* data, int* flag, Missing missing) {
  shadow::begin_phase(4);
  Block writer(0), reader(1);
  if (missing != Missing::store_first) writer.store(data);
  if (missing != Missing::fence) writer.check.fence();
  if (missing == Missing::store_first) writer.store(data);
  writer.update(flag);
  if (missing != Missing::acquire) reader.update(flag);
  return reader.read(data).clashes.size();
}

TEST_F(Notes, AreOrderedByAFenceAndAFlag) {
  EXPECT_EQ(clashes_of_flag(ints, ints + 100, Missing::nothing), 0u);
  EXPECT_EQ(clashes_of_flag(ints, ints + 100, Missing::fence), 1u);
  EXPECT_EQ(clashes_of_flag(ints, ints + 100, Missing::acquire), 1u);
  EXPECT_EQ(clashes_of_flag(ints, ints + 100, Missing::store_first), 1u);
}

// What a block has read is ordered, too; and what one knows is passed on.
TEST_F(Notes, AreOrderedThroughOthers) {
  Block first(0), second(1), third(2);
  first.read(&ints[0]);
  first.check.fence();
  first.update(&ints[100]);
  second.update(&ints[100]);
  second.check.fence();
  second.update(&ints[200]);
  third.update(&ints[200]);
  EXPECT_EQ(third.store(&ints[0]).clashes.size(), 0u);
  first.read(&ints[8]);  // after its fence
  EXPECT_EQ(third.store(&ints[8]).clashes.size(), 1u);
}

// A note of before the fence does not take in what comes after.
TEST_F(Notes, OfTwoSidesOfAFenceStayApart) {
  Block first(0), second(1);
  first.store(&ints[0]);
  first.check.fence();
  first.update(&ints[100]);
  first.store(&ints[1]);
  first.store(&ints[8]);
  first.store(&ints[9]);
  second.update(&ints[100]);
  EXPECT_EQ(second.read(&ints[0]).clashes.size(), 0u);
  EXPECT_EQ(second.read(&ints[1]).clashes.size(), 1u);
  EXPECT_EQ(second.read(&ints[9]).clashes.size(), 1u);
}

// The flag may be a plain store, and the waiting block may only look.
TEST_F(Notes, AreOrderedByAPlainFlag) {
  Block first(0), second(1);
  first.store(&ints[0]);
  first.check.fence();
  first.store(&ints[100]);
  second.look(&ints[100]);
  EXPECT_EQ(second.read(&ints[0]).clashes.size(), 0u);
}

// Two blocks count up at the same time. The one noted first may come last, and put the counter back.
TEST_F(Notes, OfAtomicOperationsAreOrderedByWhoHasSeenThem) {
  Block first(0), second(1), third(2);
  first.check.fence();
  first.request({&ints[100]}, AccessKind::atomic, 3);
  second.request({&ints[100]}, AccessKind::atomic, 3);
  first.look(&ints[100]);  // its operation is done
  EXPECT_EQ(first.store(&ints[100]).clashes.size(), 0u);
  EXPECT_EQ(third.update(&ints[100]).clashes.size(), 1u);

  first.update(&ints[200]);
  second.update(&ints[200]);
  EXPECT_EQ(first.store(&ints[200]).clashes.size(), 1u);
}

// ---- What memory held, and what has been written ------------------------------------------------

TEST_F(Notes, KnowWhatASectorHeldBeforeTheFirstStore) {
  const auto sector = reinterpret_cast<uint64_t>(ints);
  ints[1] = 41;
  Block block(0);
  block.store(&ints[1]);
  ints[1] = 42;
  block.store(&ints[2]);
  EXPECT_FALSE(BlockRaceCheck::is_unchanged(sector, 0xf0));
  EXPECT_TRUE(BlockRaceCheck::is_unchanged(sector, 0xf00));
  ints[1] = 41;
  EXPECT_TRUE(BlockRaceCheck::is_unchanged(sector, 0xff0));
}

TEST_F(Notes, TellTestsThatAreThenSet) {
  Block block(0);
  block.read(&ints[0], 7);
  block.store(&ints[1], 8);  // another word
  EXPECT_TRUE(block.check.test_and_set.empty());
  block.read(&ints[8], 7);
  block.store(&ints[8], 8);
  const std::vector<BlockRaceCheck::TestAndSet> expected{{7, 8}};
  EXPECT_EQ(block.check.test_and_set, expected);
}

// Stores of a warp, as rows, columns and single words: which bytes count as written then.
TEST_F(Notes, SayWhatHasBeenWritten) {
  std::mt19937 random(2);
  for (int round = 0; round < 40; ++round) {
    int* const area = ints + round * 1024;
    const unsigned size = 4u << random() % 3;  // four ints at most
    const uint64_t step = std::array<uint64_t, 4>{size, 32, 48, 2 * size}[random() % 4];
    const uint32_t lanes = round % 2 ? kAll : static_cast<uint32_t>(random()) | 1;
    std::array<uint64_t, 32> address{};
    std::vector<bool> written(4096);
    for (uint64_t lane = 0; lane < 32; ++lane) {
      const uint64_t offset = 16 * (round % 3) + lane * step;
      address[lane] = reinterpret_cast<uint64_t>(area) + offset;
      for (unsigned i = 0; i < size && (lanes >> lane & 1); ++i) written[offset + i] = true;
    }
    const bool is_row = span_of(address.data(), lanes).is_row(size);
    BlockRaceCheck check;
    check.begin_block(0);
    uint32_t fresh = lanes;
    bool again = false;
    check.record_words(address.data(), lanes, size, is_row, AccessKind::read, 1, fresh, again);
    EXPECT_EQ(fresh, lanes);
    // A store of the even lanes: then the others read what nobody has written.
    fresh = lanes & 0x55555555;
    if (fresh) {
      const uint32_t even = fresh;
      check.record_words(address.data(), even, size, false, AccessKind::write, 2, fresh, again);
      EXPECT_EQ(fresh, 0u);
      fresh = even;
      check.record_words(address.data(), even, size, false, AccessKind::read, 1, fresh, again);
      EXPECT_EQ(fresh, 0u);
      fresh = lanes;
      check.record_words(address.data(), lanes, size, is_row, AccessKind::read, 1, fresh, again);
      if (step == 32) {  // each has a sector to itself
        EXPECT_EQ(fresh, lanes & ~even);
      }
      EXPECT_EQ(~fresh & lanes & ~even, 0u);
    }
    fresh = lanes;
    check.record_words(address.data(), lanes, size, is_row, AccessKind::write, 2, fresh, again);
    EXPECT_EQ(fresh, 0u);
    for (uint64_t line = 0; line < 4096; line += 64) {
      uint64_t expected = 0;
      for (unsigned i = 0; i < 64; ++i) expected |= uint64_t{!written[line + i]} << i;
      ASSERT_EQ(shadow::unwritten(reinterpret_cast<uint64_t>(area) + line, ~uint64_t{0}), expected)
          << "round " << round << ", line " << line;
    }
  }

  // The same for what is written without a block.
  int* const area = ints + 50 * 1024;
  const uint64_t begin = reinterpret_cast<uint64_t>(area);
  shadow::mark_written(begin + 3, 90);
  shadow::note_written(begin + 128, 0xff00ff);
  shadow::note_written(begin + 192, 0xffff'ffff'0000'0000);  // whole sectors
  shadow::note_written(begin + 256, 0xffff'ffff);
  std::vector<std::pair<uint64_t, uint64_t>> runs;
  shadow::for_each_unwritten(begin, 320, [&](uint64_t first, uint64_t end) {
    runs.emplace_back(first - begin, end - begin);
  });
  const std::vector<std::pair<uint64_t, uint64_t>> expected{
      {0, 3}, {93, 128}, {136, 144}, {152, 224}, {288, 320}};
  EXPECT_EQ(runs, expected);
}

}  // namespace
