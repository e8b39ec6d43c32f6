#include "launch/unused_reads.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "base/values.h"
#include "launch/rerun.h"

// What traced code calls ahead of a load.
extern "C" {
void __tsan_read1(void*);
void __tsan_read2(void*);
void __tsan_read4(void*);
void __tsan_read8(void*);
void __tsan_read16(void*);
}

namespace simt::engine {
namespace {

constexpr size_t kMostFaults = 8;
constexpr uint64_t kNobody = ~uint64_t{0};

struct Question {
  uint64_t block;
  Trial::Load load;
};

uint64_t thread_number(const Grid& grid, uint3 thread) {
  return (uint64_t{thread.z} * grid.block.y + thread.y) * grid.block.x + thread.x;
}

// Does the lane load by itself, as soon as it goes on there? What does it for a lane, as of a copy or a matrix, does it later.
bool is_plain_load(uint64_t return_address) {
  constexpr unsigned char kCall = 0xe8;
  unsigned char code[5];
  std::memcpy(code, reinterpret_cast<const void*>(return_address - sizeof(code)), sizeof(code));
  if (code[0] != kCall) return false;
  int32_t distance;
  std::memcpy(&distance, code + 1, sizeof(distance));
  const uint64_t called = return_address + static_cast<uint64_t>(int64_t{distance});
  for (void (*const read)(void*) :
       {__tsan_read1, __tsan_read2, __tsan_read4, __tsan_read8, __tsan_read16}) {
    if (called == reinterpret_cast<uint64_t>(read)) return true;
  }
  return false;
}

std::optional<Question> question_of(const Fault& fault, const Grid& grid, const Worker& worker) {
  if (fault.text || fault.atomic) return std::nullopt;
  const uint64_t block = linear_block(grid.grid, fault.block);
  if (fault.kind == Fault::Kind::shared_uninitialized)
    return Question{block, {fault.pc, 0, 0, kNobody}};
  const bool is_shared = fault.kind == Fault::Kind::shared_race;
  if (!is_shared && fault.kind != Fault::Kind::global_race) return std::nullopt;
  if (fault.store == fault.other_store || fault.other_device >= 0) return std::nullopt;
  const SharedMemory& shared = worker.monitor.shared;
  const uint64_t zero = !is_shared    ? 0
                        : fault.limit ? reinterpret_cast<uint64_t>(shared.dynamic)
                                      : shared.tls_base;
  const bool same_block = is_shared || fault.same_block;
  const uint3 writer = fault.store ? fault.thread : fault.other_thread;
  return Question{fault.store && !same_block ? fault.other_block : block,
                  {.pc = fault.store ? fault.other_pc : fault.pc,
                   .address = zero + fault.address,
                   .bytes = fault.size,
                   .except = same_block ? thread_number(grid, writer) : kNobody}};
}

// What a run of the block has done.
struct Outcome {
  bool has_met = false;
  uint64_t way = 0, bytes = 0;
  bool operator==(const Outcome&) const = default;
};

uint64_t bytes_left(const Footprint& footprint) {
  uint64_t hash = 0;
  for (const Touched& touched : footprint.touched()) {
    if (!touched.written) continue;
    uint64_t at = touched.low;
    for (; at + 8 <= touched.high; at += 8) hash = mix(hash, value_at(at, 8));
    for (; at < touched.high; ++at) hash = mix(hash, value_at(at, 1));
  }
  return hash;
}

std::optional<Outcome> outcome_of(const Question& question, Trial::Change change, const Grid& grid,
                                  Worker& worker, const Footprint& footprint) {
  Trial trial(question.load, change);
  return what_again(question.block, grid, worker, &trial, [&] {
    trial.restore();
    return Outcome{trial.has_met(), trial.way(), bytes_left(footprint)};
  });
}

}  // namespace

void mark_unused_reads(std::vector<Fault>& faults, const Grid& grid, Worker& worker,
                       const Footprint& footprint) {
  const bool can_be_tried = std::none_of(
      faults.begin(), faults.end(), [](const Fault& fault) { return ends_the_kernel(fault.kind); });
  if (!can_be_tried) return;
  size_t tried = 0;
  for (Fault& fault : faults) {
    const std::optional<Question> question = question_of(fault, grid, worker);
    if (!question || !is_plain_load(question->load.pc) || ++tried > kMostFaults) continue;
    const auto usual = outcome_of(*question, Trial::Change::none, grid, worker, footprint);
    if (!usual) return;
    fault.is_unused =
        usual->has_met &&
        std::all_of(std::begin(Trial::kChanges) + 1, std::end(Trial::kChanges), [&](auto change) {
          return outcome_of(*question, change, grid, worker, footprint) == usual;
        });
  }
}

}  // namespace simt::engine
