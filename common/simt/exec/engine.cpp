#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include "base/host_memory.h"
#include "base/program.h"
#include "base/program_image.h"
#include "base/symbols.h"
#include "check/host_accesses.h"
#include "check/host_copies.h"
#include "check/watch.h"
#include "exec/worker.h"
#include "hooks/division.h"
#include "memory/allocations.h"
#include "report/at_exit.h"

// What kernels see as threadIdx & co. The headers declare them const; here they are written.
extern "C" {
__thread uint3 simt_thread_index asm("threadIdx") = {};
__thread uint3 simt_block_index asm("blockIdx") = {};
__thread uint3 simt_block_extent asm("blockDim") = {};
__thread uint3 simt_grid_extent asm("gridDim") = {};
}

namespace simt::engine {
namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kSignalStack = 64 * 1024;
// A function tells that it has been entered within so many bytes.
constexpr uint64_t kKernelEntry = 128;
// A warp that has formed this many groups makes room for the others.
constexpr uint64_t kSlice = 1 << 12;
// A warp that computes and touches no memory waits for nobody. It may take so many times the steps of another one.
constexpr uint64_t kLongest = 16;

__thread Worker* running = nullptr;
std::atomic<Worker*> newest_worker{nullptr};

// In a block that is not counted: how many more accesses the running lane makes before it looks whether others
// should have a turn. 0 in a block that is counted, and on the host. It is all that the hooks look at then.
constexpr unsigned kTurn = 256;
__thread unsigned uncounted = 0;

// A thread that calls a function with less than this left has used up its stack: the rest is the simulator's.
constexpr uint64_t kStackReserve = 32 * 1024;

// The bytes of a stack, and of the addresses that it takes up: a power of two, and the stack begins at a multiple of it.
struct StackSize {
  uint64_t bytes, span;
};
StackSize stack_of(uint64_t bytes) {
  const uint64_t whole = (bytes + kPage - 1) / kPage * kPage;
  return {whole, std::bit_ceil(whole)};
}
uint64_t asked_stack_bytes() {
  const char* text = std::getenv("SIMT_STACK");
  const uint64_t asked = text ? std::strtoull(text, nullptr, 10) : 0;
  return asked >= 2 * kStackReserve ? asked : 0;
}

// Those of this launch. Close together the stacks of a block cost the CPU fewer entries of its page tables.
constexpr uint64_t kSmallStack = 128 * 1024;
// A thread has up to 512 KiB of local memory; what the simulator does on its stack comes on top.
constexpr uint64_t kLargeStack = 576 * 1024;
bool has_large_stacks = false;
StackSize stacks = stack_of(asked_stack_bytes() ? asked_stack_bytes() : kSmallStack);
uint64_t stack_bytes() { return stacks.bytes; }
uint64_t stack_span() { return stacks.span; }

// The frame of a function, as far as its first instructions tell: those of the subtraction from the stack pointer.
uint64_t frame_of(uint64_t function) {
  constexpr unsigned kNear = 64;
  const auto* code = reinterpret_cast<const unsigned char*>(function);
  for (unsigned at = 0; function && at < kNear; ++at) {
    if (code[at] == 0xc3) break;
    if (code[at] != 0x48 || code[at + 1] != 0x81 || code[at + 2] != 0xec) continue;
    uint32_t bytes;
    std::memcpy(&bytes, code + at + 3, sizeof(bytes));
    return bytes;
  }
  return 0;
}

// Is an address a multiple of a size, or of 8, or are several of which these are all the bits? Sizes are powers of two.
bool are_aligned(uint64_t bits, unsigned size) { return !(bits & (std::min(size, 8u) - 1)); }

uint64_t load_up_to_8(uint64_t address, unsigned size) {
  uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), std::min(size, 8u));
  return value;
}

// What lies there, to be compared: the bytes, or of more than 8 a hash of them.
uint64_t value_at(uint64_t address, unsigned size) {
  const uint64_t low = load_up_to_8(address, size);
  if (size <= 8) [[likely]]
    return low;
  return (std::rotl(low, 29) ^ load_up_to_8(address + 8, size - 8)) * 0x9e3779b97f4a7c15ull;
}

}  // namespace

void choose_stacks(uint64_t kernel) {
  if (asked_stack_bytes()) return;
  const uint64_t frame = frame_of(kernel);
  has_large_stacks = frame > kSmallStack / 2 && frame < kLargeStack;
  stacks = stack_of(has_large_stacks ? kLargeStack : kSmallStack);
}

Worker* current_worker() { return running; }

Worker::Worker()
    : variables_(symbols::shared_variables()), guards_(symbols::guards_of_shared_variables()) {
  tls_size_ = program_image().tls_size;
  dynamic_shared_ =
      static_cast<char*>(std::aligned_alloc(1024, kMaxDynamicShared / 1024 * 1024 + 1024));
  conflicts_.reserve(kLanes);
  doubts_.reserve(kMostDoubts);
  faults.reserve(64);
  unsettled_.reserve(kLanes);
  flags_.reserve(kLanes);
  block_races.reserve(64);
  races.resize(tls_size_ / 4 + kMaxDynamicShared / 4 + 2);

  next_ = newest_worker;
  while (!newest_worker.compare_exchange_weak(next_, this)) {
  }
  attach();
}

void Worker::attach() {
  static thread_local bool is_attached = false;
  if (std::exchange(is_attached, true)) return;
  tls_base_ = reinterpret_cast<uint64_t>(__builtin_thread_pointer()) - tls_size_;
  // A fault inside a lane is handled on a stack of its own.
  if (!signal_stack_) signal_stack_ = std::malloc(kSignalStack);
  stack_t stack{};
  stack.ss_size = kSignalStack;
  stack.ss_sp = signal_stack_;
  sigaltstack(&stack, nullptr);
}

// ---- Atomic operations ---------------------------------------------------------------------------

namespace {

using detail::AtomicOp;
using detail::AtomicType;

template <class T>
T bits_to(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
T next_value(AtomicOp op, T old, T value, T compare) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (op) {
      case AtomicOp::add:
      case AtomicOp::add_one:
        return static_cast<T>(static_cast<U>(old) + static_cast<U>(value));
      case AtomicOp::subtract:
        return static_cast<T>(static_cast<U>(old) - static_cast<U>(value));
      case AtomicOp::bit_and:
        return static_cast<T>(old & value);
      case AtomicOp::bit_or:
        return static_cast<T>(old | value);
      case AtomicOp::bit_xor:
        return static_cast<T>(old ^ value);
      case AtomicOp::increment:
        return old >= value ? T{0} : static_cast<T>(old + 1);
      case AtomicOp::decrement:
        return old == 0 || old > value ? value : static_cast<T>(old - 1);
      default:
        break;
    }
  }
  switch (op) {
    case AtomicOp::add:
    case AtomicOp::add_one:
      return static_cast<T>(old + value);
    case AtomicOp::subtract:
      return static_cast<T>(old - value);
    case AtomicOp::minimum:
      return value < old ? value : old;
    case AtomicOp::maximum:
      return old < value ? value : old;
    case AtomicOp::compare_exchange:
      return old == compare ? value : old;
    default:
      return value;
  }
}

template <class T, class Word>
uint64_t atomic_typed(AtomicOp op, void* address, uint64_t value, uint64_t compare) {
  auto* word = static_cast<Word*>(address);
  Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  for (;;) {
    const T next = next_value<T>(op, std::bit_cast<T>(old), bits_to<T>(value), bits_to<T>(compare));
    if (__atomic_compare_exchange_n(word, &old, std::bit_cast<Word>(next), false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      return bits_of(old);
    }
  }
}

}  // namespace

// Returns the old value.
uint64_t carry_out(AtomicOp op, AtomicType type, void* address, uint64_t value, uint64_t compare) {
  switch (type) {
    case AtomicType::i32:
      return atomic_typed<int32_t, uint32_t>(op, address, value, compare);
    case AtomicType::u32:
      return atomic_typed<uint32_t, uint32_t>(op, address, value, compare);
    case AtomicType::i64:
      return atomic_typed<int64_t, uint64_t>(op, address, value, compare);
    case AtomicType::u64:
      return atomic_typed<uint64_t, uint64_t>(op, address, value, compare);
    case AtomicType::f32:
      return atomic_typed<float, uint32_t>(op, address, value, compare);
    case AtomicType::f64:
      return atomic_typed<double, uint64_t>(op, address, value, compare);
    case AtomicType::u16:
      return atomic_typed<uint16_t, uint16_t>(op, address, value, compare);
  }
  return 0;
}

bool Worker::is_guard(uint64_t address, Stop what) {
  for (const symbols::Guard& guard : guards_) {
    if (guard.at != address - tls_base_) continue;
    if (!traced_) return true;
    // What the lane does until it has noted that it has run the constructor is nothing that the program says.
    const uint32_t self = 1u << lane_;
    const bool is_first = *reinterpret_cast<const char*>(address) == 0;
    if (what == Stop::load) {
      if (is_first) warp_->constructing |= self;
      return true;
    }
    warp_->constructing &= ~self;
    for (const symbols::SharedVariable& variable : variables_) {
      if (!is_first || variable.symbol != guard.symbol) continue;
      // Nobody has used the memory before. At most it has been set to zero.
      const auto* const begin = reinterpret_cast<const char*>(tls_base_ + variable.begin);
      const auto* const end = reinterpret_cast<const char*>(tls_base_ + variable.end);
      if (std::all_of(begin, end, [](char byte) { return byte == 0; })) break;
      std::fprintf(stderr,
                   "simt: the constructor of %s, in shared memory, stores something; nvcc compiles "
                   "only those that do nothing\n",
                   variable.name.c_str());
      std::_Exit(1);
    }
    return true;
  }
  return false;
}

// ---- Fibers -------------------------------------------------------------------------------------

void Worker::fiber_entry() { running->lane_main(); }

void Worker::rebuild(Fiber& fiber) {
  // Stack tops that differ in their low bits spread over the sets of the cache.
  const unsigned color = fiber.color % 32 * 192 % kPage;
  char* top = fiber.stack + stack_bytes() - color;
  fiber.first = make_context(top, stack_bytes() - color - kPage, &Worker::fiber_entry);
}

// Nobody needs any more what runs on the fiber: it begins anew.
[[gnu::always_inline]] inline void Worker::free_fiber(Fiber& fiber) {
  if constexpr (!kContextsLast) rebuild(fiber);
  pool_->free_fibers[pool_->free_count++] = &fiber;
}

[[gnu::always_inline]] inline Fiber* Worker::take_fiber() {
  return pool_->free_count ? pool_->free_fibers[--pool_->free_count] : make_fiber();
}

