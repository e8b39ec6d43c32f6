#include "streams/order.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "base/devices.h"
#include "base/lasting.h"
#include "report/kernel_text.h"
#include "streams/beside_host.h"

namespace simt::stream_order {
namespace {

struct Queue {
  bool is_blocking = true;
  int device = 0;
  uint64_t number = 0;  // of its latest work
  Clock known;          // that work included
};

// Of programs with more streams than this at a time, the rest is taken for the default stream.
constexpr size_t kMostQueues = 1 << 12;

// The queues of the legacy default streams come first.
std::vector<Queue> first_queues() {
  std::vector<Queue> queues(devices::kMost);
  for (int device = 0; device < devices::kMost; ++device)
    queues[static_cast<size_t>(device)].device = device;
  return queues;
}

struct State {
  std::mutex mutex;
  std::vector<Queue> queues = first_queues();  // of streams that were destroyed, too
  std::map<const void*, uint32_t> streams;
  std::vector<uint32_t> unused;
  Clock host;  // what it has waited for
  Clock told;  // what functions of the host were told that streams have called
  std::array<Clock, devices::kMost> blocking;  // all work of each device's blocking streams
};

State& state() { return lasting<State>(); }

std::atomic<bool> queues_were_made = false;
thread_local const Work* current_work = nullptr;

Clock& blocking_of(State& s, const Queue& queue) {
  return s.blocking[static_cast<size_t>(queue.device)];
}

uint32_t legacy_now() { return static_cast<uint32_t>(devices::current()); }

uint32_t add_queue(State& s, bool is_blocking) {
  queues_were_made = true;
  for (uint32_t& index : s.unused) {
    const uint32_t queue = index;
    if (s.host.of(queue) < s.queues[queue].number) continue;  // its work may be going on
    std::swap(index, s.unused.back());
    s.unused.pop_back();
    s.queues[queue].is_blocking = is_blocking;
    s.queues[queue].device = devices::current();
    return queue;
  }
  if (s.queues.size() == kMostQueues) return legacy_now();
  s.queues.push_back(
      {.is_blocking = is_blocking, .device = devices::current(), .number = 0, .known = {}});
  return static_cast<uint32_t>(s.queues.size() - 1);
}

// Under the mutex, as all that follows.
uint32_t queue_of(State& s, const void* stream) {
  constexpr uintptr_t kPerThread = 2;
  if (reinterpret_cast<uintptr_t>(stream) == kPerThread) {
    thread_local std::array<uint32_t, devices::kMost> own{};  // 0: none yet
    uint32_t& queue = own[static_cast<size_t>(devices::current())];
    if (!queue) queue = add_queue(s, true);
    return queue;
  }
  const auto found = s.streams.find(stream);
  return found == s.streams.end() ? legacy_now() : found->second;
}

// The queue as work that is asked for now finds it.
Queue& queue_now(State& s, uint32_t index) {
  Queue& queue = s.queues[index];
  queue.known.join(s.host);
  queue.known.join(s.told);
  if (is_legacy(index)) {
    queue.known.join(blocking_of(s, queue));
  } else if (queue.is_blocking) {
    queue.known.join(s.queues[static_cast<size_t>(queue.device)].known);
  }
  return queue;
}

}  // namespace

void Clock::advance(uint32_t queue, uint64_t number) {
  if (queue >= at_.size()) at_.resize(queue + 1);
  at_[queue] = std::max(at_[queue], number);
}

void Clock::join(const Clock& other) {
  if (other.at_.size() > at_.size()) at_.resize(other.at_.size());
  for (size_t i = 0; i < other.at_.size(); ++i) at_[i] = std::max(at_[i], other.at_[i]);
}

bool Clock::covers(const Clock& other) const {
  for (size_t i = 0; i < other.at_.size(); ++i) {
    if (of(static_cast<uint32_t>(i)) < other.at_[i]) return false;
  }
  return true;
}

bool has_queues() { return queues_were_made.load(std::memory_order_relaxed); }

void note_second_device() { queues_were_made = true; }
void note_dependents() { queues_were_made = true; }

bool is_legacy(uint32_t queue) { return queue < devices::kMost; }

int device_of(uint32_t queue) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.queues[queue].device;
}

int device_of(const void* stream) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.queues[queue_of(s, stream)].device;
}

