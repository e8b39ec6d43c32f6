#include "base/stack_regions.h"

#include <iterator>
#include <map>
#include <mutex>

#include "base/lasting.h"

namespace simt::engine::stack_regions {
namespace {

struct State {
  std::mutex mutex;
  std::map<uint64_t, uint64_t> ends;  // by their beginnings
};

}  // namespace

void note(uint64_t begin, uint64_t end) {
  State& state = lasting<State>();
  const std::lock_guard lock(state.mutex);
  state.ends[begin] = end;
}

bool hold(uint64_t address) {
  State& state = lasting<State>();
  const std::lock_guard lock(state.mutex);
  const auto after = state.ends.upper_bound(address);
  return after != state.ends.begin() && address < std::prev(after)->second;
}

}  // namespace simt::engine::stack_regions