Fiber* Worker::make_fiber() {
  const uint64_t span = stack_span();
  if (!pool_->stacks_left) {
    // One more than is asked for, so that they can begin at a multiple of their size: see is_on_stack().
    constexpr uint64_t kStacks = 32;
    void* map = mmap(nullptr, (kStacks + 1) * span, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (map == MAP_FAILED) {
      std::perror("simt: cannot map the stacks of threads");
      std::_Exit(1);
    }
    const auto begin = reinterpret_cast<uint64_t>(map);
    const uint64_t before = (begin + span - 1) / span * span - begin;
    if (before) munmap(map, before);
    pool_->next_stack = static_cast<char*>(map) + before;
    munmap(pool_->next_stack + kStacks * span, span - before);
    pool_->stacks_left = kStacks;
  }
  --pool_->stacks_left;
  char* const stack = pool_->next_stack + span - stack_bytes();
  mprotect(pool_->next_stack, span - stack_bytes() + kPage, PROT_NONE);  // the guard
  pool_->next_stack += span;
  auto* fiber = ::new (std::malloc(sizeof(Fiber))) Fiber;  // here `new` would be the device's
  fiber->stack = stack;
  fiber->color = pool_->fiber_count++;
  rebuild(*fiber);
  return fiber;
}

// Sets what the lane finds when it goes on. Returns what the function returns there in which it stopped.
[[gnu::always_inline]] inline uint64_t Worker::prepare(Warp& warp, int lane) {
  if (!warp.context[lane]) {
    Fiber* const fiber = take_fiber();
    warp.fiber[lane] = fiber;
    warp.context[lane] = fiber->first;
  }
  lane_ = lane;
  cursor_ = 0;
  script_end_ = warp.scripted ? warp.script.length : 0;
  simt_thread_index = warp.thread[lane];
  return warp.waking ? wake(warp, lane) : 0;
}

// What is left to do of what the lane stopped for.
uint64_t Worker::wake(Warp& warp, int lane) {
  const uint32_t self = 1u << lane;
  if (!(warp.waking & self)) return 0;
  warp.waking &= ~self;
  if (warp.entering & self) {
    warp.entering &= ~self;
    enter_late(warp, lane);
    return 0;
  }
  if (warp.updating & self) {
    warp.updating &= ~self;
    const Update& update = warp.update[lane];
    return carry_out(update.op, update.type, update.address, update.value, update.compare);
  }
  return warp.exchange[lane].result;
}

inline void Worker::switch_to(Warp& warp, int lane) {
  const int from = lane_;
  const uint64_t result = prepare(warp, lane);
  if (lane != from)
    switch_context(from < 0 ? main_ : warp.context[from], warp.context[lane], result);
}

void Worker::leave_to_main() {
  Context& from = plain_ ? plain_context_ : warp_->context[lane_];
  lane_ = -1;
  switch_context(from, main_, 0);
}

// What a fiber does: it runs one lane.
void Worker::lane_main() {
  if (!plain_) {
    grid_->entry(grid_->closure);
  } else if (run_threads()) {
    leave_to_main();
  }
  exit_lane();
}

// The running lane has exited. It leaves its frames behind as they are: to return from them would cost the CPU more
// than all of this, since it predicts a return from the last call, and other lanes have made calls since. Its
// fiber is free for the next; perhaps at once, for the lane that is to start now.
void Worker::exit_lane() {
  Warp& warp = *warp_;
  const int lane = lane_;
  if (warp.capture >> lane & 1) warp.captured[lane] = value_at(warp.address[lane], warp.size[lane]);
  warp.key[lane] = kNotWaiting;
  warp.live &= ~(1u << lane);
  free_fiber(*warp.fiber[lane]);
  warp.context[lane] = nullptr;
  const int next = next_lane(warp, lane);
  if (next < 0) {
    lane_ = -1;
    return leave_context(main_, 0);
  }
  const uint64_t result = prepare(warp, next);
  return leave_context(warp.context[next], result);
}

// The first function that a lane calls, or another one if the kernel itself is not instrumented.
void Worker::note_entry(int lane, uint64_t pc) {
  if (!kernel_pc) kernel_pc = pc;
  if (pc - grid_->kernel < kKernelEntry) {
    entry_pc_ = pc;
  } else {
    warp_->outside_kernel |= 1u << lane;
  }
}

void Worker::run_warp(Warp& warp) {
  warp_ = &warp;
  running = this;
  uncounted = traced_ ? 0 : kTurn;
  const int lane = schedule(warp);
  if (lane >= 0) switch_to(warp, lane);
  uncounted = 0;
  running = nullptr;
  warp_ = nullptr;
}

// A lane has noted where it stopped: the next of its group, or of the group that forms next.
[[gnu::always_inline]] inline int Worker::next_lane(Warp& warp, int lane) {
  warp.script_end[lane] = static_cast<uint8_t>(cursor_);
  leads_ = false;
  if (!warp.pending) return schedule(warp);
  const int next = std::countr_zero(warp.pending);
  warp.pending &= warp.pending - 1;
  return next;
}

// Runs others until it is the lane's turn again.
inline void Worker::stop(Warp& warp, int lane) {
  const int next = next_lane(warp, lane);
  if (next < 0) {
    leave_to_main();
  } else {
    switch_to(warp, next);
  }
}

// The same as the last thing that a hook does. It returns the lane's result where there is one, else 0.
template <class Result>
[[gnu::always_inline]] inline Result Worker::stop_and_return(Warp& warp, int lane) {
  const int next = next_lane(warp, lane);
  if (next < 0) [[unlikely]] {
    lane_ = -1;
    return switch_context_and_return<Result>(warp.context[lane], main_, 0);
  }
  const uint64_t result = prepare(warp, next);
  if (next == lane) return static_cast<Result>(result);
  return switch_context_and_return<Result>(warp.context[lane], warp.context[next], result);
}

// ---- The scheduler ------------------------------------------------------------------------------

int Worker::schedule(Warp& warp) {
  const HostMemory bookkeeping;
  if (warp.capture) settle_captures(warp);
  end_stores();
  if (!unsettled_.empty() || !flags_.empty()) [[unlikely]]
    settle_global();
  if (warp.group && traced_) {
    settle_script(warp);
    if (aborted_) return -1;
    if (warp.has_wrong_index) [[unlikely]]
      report_wrong_indices_of_exited(warp);
  }
  for (;;) {
    const int first = form_group(warp);
    if (first < 0) return -1;
    const uint32_t ahead = warp.group & warp.ahead;
    const uint32_t here = warp.group & ~ahead;
    if (ahead) [[unlikely]] {
      advance(warp, ahead);
      if (warp.has_wrong_index) report_wrong_indices_of_exited(warp);
      if (!here) {
        follow_trails(warp);
        continue;
      }
    }
    begin_script(warp, here);
    warp.pending = here & (here - 1);
    return std::countr_zero(here);
  }
}

// The lanes that make the next warp instruction together, the first of them returned; -1 if no lane
// can run. A group that stands at an access has been counted.
int Worker::form_group(Warp& warp) {
  warp.group = 0;
  ++clock_;
  for (;;) {
    uint64_t best = kNotWaiting;
    if (!warp.last_first) [[likely]] {
      best = lowest_of(warp.key);
    } else {
      uint64_t most = 0;
      for (int i = 0; i < kLanes; ++i) {
        if (warp.key[i] != kNotWaiting) most = std::max(most, warp.key[i]);
      }
      if (most) best = most;
    }
    if (best == kNotWaiting) {
      if (warp.at_collective && resolve_collectives(warp)) continue;
      return -1;
    }

    uint32_t group = lanes_with(warp.key, best);
    const int first = std::countr_zero(group);
    if (best >> 48 != kMostDepth) {
      // Inside a call: only lanes that came the same way.
      for (uint32_t rest = group & (group - 1); rest; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        if (warp.path[lane] != warp.path[first]) group &= ~(1u << lane);
      }
    }

    // A warp that spins lets the others run, and then its own lanes in the reverse order.
    if (++warp.steps % kSlice == 0 || warp.yielded) [[unlikely]] {
      const uint64_t address = warp.address[first];
      if (memory::in_arena(address) && (address < warp.lowest || address > warp.highest)) {
        warp.lowest = std::min(warp.lowest, address);
        warp.highest = std::max(warp.highest, address);
        warp.steps = 0;
        Patience::move();
      } else if (const uint64_t budget = (warp.touched ? 1 : kLongest) * grid_->step_budget;
                 warp.steps > budget) {
        report_hang(warp, best, budget);
        return -1;
      }
      warp.touched = warp.yielded = false;
      warp.last_first = !warp.last_first;
      return -1;
    }

    const Stop what = warp.stop[first];
    if (what == Stop::barrier || what == Stop::collective) {
      for (uint32_t rest = group; rest; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        warp.parked_key[lane] = warp.key[lane];
        warp.live_then[lane] = warp.live;
        warp.key[lane] = kNotWaiting;
      }
      if (what == Stop::barrier) {
        warp.at_barrier |= group;
      } else {
        warp.at_collective |= group;
        resolve_collectives(warp);
      }
      if (aborted_) return -1;
      continue;
    }
    if (what != Stop::resume && traced_) {
      warp.group_key = best;
      count_access(warp, group);
      if (aborted_) return -1;
      if (circle_.watching && !circle_.changed) watch_access(warp, group);
      learn(warp, best, group, what);
    }
    warp.group = group;
    warp.group_key = best;
    return first;
  }
}

// ---- Running ahead ------------------------------------------------------------------------------

// These lanes of the group are about to run: the first may write a script.
void Worker::begin_script(Warp& warp, uint32_t lanes) {
  script_end_ = cursor_ = 0;
  // The script of lanes that are still behind must stay as it is.
  warp.scripted = leads_ =
      traced_ && grid_->run_ahead && lanes == warp.group && !warp.ahead && !warp.last_first;
  if (!warp.scripted) return;
  warp.script.length = 0;
  limit_ = kNotWaiting;
  for (uint32_t rest = warp.live & ~(warp.group | warp.at_barrier | warp.at_collective); rest;
       rest &= rest - 1) {
    limit_ = std::min(limit_, warp.key[std::countr_zero(rest)]);
  }
  const int first = std::countr_zero(warp.group);
  stored_bytes_ = 0;
  if (warp.stop[first] == Stop::store || warp.stop[first] == Stop::atomic) {
    const Span span = span_of(warp.address, warp.group);
    stored_begin_ = span.low - 15;  // a load of 16 bytes that begins there touches it
    stored_bytes_ = span.high + warp.size[first] - stored_begin_;
  }
}

// May the lane that writes the script go on past a load? Then notes the load.
bool Worker::load_ahead(Warp& warp, int lane, uint64_t key, uint64_t address, unsigned size) {
  Script& script = warp.script;
  const unsigned loads = script.loads(script.length);
  if (script.length == Script::kEvents || loads == Script::kLoads || key >= limit_) return false;
  if (trace.at(key_pc(key)).run_ahead != RunAhead::yes) return false;
  if (address - stored_begin_ < stored_bytes_ || !are_aligned(address, size)) return false;

  uint64_t begin, end;
  const auto dynamic = reinterpret_cast<uint64_t>(dynamic_shared_);
  if (address - tls_base_ < tls_size_) {
    begin = tls_base_, end = tls_base_ + tls_size_;
  } else if (address - dynamic < kMaxDynamicShared) {
    begin = dynamic, end = dynamic + grid_->dynamic_shared;
  } else if (const Range* range = global_range(address, size)) {
    begin = range->begin, end = range->end;
  } else {
    return false;
  }
  if (address + size > end) return false;

  script.load[loads] = static_cast<uint8_t>(script.length);
  script.address[loads][lane] = address;
  script.event[script.length++] = {key,
                                   begin,
                                   end - size - begin,
                                   warp.calls.path[lane],
                                   static_cast<uint8_t>(size),
                                   static_cast<uint8_t>(loads + 1),
                                   0};
  cursor_ = script_end_ = script.length;
  return true;
}

// The lanes of the group have stopped: what they loaded on the way is counted.
void Worker::settle_script(Warp& warp) {
  if (!warp.scripted) {
    follow_trails(warp);
    return;
  }
  const int first = std::countr_zero(warp.group);
  const uint8_t end = warp.script_end[first];
  const uint32_t same = lanes_with(warp.key, warp.key[first]) & lanes_with(warp.script_end, end) &
                        lanes_with(warp.trail_hash, warp.trail_hash[first]);
  const unsigned loads = warp.script.loads(warp.script.length);
  if ((warp.group & ~same) == 0) {
    warp.together = warp.group;
    for (int i = 0; i < kLanes; ++i) warp.trail_length[i] = 0;
    for (int i = 0; i < kLanes; ++i) warp.trail_hash[i] = 0;
    if (loads) replay_in_step(warp);
    return;
  }
  if (loads) go_back(warp);
  follow_trails(warp);
}

// The usual case: all lanes of the group loaded the same way.
void Worker::replay_in_step(Warp& warp) {
  const uint32_t group = warp.group;
  const unsigned loads = warp.script.loads(warp.script.length);
  if (warp.yielded || warp.steps % kSlice + loads >= kSlice) [[unlikely]] {
    go_back(warp);
    return;
  }
  uint64_t key[kLanes], address[kLanes];
  Stop stop[kLanes];
  uint8_t size[kLanes];
  bool is_volatile[kLanes], is_padded[kLanes];
  std::memcpy(key, warp.key, sizeof(key));
  std::memcpy(address, warp.address, sizeof(address));
  std::memcpy(stop, warp.stop, sizeof(stop));
  std::memcpy(size, warp.size, sizeof(size));
  std::memcpy(is_volatile, warp.is_volatile, sizeof(is_volatile));
  std::memcpy(is_padded, warp.is_padded, sizeof(is_padded));
  std::fill_n(warp.stop, kLanes, Stop::load);
  std::fill_n(warp.is_volatile, kLanes, false);
  std::fill_n(warp.is_padded, kLanes, false);
  for (unsigned load = 0; load < loads; ++load) {
    const Script::Event& event = warp.script.event[warp.script.load[load]];
    std::fill_n(warp.key, kLanes, event.key);
    std::memcpy(warp.address, warp.script.address[load], sizeof(address));
    std::memset(warp.size, event.size, kLanes);
    ++clock_;
    ++warp.steps;
    warp.group_key = event.key;
    count_access(warp, group);
    if (aborted_) return;
    if (!warp.later.empty()) settle_later(warp, group, load);
  }
  std::memcpy(warp.key, key, sizeof(key));
  std::memcpy(warp.address, address, sizeof(address));
  std::memcpy(warp.stop, stop, sizeof(stop));
  std::memcpy(warp.size, size, sizeof(size));
  std::memcpy(warp.is_volatile, is_volatile, sizeof(is_volatile));
  std::memcpy(warp.is_padded, is_padded, sizeof(is_padded));
}

// Otherwise every lane goes back to its first load, and the scheduler moves them on from there.
void Worker::go_back(Warp& warp) {
  for (uint32_t rest = warp.group; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const unsigned loads = warp.script.loads(warp.script_end[lane]);
    if (!loads) continue;
    warp.future[lane] = {warp.key[lane],
                         warp.address[lane],
                         warp.path[lane],
                         warp.stop[lane],
                         warp.size[lane],
                         warp.is_volatile[lane],
                         warp.is_padded[lane],
                         warp.script_end[lane],
                         0,
                         static_cast<uint8_t>(loads)};
    warp.ahead |= 1u << lane;
    warp.live |= 1u << lane;
    stand_at_load(warp, lane);
  }
}

void Worker::stand_at_load(Warp& warp, int lane) {
  const unsigned load = warp.future[lane].load;
  const unsigned place = warp.script.load[load];
  const Script::Event& event = warp.script.event[place];
  warp.key[lane] = event.key;
  warp.address[lane] = warp.script.address[load][lane];
  warp.path[lane] = event.path;
  warp.stop[lane] = Stop::load;
  warp.size[lane] = event.size;
  warp.is_volatile[lane] = warp.is_padded[lane] = false;
  warp.script_end[lane] = static_cast<uint8_t>(place);
}

// These lanes have loaded, and stand at their next load or where they stopped.
void Worker::advance(Warp& warp, uint32_t lanes) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    Future& future = warp.future[lane];
    if (!warp.later.empty()) settle_later(warp, 1u << lane, future.load);
    warp.script_begin[lane] = static_cast<uint8_t>(warp.script.load[future.load] + 1);
    if (++future.load < future.loads) {
      stand_at_load(warp, lane);
      continue;
    }
    warp.key[lane] = future.key;
    warp.address[lane] = future.address;
    warp.path[lane] = future.path;
    warp.stop[lane] = future.stop;
    warp.size[lane] = future.size;
    warp.is_volatile[lane] = future.is_volatile;
    warp.is_padded[lane] = future.is_padded;
    warp.script_end[lane] = future.script_end;
    warp.ahead &= ~(1u << lane);
    if (future.key == kNotWaiting) warp.live &= ~(1u << lane);
  }
}

// These lanes have done a load of the script: what they did after it is known now.
void Worker::settle_later(Warp& warp, uint32_t lanes, unsigned load) {
  std::erase_if(warp.later, [&](const Later& later) {
    if (later.load != load || !(lanes >> later.lane & 1)) return false;
    if (later.text) {
      std::fputs(later.text, stdout);
      std::free(later.text);
    } else {
      note(warp, later);
    }
    return true;
  });
}

// Finds out which loads may be run ahead of; see RunAhead.
void Worker::learn(Warp& warp, uint64_t key, uint32_t group, Stop what) {
  if (what == Stop::load) {
    Trace::Entry& entry = trace.at(key_pc(key));
    if (entry.run_ahead == RunAhead::unknown && group == warp.together)
      entry.run_ahead = RunAhead::yes;
    return;
  }
  // A store goes first while others wait at a load, or have even gone on from there.
  const uint32_t others = warp.live & ~(group | warp.at_barrier | warp.at_collective);
  for (uint32_t rest = others; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (warp.stop[lane] == Stop::load) trace.at(key_pc(warp.key[lane])).run_ahead = RunAhead::never;
    if (!(warp.ahead >> lane & 1)) continue;
    for (unsigned load = warp.future[lane].load; load < warp.future[lane].loads; ++load) {
      const Script::Event& event = warp.script.event[warp.script.load[load]];
      if (event.key > key) trace.at(key_pc(event.key)).run_ahead = RunAhead::never;
    }
  }
}

// The lanes of the group have come to their next access. If they did not come the same way, replays
// their ways through the blocks of the code as the scheduler would have let them run, lowest first, and
// counts where they part.
void Worker::follow_trails(Warp& warp) {
  const int leader = std::countr_zero(warp.group);
  bool same = true;
  for (uint32_t rest = warp.group; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    same &= warp.trail_hash[lane] == warp.trail_hash[leader] &&
            warp.key[lane] == warp.key[leader] &&
            warp.script_begin[lane] == warp.script_begin[leader] &&
            warp.script_end[lane] == warp.script_end[leader];
  }
  warp.together = same ? warp.group : 0;
  if (!same) {
    uint8_t at[kLanes] = {};
    // The own trail counts only where a lane has come to its stop.
    const auto of_script = [&](int lane) {
      return unsigned{warp.script_end[lane]} - warp.script_begin[lane];
    };
    const auto length = [&](int lane) {
      return of_script(lane) + (warp.ahead >> lane & 1 ? 0 : warp.trail_length[lane]);
    };
    const auto key = [&](int lane) {
      const unsigned step = at[lane];
      if (step < of_script(lane)) return warp.script.event[warp.script_begin[lane] + step].key;
      return step < length(lane) ? warp.trail[step - of_script(lane)][lane] : warp.key[lane];
    };
    uint64_t branch = warp.group_key;
    uint32_t together = warp.group;
    uint32_t on_the_way = 0;
    for (;;) {
      const uint64_t first = key(std::countr_zero(together));
      bool parted = false;
      for (uint32_t rest = together; rest; rest &= rest - 1)
        parted |= key(std::countr_zero(rest)) != first;
      if (parted) ++trace.at(key_pc(branch)).counts.divergent_branches;
      // The next to run: all that stand at the lowest block.
      on_the_way = 0;
      branch = kNotWaiting;
      for (uint32_t rest = warp.group; rest; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        if (at[lane] == length(lane)) continue;
        on_the_way |= 1u << lane;
        branch = std::min(branch, key(lane));
      }
      if (!on_the_way) break;
      together = 0;
      for (uint32_t rest = on_the_way; rest; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        if (key(lane) == branch) together |= 1u << lane;
      }
      for (uint32_t rest = together; rest; rest &= rest - 1) ++at[std::countr_zero(rest)];
    }
  }
  for (uint32_t rest = warp.group & ~warp.ahead; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    warp.trail_length[lane] = 0;
    warp.trail_hash[lane] = 0;
    warp.script_begin[lane] = 0;
  }
}

// The lane goes on at the entry of the block ahead of which it has waited.
void Worker::enter_late(Warp& warp, int lane) {
  const uint64_t key = warp.entry_key[lane];
  const Script::Event& event = warp.script.event[0];
  if (script_end_ && event.key == key && !event.size) {
    cursor_ = 1;
    return;
  }
  script_end_ = 0;
  leave_trail(warp, lane, key, 0);
}

// The running lane enters a block, the next after `length` others since its last access.
void Worker::leave_trail(Warp& warp, int lane, uint64_t key, unsigned length) {
  Script& script = warp.script;
  if (leads_ && script.length < Script::kEvents) {
    script.event[script.length] = {key,
                                   0,
                                   0,
                                   0,
                                   0,
                                   static_cast<uint8_t>(script.loads(script.length)),
                                   static_cast<uint8_t>(length + 1)};
    cursor_ = script_end_ = ++script.length;
    return;
  }
  leads_ = false;
  const unsigned place = warp.trail_length[lane];
  warp.position[lane] = key;
  warp.trail[place][lane] = key;
  warp.trail_length[lane] = static_cast<uint8_t>(place + 1);
  warp.trail_hash[lane] = (warp.trail_hash[lane] ^ static_cast<uint32_t>(key)) * 0x01000193u;
}

// ---- Collectives of a warp ----------------------------------------------------------------------

