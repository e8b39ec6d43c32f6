#include "launch/launch_memo.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/lasting.h"
#include "memory/allocations.h"

namespace simt::engine {

namespace launch_memo {
namespace {

struct Memo {
  LaunchKey key;
  std::string kernel;
  stream_races::Shared accesses;
  std::vector<std::pair<uint64_t, uint64_t>> read, written;  // allocations: base, version
};

struct State {
  std::mutex mutex;
  std::vector<Memo> memos;
  std::vector<std::pair<LaunchKey, unsigned>> missed;
};
State& state() { return lasting<State>(); }

constexpr size_t kMostMemos = 64;
constexpr size_t kMostMissed = 64;
constexpr size_t kMostTouched = 32;

auto find(State& s, const LaunchKey& key) {
  return std::find_if(s.memos.begin(), s.memos.end(),
                      [&key](const Memo& memo) { return memo.key == key; });
}

}  // namespace

Known look_up(const LaunchKey& key, std::string& kernel, stream_races::Shared& accesses) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto memo = find(s, key);
  if (memo == s.memos.end()) return Known::nothing;
  const auto is_changed = [](const auto& pair) {
    return memory::version_of(pair.first) != pair.second;
  };
  if (std::any_of(memo->read.begin(), memo->read.end(), is_changed)) {
    s.memos.erase(memo);
    return Known::nothing;
  }
  if (std::any_of(memo->written.begin(), memo->written.end(), is_changed)) {
    return Known::what_it_writes;
  }
  kernel = memo->kernel;
  accesses = memo->accesses;
  return Known::all;
}

unsigned missed(const LaunchKey& key) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (auto& [known, times] : s.missed) {
    if (known == key) return ++times;
  }
  if (s.missed.size() == kMostMissed) s.missed.erase(s.missed.begin());
  s.missed.emplace_back(key, 1);
  return 1;
}

bool remember(LaunchKey key, std::string kernel, const Footprint& footprint,
              stream_races::Shared accesses, uint64_t before) {
  for (const Touched& t : footprint.touched()) {
    if (t.written) memory::note_stored(t.base);
  }
  if (footprint.shown() || footprint.touched().size() > kMostTouched) return false;
  Memo memo{std::move(key), std::move(kernel), std::move(accesses), {}, {}};
  for (const Touched& t : footprint.touched()) {
    const uint64_t version = memory::version_of(t.base);
    if (!version || (t.read && (t.written || version > before))) return false;
    (t.read ? memo.read : memo.written).emplace_back(t.base, version);
  }
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (const auto old = find(s, memo.key); old != s.memos.end()) s.memos.erase(old);
  if (s.memos.size() == kMostMemos) s.memos.erase(s.memos.begin());
  s.memos.push_back(std::move(memo));
  return true;
}

void remember_again(const LaunchKey& key) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto memo = find(s, key);
  if (memo == s.memos.end()) return memory::note_stored_anywhere();
  for (auto& [base, version] : memo->written) {
    memory::note_stored(base);
    version = memory::version_of(base);
  }
}

void forget() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.memos.clear();
}

}  // namespace launch_memo
}  // namespace simt::engine
