#include "watch/system_atomics.h"

#include <mutex>
#include <set>

#include "base/host_memory.h"
#include "base/lasting.h"

namespace simt::system_atomics {
namespace {

constexpr uint64_t kWord = 4;

struct State {
  std::mutex mutex;
  std::set<uint64_t> words;
};

State& state() { return lasting<State>(); }

}  // namespace

void note(uint64_t address, unsigned size) {
  const HostMemory bookkeeping;  // a lane is running
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (uint64_t word = address / kWord; word * kWord < address + size; ++word) s.words.insert(word);
}

bool has(uint64_t address, uint64_t size) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.words.empty()) return false;
  for (uint64_t word = address / kWord; word * kWord < address + size; ++word) {
    if (!s.words.contains(word)) return false;
  }
  return true;
}

void forget(uint64_t address, uint64_t size) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.words.erase(s.words.lower_bound(address / kWord),
                s.words.lower_bound((address + size + kWord - 1) / kWord));
}

}  // namespace simt::system_atomics