// Completes every collective whose lanes have all come; true if there was one.
bool Worker::resolve_collectives(Warp& warp) {
  using Op = detail::CollectiveOp;
  bool resolved = false;
  for (uint32_t rest = warp.at_collective; rest;) {
    const int first = std::countr_zero(rest);
    const Exchange& leader = warp.exchange[first];
    const uint32_t expected = leader.mask & warp.live;
    uint32_t members = 0;
    for (uint32_t r = warp.at_collective & leader.mask; r; r &= r - 1) {
      const int lane = std::countr_zero(r);
      const Exchange& e = warp.exchange[lane];
      if (e.op == leader.op && e.mask == leader.mask) members |= 1u << lane;
    }
    rest &= ~(members | 1u << first);
    if (members != expected) continue;
    if ((leader.mask & warp.born & ~warp.live) && traced_) [[unlikely]]
      check_exited(warp, members, leader.mask);

    const auto count = static_cast<unsigned>(std::popcount(members));
    uint64_t all = ~uint64_t{0}, any = 0, sum = 0;
    uint32_t ballot = 0;
    int32_t low = INT32_MAX, high = INT32_MIN;
    uint32_t ulow = UINT32_MAX, uhigh = 0, exclusive = 0;
    unsigned same = 0;
    for (uint32_t r = members; r; r &= r - 1) {
      const int lane = std::countr_zero(r);
      const uint64_t value = warp.exchange[lane].value;
      all &= value;
      any |= value;
      sum += value;
      exclusive ^= static_cast<uint32_t>(value);
      low = std::min(low, static_cast<int32_t>(value));
      high = std::max(high, static_cast<int32_t>(value));
      ulow = std::min(ulow, static_cast<uint32_t>(value));
      uhigh = std::max(uhigh, static_cast<uint32_t>(value));
      if (value) ballot |= 1u << lane;
      same += value == warp.exchange[std::countr_zero(members)].value;
    }
    const uint32_t doubtful = warp.doubtful & members;
    for (uint32_t r = members; r; r &= r - 1) {
      const int lane = std::countr_zero(r);
      Exchange& e = warp.exchange[lane];
      const int width = e.width;
      const int segment = lane & ~(width - 1);
      int source = lane;
      switch (e.op) {
        case Op::sync:
          break;
        case Op::shuffle_index:
          source = segment + (e.operand & (width - 1));
          break;
        case Op::shuffle_up:
          source = lane - e.operand < segment ? lane : lane - e.operand;
          break;
        case Op::shuffle_down:
          source = static_cast<unsigned>(lane - segment) + static_cast<unsigned>(e.operand) >=
                           static_cast<unsigned>(width)
                       ? lane
                       : lane + e.operand;
          break;
        case Op::shuffle_xor:
          source = lane ^ e.operand;
          if (source >= segment + width || source < 0) source = lane;
          break;
        case Op::vote_all:
          e.result = static_cast<unsigned>(std::popcount(ballot)) == count;
          break;
        case Op::vote_any:
          e.result = ballot != 0;
          break;
        case Op::vote_ballot:
          e.result = ballot;
          break;
        case Op::vote_uniform:
          e.result = ballot == 0 || ballot == members;
          break;
        case Op::match_any: {
          uint32_t equal = 0;
          for (uint32_t o = members; o; o &= o - 1) {
            const int other = std::countr_zero(o);
            if (warp.exchange[other].value == e.value) equal |= 1u << other;
          }
          e.result = equal;
          break;
        }
        case Op::match_all:
          e.result = same == count ? members : 0;
          break;
        case Op::reduce_add:
          e.result = static_cast<uint32_t>(sum);
          break;
        case Op::reduce_min_signed:
          e.result = static_cast<uint32_t>(low);
          break;
        case Op::reduce_max_signed:
          e.result = static_cast<uint32_t>(high);
          break;
        case Op::reduce_min_unsigned:
          e.result = ulow;
          break;
        case Op::reduce_max_unsigned:
          e.result = uhigh;
          break;
        case Op::reduce_and:
          e.result = static_cast<uint32_t>(all);
          break;
        case Op::reduce_or:
          e.result = static_cast<uint32_t>(any);
          break;
        case Op::reduce_xor:
          e.result = exclusive;
          break;
      }
      // A lane that takes no part gives 0. CUDA leaves that open; sums over part of a warp rely on it.
      if (e.op >= Op::shuffle_index && e.op <= Op::shuffle_xor) {
        if ((e.mask & warp.born & ~warp.live) >> source & 1 && traced_) [[unlikely]]
          report_exited(warp, lane, source, "source");
        e.result = (members >> source & 1) ? warp.exchange[source].value : 0;
        if (doubtful >> source & 1) [[unlikely]]
          warp.doubt(lane, warp.doubt_number[source]);
      } else if (doubtful && e.op != Op::sync) [[unlikely]] {
        warp.doubt(lane, warp.doubt_number[std::countr_zero(doubtful)]);
      }
      warp.key[lane] = warp.parked_key[lane];
      warp.stop[lane] = Stop::resume;
    }
    if (leader.op == Op::sync) warp.order.sync(members, warp.live);
    warp.at_collective &= ~members;
    resolved = true;
  }
  return resolved;
}

// Lanes that had not exited when the others came to a collective, and that these have waited for in vain.
void Worker::check_exited(Warp& warp, uint32_t members, uint32_t mask) {
  for (uint32_t rest = members; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint32_t missing = mask & warp.live_then[lane] & ~warp.live;
    if (missing) return report_exited(warp, lane, std::countr_zero(missing), nullptr);
  }
}

void Worker::report_exited(Warp& warp, int lane, int other, const char* text) {
  Fault fault = fault_at(Fault::Kind::exited_lane, warp, lane);
  fault.pc = key_pc(warp.parked_key[lane]);
  fault.address = warp.exchange[lane].mask;
  fault.other_thread = warp.thread[other];
  fault.text = text;
  add_fault(fault);
}

// ---- Blocks and their barrier -------------------------------------------------------------------

void Worker::begin_block(const Grid& grid, uint3 block_index) {
  grid_ = &grid;
  pool_ = &pools_[has_large_stacks];
  block_index_ = block_index;
  aborted_ = false;
  grid_wait_ = false;
  simt_block_index = block_index;
  simt_block_extent = grid.block;
  simt_grid_extent = grid.grid;
  races.begin_block();
  thread_races.begin_block();
  thread_order_.begin_block();
  extras.begin_block();
  global.begin_block(linear_block(grid.grid, block_index));
  unsettled_.clear();
  flags_.clear();
  doubts_.clear();
  conflicts_.clear();
  warp_count_ = 0;
  entry_pc_ = 0;
  traced_ = grid.traced && linear_block(grid.grid, block_index) % grid.stride == 0;
  circle_.begin(clock_);
  patience_.begin(clock_);
}

void Worker::begin_warps() {
  const Grid& grid = *grid_;
  const unsigned threads = grid.block.x * grid.block.y * grid.block.z;
  warp_count_ = (threads + kLanes - 1) / kLanes;
  const bool knows_threads =
      grid.block.x == extent_.x && grid.block.y == extent_.y && grid.block.z == extent_.z;
  extent_ = grid.block;
  while (warps_.size() < warp_count_) warps_.push_back(new Warp);
  uint3 thread{0, 0, 0};
  for (unsigned w = 0; w < warp_count_; ++w) {
    Warp& warp = *warps_[w];
    const unsigned lanes = std::min(threads - w * kLanes, unsigned{kLanes});
    warp.live = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warp.born = warp.live;
    warp.group = warp.pending = warp.at_barrier = warp.at_collective = warp.capture = 0;
    warp.doubtful = warp.waking = warp.entering = warp.updating = warp.outside_kernel = 0;
    warp.together = warp.ahead = 0;
    warp.copying = warp.zeroing = 0;
    warp.unused = warp.same_address = warp.same_value = warp.merged = warp.merged_if_full = 0;
    warp.scripted = false;
    warp.script.length = 0;
    warp.group_key = 0;
    warp.steps = 0;
    warp.constructing = 0;
    warp.lowest = ~uint64_t{0};
    warp.highest = 0;
    warp.touched = false;
    warp.yielded = warp.last_first = false;
    warp.index = static_cast<int>(w);
    warp.order.reset();
    warp.has_wrong_index = warp.has_misaligned = 0;
    warp.has_pieces = false;
    std::fill_n(warp.key, kLanes, kNotWaiting);
    std::fill_n(warp.key, lanes, make_key(0, 1));
    std::fill_n(warp.stop, kLanes, Stop::resume);
    std::memcpy(warp.position, warp.key, sizeof(warp.key));
    std::fill_n(warp.path, kLanes, 0);
    std::fill_n(warp.trail_length, kLanes, 0);
    std::fill_n(warp.trail_hash, kLanes, 0);
    std::fill_n(warp.script_begin, kLanes, 0);
    std::fill_n(warp.script_end, kLanes, 0);
    std::fill_n(warp.calls.depth, kLanes, 0);
    std::fill_n(warp.calls.path, kLanes, 0);
    for (unsigned i = 0; i < lanes && !knows_threads; ++i) {
      warp.thread[i] = thread;
      if (++thread.x == grid.block.x) {
        thread.x = 0;
        if (++thread.y == grid.block.y) {
          thread.y = 0;
          ++thread.z;
        }
      }
    }
  }
}

// After a fault: the lanes are dropped where they stand.
void Worker::abandon_block() {
  end_stores();
  for (unsigned w = 0; w < warp_count_; ++w) {
    for (uint32_t rest = warps_[w]->has_wrong_index; rest; rest &= rest - 1) {
      report_wrong_indices(*warps_[w], std::countr_zero(rest));
    }
    for (const Later& later : warps_[w]->later) std::free(later.text);
    warps_[w]->later.clear();
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!warps_[w]->context[lane]) continue;
      free_fiber(*warps_[w]->fiber[lane]);
      warps_[w]->context[lane] = nullptr;
    }
  }
}

// Runs the block without fibers as far as that goes.
void Worker::run_plain() {
  Fiber* fiber = take_fiber();
  plain_ = true;
  turns_ = 0;
  running = this;
  uncounted = kTurn;
  plain_fiber_ = fiber;
  lane_ = 0;
  switch_context(main_, fiber->first, 0);
  uncounted = 0;
  running = nullptr;
  warp_ = nullptr;
  if (plain_) free_fiber(*fiber);
  plain_ = false;
}

// All threads of the block, one after another; false if one of them had to wait, and has exited.
bool Worker::run_threads() {
  const dim3 extent = grid_->block;
  const auto entry = grid_->entry;
  void* const closure = grid_->closure;
  for (unsigned z = 0; z < extent.z; ++z) {
    for (unsigned y = 0; y < extent.y; ++y) {
      simt_thread_index = {0, y, z};
      for (unsigned x = 0; x < extent.x; ++x) {
        simt_thread_index.x = x;
        entry(closure);
        if (!plain_) [[unlikely]]
          return false;
      }
    }
  }
  return true;
}

unsigned Worker::plain_thread() const {
  const uint3 at = simt_thread_index;
  return (at.z * grid_->block.y + at.y) * grid_->block.x + at.x;
}

// The running thread has to wait. Those before it have exited, those after it become fibers.
void Worker::leave_plain() {
  const HostMemory bookkeeping;
  plain_ = false;
  waited_ = grid_->entry;
  begin_warps();
  const unsigned thread = plain_thread();
  const unsigned number = thread / kLanes;
  for (unsigned w = 0; w < number; ++w) warps_[w]->live = 0;
  lane_ = static_cast<int>(thread % kLanes);
  warp_ = warps_[number];
  warp_->live &= ~0u << lane_;
  for (int lane = 0; lane < lane_; ++lane) warp_->key[lane] = kNotWaiting;
  warp_->fiber[lane_] = plain_fiber_;
  warp_->context[lane_] = plain_fiber_->first;  // there is one
  warp_->group = warp_->live;
  warp_->pending = warp_->live & (warp_->live - 1);
}

bool Worker::run_block(const Grid& grid, uint3 block_index) {
  begin_block(grid, block_index);
  if (traced_ || waited_ == grid.entry) {
    begin_warps();
  } else {
    run_plain();
    if (aborted_) {
      abandon_block();
      return false;
    }
  }
  for (;;) {
    bool ran = false;
    uint32_t live = 0;
    bool all_at_barrier = true;
    for (unsigned w = 0; w < warp_count_; ++w) {
      Warp& warp = *warps_[w];
      if (warp.live & ~(warp.at_barrier | warp.at_collective)) {
        ran = true;
        run_warp(warp);
        if (aborted_) {
          abandon_block();
          return false;
        }
      }
      live |= warp.live;
      all_at_barrier &= warp.at_barrier == warp.live;
    }
    if (!live) return true;
    if (all_at_barrier) {
      if (!open_barrier()) {
        abandon_block();
        return false;
      }
    } else if (!ran) {
      report_deadlock();
      abandon_block();
      return false;
    } else if (grid.step_budget) {
      // Perhaps waiting for another block: leave the core to it.
      bool spinning = false;
      for (unsigned w = 0; w < warp_count_; ++w) spinning |= warps_[w]->steps >= kSlice;
      if (spinning) sched_yield();
    }
    if (clock_ >= circle_.look_at && traced_ && goes_in_circles()) [[unlikely]] {
      abandon_block();
      return false;
    }
    if (clock_ >= patience_.look_at && takes_too_long()) [[unlikely]] {
      abandon_block();
      return false;
    }
  }
}

// `steps`: so many did not help; 0: it is certain that none will.
void Worker::report_hang(const Warp& warp, uint64_t key, uint64_t steps) {
  const uint32_t lanes = lanes_with(warp.key, key);
  Fault fault = fault_at(Fault::Kind::hang, warp, std::countr_zero(lanes));
  fault.pc = key_pc(key);
  fault.limit = steps;
  add_fault(fault);
  aborted_ = true;
}

// ---- Blocks that do the same for ever: see standstill.h -----------------------------------------

// These lanes are about to load or store.
void Worker::watch_access(Warp& warp, uint32_t lanes) {
  const int first = std::countr_zero(lanes);
  if (warp.stop[first] == Stop::load) {
    const uint64_t address = warp.address[first];
    // Pinned memory and the like, which the host may write.
    const auto managed = reinterpret_cast<uint64_t>(simt_managed_begin);
    const uint64_t bytes = reinterpret_cast<uint64_t>(simt_managed_end) - managed;
    const bool is_managed = managed && address - managed < bytes;
    if (is_managed || (!memory::in_device_arena(address) && memory::find(address)))
      circle_.changed = true;
    return;
  }
  settle_stores();
  for (uint32_t rest = lanes; rest && !circle_.changed; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    for (unsigned done = 0; done < warp.size[lane]; done += 8) {
      const uint64_t address = warp.address[lane] + done;
      const unsigned size = std::min(warp.size[lane] - done, 8u);
      circle_.stored[circle_.stored_count++] = {address, load_up_to_8(address, size), size};
    }
  }
}

// They have stored: is it what was there before?
void Worker::settle_stores() {
  for (unsigned i = 0; i < circle_.stored_count && !circle_.changed; ++i) {
    const Circle::Stored& store = circle_.stored[i];
    circle_.changed = load_up_to_8(store.address, store.size) != store.before;
  }
  circle_.stored_count = 0;
}

// A hash of where the lanes stand and what they have in registers and on their stacks. None of them runs.
uint64_t Worker::state_of_lanes() const {
  uint64_t hash = 0;
  const auto mix = [&hash](uint64_t word) {
    hash = (std::rotl(hash, 29) ^ word) * 0x9e3779b97f4a7c15ull;
  };
  for (unsigned w = 0; w < warp_count_; ++w) {
    const Warp& warp = *warps_[w];
    mix(warp.live);
    mix(uint64_t{warp.at_barrier} << 32 | warp.at_collective);
    mix(uint64_t{warp.ahead} << 1 | warp.last_first);
    mix(uint64_t{warp.entering} << 32 | warp.updating);
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!warp.context[lane]) continue;
      mix(warp.key[lane]);
      if (warp.updating >> lane & 1) {
        mix(warp.update[lane].value);
        mix(warp.update[lane].compare);
      }
      const char* const top = warp.fiber[lane]->stack + stack_bytes();
      const char* at = static_cast<const char*>(warp.context[lane]);
      for (; at + 8 <= top; at += 8) mix(load_up_to_8(reinterpret_cast<uint64_t>(at), 8));
    }
  }
  return hash;
}

// True if the launch has come to nothing new for so long that it counts as one that does not end.
bool Worker::takes_too_long() {
  constexpr uint64_t kUsualBudget = uint64_t{1} << 24;
  const uint64_t times = std::max<uint64_t>(grid_->step_budget / kUsualBudget, 1);
  const Patience::Verdict verdict = patience_.look(clock_, times);
  if (verdict == Patience::Verdict::go_on) return false;
  for (unsigned w = 0; w < warp_count_; ++w) {
    Warp& warp = *warps_[w];
    const uint64_t key = lowest_of(warp.key);
    if (key == kNotWaiting) continue;
    if (verdict == Patience::Verdict::give_up) {
      report_hang(warp, key, patience_.kGiveUp * times);
      faults.back().text = "time";
      return true;
    }
    const uint3 thread = warp.thread[std::countr_zero(lanes_with(warp.key, key))];
    std::fflush(stdout);
    std::fprintf(stderr,
                 "simt: still at %s, thread (%u,%u,%u) of block (%u,%u,%u): for %u s no block has "
                 "ended, and none has come to new memory\n",
                 symbols::locate(key_pc(key)).text().c_str(), thread.x, thread.y, thread.z,
                 block_index_.x, block_index_.y, block_index_.z,
                 static_cast<unsigned>(Patience::kTell));
    break;
  }
  return false;
}

// True if the launch will never end. Called between two turns of the warps.
bool Worker::goes_in_circles() {
  Circle& circle = circle_;
  circle.look_at = clock_ + Circle::kEvery;
  circle.watching = true;
  settle_stores();
  Standstill& standstill = *grid_->standstill;
  standstill.watch();
  if (circle.changed) {
    standstill.move();
    circle.changed = circle.is_kept = circle.voted = false;
    return false;
  }
  const uint64_t epoch = standstill.epoch(), state = state_of_lanes();
  if (!circle.is_kept || epoch != circle.epoch) {
    circle.is_kept = true;
    circle.voted = false;
    circle.epoch = epoch;
    circle.state = state;
    circle.looks = 0;
    circle.power = 1;
    return false;
  }
  const auto waiting = [this] { return grid_->barrier ? grid_->barrier->waiting() : 0; };
  if (state == circle.state && !circle.voted) {
    circle.voted = true;
    standstill.vote(epoch, waiting());
  } else if (!circle.voted && ++circle.looks == circle.power) {
    circle.state = state;
    circle.power *= 2;
    circle.looks = 0;
  }
  if (!circle.voted || !standstill.hangs(waiting())) return false;
  for (unsigned w = 0; w < warp_count_; ++w) {
    const Warp& warp = *warps_[w];
    const uint64_t key = lowest_of(warp.key);
    if (key == kNotWaiting) continue;
    report_hang(warp, key, 0);
    break;
  }
  return true;
}

