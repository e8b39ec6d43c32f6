#include "streams/beside_host.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "base/devices.h"
#include "base/lasting.h"

namespace simt::beside_host {
namespace {

struct Launch {
  bool is_under_way = false, has_let_go = false, waits_for_host = false, ends = false;
  uint32_t queue = 0;
  uint64_t number = 0;  // 0: not known yet
  std::vector<std::function<void()>> at_end;

  bool is_in(const stream_order::Clock& known) const {
    return is_under_way && number != 0 && known.of(queue) >= number;
  }
};

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned waiting = 0;  // threads of the host
  std::array<Launch, devices::kMost> launches;
};

State& state() { return lasting<State>(); }

std::atomic<unsigned> under_way{0};
std::atomic<bool> host_at_work{false};
thread_local int mine = -1;

Launch& launch_of(State& s, int device) { return s.launches[static_cast<size_t>(device)]; }

// Under the mutex, as what follows.
void look_at_host(State& s) {
  bool goes_on = false, ends = false;
  for (const Launch& launch : s.launches) {
    goes_on |= launch.is_under_way && launch.has_let_go;
    ends |= launch.is_under_way && launch.ends;
  }
  host_at_work = goes_on && (ends || s.waiting < devices::host_threads());
}

template <class Over>
void wait_until(State& s, std::unique_lock<std::mutex>& lock, Over over) {
  if (over()) return;
  // A launch whose stream waits for another one's work.
  if (mine >= 0) {
    launch_of(s, mine).has_let_go = true;
    look_at_host(s);
    s.changed.notify_all();
    s.changed.wait(lock, over);
    return;
  }
  ++s.waiting;
  look_at_host(s);
  s.changed.wait(lock, over);
  --s.waiting;
  look_at_host(s);
}

// The first launch that these pieces of work are behind, other than the one of this thread.
Launch* first_in(State& s, const stream_order::Clock& known) {
  for (int device = 0; device < devices::kMost; ++device) {
    Launch& launch = s.launches[static_cast<size_t>(device)];
    if (device != mine && launch.is_in(known)) return &launch;
  }
  return nullptr;
}

}  // namespace

void begin(int device) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  Launch& launch = launch_of(s, device);
  wait_until(s, lock, [&] { return !launch.is_under_way; });
  launch = {};
  launch.is_under_way = true;
  ++under_way;
}

void wait_until_let_go(int device) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  const Launch& launch = launch_of(s, device);
  s.changed.wait(lock, [&] { return !launch.is_under_way || launch.has_let_go; });
}

void runs_here(int device) { mine = device; }

int of_this_thread() { return mine; }

void is_work(uint32_t queue, uint64_t number) {
  if (mine < 0) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  launch_of(s, mine).queue = queue;
  launch_of(s, mine).number = number;
}

void end() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  Launch& launch = launch_of(s, mine);
  for (const auto& then : std::exchange(launch.at_end, {})) then();
  launch.is_under_way = false;
  --under_way;
  look_at_host(s);
  s.changed.notify_all();
}

void ends(int device) {
  if (device < 0) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  launch_of(s, device).ends = true;
  look_at_host(s);
}

void forget() {
  for (Launch& launch : state().launches) launch = {};
  under_way = 0;
  host_at_work = false;
}

bool let_go(int device, For what) {
  if (device < 0) return host_at_work;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  Launch& launch = launch_of(s, device);
  if (!launch.is_under_way) return host_at_work;
  launch.waits_for_host |= what == For::host;
  if (std::exchange(launch.has_let_go, true)) return host_at_work;
  look_at_host(s);
  s.changed.notify_all();
  return host_at_work;
}

bool is_host_at_work() { return host_at_work.load(std::memory_order_relaxed); }

bool has_let_go(int device) {
  if (device < 0) return false;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const Launch& launch = launch_of(s, device);
  return launch.is_under_way && launch.has_let_go && launch.waits_for_host;
}

void wait_if_in(const stream_order::Clock& known) {
  if (!under_way) return;
  State& s = state();
  std::unique_lock lock(s.mutex);
  wait_until(s, lock, [&] { return !first_in(s, known); });
}

void wait() {
  if (!under_way || mine >= 0) return;
  State& s = state();
  std::unique_lock lock(s.mutex);
  wait_until(s, lock, [] { return !under_way; });
}

void wait_for(int device) {
  if (!under_way || mine >= 0) return;
  State& s = state();
  std::unique_lock lock(s.mutex);
  const Launch& launch = launch_of(s, device);
  wait_until(s, lock, [&] { return !launch.is_under_way; });
}

bool is_under_way_in(const stream_order::Clock& known) {
  if (!under_way) return false;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return first_in(s, known);
}

void at_end_of(const stream_order::Clock& known, std::function<void()> then) {
  if (under_way) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (Launch* const found = first_in(s, known)) {
      found->at_end.push_back(std::move(then));
      return;
    }
  }
  then();
}

}  // namespace simt::beside_host
