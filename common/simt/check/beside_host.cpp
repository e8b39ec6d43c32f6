#include "check/beside_host.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "base/lasting.h"

namespace simt::beside_host {
namespace {

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned waiting = 0;  // threads of the host
  uint32_t queue = 0;
  uint64_t number = 0;
  std::vector<std::function<void()>> at_end;
};

State& state() { return lasting<State>(); }

std::atomic<bool> under_way{false}, host_goes_on{false}, host_at_work{false};
thread_local bool is_its_thread = false;

bool may_be_behind() { return under_way.load(std::memory_order_acquire) && !is_its_thread; }

// Under the mutex.
bool is_in(const State& s, const stream_order::Clock& known) {
  return under_way && s.number != 0 && known.of(s.queue) >= s.number;
}

void wait_for_end(State& s, std::unique_lock<std::mutex>& lock) {
  ++s.waiting;
  host_at_work = false;
  s.changed.wait(lock, [] { return !under_way; });
  --s.waiting;
}

}  // namespace

void begin() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  if (under_way) wait_for_end(s, lock);
  under_way = true;
  host_goes_on = host_at_work = false;
  s.number = 0;
}

void wait_until_let_go() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  s.changed.wait(lock, [] { return !under_way || host_goes_on; });
}

void runs_here() { is_its_thread = true; }

void is_work(uint32_t queue, uint64_t number) {
  if (!is_its_thread) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.queue = queue;
  s.number = number;
}

void end() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (const auto& then : std::exchange(s.at_end, {})) then();
  under_way = host_at_work = false;
  s.changed.notify_all();
}

void forget() { under_way = host_goes_on = host_at_work = false; }

bool let_go() {
  if (!under_way || host_goes_on) return host_at_work;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  host_goes_on = true;
  host_at_work = s.waiting == 0;
  s.changed.notify_all();
  return host_at_work;
}

bool is_host_at_work() { return host_at_work.load(std::memory_order_relaxed); }

bool has_let_go() { return under_way && host_goes_on; }

void wait_if_in(const stream_order::Clock& known) {
  if (!may_be_behind()) return;
  State& s = state();
  std::unique_lock lock(s.mutex);
  if (is_in(s, known)) wait_for_end(s, lock);
}

void wait() {
  if (!may_be_behind()) return;
  State& s = state();
  std::unique_lock lock(s.mutex);
  if (under_way) wait_for_end(s, lock);
}

bool is_under_way_in(const stream_order::Clock& known) {
  if (!may_be_behind()) return false;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return is_in(s, known);
}

void at_end_of(const stream_order::Clock& known, std::function<void()> then) {
  if (may_be_behind()) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (is_in(s, known)) {
      s.at_end.push_back(std::move(then));
      return;
    }
  }
  then();
}

}  // namespace simt::beside_host