// All threads that have not exited are at a barrier: let them go on.
bool Worker::open_barrier() {
  int count = 0, waiting = 0;
  uint64_t first_pc = 0;
  const symbols::Location* first_line = nullptr;
  for (unsigned w = 0; w < warp_count_; ++w) {
    Warp& warp = *warps_[w];
    for (uint32_t rest = warp.at_barrier; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const uint64_t pc = key_pc(warp.parked_key[lane]);
      ++waiting;
      count += warp.predicate[lane] != 0;
      if (!first_pc) first_pc = pc;
      if (pc != first_pc) {
        // Two calls may still be one source line, which the compiler has copied.
        if (!first_line) first_line = &symbols::locate(first_pc);
        const symbols::Location& line = symbols::locate(pc);
        if (line.line != first_line->line || line.file != first_line->file) {
          Fault fault = fault_at(Fault::Kind::barrier_divergence, warp, lane);
          fault.pc = pc;
          fault.other_pc = first_pc;
          for (unsigned v = 0; v < warp_count_; ++v) {
            if (!warps_[v]->at_barrier) continue;
            fault.other_thread = warps_[v]->thread[std::countr_zero(warps_[v]->at_barrier)];
            break;
          }
          add_fault(fault);
          return false;
        }
      }
    }
  }
  if (grid_wait_ && !pass_grid_barrier()) return false;
  races.next_interval();
  thread_races.next_interval();
  for (unsigned w = 0; w < warp_count_; ++w) {
    Warp& warp = *warps_[w];
    for (uint32_t rest = warp.at_barrier; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      warp.key[lane] = warp.parked_key[lane];
      warp.stop[lane] = Stop::resume;
      warp.exchange[lane].result = static_cast<uint64_t>(count);
      warp.exchange[lane].value = static_cast<uint64_t>(waiting);
    }
    warp.at_barrier = 0;
    warp.steps = 0;
    warp.touched = false;
  }
  return true;
}

// The whole block has come to the grid's barrier: waits for the other blocks.
bool Worker::pass_grid_barrier() {
  grid_wait_ = false;
  if (circle_.voted) grid_->standstill->move();  // takes the vote back: it waits now
  circle_.changed = true;
  const GridBarrier::Outcome outcome = grid_->barrier->wait();
  if (outcome == GridBarrier::Outcome::passed) {
    if (grid_->checks_blocks) global.begin_block(linear_block(grid_->grid, block_index_));
    return true;
  }
  if (outcome == GridBarrier::Outcome::deserted) {
    for (unsigned w = 0; w < warp_count_; ++w) {
      if (!warps_[w]->at_barrier) continue;
      add_fault(
          fault_at(Fault::Kind::grid_barrier, *warps_[w], std::countr_zero(warps_[w]->at_barrier)));
      break;
    }
  }
  return false;
}

// Nobody can run, and not everybody is at the barrier: lanes wait at a collective for others.
void Worker::report_deadlock() {
  const Warp* stuck = nullptr;
  const Warp* waiting = nullptr;
  for (unsigned w = 0; w < warp_count_; ++w) {
    if (warps_[w]->at_collective) stuck = warps_[w];
    if (warps_[w]->at_barrier && !waiting) waiting = warps_[w];
  }
  if (!stuck) return;
  const int lane = std::countr_zero(stuck->at_collective);
  Fault fault =
      fault_at(waiting ? Fault::Kind::barrier_divergence : Fault::Kind::invalid_mask, *stuck, lane);
  fault.pc = key_pc(stuck->parked_key[lane]);
  fault.lanes = static_cast<unsigned>(std::popcount(stuck->at_collective));
  fault.address = stuck->exchange[lane].mask;
  if (waiting) {
    fault.text = "collective";
    const int other = std::countr_zero(waiting->at_barrier);
    fault.other_pc = key_pc(waiting->parked_key[other]);
    fault.other_thread = waiting->thread[other];
  }
  add_fault(fault);
}

// ---- Counting and checking ----------------------------------------------------------------------

// A warp instruction that accesses memory: `group` are its lanes.
void Worker::count_access(Warp& warp, uint32_t group) {
  const int first = std::countr_zero(group);
  const Stop what = warp.stop[first];
  const unsigned size = warp.size[first];
  const uint64_t pc = key_pc(warp.group_key);
  const uint64_t dynamic = reinterpret_cast<uint64_t>(dynamic_shared_);
  warp.touched = true;

  if (const uint32_t copies = group & warp.copying) [[unlikely]] {
    count_copy(warp, copies);
    if (group != copies && !aborted_) count_access(warp, group & ~copies);
    return;
  }
  if (warp.has_pieces) [[unlikely]] {
    uint32_t others = 0;
    for (uint32_t rest = group; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (warp.size[lane] != size || warp.stop[lane] != what) others |= 1u << lane;
    }
    if (others) {
      count_access(warp, group & ~others);
      if (!aborted_) count_access(warp, others);
      return;
    }
  }
  if (const uint32_t wrong = group & warp.has_wrong_index; wrong) [[unlikely]] {
    for (uint32_t rest = wrong; rest; rest &= rest - 1) {
      if (settle_wrong_index(warp, std::countr_zero(rest), size)) continue;
      aborted_ = true;
      return;
    }
  }

  // Generic addresses may point anywhere, lane by lane; nearly always they agree.
  uint32_t shared = 0;
  const Span span = span_of(warp.address, group);
  const auto all_in = [&](uint64_t base, uint64_t bytes) {
    return span.low - base < bytes && span.high - base < bytes;
  };
  const auto none_in = [&](uint64_t base, uint64_t bytes) {
    return span.high < base || span.low >= base + bytes;
  };
  if (all_in(tls_base_, tls_size_) || all_in(dynamic, kMaxDynamicShared)) {
    shared = group;
  } else if (!none_in(tls_base_, tls_size_) || !none_in(dynamic, kMaxDynamicShared)) [[unlikely]] {
    for (uint32_t rest = group; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const uint64_t address = warp.address[lane];
      if (address - tls_base_ < tls_size_ || address - dynamic < kMaxDynamicShared)
        shared |= 1u << lane;
    }
  }
  uint32_t global = group & ~shared;
  Trace::Entry& entry = trace.at(pc);
  Counts& counts = entry.counts;
  const auto offer = [&](uint32_t lanes, bool is_shared) {
    if (std::popcount(lanes) <= entry.example_lanes) return;
    Example example;
    example.block = linear_block(grid_->grid, block_index_);
    example.lanes = lanes;
    example.access = what == Stop::load ? "load" : what == Stop::store ? "store" : "atomic";
    example.shared = is_shared;
    example.size = size;
    // Shared memory from its own start, so that an array begins in bank 0.
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const uint64_t address = warp.address[lane];
      const uint64_t start = !is_shared                              ? 0
                             : address - dynamic < kMaxDynamicShared ? dynamic
                                                                     : tls_base_;
      example.address[static_cast<size_t>(lane)] = address - start;
    }
    trace.keep(entry, example);
  };
  if (shared) {
    offer(shared, true);
    count_shared(warp, shared, shared == group ? span : span_of(warp.address, shared), size, what,
                 pc, counts);
    if (aborted_) return;
  }
  if (!global) return;

  // Constant memory is another path, with a cache of its own.
  if (simt_constant_begin) {
    const auto begin = reinterpret_cast<uint64_t>(simt_constant_begin);
    const auto end = reinterpret_cast<uint64_t>(simt_constant_end);
    for (uint32_t rest = global; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (warp.address[lane] - begin >= end - begin) continue;
      global &= ~(1u << lane);
      if (what == Stop::load) continue;
      add_fault(fault_at(Fault::Kind::constant_write, warp, lane));
      aborted_ = true;
    }
    if (aborted_ || !global) return;
  }

  const Span global_span = global == group ? span : span_of(warp.address, global);
  check_global(warp, global, global_span, size, what, pc);
  if (aborted_) return;
  if (what != Stop::load && is_watched(global_span.low, global_span.high, size)) [[unlikely]] {
    for (uint32_t rest = global; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (!is_watched(warp.address[lane], warp.address[lane], size)) continue;
      note_writer(pc, block_index_, warp.thread[lane]);
    }
  }
  if (grid_->checks_blocks) {
    // In one sector, then, since check_global() has passed them.
    const bool are_words = size == 4 || size == 8 || (size == 16 && global_span.bits % 16 == 0);
    const bool again = check_blocks(warp, global, size, are_words, what, pc);
    check_threads(warp, global, global_span, size, what, pc, again);
  }
  offer(global, false);
  if (what == Stop::atomic) global = atomic_lanes(warp, global);
  const unsigned sectors = what == Stop::atomic ? count_atomic_sectors(warp.address, global)
                                                : count_sectors(warp.address, global, size);
  const auto lanes = static_cast<unsigned>(std::popcount(global));
  switch (what) {
    case Stop::load:
      ++counts.global_load_requests;
      counts.global_load_sectors += sectors;
      counts.global_load_active_lanes += lanes;
      counts.global_load_bytes += uint64_t{lanes} * size;
      break;
    case Stop::store:
      ++counts.global_store_requests;
      counts.global_store_sectors += sectors;
      counts.global_store_active_lanes += lanes;
      counts.global_store_bytes += uint64_t{lanes} * size;
      break;
    default:
      ++counts.global_atomic_requests;
      counts.global_atomic_sectors += sectors;
      counts.global_atomic_active_lanes += lanes;
  }
}

// An asynchronous copy: one instruction of the hardware, which is a load and a store to the checks. The load has a
// place of its own, one byte ahead, which is the same source line.
void Worker::count_copy(Warp& warp, uint32_t lanes) {
  const uint32_t zeros = lanes & warp.zeroing, reading = lanes & ~zeros;
  warp.copying &= ~lanes;
  const unsigned size = warp.size[std::countr_zero(lanes)];
  const uint64_t pc = key_pc(warp.group_key);
  // Where the array lies does not matter to the banks, but to its lines: it begins with one.
  const uint64_t offset = warp.address[std::countr_zero(lanes)] - tls_base_;
  const symbols::SharedVariable* const array =
      offset < tls_size_ ? shared_variable(offset, size) : nullptr;
  const uint64_t begin =
      array ? tls_base_ + array->begin : reinterpret_cast<uint64_t>(dynamic_shared_);
  uint64_t to[kLanes] = {};
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    to[lane] = warp.address[lane] - begin;
  }
  const CopyCost cost = simt::count_copy(warp.source, to, lanes, zeros, size);

  if (reading) {
    const auto turn_to = [&](Stop what, uint64_t distance) {
      std::swap(warp.address, warp.source);
      warp.group_key += distance;
      for (uint32_t rest = reading; rest; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        warp.stop[lane] = what;
        warp.key[lane] += distance;
      }
    };
    const uint64_t sectors = trace.at(pc - 1).counts.global_load_sectors;
    turn_to(Stop::load, uint64_t{0} - 1);
    count_access(warp, reading);
    turn_to(Stop::store, 1);
    if (aborted_) return;
    trace.at(pc - 1).counts.global_load_sectors = sectors + cost.sectors;
  }

  const Counts before = trace.at(pc).counts;
  count_access(warp, lanes);
  Counts& counts = trace.at(pc).counts;
  counts = before;  // the hardware does not count it among the stores
  counts.shared_wavefronts += cost.wavefronts;
  counts.shared_wavefronts_ideal += cost.ideal;
}

// The __shared__ variable that holds these bytes of static shared memory, or nullptr.
const symbols::SharedVariable* Worker::shared_variable(uint64_t offset, unsigned size) {
  const auto holds = [&](const symbols::SharedVariable& variable) {
    return offset >= variable.begin && offset + size <= variable.end;
  };
  if (variable_ && holds(*variable_)) [[likely]]
    return variable_;
  for (const symbols::SharedVariable& variable : variables_) {
    if (holds(variable)) return variable_ = &variable;
  }
  return nullptr;
}

// The lanes that carry an atomic operation out: all, or the last for all.
uint32_t Worker::atomic_lanes(const Warp& warp, uint32_t lanes) {
  const bool merged = !(lanes & ~warp.merged) || !(~lanes | ~warp.merged_if_full);
  return merged ? std::bit_floor(lanes) : lanes;
}

// Has the block written to it?
bool Worker::is_in_use(const symbols::SharedVariable& variable) const {
  for (uint64_t word = variable.begin / 4; word * 4 < variable.end; ++word) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      if (races.is_written(word, static_cast<uint8_t>(1u << byte))) return true;
    }
  }
  return false;
}

// Do all of these addresses lie in one array, and is each aligned?
bool Worker::is_sound_shared(const Span& span, unsigned size) {
  const uint64_t dynamic = reinterpret_cast<uint64_t>(dynamic_shared_);
  if (!are_aligned(span.bits, size)) return false;
  if (span.low - dynamic < kMaxDynamicShared)
    return span.high + size <= dynamic + grid_->dynamic_shared;
  if (span.high + size > tls_base_ + tls_size_) return false;
  if (variables_.empty()) return true;
  const symbols::SharedVariable* const hit = shared_variable(span.low - tls_base_, size);
  return hit && span.high - tls_base_ + size <= hit->end;
}

// The same for addresses of a whole warp in regular steps, from the same ones or others. It depends on nothing but these.
const SharedCost& Worker::cost_of(const TwoRows& rows, const uint64_t* addresses, Stop what) {
  const uint32_t apart = rows.first[1] - rows.first[0];
  const uint32_t hash = (apart * 0x9e3779b9u + rows.step) * 0x9e3779b9u + rows.words;
  KnownCost& known = known_costs_[hash >> 27];
  if (known.apart != apart || known.step != rows.step || known.words != rows.words ||
      known.what != what) {
    known = {apart, rows.step, rows.words, what,
             count_wavefronts(addresses, ~0u, rows.words * 4,
                              what == Stop::load ? SharedAccess::load : SharedAccess::store)};
  }
  return known.cost;
}

