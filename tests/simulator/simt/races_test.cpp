// The race check of shared memory: whole requests that are only listed, against the same lane by lane.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include "races/shared_races.h"

namespace simt::engine {
namespace {

constexpr unsigned kWarps = 3, kWords = 320;

// What a lane finds at a word: that it races, with whom and how; that it reads what nobody has written, or what is in doubt.
using Finding = std::tuple<unsigned, size_t, bool, unsigned, bool, uint32_t, bool, bool, bool, int>;
using Findings = std::vector<Finding>;

// A request of a warp.
struct Request {
  TwoRows rows;
  uint32_t lanes = ~0u;
  uint8_t bytes = 0xf;  // of each word
  bool write = false, atomic = false;
  uint8_t doubt = 0;  // of what is written
  uint32_t pc = 0;
};

// As Worker::count_shared() does it.
Findings run(RaceCheck& races, unsigned warp, const WarpOrder& order, const Request& request,
             bool lists, unsigned& listed) {
  Findings findings;
  const bool is_regular = request.lanes == ~0u && request.bytes == 0xf && !request.atomic;
  if (lists && is_regular) {
    const bool done = request.write ? !request.doubt && races.list_store(request.rows, warp * 32,
                                                                         request.pc, order)
                                    : races.list_load(request.rows, warp * 32, request.pc, order);
    listed += done;
    if (done) return findings;
  }
  races.begin_each();
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(request.lanes >> lane & 1)) continue;
    const uint32_t first = request.rows.first[lane / 16] + lane % 16 * request.rows.step;
    for (uint32_t word = first; word < first + request.rows.words; ++word) {
      const bool reads = !request.write || request.atomic;
      const bool is_written = !reads || races.is_written(word, request.bytes);
      const int doubt = reads && is_written ? races.doubt(word) : 0;
      Race race{};
      const bool raced = races.access(word, request.bytes, warp * 32 + lane, request.write,
                                      request.atomic, request.pc, order, race);
      if (request.write) races.set_doubt(word, request.doubt);
      if (!raced) race = {};
      if (!raced && is_written && !doubt) continue;
      findings.emplace_back(lane, word, raced, race.other_thread, race.other_wrote, race.other_pc,
                            race.both_write, race.same_instruction, is_written, doubt);
    }
  }
  return findings;
}

enum class Interval { loads, stores, mixed };

class RandomRequests {
 public:
  explicit RandomRequests(unsigned seed) : random_(seed) {}

  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }

  Request next(Interval interval, unsigned warp) {
    Request request;
    request.pc = 1 + below(8);
    request.write = interval == Interval::stores || (interval == Interval::mixed && below(2));
    TwoRows& rows = request.rows;
    rows.words = below(4) ? 1 : 2;
    const uint32_t kind = below(4);
    rows.step = kind == 0 ? 0 : kind == 1 ? below(7) - 3 : rows.words;
    rows.first[0] = kMiddle + 32 * (below(3) ? warp : below(kWarps)) - below(2);
    const uint32_t apart[] = {0, 16 * rows.step, 16 * rows.step, below(20)};
    rows.first[1] = rows.first[0] + apart[below(4)];
    // Now and then what is no whole request in words.
    if (interval == Interval::mixed || below(12) == 0) {
      if (below(4) == 0) request.lanes = below(~0u);
      if (below(6) == 0) request.bytes = static_cast<uint8_t>(1 + below(15));
      if (below(6) == 0) request.atomic = request.write = true;
    }
    if (request.write && below(10) == 0) request.doubt = static_cast<uint8_t>(1 + below(3));
    return request;
  }

 private:
  static constexpr uint32_t kMiddle = 100;
  std::mt19937 random_;
};

// Most of the requests are listed, and yet all is found as if none were.
TEST(RacesOfSharedMemory, AreTheSameWhetherRequestsAreListedOrNot) {
  unsigned listed = 0, requests = 0, races = 0, unwritten = 0, doubts = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomRequests random(seed);
    RaceCheck quick, slow;
    quick.resize(kWords);
    slow.resize(kWords);
    for (unsigned block = 0; block < 3; ++block) {
      quick.begin_block();
      slow.begin_block();
      WarpOrder order[kWarps];
      const auto both = [&](unsigned warp, const Request& request) {
        unsigned ignored = 0;
        const Findings mine = run(quick, warp, order[warp], request, true, listed);
        const Findings expected = run(slow, warp, order[warp], request, false, ignored);
        ASSERT_EQ(mine, expected) << "seed " << seed << ", block " << block;
        ++order[warp].now;
        ++requests;
        for (const Finding& finding : expected) {
          races += std::get<2>(finding);
          unwritten += !std::get<8>(finding);
          doubts += std::get<9>(finding) != 0;
        }
      };
      const bool fills = random.below(3);
      for (unsigned interval = 0; interval < 6; ++interval) {
        if (fills && interval == 0) {  // a tile
          for (uint32_t word = 0; word < kWords; word += 32) {
            both(word / 32 % kWarps, {.rows = {{word, word + 16}, 1, 1}, .write = true});
          }
        }
        const auto kind = static_cast<Interval>(random.below(3));
        for (unsigned i = random.below(8); i > 0; --i) {
          const unsigned warp = random.below(kWarps);
          if (random.below(5) == 0) order[warp].sync(random.below(2) ? ~0u : 0xffffu, ~0u);
          both(warp, random.next(kind, warp));
          if (HasFatalFailure()) return;
        }
        for (size_t word = 0; word < kWords; ++word) {
          for (unsigned byte = 0; byte < 4; ++byte) {
            const auto bit = static_cast<uint8_t>(1u << byte);
            ASSERT_EQ(quick.is_written(word, bit), slow.is_written(word, bit)) << "seed " << seed;
          }
        }
        quick.next_interval();
        slow.next_interval();
      }
    }
  }
  // All that there is to be found has been there.
  EXPECT_GT(listed, requests / 5);
  EXPECT_GT(races, 1000u);
  EXPECT_GT(unwritten, 1000u);
  EXPECT_GT(doubts, 1000u);
}

}  // namespace
}  // namespace simt::engine