void wait_in(uint32_t queue, const Clock& flag) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.queues[queue].known.join(flag);
  if (s.queues[queue].is_blocking) blocking_of(s, s.queues[queue]).join(flag);
}

void add_stream(const void* stream, bool is_blocking) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.streams[stream] = add_queue(s, is_blocking);
}

void remove_stream(const void* stream) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto found = s.streams.find(stream);
  if (found == s.streams.end()) return;
  s.unused.push_back(found->second);
  s.streams.erase(found);
}

void give_back(const std::vector<uint32_t>& queues) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.unused.insert(s.unused.end(), queues.begin(), queues.end());
}

Clock position(const void* stream) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (current_work) {
    Clock known = current_work->known_;
    known.advance(current_work->queue_, current_work->number_);
    return known;
  }
  return queue_now(s, queue_of(s, stream)).known;
}

void wait(const void* stream, const Clock& event) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const uint32_t queue = current_work ? current_work->queue_ : queue_of(s, stream);
  s.queues[queue].known.join(event);
  if (s.queues[queue].is_blocking) blocking_of(s, s.queues[queue]).join(event);
}

void host_waits(const Clock& event) {
  beside_host::wait_if_in(event);
  device::text_is_shown();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.host.join(event);
}

void host_waits_for_stream(const void* stream) { host_waits(position(stream)); }

void host_waits_for_device(int device) {
  beside_host::wait_for(device);
  device::text_is_shown();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  // What the device's work was behind is done, too.
  for (uint32_t i = 0; i < s.queues.size(); ++i) {
    if (s.queues[i].device == device) s.host.join(s.queues[i].known);
  }
}

void host_waits_for_all() {
  beside_host::wait();
  device::text_is_shown();
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (uint32_t i = 0; i < s.queues.size(); ++i) s.host.advance(i, s.queues[i].number);
}

void host_was_called() {
  const Clock known = position(nullptr);
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.told.join(known);
}

bool is_done(const Clock& event) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.host.covers(event);
}

bool is_done(uint32_t queue, uint64_t number) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.host.of(queue) >= number;
}

Work::Work(const void* stream) : is_nested_(current_work) {
  if (is_nested_) return;
  {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    queue_ = queue_of(s, stream);
    Queue& queue = queue_now(s, queue_);
    known_ = queue.known;
    number_ = ++queue.number;
    queue.known.advance(queue_, number_);
    if (queue.is_blocking) blocking_of(s, queue).join(queue.known);
    current_work = this;
  }
  beside_host::is_work(
      queue_, number_);  // before it waits: the host then goes on, and asks for what is behind it
  beside_host::wait_if_in(known_);
}

Work::Work(uint32_t queue, Clock known) : queue_(queue), known_(std::move(known)) {
  Queue& own = state().queues[queue];
  own.known.join(known_);
  known_ = own.known;
  number_ = ++own.number;
  own.known.advance(queue_, number_);
  current_work = this;
}

Work::~Work() {
  if (!is_nested_) current_work = nullptr;
}

const Work* Work::current() { return current_work; }

BlockingCall::~BlockingCall() {
  if (!work_.is_nested()) host_waits_for_stream(nullptr);
}

GraphLaunch::GraphLaunch(const void* stream, std::vector<uint32_t>& queues, size_t steps)
    : work_(stream), queues_(queues) {
  if (work_.is_nested() || steps < 2) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  while (queues.size() < steps) {
    const uint32_t queue = add_queue(s, false);
    if (is_legacy(queue)) return;
    queues.push_back(queue);
  }
  has_steps_ = true;
  // The launches of one graph come one after the other.
  before_ = s.queues[work_.queue_].known;
  for (const uint32_t queue : queues) before_.join(s.queues[queue].known);
}

GraphLaunch::~GraphLaunch() {
  if (!has_steps_) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  Queue& queue = s.queues[work_.queue_];
  for (const uint32_t step : queues_) queue.known.join(s.queues[step].known);
  if (queue.is_blocking) blocking_of(s, queue).join(queue.known);
}

Work GraphLaunch::step(size_t index, const std::vector<size_t>& after) {
  if (!has_steps_) return Work(nullptr);
  State& s = state();
  const std::lock_guard lock(s.mutex);
  Clock known = before_;
  for (const size_t other : after) known.join(s.queues[queues_[other]].known);
  return Work(queues_[index], std::move(known));
}

}  // namespace simt::stream_order