void Worker::count_shared(Warp& warp, uint32_t lanes, const Span& span, unsigned size, Stop what,
                          uint64_t pc, Counts& counts) {
  const uint64_t dynamic = reinterpret_cast<uint64_t>(dynamic_shared_);
  const unsigned block_lane = static_cast<unsigned>(warp.index) * kLanes;
  const auto pc_offset = static_cast<uint32_t>(pc - program_base());
  const bool write = what != Stop::load, atomic = what == Stop::atomic;
  const symbols::SharedVariable* array = nullptr;  // that the first lane meant
  const bool is_sound = is_sound_shared(span, size) && !(lanes & warp.has_misaligned);

  // Most requests are of a whole warp and in regular steps.
  const uint64_t step = warp.address[1] - warp.address[0];
  TwoRows rows;
  bool are_rows =
      is_sound && lanes == ~0u && size >= 4 && !atomic && are_in_two_rows(warp.address, step);
  bool is_listed = false;
  if (are_rows) {
    const bool is_dynamic = span.low - dynamic < kMaxDynamicShared;
    const uint64_t origin = is_dynamic ? dynamic - tls_size_ / 4 * 4 : tls_base_;
    rows = {{static_cast<uint32_t>((warp.address[0] - origin) / 4),
             static_cast<uint32_t>((warp.address[kLanes / 2] - origin) / 4)},
            static_cast<uint32_t>(static_cast<int64_t>(step) / 4),
            size / 4};
    is_listed = what == Stop::load
                    ? races.list_load(rows, block_lane, pc_offset, warp.order)
                    : !warp.doubtful && races.list_store(rows, block_lane, pc_offset, warp.order);
  }
  if (!is_listed) races.begin_each();
  if (atomic || warp.is_volatile[std::countr_zero(lanes)]) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      const unsigned self = block_lane + static_cast<unsigned>(std::countr_zero(rest));
      if (what != Stop::store) thread_order_.acquire(self);
      if (write) thread_order_.release(self);
    }
  }

  for (uint32_t rest = is_listed ? 0 : lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t address = warp.address[lane];
    const bool is_dynamic = address - dynamic < kMaxDynamicShared;
    if (!is_sound && is_dynamic && address + size > dynamic + grid_->dynamic_shared) {
      add_fault(shared_fault_at(Fault::Kind::shared_out_of_bounds, warp, lane, address));
      aborted_ = true;
      return;
    }
    if (!is_sound && !is_dynamic && !variables_.empty()) {
      // One instruction means one array. Where a lane falls into an array of another function that the
      // block does not use, and which happens to lie beside it here, hardware would have none there.
      const symbols::SharedVariable* const hit = shared_variable(address - tls_base_, size);
      if (!hit || (array && hit != array && hit->owner != array->owner && !is_in_use(*hit))) {
        Fault fault = fault_at(Fault::Kind::shared_out_of_bounds, warp, lane);
        fault.address = address - tls_base_;
        fault.text = "static";
        fault.variable = array;
        add_fault(fault);
        aborted_ = true;
        return;
      }
      if (!array) array = hit;
    }
    if (!is_sound && (!are_aligned(address, size) || warp.is_misaligned(lane))) {
      add_fault(fault_at(Fault::Kind::misaligned, warp, lane));
      aborted_ = true;
      return;
    }
    size_t word = is_dynamic ? tls_size_ / 4 + (address - dynamic) / 4 : (address - tls_base_) / 4;
    const auto bytes = static_cast<uint8_t>(size >= 4 ? 0xf : ((1u << size) - 1) << address % 4);
    for (unsigned i = 0; i < size; i += 4, ++word) {
      if (what != Stop::store) {
        if (!races.is_written(word, bytes)) [[unlikely]] {
          const Fault fault =
              shared_fault_at(Fault::Kind::shared_uninitialized, warp, lane, address);
          if (atomic) {
            add_fault(fault);
          } else if (!warp.is_padded[lane]) {
            warp.doubt(lane, note_doubt(fault));
          }
        } else if (const uint8_t number = races.doubt(word)) [[unlikely]] {
          warp.doubt(lane, number);
        }
      }
      Race race;
      const bool raced = races.access(word, bytes, block_lane + static_cast<unsigned>(lane), write,
                                      atomic, pc_offset, warp.order, race);
      if (write) races.set_doubt(word, warp.doubtful >> lane & 1 ? warp.doubt_number[lane] : 0);
      if (!raced || thread_order_.is_ordered(race.other_thread, race.other_time,
                                             block_lane + static_cast<unsigned>(lane))) [[likely]]
        continue;
      const uint64_t other_pc = race.other_pc + program_base();
      const uint3 other_thread =
          warps_[race.other_thread / kLanes]->thread[race.other_thread % kLanes];
      if (race.same_instruction || race.both_write) {
        // Both write one word: whichever comes last, it is a fault only if their values differ. That is
        // known once the lanes have written.
        const uint8_t other = race.other_thread % kLanes;
        if (conflicts_.size() < conflicts_.capacity()) {
          conflicts_.push_back({.lane = static_cast<uint8_t>(lane),
                                .other_lane = other,
                                .same_instruction = race.same_instruction,
                                .is_global = false,
                                .size = static_cast<uint8_t>(size),
                                .address = address,
                                .before = value_at(address, size),
                                .pc = pc,
                                .other_pc = other_pc,
                                .other_thread = other_thread});
          warp.capture |= 1u << lane;
          if (race.same_instruction) warp.capture |= 1u << other;
        }
        break;
      }
      Fault fault = shared_fault_at(Fault::Kind::shared_race, warp, lane, address);
      fault.other_pc = other_pc;
      fault.other_store = race.other_wrote;
      fault.other_thread = other_thread;
      add_fault(fault);
      break;
    }
  }
  ++warp.order.now;
  if (what == Stop::store) warp.doubtful &= ~lanes;  // what they have read has gone to memory

  if (atomic && lanes && warp.unit[std::countr_zero(lanes)] != SharedUnit::increment) {
    lanes = atomic_lanes(warp, lanes);
  }
  const auto active = static_cast<unsigned>(std::popcount(lanes));
  const auto add_load = [&counts](const SharedCost& cost, unsigned active) {
    ++counts.shared_load_requests;
    counts.shared_load_wavefronts += cost.wavefronts;
    counts.shared_load_bank_conflicts += cost.wavefronts - cost.phases;
    counts.shared_load_active_lanes += active;
    counts.shared_wavefronts += cost.reported;
    counts.shared_wavefronts_ideal += cost.ideal;
  };
  const auto add_atomic = [&counts](unsigned wavefronts, unsigned ideal, unsigned active) {
    ++counts.shared_atomic_requests;
    counts.shared_atomic_wavefronts += wavefronts;
    counts.shared_atomic_active_lanes += active;
    counts.shared_wavefronts += wavefronts;
    counts.shared_wavefronts_ideal += ideal;
  };
  if (what == Stop::load) {
    add_load(are_rows ? cost_of(rows, warp.address, what)
                      : count_wavefronts(warp.address, lanes, size, SharedAccess::load),
             active);
  } else if (what == Stop::store) {
    const SharedCost cost = are_rows
                                ? cost_of(rows, warp.address, what)
                                : count_wavefronts(warp.address, lanes, size, SharedAccess::store);
    ++counts.shared_store_requests;
    counts.shared_store_wavefronts += cost.wavefronts;
    counts.shared_store_bank_conflicts += cost.wavefronts - cost.phases;
    counts.shared_store_active_lanes += active;
    counts.shared_wavefronts += cost.reported;
    counts.shared_wavefronts_ideal += cost.ideal;
  } else if (const SharedUnit unit = warp.unit[std::countr_zero(lanes)]; unit == SharedUnit::spin) {
    for (uint32_t left = lanes; left;) {
      const SpinRound round = count_spin_round(warp.address, left, size);
      const auto trying = static_cast<unsigned>(std::popcount(left));
      add_load(round.load, trying);
      add_atomic(round.wavefronts, round.wavefronts, trying);
      left &= ~round.done;
    }
  } else {
    const SharedCost cost =
        count_wavefronts(warp.address, lanes, size,
                         unit == SharedUnit::compare_exchange ? SharedAccess::compare_exchange
                         : unit == SharedUnit::increment      ? SharedAccess::increment
                                                              : SharedAccess::atomic);
    add_atomic(cost.wavefronts, cost.ideal, active);
  }
}

// The lanes have written: did those of one word write the same value?
void Worker::settle_captures(Warp& warp) {
  for (const Conflict& conflict : conflicts_) {
    const uint64_t other =
        conflict.same_instruction ? warp.captured[conflict.other_lane] : conflict.before;
    if (warp.captured[conflict.lane] == other) continue;
    if (conflict.is_global) {
      BlockRace race;
      race.fault = fault_at(Fault::Kind::global_race, warp, conflict.lane);
      race.fault.address = conflict.address;
      race.fault.size = conflict.size;
      race.fault.pc = conflict.pc;
      race.fault.other_pc = conflict.other_pc;
      race.fault.store = race.fault.other_store = race.fault.same_block = true;
      race.fault.atomic = false;
      race.fault.other_thread = conflict.other_thread;
      race.varies = true;
      add_block_race(race);
      continue;
    }
    Fault fault = shared_fault_at(Fault::Kind::shared_race, warp, conflict.lane, conflict.address);
    fault.pc = conflict.pc;
    fault.other_pc = conflict.other_pc;
    fault.store = fault.other_store = true;  // and not what the lane stands at by now
    fault.atomic = false;
    fault.other_thread = conflict.other_thread;
    add_fault(fault);
  }
  conflicts_.clear();
  warp.capture = 0;
}

// A read of shared memory that nobody has written: a fault once something comes of it. The number that
// stands for it; 0 if there are too many.
uint8_t Worker::note_doubt(const Fault& fault) {
  for (size_t i = 0; i < doubts_.size(); ++i) {
    if (doubts_[i].pc == fault.pc) return static_cast<uint8_t>(i + 1);
  }
  if (doubts_.size() == kMostDoubts) return 0;
  doubts_.push_back(fault);
  return static_cast<uint8_t>(doubts_.size());
}

// What lies there is not what the program means.
void Worker::doubt_words(uint64_t address, unsigned size, uint8_t number) {
  const uint64_t from_dynamic = address - reinterpret_cast<uint64_t>(dynamic_shared_);
  const bool is_dynamic = from_dynamic < kMaxDynamicShared;
  if (!is_dynamic && address - tls_base_ >= tls_size_) return;
  const uint64_t word = is_dynamic ? tls_size_ / 4 + from_dynamic / 4 : (address - tls_base_) / 4;
  for (unsigned i = 0; i < size; i += 4) races.set_doubt(word + i / 4, number);
}

void Worker::copy_begins(const void* to, unsigned size) {
  if (!traced_) return;
  const auto address = reinterpret_cast<uint64_t>(to);
  Fault fault = shared_fault_at(Fault::Kind::shared_uninitialized, *warp_, lane_, address);
  fault.text = "copy";
  fault.size = size;
  doubt_words(address, size, note_doubt(fault));
}

void Worker::copy_arrives(const void* to, unsigned size) {
  if (traced_) doubt_words(reinterpret_cast<uint64_t>(to), size, 0);
}

// These lanes write to global memory: perhaps what they have made of such a read.
void Worker::settle_doubts(Warp& warp, uint32_t lanes) {
  for (uint32_t rest = warp.doubtful & lanes; rest; rest &= rest - 1) {
    add_fault(doubts_[warp.doubt_number[std::countr_zero(rest)] - 1u]);
  }
  warp.doubtful &= ~lanes;
}

// What holds these bytes of global memory: an allocation or the program's own variables; or nullptr.
const Worker::Range* Worker::global_range(uint64_t address, unsigned size) {
  if (const uint64_t version = memory::version(); ranges_version_ != version) [[unlikely]] {
    ranges_.fill({});
    ranges_version_ = version;
  }
  for (Range& known : ranges_) {
    if (address >= known.begin && address + size <= known.end) return &known;
  }
  Range& range = ranges_[next_range_];
  const ProgramImage& program = program_image();
  if (address >= program.data_begin && address + size <= program.data_end) {
    range = {program.data_begin, program.data_end, true};  // __device__ variables
  } else if (const memory::Allocation* found = memory::find(address);
             found && !found->freed && address + size <= found->end()) {
    range = {found->base, found->end(), found->written};
  } else {
    return nullptr;
  }
  next_range_ = (next_range_ + 1) % ranges_.size();
  return &range;
}

void Worker::check_global(Warp& warp, uint32_t lanes, const Span& span, unsigned size, Stop what,
                          uint64_t pc) {
  if (what != Stop::load && (warp.doubtful & lanes)) [[unlikely]]
    settle_doubts(warp, lanes);
  const Range* range = global_range(span.low, size);
  fresh_ = 0;
  if (what == Stop::atomic || warp.is_volatile[std::countr_zero(lanes)]) effects.show();
  if (range && span.high + size <= range->end && are_aligned(span.bits, size) &&
      !(lanes & warp.has_misaligned)) [[likely]] {
    effects.note(range->begin, what != Stop::load);
    if (!range->written) fresh_ = lanes;
    return;
  }
  Fault fault;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t address = warp.address[lane];
    Fault::Kind kind = Fault::Kind::none;
    if (!range || address < range->begin || address + size > range->end) {
      range = global_range(address, size);
      if (!range) kind = Fault::Kind::out_of_bounds;
    }
    // A struct of two 8-byte members may be copied by one 16-byte access at an odd multiple of 8; whether
    // the type allows that, the compiler's check knows.
    if (kind == Fault::Kind::none && (!are_aligned(address, size) || warp.is_misaligned(lane))) {
      kind = Fault::Kind::misaligned;
    }
    if (kind == Fault::Kind::none) {
      effects.note(range->begin, what != Stop::load);
      if (!range->written) fresh_ |= 1u << lane;
      continue;
    }
    if (fault.kind == Fault::Kind::none) {
      fault = fault_at(kind, warp, lane);
      fault.pc = pc;
      fault.store = what != Stop::load;
    }
    ++fault.lanes;
  }
  if (fault.kind == Fault::Kind::none) return;
  add_fault(fault);
  aborted_ = true;
}

namespace {

// Calls f(line, bytes, first lane, last lane) for each line of 64 bytes that the lanes touch, in their order;
// neighbours that share a line are one call.
template <class F>
void for_each_line(const uint64_t* address, uint32_t lanes, unsigned size, F&& f) {
  constexpr unsigned kLine = 64;
  const uint64_t all = (uint64_t{1} << size) - 1;
  if (lanes == ~0u) {
    if (are_in_steps(address, size)) {  // one element after another
      const uint64_t begin = address[0], end = begin + kLanes * size;
      for (uint64_t line = begin - begin % kLine; line < end; line += kLine) {
        uint64_t bytes = ~uint64_t{0};
        if (line < begin) bytes <<= begin - line;
        if (end - line < kLine) bytes &= (uint64_t{1} << (end - line)) - 1;
        const uint64_t first = std::max(line, begin), last = std::min(line + kLine, end) - 1;
        f(line, bytes, static_cast<int>((first - begin) / size),
          static_cast<int>((last - begin) / size));
      }
      return;
    }
  }
  uint64_t line = ~uint64_t{0};
  uint64_t bytes = 0;
  int first = 0, last = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t at = address[lane];
    const unsigned offset = at % kLine;
    if (at - offset != line) {
      if (bytes) f(line, bytes, first, last);
      line = at - offset;
      bytes = 0;
      first = lane;
    }
    bytes |= all << offset;
    last = lane;
    if (offset + size > kLine) [[unlikely]] {  // two lines: see check_global()
      f(line, bytes, first, last);
      line += kLine;
      bytes = all >> (kLine - offset);
      first = lane;
    }
  }
  if (bytes) f(line, bytes, first, last);
}

uint64_t bytes_in_line(uint64_t address, unsigned size, uint64_t line) {
  uint64_t bytes = 0;
  for (uint64_t at = address; at < address + size; ++at) {
    if (at - line < 64) bytes |= uint64_t{1} << (at - line);
  }
  return bytes;
}

}  // namespace

// Memory that nobody has written, and what is written now.
void Worker::check_written(Warp& warp, uint32_t lanes, unsigned size, Stop what, uint64_t pc) {
  for_each_line(warp.address, lanes, size, [&](uint64_t line, uint64_t bytes, int first, int last) {
    if (what == Stop::store) return shadow::note_written(line, bytes);
    const uint64_t missing = shadow::unwritten(line, bytes);
    if (what == Stop::atomic) shadow::note_written(line, bytes);
    if (!missing) [[likely]]
      return;
    for (int lane = first; lane <= last; ++lane) {
      if (!(lanes >> lane & 1) || warp.is_padded[lane]) continue;
      // Padding within a struct is read along with its members: only what is all unwritten counts.
      const uint64_t mine = bytes_in_line(warp.address[lane], size, line);
      if (mine == 0 || (mine & ~missing) || static_cast<unsigned>(std::popcount(mine)) != size) {
        continue;
      }
      Fault fault = fault_at(Fault::Kind::global_uninitialized, warp, lane);
      fault.pc = pc;
      fault.lanes = 1;
      add_fault(fault);
    }
  });
}

// Have some of the bytes been written, and others not?
bool Worker::is_partly_written(uint64_t address, uint64_t size) const {
  const HostMemory bookkeeping;
  const uint64_t dynamic = reinterpret_cast<uint64_t>(dynamic_shared_);
  const bool is_dynamic = address - dynamic < kMaxDynamicShared;
  if (!is_dynamic && address - tls_base_ >= tls_size_) {
    bool partly = false;
    shadow::for_each_unwritten(address, size, [&](uint64_t begin, uint64_t end) {
      partly |= begin != address || end != address + size;
    });
    return partly;
  }
  const uint64_t first = is_dynamic ? tls_size_ / 4 * 4 + (address - dynamic) : address - tls_base_;
  bool some = false, all = true;
  for (uint64_t byte = first; byte < first + size; ++byte) {
    const bool is_written = races.is_written(byte / 4, static_cast<uint8_t>(1u << byte % 4));
    some |= is_written;
    all &= is_written;
  }
  return some && !all;
}

// Other blocks that touch the same bytes, and memory that nobody has written. False if the block comes to none of them again,
// in a way that could race: see touch_briefly().
bool Worker::check_blocks(Warp& warp, uint32_t lanes, unsigned size, bool are_words, Stop what,
                          uint64_t pc) {
  const bool is_volatile = what != Stop::atomic && warp.is_volatile[std::countr_zero(lanes)];
  const bool reads_flag = what == Stop::atomic || (is_volatile && what == Stop::load);
  const Touch kind = what == Stop::load                    ? Touch::read
                     : what == Stop::atomic || is_volatile ? Touch::atomic
                                                           : Touch::write;
  const auto pc_offset = static_cast<uint32_t>(pc - program_base());
  bool again = true;
  if (what != Stop::load) begin_stores();
  if (are_words && what != Stop::atomic && !is_volatile) [[likely]] {
    uint32_t unwritten = fresh_;
    lanes = global.touch_briefly(warp.address, lanes, size, kind, pc_offset, unwritten, again);
    if (unwritten) check_written(warp, unwritten, size, what, pc);
    if (!lanes) [[likely]]
      return again;
  } else if (fresh_) {
    check_written(warp, fresh_, size, what, pc);
  }
  for_each_line(warp.address, lanes, size, [&](uint64_t line, uint64_t bytes, int first, int last) {
    if (reads_flag) flags_.push_back({line, bytes});
    if (is_volatile && what == Stop::load) return;
    Note clash[2];
    const unsigned clashes = global.touch(line, bytes, kind, pc_offset, clash);
    if (!clashes) [[likely]]
      return;
    for (const unsigned half : {0u, 1u}) {
      if (clashes >> half & 1)
        report_clash(warp, lanes, kind, pc, clash[half], line + 32 * half, first, last);
    }
  });
  return again;
}

