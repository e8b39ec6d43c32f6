// What of chapter 01 only a GPU can show: on which SM each block runs.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "lab/lab.h"

/// What a block notes down about itself.
struct BlockRecord {
  unsigned sm;               ///< number of the SM it ran on
  unsigned present;          ///< 1
  unsigned long long begin;  ///< nanoseconds, on a clock that all SMs share
  unsigned long long end;
};

/// Every block writes down where and when it ran, and keeps its place for a while, so that the
/// blocks of one wave are all there before the first of them ends.
///
/// @param records  one record for every block of the grid; written
/// @param cycles   clock cycles of the SM that a block stays
///
/// Launch: one dimension, any grid and any block.
/// Requires: nothing; %smid and %globaltimer are registers that PTX can read and C++ cannot.
__global__ void where_blocks_run(BlockRecord* records, long long cycles) {
  const long long start = clock64();
  unsigned sm = 0;
  unsigned long long begin = 0, end = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  while (clock64() - start < cycles) {
  }
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
  if (threadIdx.x == 0) records[blockIdx.x] = {sm, 1, begin, end};
}

namespace {

constexpr int threads = 1024;

/// How many SMs there are and how many blocks of 1024 threads each can hold.
struct Room {
  int sms = lab::device_attribute(cudaDevAttrMultiProcessorCount);
  int per_sm = 0;
  Room() {
    CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, where_blocks_run, threads, 0));
  }
  int wave() const { return sms * per_sm; }
};

/// The most blocks that ran at the same time on the SM with the most of them.
int most_at_once(const std::vector<BlockRecord>& records, int sms) {
  int most = 0;
  for (int sm = 0; sm < sms; ++sm) {
    for (const BlockRecord& one : records) {
      if (one.sm != static_cast<unsigned>(sm)) continue;
      // Counted at the moment at which a block begins: the number changes at no other one upwards.
      const auto there = [&](const BlockRecord& other) {
        return other.sm == one.sm && other.begin <= one.begin && one.begin < other.end;
      };
      most = std::max(most, static_cast<int>(std::count_if(records.begin(), records.end(), there)));
    }
  }
  return most;
}

lab::Comparison check(const std::vector<BlockRecord>& records, const Room& room) {
  for (const BlockRecord& one : records) {
    if (one.present != 1) return lab::verdict(false, "a block left no record");
    if (one.sm >= static_cast<unsigned>(room.sms)) {
      return lab::verdict(
          false, "a block ran on SM " + std::to_string(one.sm) + " of " + std::to_string(room.sms));
    }
    if (one.end < one.begin) return lab::verdict(false, "a block ended before it began");
  }
  const int most = most_at_once(records, room.sms);
  return lab::verdict(most <= room.per_sm, std::to_string(most) +
                                               " blocks on one SM at once, and " +
                                               std::to_string(room.per_sm) + " fit");
}

void print_schedule(const std::vector<BlockRecord>& records, const Room& room) {
  std::vector<int> on_sm(static_cast<std::size_t>(room.sms), 0);
  unsigned long long first = records[0].begin, first_end = records[0].end;
  for (const BlockRecord& one : records) {
    ++on_sm[one.sm];
    first = std::min(first, one.begin);
    first_end = std::min(first_end, one.end);
  }
  const auto in_first_wave = std::count_if(records.begin(), records.end(),
                                           [&](const auto& one) { return one.begin < first_end; });
  std::printf("  %zu blocks of %d threads; %d SMs with room for %d each\n", records.size(), threads,
              room.sms, room.per_sm);
  std::printf("  blocks that began before the first one ended: %td\n", in_first_wave);
  std::printf("  blocks on an SM in all: %d to %d; at once: at most %d\n",
              *std::min_element(on_sm.begin(), on_sm.end()),
              *std::max_element(on_sm.begin(), on_sm.end()), most_at_once(records, room.sms));

  // A few blocks of each wave: number, SM, and when it began and ended.
  const std::size_t wave = static_cast<std::size_t>(room.wave());
  for (std::size_t start = 0; start < records.size(); start += wave) {
    for (std::size_t b = start; b < std::min(start + 3, records.size()); ++b) {
      std::printf("  block %4zu on SM %3u from %7.1f to %7.1f us\n", b, records[b].sm,
                  static_cast<double>(records[b].begin - first) / 1e3,
                  static_cast<double>(records[b].end - first) / 1e3);
    }
  }
}

/// Three waves and a half: the last one leaves half of the GPU without work.
class Schedule {
 public:
  void launch() {
    where_blocks_run<<<static_cast<unsigned>(records_.size()), threads>>>(records_.data(), 400000);
  }
  std::vector<lab::Expectation> outputs() { return {lab::on_the_way(records_)}; }
  lab::Comparison verify() const { return check(records_.download(), room_); }
  void show() const { print_schedule(records_.download(), room_); }

 private:
  const Room room_;
  lab::DeviceBuffer<BlockRecord> records_{static_cast<std::size_t>(room_.wave() * 7 / 2),
                                          "records"};
};

const lab::Rungs here([](lab::Ladder& ladder) {
  ladder.add("where_blocks_run", Schedule(), {.timed = false});
});

}  // namespace
