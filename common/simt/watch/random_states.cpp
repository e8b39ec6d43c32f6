#include "watch/random_states.h"

#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "base/host_memory.h"
#include "base/lasting.h"
#include "base/text.h"
#include "program/symbols.h"
#include "report/log.h"

namespace simt::random_states {
namespace {

struct Pair {
  uint3 block[2], thread[2];
};

struct State {
  std::mutex mutex;
  std::map<Start, std::pair<uint3, uint3>> started;  // block and thread, the first of the launch
  std::map<uint64_t, Pair> pairs;                    // by program counter, one of each
  std::set<uint64_t> told;
};
State& state() { return lasting<State>(); }

bool is_same(uint3 a, uint3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

}  // namespace

void note(const Start& start, uint64_t pc, uint3 block, uint3 thread) {
  const HostMemory bookkeeping;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  constexpr size_t kMost = 1 << 16;
  if (s.started.size() == kMost || s.told.contains(pc)) return;
  const auto [first, is_new] = s.started.try_emplace(start, block, thread);
  const auto& [other_block, other_thread] = first->second;
  if (is_new || (is_same(block, other_block) && is_same(thread, other_thread))) return;
  s.pairs.try_emplace(pc, Pair{{other_block, block}, {other_thread, thread}});
}

void end_launch(const std::string& kernel) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (const auto& [pc, pair] : s.pairs) {
    s.told.insert(pc);
    const symbols::Location& at = symbols::locate(pc);
    Finding f = device::finding_at(at, "same-random", Severity::warning);
    f.kernel = kernel;
    f.block = pair.block[1];
    f.thread = pair.thread[1];
    f.message = "curand_init() at " + at.text() + " in " + kernel + ": thread " +
                text(pair.thread[1]) + " of block " + text(pair.block[1]) + " and thread " +
                text(pair.thread[0]) + " of block " + text(pair.block[0]) +
                " start with the same seed, sequence and offset, so they draw the same numbers. "
                "Give each thread a sequence of its own: its index in the whole grid, in all the "
                "dimensions that the launch has.";
    device::report(std::move(f));
  }
  s.pairs.clear();
  s.started.clear();
}

}  // namespace simt::random_states