// Other threads of the block that touch the same bytes.
void Worker::check_threads(Warp& warp, uint32_t lanes, const Span& span, unsigned size, Stop what,
                           uint64_t pc, bool again) {
  const int first = std::countr_zero(lanes);
  const bool is_volatile = what != Stop::atomic && warp.is_volatile[first];
  const unsigned thread = static_cast<unsigned>(warp.index) * kLanes;
  if (what == Stop::atomic || is_volatile) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      const unsigned self = thread + static_cast<unsigned>(std::countr_zero(rest));
      if (what != Stop::store) thread_order_.acquire(self);
      if (what != Stop::load) thread_order_.release(self);
    }
    if (what == Stop::load) return;
  }
  const Range* range = global_range(span.low, size);
  if (!range || span.high + size > range->end || warp.is_padded[first]) return;
  const Touch kind = what == Stop::load                    ? Touch::read
                     : what == Stop::atomic || is_volatile ? Touch::atomic
                                                           : Touch::write;
  const GlobalRequest request{
      warp.address, lanes, kind, size, static_cast<uint32_t>(pc - program_base()),
      thread,       span,  again};
  if (thread_races.note(range->begin, request, warp.order)) [[unlikely]]
    check_each_thread(warp, request);
  ++warp.order.now;
}

// Word by word.
void Worker::check_each_thread(Warp& warp, const GlobalRequest& request) {
  const bool is_store = request.kind == Touch::write;
  for (uint32_t rest = request.lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const unsigned self = request.thread + static_cast<unsigned>(lane), size = request.size;
    const uint64_t address = request.address[lane];
    const auto bytes = static_cast<uint8_t>(size >= 4 ? 0xf : ((1u << size) - 1) << address % 4);
    bool told = false;
    for (unsigned done = 0; done < size; done += 4) {
      Race race;
      const bool raced = thread_races.access(address + done, bytes, self, request.kind, request.pc,
                                             warp.order, race);
      if (!raced || told || thread_order_.is_ordered(race.other_thread, race.other_time, self))
          [[likely]]
        continue;
      told = true;
      const uint64_t pc = request.pc + program_base(), other_pc = race.other_pc + program_base();
      const uint3 other_thread =
          warps_[race.other_thread / kLanes]->thread[race.other_thread % kLanes];
      if (race.same_instruction || (race.both_write && is_store)) {
        if (conflicts_.size() == conflicts_.capacity()) continue;
        const uint8_t other = race.other_thread % kLanes;
        conflicts_.push_back({.lane = static_cast<uint8_t>(lane),
                              .other_lane = other,
                              .same_instruction = race.same_instruction,
                              .is_global = true,
                              .size = static_cast<uint8_t>(size),
                              .address = address,
                              .before = value_at(address, size),
                              .pc = pc,
                              .other_pc = other_pc,
                              .other_thread = other_thread});
        warp.capture |= 1u << lane;
        if (race.same_instruction) warp.capture |= 1u << other;
        continue;
      }
      BlockRace found;
      found.fault = fault_at(Fault::Kind::global_race, warp, lane);
      found.fault.pc = pc;
      found.fault.other_pc = other_pc;
      found.fault.other_store = race.other_wrote;
      found.fault.same_block = true;
      found.fault.other_thread = other_thread;
      found.value = value_at(address, size);
      if (is_store) {
        unsettled_.push_back({found, found.value, true});
      } else {
        const uint64_t sector = address - address % 32;
        const auto mine = static_cast<uint32_t>(bytes_in_line(address, size, sector));
        if (request.kind == Touch::atomic || !GlobalCheck::is_unchanged(sector, mine))
          add_block_race(found);
      }
    }
  }
}

inline void Worker::begin_stores() {
  const uint64_t now = storing_.load(std::memory_order_relaxed);
  if (!(now & 1)) storing_.store(now + 1, std::memory_order_release);
}

inline void Worker::end_stores() {
  const uint64_t now = storing_.load(std::memory_order_relaxed);
  if (now & 1) storing_.store(now + 1, std::memory_order_release);
}

// Waits until the stores that other workers have noted so far are carried out. False if it does not know: the other
// one waits for this one, and will store later, or is not on a CPU at all.
bool Worker::await_stores() {
  constexpr int kPatience = 20'000;  // of a microsecond or less
  bool all = true;
  awaits_ = true;
  for (const Worker* other = newest_worker; other; other = other->next_) {
    const uint64_t then = other->storing_;
    if (other == this || !(then & 1)) continue;
    for (int turn = 0; other->storing_ == then; ++turn) {
      const bool goes_first = other->awaits_ && this < other;
      if (goes_first || turn == kPatience) {
        all = false;
        break;
      }
      sched_yield();
    }
  }
  awaits_ = false;
  return all;
}

// What the lanes from `first` to `last` do to the sector clashes with what another block did to it.
void Worker::report_clash(Warp& warp, uint32_t lanes, Touch kind, uint64_t pc, const Note& clash,
                          uint64_t sector, int first, int last) {
  for (int lane = first; lane <= last; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    const uint64_t address = warp.address[lane];
    const unsigned size = warp.size[lane];
    const auto both = static_cast<uint32_t>(bytes_in_line(address, size, sector)) & clash.bytes;
    if (!both) continue;
    BlockRace race;
    race.fault = fault_at(Fault::Kind::global_race, warp, lane);
    race.fault.pc = pc;
    race.fault.other_pc = clash.pc + program_base();
    race.fault.other_store = clash.kind != Touch::read;
    race.fault.other_block = GlobalCheck::linear(clash.block);
    if (kind == Touch::write) {
      // As long as nothing has changed here, the other block's store may be still to come.
      const bool may_come = clash.kind == Touch::write && GlobalCheck::is_unchanged(sector, both);
      const bool is_sure = !may_come || await_stores();
      race.value = value_at(address, size);
      unsettled_.push_back({race, race.value, is_sure});
      return;
    }
    race.value = value_at(address, size);
    if (kind == Touch::atomic || !GlobalCheck::is_unchanged(sector, both)) add_block_race(race);
    return;
  }
}

// The lanes have run: did the stores that clash change anything?
void Worker::settle_global() {
  // Asked after the reads: a block may have executed the first fence just before.
  if (!GlobalCheck::has_fences()) flags_.clear();
  for (const Flag& flag : flags_) {
    for (unsigned half = 0; half < 64; half += 32) {
      const auto bytes = static_cast<uint32_t>(flag.bytes >> half);
      if (bytes) global.acquire(flag.line + half, bytes);
    }
  }
  flags_.clear();
  for (Unsettled& store : unsettled_) {
    const Fault& fault = store.race.fault;
    store.race.value = value_at(fault.address, fault.size);
    if (store.race.value == store.before) continue;
    if (!store.is_sure) {
      await_stores();
      if (value_at(fault.address, fault.size) == store.race.value) continue;
    }
    add_block_race(store.race);
  }
  unsettled_.clear();
}

void Worker::add_block_race(const BlockRace& race) {
  for (BlockRace& known : block_races) {
    if (!known.is_same_place(race)) continue;
    known.varies |= known.value != race.value;
    return;
  }
  if (block_races.size() < block_races.capacity()) block_races.push_back(race);
}

// ---- Indices outside their array ----------------------------------------------------------------

namespace {

// What "'float [8][33]'" says: the size of an element in bytes, 0 if that is unknown, and their number.
struct ArrayType {
  uint64_t element = 0, count = 0;

  explicit ArrayType(std::string_view text) {
    const size_t open = text.find(" [");
    if (open == std::string_view::npos) return;
    const std::string_view name = text.substr(text.starts_with("'"), open - text.starts_with("'"));
    element = name.ends_with("*")                                          ? 8
              : name.ends_with("char") || name == "bool"                   ? 1
              : name.find("short") != name.npos                            ? 2
              : name.find("long") != name.npos || name == "double"         ? 8
              : name == "int" || name == "unsigned int" || name == "float" ? 4
                                                                           : 0;
    bool first = true;
    for (size_t at = open + 1; at < text.size() && text[at] == '['; at = text.find(']', at) + 1) {
      const uint64_t extent = std::strtoull(text.data() + at + 1, nullptr, 10);
      (first ? count : element) = first ? extent : element * extent;
      first = false;
    }
  }
};

}  // namespace

// An access by a lane that has computed an index outside its array. Is it the access with that index? Then
// it may still hit what was meant: `tile[0][i]` walks over all rows of a tile. False if it does not.
bool Worker::settle_wrong_index(Warp& warp, int lane, unsigned size) {
  const uint64_t address = warp.address[lane];
  const uint64_t offset = address - tls_base_;
  std::vector<WrongIndex>& open = warp.wrong_index[lane];
  for (size_t i = 0; i < open.size(); ++i) {
    const ArrayType type(open[i].array);
    const uint64_t element = type.element ? type.element : size;
    const uint64_t shift = static_cast<uint64_t>(open[i].index) * element;
    if (offset < tls_size_) {
      for (const symbols::SharedVariable& meant : variables_) {
        if (offset - shift - meant.begin >= meant.end - meant.begin) continue;
        if (offset < meant.begin || offset + size > meant.end) {
          Fault fault = fault_at(Fault::Kind::shared_out_of_bounds, warp, lane);
          fault.address = offset;
          fault.text = "static";
          fault.variable = &meant;
          add_fault(fault);
          open.clear();
          warp.has_wrong_index &= ~(1u << lane);
          return false;
        }
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        if (open.empty()) warp.has_wrong_index &= ~(1u << lane);
        return true;
      }
    } else if (address - program_image().data_begin <
               program_image().data_end - program_image().data_begin) {
      // A __device__ or __constant__ array, or a row of one.
      const symbols::Variable* meant = symbols::find_variable(address - shift);
      if (meant && address >= meant->begin && address + size <= meant->end) {
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        if (open.empty()) warp.has_wrong_index &= ~(1u << lane);
        return true;
      }
      if (meant && meant->end - meant->begin == type.count * element) {
        report_wrong_indices(warp, lane);
        return false;
      }
    }
  }
  return true;
}

// A lane has computed an index outside its array, or an address that is not aligned; the access comes next.
void Worker::note(Warp& warp, const Later& later) {
  const int lane = later.lane;
  if (!later.index.array) {
    warp.misaligned[lane] = later.misaligned;
    warp.has_misaligned |= 1u << lane;
    return;
  }
  constexpr size_t kMostOpen = 8;
  std::vector<WrongIndex>& open = warp.wrong_index[lane];
  // Still open when the lane comes there again: nobody saw the access.
  const auto same = std::find_if(open.begin(), open.end(), [&](const WrongIndex& known) {
    return known.pc == later.index.pc;
  });
  if (same != open.end()) {
    *same = later.index;
  } else if (open.size() < kMostOpen) {
    open.push_back(later.index);
  }
  warp.has_wrong_index |= 1u << lane;
}

void Worker::report_wrong_indices_of_exited(Warp& warp) {
  for (uint32_t rest = warp.has_wrong_index & ~warp.live; rest; rest &= rest - 1) {
    report_wrong_indices(warp, std::countr_zero(rest));
  }
}

// No access to memory that all can see had those indices: the arrays are the thread's own.
void Worker::report_wrong_indices(Warp& warp, int lane) {
  for (const WrongIndex& wrong : warp.wrong_index[lane]) {
    Fault fault = fault_at(Fault::Kind::array_out_of_bounds, warp, lane);
    fault.pc = wrong.pc;
    fault.address = static_cast<uint64_t>(wrong.index);
    fault.text = wrong.array;
    fault.size = static_cast<unsigned>(ArrayType(wrong.array).count);
    add_fault(fault);
  }
  warp.wrong_index[lane].clear();
  warp.has_wrong_index &= ~(1u << lane);
}

// ---- Faults -------------------------------------------------------------------------------------

Fault Worker::fault_at(Fault::Kind kind, const Warp& warp, int lane) const {
  Fault fault;
  fault.kind = kind;
  fault.pc = key_pc(warp.key[lane] == kNotWaiting ? warp.parked_key[lane] : warp.key[lane]);
  fault.address = warp.address[lane];
  fault.size = warp.size[lane];
  fault.store = warp.stop[lane] == Stop::store || warp.stop[lane] == Stop::atomic;
  fault.atomic = warp.stop[lane] == Stop::atomic;
  fault.block = block_index_;
  fault.thread = warp.thread[lane];
  fault.grid = grid_->grid;
  return fault;
}

// Of an access to shared memory, whose addresses count from its start.
Fault Worker::shared_fault_at(Fault::Kind kind, const Warp& warp, int lane, uint64_t address) {
  Fault fault = fault_at(kind, warp, lane);
  const auto dynamic = reinterpret_cast<uint64_t>(dynamic_shared_);
  if (address - dynamic < kMaxDynamicShared) {
    fault.address = address - dynamic;
    fault.limit = grid_->dynamic_shared;
  } else {
    fault.address = address - tls_base_;
    fault.variable = shared_variable(fault.address, 1);
  }
  return fault;
}

// The same two lines are reported once a launch.
void Worker::add_fault(const Fault& fault) {
  for (Fault& known : faults) {
    if (known.kind == fault.kind && known.pc == fault.pc && known.other_pc == fault.other_pc) {
      known.lanes += fault.lanes;
      return;
    }
  }
  if (faults.size() < faults.capacity()) faults.push_back(fault);
}

void Worker::fail(const Fault& fault) {
  add_fault(fault);
  aborted_ = true;
  leave_to_main();
  __builtin_unreachable();  // nobody returns to an abandoned lane
}

// ---- What runs on a lane's stack ----------------------------------------------------------------

struct Hooks {
  [[gnu::always_inline]] static inline void access(const void* pointer, unsigned size, Stop what,
                                                   bool is_volatile, const void* pc,
                                                   bool is_padded = false) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    Worker* worker = running;
    if (!worker) {
      if (memory::in_device_arena(address)) [[unlikely]] {
        host_access(address, size, what != Stop::load, reinterpret_cast<uint64_t>(pc));
      } else if (address - host_copies::begin < host_copies::extent) [[unlikely]] {
        host_copies::access(address, size, what != Stop::load, reinterpret_cast<uint64_t>(pc));
      }
      return;
    }
    // A lane's own stack is its registers and local memory.
    if (is_on_stack(address)) return;
    if (address - worker->tls_base_ < worker->tls_size_) {
      if (is_extent(address) || (size == 1 && worker->is_guard(address, what))) return;
    }
    if (!worker->traced_) return;
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    if (what != Stop::load && (warp.constructing >> lane & 1)) [[unlikely]]
      return;
    const uint32_t path = warp.calls.path[lane];
    const uint64_t key = make_key(warp.calls.depth[lane], reinterpret_cast<uint64_t>(pc));
    if (what == Stop::load && !is_volatile && !is_padded) {
      if (worker->cursor_ != worker->script_end_) {
        const Script::Event& event = warp.script.event[worker->cursor_];
        if (event.key == key && event.size == size && event.path == path &&
            address - event.base <= event.last &&
            address - worker->stored_begin_ >= worker->stored_bytes_ && are_aligned(address, size))
            [[likely]] {
          warp.script.address[event.loads - 1][lane] = address;
          ++worker->cursor_;
          return;
        }
      } else if (worker->leads_ && worker->load_ahead(warp, lane, key, address, size)) {
        return;
      }
    }
    note(warp, lane, what, key, path);
    warp.address[lane] = address;
    warp.size[lane] = static_cast<uint8_t>(size);
    warp.is_volatile[lane] = is_volatile;
    warp.is_padded[lane] = is_padded;
    worker->stop_and_return<void>(warp, lane);
  }

  // What instrumented code calls. Blocks that are not counted run as fast as this returns, so it needs no stack
  // frame of its own.
  template <unsigned size, Stop what, bool is_volatile>
  [[gnu::always_inline]] static inline void hook(const void* pointer, const void* pc) {
    if (!uncounted) return counted_access<size, what, is_volatile>(pointer, pc);
    if (--uncounted == 0) take_turns(pc);
  }
  template <unsigned size, Stop what, bool is_volatile>
  [[gnu::noinline]] static void counted_access(const void* pointer, const void* pc) {
    access(pointer, size, what, is_volatile, pc);
  }
  [[gnu::noinline]] static void take_turns(const void* pc) {
    Worker* worker = running;
    uncounted = kTurn;
    worker->clock_ += kTurn;
    worker->plain_ ? perhaps_spins(pc) : yield(pc);
  }

  [[gnu::always_inline]] static inline bool is_on_stack(uint64_t address) {
    return (address ^ stack_pointer()) < stack_span();
  }

  // gcc leaves reads of a const variable alone, but not of one whose type has a constructor, as dim3's
  // has. These two are registers to a kernel, like threadIdx.
  [[gnu::always_inline]] static inline bool is_extent(uint64_t address) {
    return address - reinterpret_cast<uint64_t>(&simt_block_extent) < sizeof(uint3) ||
           address - reinterpret_cast<uint64_t>(&simt_grid_extent) < sizeof(uint3);
  }

  [[gnu::always_inline]] static inline void note(Warp& warp, int lane, Stop what, const void* pc) {
    const Calls& calls = warp.calls;
    note(warp, lane, what, make_key(calls.depth[lane], reinterpret_cast<uint64_t>(pc)),
         calls.path[lane]);
  }

  [[gnu::always_inline]] static inline void note(Warp& warp, int lane, Stop what, uint64_t key,
                                                 uint32_t path) {
    if (warp.capture >> lane & 1) [[unlikely]] {
      warp.captured[lane] = value_at(warp.address[lane], warp.size[lane]);
    }
    warp.key[lane] = warp.position[lane] = key;
    warp.path[lane] = path;
    warp.stop[lane] = what;
  }

  // For what a thread cannot do in a plain loop.
  static Worker* fiber_worker() {
    Worker* worker = running;
    if (worker && worker->plain_) worker->leave_plain();
    return worker;
  }

  static void result_unused() {
    if (Worker* worker = running; worker && !worker->plain_)
      worker->warp_->unused |= 1u << worker->lane_;
  }

  static void mark_same_address(bool same_value) {
    Worker* worker = running;
    if (!worker || worker->plain_) return;
    worker->warp_->same_address |= 1u << worker->lane_;
    if (same_value) worker->warp_->same_value |= 1u << worker->lane_;
  }

  // A thread of a plain loop that does this again and again may wait for one that has not begun.
  [[gnu::noinline]] static void perhaps_spins(const void* pc) {
    Worker* worker = running;
    const unsigned thread = worker->plain_thread();
    if (thread != worker->turns_of_) worker->turns_ = 0;
    worker->turns_of_ = thread;
    if (++worker->turns_ == 256) yield(pc);
  }

  // An atomic operation of CUDA's. In a block that is counted it is carried out when the lane's turn comes to go on, so
  // that the lane goes on in the kernel.
  [[gnu::always_inline]] static inline uint64_t update(detail::AtomicOp op, detail::AtomicType type,
                                                       void* pointer, uint64_t value,
                                                       uint64_t compare, unsigned size,
                                                       SharedUnit unit, Merge merge,
                                                       const void* pc) {
    Worker* worker = running;
    const auto address = reinterpret_cast<uint64_t>(pointer);
    if (!worker || !worker->traced_ || is_on_stack(address) || is_extent(address)) {
      atomic(pointer, size, unit, merge, pc);
      return carry_out(op, type, pointer, value, compare);
    }
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    note_unit(warp, lane, unit, merge);
    note(warp, lane, Stop::atomic, pc);
    warp.address[lane] = address;
    warp.size[lane] = static_cast<uint8_t>(size);
    warp.is_volatile[lane] = warp.is_padded[lane] = false;
    warp.update[lane] = {op, type, pointer, value, compare};
    warp.waking |= 1u << lane;
    warp.updating |= 1u << lane;
    return worker->stop_and_return<uint64_t>(warp, lane);
  }

  static void atomic(const void* address, unsigned size, SharedUnit unit, Merge merge,
                     const void* pc) {
    Worker* worker = running;
    if (worker && worker->plain_) return perhaps_spins(pc);
    if (worker) note_unit(*worker->warp_, worker->lane_, unit, merge);
    if (!worker || worker->traced_) {
      access(address, size, Stop::atomic, false, pc);
    } else if (++worker->clock_ % 256 == 0) {
      yield(pc);  // perhaps it spins on a lock that another lane holds
    }
  }

  // How the hardware does the next atomic operation of the lane.
  [[gnu::always_inline]] static inline void note_unit(Warp& warp, int lane, SharedUnit unit,
                                                      Merge merge) {
    const uint32_t self = 1u << lane;
    const bool unused = warp.unused & self, same_value = warp.same_value & self;
    if (!(warp.same_address & self)) merge = Merge::never;
    if (unit == SharedUnit::increment && !unused) unit = SharedUnit::native;
    for (uint32_t* mask :
         {&warp.unused, &warp.same_address, &warp.same_value, &warp.merged, &warp.merged_if_full}) {
      *mask &= ~self;
    }
    if ((merge == Merge::unused && unused) || (merge == Merge::same_value && same_value) ||
        (merge == Merge::sum && (unused || same_value))) {
      warp.merged |= self;
    } else if (merge == Merge::sum) {
      warp.merged_if_full |= self;
    }
    warp.unit[lane] = unit;
  }

  // Pieces of at most 4 bytes: what the compiler could not prove to be aligned better.
  static void access_pieces(const void* pointer, uint64_t size, Stop what, const void* pc) {
    auto address = reinterpret_cast<uint64_t>(pointer);
    const uint64_t end = address + size;
    if (running && running->traced_) running->warp_->has_pieces = true;
    // A struct may have padding, which nobody writes.
    const bool is_padded = what == Stop::load && running && running->traced_ &&
                           running->is_partly_written(address, size);
    while (address < end) {
      unsigned piece = address % 4 == 0 ? 4 : address % 2 == 0 ? 2 : 1;
      while (piece > end - address) piece /= 2;
      access(reinterpret_cast<const void*>(address), piece, what, false, pc, is_padded);
      address += piece;
    }
  }

  // memcpy(), memmove() and memset() of a kernel. All pieces of a lane are of one size, so that the lanes of a warp,
  // whose rows mostly lie a multiple of it apart, keep in step. To the debug information a load stands a byte
  // ahead of its store, still inside of the call.
  static unsigned piece_of(uint64_t bits) {
    return bits % 16 == 0 ? 16 : static_cast<unsigned>(bits & -bits);
  }

  static void copy(char* to, const char* from, size_t size, const char* pc) {
    Worker* worker = running;
    look_at_host_copy(to, from, size, pc);
    if (!worker || !worker->traced_) {
      std::memmove(to, from, size);
      return;
    }
    worker->warp_->has_pieces = true;
    const bool is_padded = worker->is_partly_written(reinterpret_cast<uint64_t>(from), size);
    const unsigned piece =
        piece_of(reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from) | size);
    const bool backwards = to > from && to < from + size;
    for (size_t done = 0; done < size; done += piece) {
      const size_t at = backwards ? size - done - piece : done;
      char bytes[16];
      access(from + at, piece, Stop::load, false, pc - 1, is_padded);
      std::memcpy(bytes, from + at, piece);
      access(to + at, piece, Stop::store, false, pc);
      std::memcpy(to + at, bytes, piece);
    }
  }

  static void copy_async(const void* to, const void* from, unsigned size, bool zeros,
                         const void* pc) {
    Worker* worker = running;
    if (worker && worker->traced_) {
      Warp& warp = *worker->warp_;
      warp.copying |= 1u << worker->lane_;
      warp.source[worker->lane_] = reinterpret_cast<uint64_t>(from);
      warp.zeroing = (warp.zeroing & ~(1u << worker->lane_)) | unsigned{zeros} << worker->lane_;
    }
    access(to, size, Stop::store, false, pc);
  }

  static void fill(char* to, int value, size_t size, const void* pc) {
    Worker* worker = running;
    if (!worker) host_block(to, size, Stop::store, pc);
    if (!worker || !worker->traced_) {
      std::memset(to, value, size);
      return;
    }
    worker->warp_->has_pieces = true;
    const unsigned piece = piece_of(reinterpret_cast<uint64_t>(to) | size);
    for (size_t done = 0; done < size; done += piece) {
      access(to + done, piece, Stop::store, false, pc);
      std::memset(to + done, value, piece);
    }
  }

  // The same on the host.
  static void look_at_host_copy(const void* to, const void* from, uint64_t size, const void* pc) {
    if (running) return;
    host_block(from, size, Stop::load, pc);
    host_block(to, size, Stop::store, pc);
  }
  static void host_block(const void* pointer, uint64_t size, Stop what, const void* pc) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    if (size && memory::in_device_arena(address)) {
      host_access(address, 0, what != Stop::load, reinterpret_cast<uint64_t>(pc));
    } else if (what == Stop::store && host_copies::extent) {
      host_copies::note(pointer, nullptr, size);
    }
  }

  static void block_entry(const void* pc) {
    Worker* worker = running;
    if (!worker || !worker->traced_) return;
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    const uint64_t key = make_key(warp.calls.depth[lane], reinterpret_cast<uint64_t>(pc));
    if (worker->cursor_ != worker->script_end_) {
      const Script::Event& event = warp.script.event[worker->cursor_];
      if (event.key == key && !event.size) [[likely]] {
        ++worker->cursor_;
        return;
      }
      worker->script_end_ = worker->cursor_;  // this lane goes its own way
    }
    enter_block(worker, warp, lane, key);
  }

  // A block that no script foretold.
  [[gnu::noinline]] static void enter_block(Worker* worker, Warp& warp, int lane, uint64_t key) {
    // Nothing happens in between that another lane could see. So a lane that goes forward need not wait
    // for the others: it only leaves a trail, from which follow_trails() learns where lanes parted. A
    // lane that is about to go back, in a loop or into a call, first waits for those behind it.
    Script& script = warp.script;
    const unsigned own = warp.trail_length[lane];
    const uint64_t here =
        worker->cursor_ && !own ? script.event[worker->cursor_ - 1].key : warp.position[lane];
    unsigned length = script.blocks(worker->cursor_) + own;
    if (key <= here && length) {
      const Calls& calls = warp.calls;
      const uint64_t depth = kMostDepth - (here >> 48);
      note(warp, lane, Stop::resume, here,
           depth < calls.depth[lane] && depth < Calls::kKnown ? calls.outer_paths[depth][lane]
                                                              : calls.path[lane]);
      warp.waking |= 1u << lane;
      warp.entering |= 1u << lane;
      warp.entry_key[lane] = key;
      return worker->stop_and_return<void>(warp, lane);
    }
    if (length == kTrail) [[unlikely]] {
      note(warp, lane, Stop::resume, key, warp.calls.path[lane]);
      return worker->stop_and_return<void>(warp, lane);
    }
    worker->leave_trail(warp, lane, key, length);
  }

  static void wrong_index(const char* array, int64_t index, const void* pc) {
    note_for_access(
        {.lane = 0, .load = 0, .index = {reinterpret_cast<uint64_t>(pc), index, array}});
  }

  static void misaligned(uint64_t address) {
    note_for_access({.lane = 0, .load = 0, .misaligned = address});
  }

  // What the compiler's checks say ahead of an access of the running lane.
  static void note_for_access(Later later) {
    Worker* worker = running;
    if (!worker || !worker->traced_) return;
    const HostMemory bookkeeping;
    Warp& warp = *worker->warp_;
    later.lane = worker->lane_;
    if (const unsigned loads = loads_ahead()) {
      later.load = loads - 1;
      warp.later.push_back(later);
    } else {
      Worker::note(warp, later);
    }
  }

  static void function_entry(const void* caller, const void* pc) {
    Worker* worker = running;
    if (!worker || worker->plain_) return;
    Calls& calls = worker->warp_->calls;
    const int lane = worker->lane_;
    unsigned& depth = calls.depth[lane];
    uint32_t& path = calls.path[lane];
    if (depth == 0) {
      if (reinterpret_cast<uint64_t>(pc) != worker->entry_pc_) [[unlikely]]
        worker->note_entry(lane, reinterpret_cast<uint64_t>(pc));
      depth = 1;
      return;  // paths begin here: outer_paths[0] stays 0
    }
    if (depth < Calls::kKnown) {
      calls.outer_paths[depth][lane] = path;
      path = path * 0x01000193u + static_cast<uint32_t>(reinterpret_cast<uint64_t>(caller));
    }
    if (depth < kMostDepth) ++depth;
    // A large frame may have stepped over the guard, and into another stack.
    const auto lowest =
        reinterpret_cast<uint64_t>(worker->warp_->fiber[lane]->stack) + kPage + kStackReserve;
    if (stack_pointer() - lowest >= stack_span()) [[unlikely]]
      overflow(caller);
  }

  static void function_exit() {
    Worker* worker = running;
    if (!worker || worker->plain_) return;
    Calls& calls = worker->warp_->calls;
    const int lane = worker->lane_;
    unsigned& depth = calls.depth[lane];
    if (depth) --depth;
    // What is left of the kernel is its return.
    if (!depth && worker->traced_ && !(worker->warp_->outside_kernel >> lane & 1))
      return worker->exit_lane();
    if (depth < Calls::kKnown) calls.path[lane] = calls.outer_paths[depth][lane];
  }

  static void fence(const void* pc) {
    Worker* worker = running;
    if (!worker || !worker->traced_) return;
    fence_block(pc);
    worker->global.fence();
  }

  static void fence_block(const void* pc) {
    Worker* worker = running;
    if (!worker || !worker->traced_) return;
    catch_up(pc);
    const HostMemory bookkeeping;
    worker->thread_order_.fence(worker->thread_rank(), worker->warp_->order.now);
  }

  static int barrier(detail::BarrierReduction reduction, int predicate, const void* pc) {
    Worker* worker = fiber_worker();
    if (!worker) return 0;
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    note(warp, lane, Stop::barrier, pc);
    warp.predicate[lane] = predicate;
    if (reduction == detail::BarrierReduction::none)
      return worker->stop_and_return<int>(warp, lane);
    worker->stop(warp, lane);
    const auto count = static_cast<int>(warp.exchange[lane].result);
    const auto waiting = static_cast<int>(warp.exchange[lane].value);
    switch (reduction) {
      case detail::BarrierReduction::none:
        break;
      case detail::BarrierReduction::count:
        return count;
      case detail::BarrierReduction::all:
        return count == waiting;
      case detail::BarrierReduction::any:
        return count != 0;
    }
    return 0;
  }

  static void grid_barrier(const void* pc) {
    Worker* worker = fiber_worker();
    if (!worker) return;
    if (!worker->grid_->barrier) trap("grid.sync() in a launch that is not cooperative", pc);
    worker->grid_wait_ = true;
    barrier(detail::BarrierReduction::none, 0, pc);
  }

  static uint64_t collective(detail::CollectiveOp op, unsigned mask, uint64_t value, int operand,
                             int width, const void* pc) {
    Worker* worker = fiber_worker();
    if (!worker) return value;
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    note(warp, lane, Stop::collective, pc);
    if (!(mask >> lane & 1) || width < 1 || width > 32 || (width & (width - 1))) {
      Fault fault = worker->fault_at(Fault::Kind::invalid_mask, warp, lane);
      fault.address = mask;
      fault.text = mask >> lane & 1 ? "width" : "caller";
      worker->fail(fault);
    }
    warp.exchange[lane] = {op, mask, value, operand, width, 0};
    warp.waking |= 1u << lane;
    return worker->stop_and_return<uint64_t>(warp, lane);
  }

  static unsigned active_mask(const void* pc) {
    Worker* worker = fiber_worker();
    if (!worker) return 0;
    // Without tracing, too, those meet here that come before anyone goes on: the lowest program counter is
    // first, and whoever has passed this one waits at a barrier, a collective or its end.
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    note(warp, lane, Stop::resume, pc);
    worker->stop(warp, lane);
    return warp.group;
  }

  static void yield(const void* pc) {
    Worker* worker = fiber_worker();
    if (!worker) return;
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    note(warp, lane, Stop::resume, pc);
    warp.yielded = true;
    worker->stop(warp, lane);
  }

  static int64_t clock() {
    Worker* worker = running;
    // Reading takes time, too: a loop that waits for the clock comes to an end.
    if (!worker) return std::clock();
    worker->effects.show();
    worker->circle_.changed = true;
    return static_cast<int64_t>(((worker->clock_ += 32) + loads_ahead()) * 8);
  }

  static unsigned loads_ahead() {
    Worker* worker = running;
    return worker && !worker->plain_ && worker->warp_->scripted
               ? worker->warp_->script.loads(worker->cursor_)
               : 0;
  }

  static void catch_up(const void* pc) {
    Worker* worker = running;
    if (!loads_ahead()) return;
    Warp& warp = *worker->warp_;
    note(warp, worker->lane_, Stop::resume, pc);
    worker->stop(warp, worker->lane_);
  }

  static void print_later(char* text) {
    const HostMemory bookkeeping;
    running->warp_->later.push_back({running->lane_, loads_ahead() - 1, text});
  }

  static void trap(const char* what, const void* pc, Fault::Kind kind = Fault::Kind::trap) {
    Worker* worker = fiber_worker();
    if (!worker) {
      std::fprintf(stderr, "simt: %s on the host\n", what);
      std::abort();
    }
    Warp& warp = *worker->warp_;
    note(warp, worker->lane_, Stop::resume, pc);
    if (worker->cursor_) worker->stop(warp, worker->lane_);  // see catch_up()
    Fault fault = worker->fault_at(kind, warp, worker->lane_);
    fault.text = what;
    fault.address = 0;
    worker->fail(fault);
  }

  // A fault of the CPU in a lane; see install_crash_handler().
  static void crash() {
    Worker* worker = fiber_worker();
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    {
      const HostMemory bookkeeping;
      for (const Later& later : warp.later) {
        if (later.lane == lane && !later.text) Worker::note(warp, later);
      }
    }
    if (warp.has_wrong_index >> lane & 1) {  // that is why
      const WrongIndex& wrong = warp.wrong_index[lane].back();
      note(warp, lane, Stop::resume, reinterpret_cast<const void*>(wrong.pc));
      worker->aborted_ = true;
      worker->leave_to_main();  // abandon_block() reports it
    }
    note(warp, lane, Stop::resume, reinterpret_cast<const void*>(crash_pc_ + 1));
    Fault fault = worker->fault_at(crash_misaligned_ ? Fault::Kind::misaligned : Fault::Kind::crash,
                                   warp, lane);
    if (!crash_misaligned_) fault.address = crash_address_;
    if (crash_overflow_) fault.kind = Fault::Kind::stack_overflow;
    worker->fail(fault);
  }

  // The running lane has called a function, and has no room for it. `pc` is where it returns to.
  [[gnu::noinline]] static void overflow(const void* pc) {
    Worker* worker = running;
    Warp& warp = *worker->warp_;
    note(warp, worker->lane_, Stop::resume, pc);
    Fault fault = worker->fault_at(Fault::Kind::stack_overflow, warp, worker->lane_);
    fault.address = 0;
    worker->fail(fault);
  }

  static void on_division(int signal_number, siginfo_t*, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    Worker* worker = running;
    const auto pc = static_cast<uint64_t>(registers[REG_RIP]) + 1;
    const bool is_lane = worker && worker->lane_ >= 0;
    const Division division = is_lane ? divide_as_gpu(registers) : Division::none;
    if (division == Division::none) {
      signal(signal_number, SIG_DFL);
    } else if (division == Division::by_zero && worker->traced_) {
      Fault fault = worker->fault_at(Fault::Kind::division_by_zero, *worker->warp_, worker->lane_);
      fault.pc = pc;
      fault.address = 0;
      worker->add_fault(fault);
    }
  }

  static void on_signal(int signal_number, siginfo_t* info, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto address = reinterpret_cast<uint64_t>(info->si_addr);
    Worker* worker = running;
    if (!worker || worker->lane_ < 0) {
      if (memory::in_device_arena(address)) {
        host_access(address, 0, false, static_cast<uint64_t>(registers[REG_RIP]) + 1);
      }
      device::end_after_crash();
      signal(signal_number, SIG_DFL);  // the instruction runs again, and ends the process
      return;
    }
    const Fiber* fiber =
        worker->plain_ ? worker->plain_fiber_ : worker->warp_->fiber[worker->lane_];
    const auto stack = reinterpret_cast<uint64_t>(fiber->stack);
    const uint64_t top = stack + stack_bytes();
    const auto is_below = [&](uint64_t at) {
      return at - (top - stack_span()) < stack_span() - stack_bytes() + 2 * kPage;
    };
    crash_pc_ = static_cast<uint64_t>(registers[REG_RIP]);
    crash_address_ = address;
    // A general protection fault without an address: an instruction that insists on alignment.
    crash_misaligned_ = info->si_code == SI_KERNEL && address == 0;
    crash_overflow_ = is_below(address) || is_below(static_cast<uint64_t>(registers[REG_RSP]));
    // Go on in crash(), at the top of the lane's stack, whose frames nobody needs any more.
    registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<uint64_t>(&Hooks::crash));
    registers[REG_RSP] = static_cast<greg_t>(((stack + stack_bytes()) & ~uint64_t{15}) - 4096 - 8);
  }

  static inline thread_local uint64_t crash_pc_ = 0, crash_address_ = 0;
  static inline thread_local bool crash_misaligned_ = false, crash_overflow_ = false;
};

void note_access(const void* address, unsigned size, Stop what, uint64_t pc) {
  Hooks::access(address, size, what, false, reinterpret_cast<const void*>(pc));
}

void note_copy(const void* to, const void* from, unsigned size, bool zeros, uint64_t pc) {
  Hooks::copy_async(to, from, size, zeros, reinterpret_cast<const void*>(pc));
}

void trap_at(const char* what, uint64_t pc) {
  Hooks::trap(what, reinterpret_cast<const void*>(pc));
}

[[gnu::constructor]] static void install_crash_handler() {
  struct sigaction action {};
  action.sa_sigaction = &Hooks::on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
  action.sa_sigaction = &Hooks::on_division;
  sigaction(SIGFPE, &action, nullptr);
}

void show_effect() {
  if (running) running->effects.show();
}
bool has_run_ahead() { return Hooks::loads_ahead() != 0; }
void print_later(char* text) { Hooks::print_later(text); }
void catch_up(uint64_t pc) { Hooks::catch_up(reinterpret_cast<const void*>(pc)); }

}  // namespace simt::engine

// ---- What instrumented code calls ---------------------------------------------------------------

using simt::engine::Hooks;
using simt::engine::Merge;
using simt::engine::SharedUnit;
using simt::engine::Stop;

#define SIMT_PC __builtin_return_address(0)
#define SIMT_HOOKS(size)                                                                           \
  extern "C" void __tsan_read##size(void* p) { Hooks::hook<size, Stop::load, false>(p, SIMT_PC); } \
  extern "C" void __tsan_write##size(void* p) {                                                    \
    Hooks::hook<size, Stop::store, false>(p, SIMT_PC);                                             \
  }                                                                                                \
  extern "C" void __tsan_volatile_read##size(void* p) {                                            \
    Hooks::hook<size, Stop::load, true>(p, SIMT_PC);                                               \
  }                                                                                                \
  extern "C" void __tsan_volatile_write##size(void* p) {                                           \
    Hooks::hook<size, Stop::store, true>(p, SIMT_PC);                                              \
  }                                                                                                \
  extern "C" void __tsan_unaligned_read##size(void* p) {                                           \
    Hooks::access_pieces(p, size, Stop::load, SIMT_PC);                                            \
  }                                                                                                \
  extern "C" void __tsan_unaligned_write##size(void* p) {                                          \
    Hooks::access_pieces(p, size, Stop::store, SIMT_PC);                                           \
  }                                                                                                \
  extern "C" void __tsan_unaligned_volatile_read##size(void* p) {                                  \
    Hooks::access_pieces(p, size, Stop::load, SIMT_PC);                                            \
  }                                                                                                \
  extern "C" void __tsan_unaligned_volatile_write##size(void* p) {                                 \
    Hooks::access_pieces(p, size, Stop::store, SIMT_PC);                                           \
  }

SIMT_HOOKS(1)
SIMT_HOOKS(2)
SIMT_HOOKS(4)
SIMT_HOOKS(8)
SIMT_HOOKS(16)

extern "C" {
void __tsan_init() { simt::engine::traced_program = true; }
void __tsan_func_entry(void* caller) { Hooks::function_entry(caller, SIMT_PC); }
void __tsan_func_exit() { Hooks::function_exit(); }
void __tsan_read_range(void* p, unsigned long size) {
  Hooks::access_pieces(p, size, Stop::load, SIMT_PC);
}
void __tsan_write_range(void* p, unsigned long size) {
  Hooks::access_pieces(p, size, Stop::store, SIMT_PC);
}
// An object with virtual functions comes into being: its pointer to them is written.
void __tsan_vptr_update(void** p, void*) {
  Hooks::access(p, sizeof(void*), Stop::store, false, SIMT_PC);
}
void __tsan_vptr_read(void** p) { Hooks::access(p, sizeof(void*), Stop::load, false, SIMT_PC); }
// What the compiler's own checks call: -fsanitize=bounds and -fsanitize=alignment.
struct UbsanType {
  unsigned short kind, info;  // of integers: whether it is signed
  char name[];
};
struct UbsanOutOfBounds {
  const char* file;
  unsigned line, column;
  const UbsanType *array, *index;
};
void __ubsan_handle_out_of_bounds(const UbsanOutOfBounds* what, unsigned long index) {
  // As wide as its type, and signed if that is.
  const unsigned bits = 1u << (what->index->info >> 1);
  auto value = static_cast<int64_t>(index);
  if (bits < 64 && (what->index->info & 1)) value = value << (64 - bits) >> (64 - bits);
  Hooks::wrong_index(what->array->name, value, SIMT_PC);
}
void __ubsan_handle_type_mismatch_v1(const void*, unsigned long address) {
  Hooks::misaligned(address);
}
void __sanitizer_cov_trace_pc() { Hooks::block_entry(SIMT_PC); }
}

namespace simt::detail {

MemoryKind memory_of(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const engine::Worker* worker = engine::current_worker();
  if (!worker) return MemoryKind::other;
  if (address - worker->tls_base_ < worker->tls_size_ ||
      address - reinterpret_cast<uint64_t>(worker->dynamic_shared_) < engine::kMaxDynamicShared) {
    return MemoryKind::shared;
  }
  if (simt_constant_begin && address >= reinterpret_cast<uint64_t>(simt_constant_begin) &&
      address < reinterpret_cast<uint64_t>(simt_constant_end)) {
    return MemoryKind::constant;
  }
  if (engine::Hooks::is_on_stack(address)) {
    return MemoryKind::local;
  }
  return MemoryKind::global;
}

void* dynamic_shared() {
  engine::Worker* worker = engine::current_worker();
  return worker ? worker->dynamic_shared() : nullptr;
}
unsigned dynamic_shared_size() {
  engine::Worker* worker = engine::current_worker();
  return worker ? static_cast<unsigned>(worker->dynamic_shared_size()) : 0;
}
void copy_bytes(void* to, const void* from, size_t size) {
  Hooks::copy(static_cast<char*>(to), static_cast<const char*>(from), size,
              static_cast<const char*>(SIMT_PC));
}
void fill_bytes(void* to, int value, size_t size) {
  Hooks::fill(static_cast<char*>(to), value, size, SIMT_PC);
}
int barrier(BarrierReduction reduction, int predicate) {
  return Hooks::barrier(reduction, predicate, SIMT_PC);
}
void catch_up() { Hooks::catch_up(SIMT_PC); }
void grid_barrier() { Hooks::grid_barrier(SIMT_PC); }
bool grid_is_cooperative() {
  engine::Worker* worker = engine::current_worker();
  return worker && worker->is_cooperative();
}
uint64_t collective(CollectiveOp op, unsigned mask, uint64_t value, int operand, int width, int) {
  return Hooks::collective(op, mask, value, operand, width, SIMT_PC);
}
unsigned active_mask(int) { return Hooks::active_mask(SIMT_PC); }
void fence() {
  Hooks::fence(SIMT_PC);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void fence_block() { Hooks::fence_block(SIMT_PC); }
void yield() { Hooks::yield(SIMT_PC); }
int64_t clock() { return Hooks::clock(); }
void trap(const char* what) {
  Hooks::trap(what, SIMT_PC);
  __builtin_unreachable();
}

namespace {

Merge merge_of(AtomicOp op, AtomicType type) {
  const bool wide = type == AtomicType::i64 || type == AtomicType::u64;
  if (!wide && type != AtomicType::i32 && type != AtomicType::u32) return Merge::never;
  switch (op) {
    case AtomicOp::add:
    case AtomicOp::add_one:
    case AtomicOp::subtract:
      return wide ? Merge::same_value : Merge::sum;
    case AtomicOp::minimum:
    case AtomicOp::maximum:
    case AtomicOp::bit_and:
    case AtomicOp::bit_or:
    case AtomicOp::bit_xor:
      return wide ? Merge::never : Merge::unused;
    default:
      return Merge::never;
  }
}

}  // namespace

int mark_same_address(int) {
  Hooks::mark_same_address(false);
  return 0;
}
int mark_same_address_and_value(int) {
  Hooks::mark_same_address(true);
  return 0;
}
int mark_result_unused(int) {
  Hooks::result_unused();
  return 0;
}
void announce_atomic(const void* address, unsigned size) {
  Hooks::atomic(address, size, SharedUnit::spin, Merge::never, SIMT_PC);
}

uint64_t atomic(AtomicOp op, AtomicType type, void* address, uint64_t value, uint64_t compare) {
  const unsigned size =
      type == AtomicType::u16                                                         ? 2
      : type == AtomicType::i64 || type == AtomicType::u64 || type == AtomicType::f64 ? 8
                                                                                      : 4;
  // Shared memory has no unit for these: the compiler makes a loop of them.
  const bool exchange = op == AtomicOp::exchange || op == AtomicOp::compare_exchange;
  const bool spins = !exchange && (size == 8 || type == AtomicType::f32);
  return Hooks::update(op, type, address, value, compare, size,
                       op == AtomicOp::compare_exchange ? SharedUnit::compare_exchange
                       : spins                          ? SharedUnit::spin
                       : op == AtomicOp::add_one        ? SharedUnit::increment
                                                        : SharedUnit::native,
                       merge_of(op, type), SIMT_PC);
}

}  // namespace simt::detail

// Calls that gcc makes: see bytes.h. Those of a kernel copy a struct as a whole, and are not announced.
extern "C" void* simt_memmove(void* to, const void* from, size_t size) {
  simt::engine::Hooks::look_at_host_copy(to, from, size, __builtin_return_address(0));
  return std::memmove(to, from, size);
}
extern "C" void* simt_memcpy(void* to, const void* from, size_t size) {
  simt::engine::Hooks::look_at_host_copy(to, from, size, __builtin_return_address(0));
  return std::memcpy(to, from, size);
}

// assert(): in place of the C library's, which would end the process.
extern "C" [[gnu::used]] void __assert_fail(const char* expression, const char* file, unsigned line,
                                            const char* function) noexcept {
  if (!simt::engine::current_worker()) {
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    std::abort();
  }
  // As CUDA says it. The text outlives the lane's stack: a fault keeps it.
  std::fflush(stdout);
  std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
               file, line, function, simt_block_index.x, simt_block_index.y, simt_block_index.z,
               simt_thread_index.x, simt_thread_index.y, simt_thread_index.z, expression);
  Hooks::trap(expression, SIMT_PC, simt::engine::Fault::Kind::assertion);
  __builtin_unreachable();
}

// What the compiler makes of std::atomic and of the __atomic built-ins in instrumented code.
#define SIMT_ATOMIC_FETCH(bits, type, name, unit, builtin)                                  \
  extern "C" type __tsan_atomic##bits##_##name(volatile type* p, type value, int) {         \
    Hooks::atomic(const_cast<const type*>(p), sizeof(type), SharedUnit::unit, Merge::never, \
                  SIMT_PC);                                                                 \
    return builtin(p, value, __ATOMIC_SEQ_CST);                                             \
  }
#define SIMT_ATOMIC_HOOKS(bits, type, unit)                                                        \
  extern "C" type __tsan_atomic##bits##_load(const volatile type* p, int) {                        \
    Hooks::access(const_cast<const type*>(p), sizeof(type), Stop::load, true, SIMT_PC);            \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                \
  extern "C" void __tsan_atomic##bits##_store(volatile type* p, type value, int) {                 \
    Hooks::access(const_cast<const type*>(p), sizeof(type), Stop::store, true, SIMT_PC);           \
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                                \
  extern "C" int __tsan_atomic##bits##_compare_exchange_strong(volatile type* p, type* expected,   \
                                                               type desired, int, int) {           \
    Hooks::atomic(const_cast<const type*>(p), sizeof(type), SharedUnit::compare_exchange,          \
                  Merge::never, SIMT_PC);                                                          \
    return __atomic_compare_exchange_n(p, expected, desired, false, __ATOMIC_SEQ_CST,              \
                                       __ATOMIC_SEQ_CST);                                          \
  }                                                                                                \
  extern "C" int __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* expected,     \
                                                             type desired, int, int) {             \
    Hooks::atomic(const_cast<const type*>(p), sizeof(type), SharedUnit::compare_exchange,          \
                  Merge::never, SIMT_PC);                                                          \
    return __atomic_compare_exchange_n(p, expected, desired, false, __ATOMIC_SEQ_CST,              \
                                       __ATOMIC_SEQ_CST);                                          \
  }                                                                                                \
  extern "C" type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type expected,      \
                                                             type desired, int, int) {             \
    Hooks::atomic(const_cast<const type*>(p), sizeof(type), SharedUnit::compare_exchange,          \
                  Merge::never, SIMT_PC);                                                          \
    __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                               \
  }                                                                                                \
  SIMT_ATOMIC_FETCH(bits, type, exchange, native, __atomic_exchange_n)                             \
  SIMT_ATOMIC_FETCH(bits, type, fetch_add, unit, __atomic_fetch_add)                               \
  SIMT_ATOMIC_FETCH(bits, type, fetch_sub, unit, __atomic_fetch_sub)                               \
  SIMT_ATOMIC_FETCH(bits, type, fetch_and, unit, __atomic_fetch_and)                               \
  SIMT_ATOMIC_FETCH(bits, type, fetch_or, unit, __atomic_fetch_or)                                 \
  SIMT_ATOMIC_FETCH(bits, type, fetch_xor, unit, __atomic_fetch_xor)                               \
  SIMT_ATOMIC_FETCH(bits, type, fetch_nand, unit, __atomic_fetch_nand)

SIMT_ATOMIC_HOOKS(8, uint8_t, native)
SIMT_ATOMIC_HOOKS(16, uint16_t, native)
SIMT_ATOMIC_HOOKS(32, uint32_t, native)
SIMT_ATOMIC_HOOKS(64, uint64_t, spin)

extern "C" {
void __tsan_atomic_thread_fence(int) {
  Hooks::fence(SIMT_PC);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}
