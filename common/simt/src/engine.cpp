#include "engine.h"

#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "memory.h"
#include "symbols.h"

// What kernels see as threadIdx & co. The headers declare them const; here they are written.
extern "C" {
__thread uint3 simt_thread_index asm("threadIdx") = {};
__thread uint3 simt_block_index asm("blockIdx") = {};
__thread uint3 simt_block_extent asm("blockDim") = {};
__thread uint3 simt_grid_extent asm("gridDim") = {};
}

// The section that __constant__ puts variables in; absent in most programs.
extern "C" {
extern const char simt_constant_begin[] asm("__start_simt_constant") __attribute__((weak));
extern const char simt_constant_end[] asm("__stop_simt_constant") __attribute__((weak));
}

namespace simt::engine {
namespace {

constexpr uint64_t kPage = 4096;
// A warp that has formed this many groups makes room for the others.
constexpr uint64_t kSlice = 1 << 12;

__thread Worker* running = nullptr;

uint64_t stack_bytes() {
  static const uint64_t bytes = [] {
    const char* text = std::getenv("SIMT_STACK");
    const uint64_t asked = text ? std::strtoull(text, nullptr, 10) : 0;
    return asked >= 16 * 1024 ? (asked + kPage - 1) / kPage * kPage : uint64_t{128} * 1024;
  }();
  return bytes;
}

struct Segments {
  uint64_t first = ~uint64_t{0};  // of the program
  uint64_t data_begin = 0, data_end = 0;
  uint64_t tls_size = 0;
};

int read_segments(dl_phdr_info* info, size_t, void* out) {
  auto& segments = *static_cast<Segments*>(out);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const uint64_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      segments.first = std::min(segments.first, begin);
      if (header.p_flags & PF_W) {
        segments.data_begin = begin;
        segments.data_end = begin + header.p_memsz;
      }
    } else if (header.p_type == PT_TLS) {
      segments.tls_size = (header.p_memsz + header.p_align - 1) / header.p_align * header.p_align;
    }
  }
  return 1;  // the first object is the program itself
}

const Segments& segments() {
  static const Segments found = [] {
    Segments s;
    dl_iterate_phdr(read_segments, &s);
    return s;
  }();
  return found;
}

uint64_t load_up_to_8(uint64_t address, unsigned size) {
  uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), std::min(size, 8u));
  return value;
}

}  // namespace

Worker* current_worker() { return running; }
uint64_t program_base() { return segments().first; }

Worker::Worker() : variables_(symbols::shared_variables()) {
  tls_size_ = segments().tls_size;
  tls_base_ = reinterpret_cast<uint64_t>(__builtin_thread_pointer()) - tls_size_;
  dynamic_shared_ =
      static_cast<char*>(std::aligned_alloc(1024, kMaxDynamicShared / 1024 * 1024 + 1024));
  free_fibers_.reserve(kMaxBlockThreads + 1);
  conflicts_.reserve(kLanes);
  faults.reserve(64);
  races_.resize(tls_size_ / 4 + kMaxDynamicShared / 4 + 2);

  // A fault inside a lane is handled on a stack of its own.
  stack_t stack{};
  stack.ss_size = 64 * 1024;
  stack.ss_sp = std::malloc(stack.ss_size);
  sigaltstack(&stack, nullptr);
}

// ---- Fibers -------------------------------------------------------------------------------------

void Worker::fiber_entry() { running->lane_main(); }

void Worker::rebuild(Fiber& fiber) {
  // Stack tops that differ in their low bits spread over the sets of the cache.
  const unsigned color = fiber.color % 32 * 192;
  char* top = fiber.stack + stack_bytes() - color;
  fiber.context = make_context(top, stack_bytes() - color - kPage, &Worker::fiber_entry);
}

Fiber* Worker::take_fiber() {
  if (!free_fibers_.empty()) {
    Fiber* fiber = free_fibers_.back();
    free_fibers_.pop_back();
    return fiber;
  }
  void* stack = mmap(nullptr, stack_bytes(), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) {
    std::perror("simt: cannot map the stack of a thread");
    std::_Exit(1);
  }
  mprotect(stack, kPage, PROT_NONE);                       // the guard
  auto* fiber = ::new (std::malloc(sizeof(Fiber))) Fiber;  // here `new` would be the device's
  fiber->stack = static_cast<char*>(stack);
  fiber->color = fiber_count_++;
  rebuild(*fiber);
  return fiber;
}

inline void Worker::switch_to(int lane) {
  Warp& warp = *warp_;
  Fiber*& target = warp.lane[lane].fiber;
  if (!target) target = take_fiber();
  lane_ = lane;
  simt_thread_index = warp.thread[lane];
  Fiber* from = fiber_;
  if (target == from) return;
  fiber_ = target;
  switch_context(from ? from->context : main_, target->context);
}

void Worker::leave_to_main() {
  Fiber* from = fiber_;
  fiber_ = nullptr;
  lane_ = -1;
  switch_context(from->context, main_);
}

// What a fiber does: one lane after another, for ever.
void Worker::lane_main() {
  for (;;) {
    grid_->entry(grid_->closure);

    // The lane has exited. Its fiber is free for the next; perhaps at once, for the lane that
    // switch_to() starts.
    Warp& warp = *warp_;
    const int lane = lane_;
    if (warp.capture >> lane & 1)
      warp.captured[lane] = load_up_to_8(warp.address[lane], warp.size[lane]);
    warp.key[lane] = kNotWaiting;
    warp.live &= ~(1u << lane);
    free_fibers_.push_back(warp.lane[lane].fiber);
    warp.lane[lane].fiber = nullptr;
    int next;
    if (warp.pending) {
      next = std::countr_zero(warp.pending);
      warp.pending &= warp.pending - 1;
    } else {
      next = schedule(warp);
    }
    if (next >= 0) {
      switch_to(next);
    } else {
      leave_to_main();
    }
  }
}

void Worker::run_warp(Warp& warp) {
  warp_ = &warp;
  running = this;
  const int lane = schedule(warp);
  if (lane >= 0) switch_to(lane);
  running = nullptr;
  warp_ = nullptr;
}

// A lane has noted where it stopped: run the next of its group, or form the next group.
inline void Worker::stop(Warp& warp, int lane) {
  int next;
  if (warp.pending) {
    next = std::countr_zero(warp.pending);
    warp.pending &= warp.pending - 1;
  } else {
    next = schedule(warp);
    if (next == lane) return;
    if (next < 0) {
      leave_to_main();
      return;
    }
  }
  switch_to(next);
}

// ---- The scheduler ------------------------------------------------------------------------------

int Worker::schedule(Warp& warp) {
  if (warp.capture) settle_captures(warp);
  if (warp.group && traced_) follow_trails(warp);
  warp.group = 0;
  ++clock_;
  for (;;) {
    uint64_t best = kNotWaiting;
    if (!warp.last_first) [[likely]] {
      for (int i = 0; i < kLanes; ++i) best = std::min(best, warp.key[i]);
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

    uint32_t group = 0;
    for (int i = 0; i < kLanes; ++i) group |= static_cast<uint32_t>(warp.key[i] == best) << i;
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
      if (warp.steps > grid_->step_budget) {
        Fault fault = fault_at(Fault::Kind::hang, warp, first);
        fault.pc = key_pc(best);
        add_fault(fault);
        aborted_ = true;
        return -1;
      }
      warp.yielded = false;
      warp.last_first = !warp.last_first;
      return -1;
    }

    const Stop what = warp.stop[first];
    if (what == Stop::barrier || what == Stop::collective) {
      for (uint32_t rest = group; rest; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        warp.parked_key[lane] = warp.key[lane];
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
    }
    warp.group = group;
    warp.group_key = best;
    warp.pending = group & (group - 1);
    return first;
  }
}

// The lanes of the group have stopped. If they did not come the same way, replays their ways through the
// blocks of the code as the scheduler would have let them run, lowest first, and counts where they part.
void Worker::follow_trails(Warp& warp) {
  const int leader = std::countr_zero(warp.group);
  bool same = true;
  for (uint32_t rest = warp.group; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    same &= warp.trail_hash[lane] == warp.trail_hash[leader] && warp.key[lane] == warp.key[leader];
  }
  if (!same) {
    uint8_t at[kLanes] = {};
    const auto key = [&](int lane) {
      return at[lane] < warp.trail_length[lane] ? warp.trail[at[lane]][lane] : warp.key[lane];
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
        if (at[lane] == warp.trail_length[lane]) continue;
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
  for (uint32_t rest = warp.group; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    warp.trail_length[lane] = 0;
    warp.trail_hash[lane] = 0;
  }
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
      // A lane that is not there has no value to give: the reader keeps its own.
      if (e.op >= Op::shuffle_index && e.op <= Op::shuffle_xor) {
        e.result = (members >> source & 1) ? warp.exchange[source].value : e.value;
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

// ---- Blocks and their barrier -------------------------------------------------------------------

void Worker::begin_block(const Grid& grid, uint3 block_index) {
  grid_ = &grid;
  block_index_ = block_index;
  aborted_ = false;
  grid_wait_ = false;
  grid_epoch_ = 0;
  last_base_ = 1, last_end_ = 0;  // it may have been freed
  simt_block_index = block_index;
  simt_block_extent = grid.block;
  simt_grid_extent = grid.grid;
  races_.begin_block();
  extras.begin_block();
  traced_ = grid.traced && linear_block(grid.grid, block_index) % grid.stride == 0;

  const unsigned threads = grid.block.x * grid.block.y * grid.block.z;
  warp_count_ = (threads + kLanes - 1) / kLanes;
  while (warps_.size() < warp_count_) warps_.push_back(new Warp);
  uint3 thread{0, 0, 0};
  for (unsigned w = 0; w < warp_count_; ++w) {
    Warp& warp = *warps_[w];
    const unsigned lanes = std::min(threads - w * kLanes, unsigned{kLanes});
    warp.live = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warp.group = warp.pending = warp.at_barrier = warp.at_collective = warp.capture = 0;
    warp.group_key = 0;
    warp.steps = 0;
    warp.yielded = warp.last_first = false;
    warp.index = static_cast<int>(w);
    warp.order.reset();
    for (unsigned i = 0; i < kLanes; ++i) {
      warp.key[i] = i < lanes ? make_key(0, 1) : kNotWaiting;
      warp.stop[i] = Stop::resume;
      warp.position[i] = warp.key[i];
      warp.path[i] = 0;
      warp.trail_length[i] = 0;
      warp.trail_hash[i] = 0;
      warp.lane[i].depth = 0;
      warp.lane[i].path = 0;
      if (i >= lanes) continue;
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
  for (unsigned w = 0; w < warp_count_; ++w) {
    for (Lane& lane : warps_[w]->lane) {
      if (!lane.fiber) continue;
      rebuild(*lane.fiber);
      free_fibers_.push_back(lane.fiber);
      lane.fiber = nullptr;
    }
  }
}

bool Worker::run_block(const Grid& grid, uint3 block_index) {
  begin_block(grid, block_index);
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
  }
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
  races_.next_interval();
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
  }
  return true;
}

// The whole block has come to the grid's barrier: waits for the other blocks.
bool Worker::pass_grid_barrier() {
  grid_wait_ = false;
  const GridBarrier::Outcome outcome = grid_->barrier->wait();
  if (outcome == GridBarrier::Outcome::passed) {
    ++grid_epoch_;
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

  // Generic addresses may point anywhere, lane by lane; nearly always they agree.
  uint32_t shared = 0, global = 0;
  for (uint32_t rest = group; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t address = warp.address[lane];
    if (address - tls_base_ < tls_size_ || address - dynamic < kMaxDynamicShared) {
      shared |= 1u << lane;
    } else {
      global |= 1u << lane;
    }
  }
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
    count_shared(warp, shared, size, what, pc, counts);
    if (aborted_) return;
  }
  if (!global) return;

  // Constant memory is another path, with a cache of its own.
  if (simt_constant_begin) {
    const auto begin = reinterpret_cast<uint64_t>(simt_constant_begin);
    const auto end = reinterpret_cast<uint64_t>(simt_constant_end);
    for (uint32_t rest = global; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (warp.address[lane] - begin < end - begin) global &= ~(1u << lane);
    }
    if (!global) return;
  }

  check_global(warp, global, size, what, pc);
  if (aborted_) return;
  offer(global, false);
  const unsigned sectors = what == Stop::atomic ? count_atomic_sectors(warp.address, global, size)
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

void Worker::count_shared(Warp& warp, uint32_t lanes, unsigned size, Stop what, uint64_t pc,
                          Counts& counts) {
  const uint64_t dynamic = reinterpret_cast<uint64_t>(dynamic_shared_);
  const unsigned block_lane = static_cast<unsigned>(warp.index) * kLanes;
  const auto pc_offset = static_cast<uint32_t>(pc - program_base());
  const bool write = what != Stop::load, atomic = what == Stop::atomic;
  const symbols::SharedVariable* array = nullptr;  // that the first lane meant

  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t address = warp.address[lane];
    const bool is_dynamic = address - dynamic < kMaxDynamicShared;
    if (is_dynamic && address + size > dynamic + grid_->dynamic_shared) {
      Fault fault = fault_at(Fault::Kind::shared_out_of_bounds, warp, lane);
      fault.address = address - dynamic;
      add_fault(fault);
      aborted_ = true;
      return;
    }
    if (!is_dynamic && !variables_.empty()) {
      // One instruction means one array. Where a lane falls into an array of another function, which
      // happens to lie beside it here, hardware would have none there.
      const symbols::SharedVariable* const hit = shared_variable(address - tls_base_, size);
      if (!hit || (array && hit != array && hit->owner != array->owner)) {
        Fault fault = fault_at(Fault::Kind::shared_out_of_bounds, warp, lane);
        fault.address = address - tls_base_;
        fault.text = "static";
        fault.missed = array;
        add_fault(fault);
        aborted_ = true;
        return;
      }
      if (!array) array = hit;
    }
    if (address % std::min(size, 8u) != 0) {
      add_fault(fault_at(Fault::Kind::misaligned, warp, lane));
      aborted_ = true;
      return;
    }
    size_t word = is_dynamic ? tls_size_ / 4 + (address - dynamic) / 4 : (address - tls_base_) / 4;
    const auto bytes = static_cast<uint8_t>(size >= 4 ? 0xf : ((1u << size) - 1) << address % 4);
    for (unsigned i = 0; i < size; i += 4, ++word) {
      if (what != Stop::store && !races_.is_written(word, bytes)) [[unlikely]] {
        add_fault(fault_at(Fault::Kind::shared_uninitialized, warp, lane));
      }
      Race race;
      if (!races_.access(word, bytes, block_lane + static_cast<unsigned>(lane), write, atomic,
                         pc_offset, warp.order, race)) [[likely]] {
        continue;
      }
      if (race.same_instruction) {
        // Lanes of one instruction write one word: the hardware lets one win, which is a fault only
        // if the values differ. That is known once the lanes have written.
        const uint8_t other = race.other_thread % kLanes;
        if (conflicts_.size() < conflicts_.capacity()) {
          conflicts_.push_back({static_cast<uint8_t>(lane), other, address});
          conflict_pc_ = pc;
          warp.capture |= 1u << lane | 1u << other;
        }
        break;
      }
      Fault fault = fault_at(Fault::Kind::shared_race, warp, lane);
      fault.other_pc = race.other_pc + program_base();
      fault.other_store = race.other_wrote;
      fault.other_thread = warps_[race.other_thread / kLanes]->thread[race.other_thread % kLanes];
      add_fault(fault);
      break;
    }
  }
  ++warp.order.now;

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
    add_load(count_wavefronts(warp.address, lanes, size, SharedAccess::load), active);
  } else if (what == Stop::store) {
    const SharedCost cost = count_wavefronts(warp.address, lanes, size, SharedAccess::store);
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
    if (warp.captured[conflict.lane] == warp.captured[conflict.other_lane]) continue;
    Fault fault = fault_at(Fault::Kind::shared_race, warp, conflict.lane);
    fault.pc = fault.other_pc = conflict_pc_;
    fault.address = conflict.address;
    fault.store = fault.other_store = true;
    fault.other_thread = warp.thread[conflict.other_lane];
    add_fault(fault);
  }
  conflicts_.clear();
  warp.capture = 0;
}

void Worker::check_global(Warp& warp, uint32_t lanes, unsigned size, Stop what, uint64_t pc) {
  const Segments& program = segments();
  Fault fault;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const uint64_t address = warp.address[lane];
    Fault::Kind kind = Fault::Kind::none;
    if (address < last_base_ || address + size > last_end_) {
      if (address >= program.data_begin && address + size <= program.data_end) {
        last_base_ = program.data_begin;  // __device__ variables
        last_end_ = program.data_end;
      } else if (const memory::Allocation* found = memory::find(address);
                 found && !found->freed && address + size <= found->end()) {
        last_base_ = found->base;
        last_end_ = found->end();
      } else {
        kind = Fault::Kind::out_of_bounds;
      }
    }
    // A struct of two 8-byte members may be copied by one 16-byte access at an odd multiple of 8.
    if (kind == Fault::Kind::none && address % std::min(size, 8u) != 0)
      kind = Fault::Kind::misaligned;
    if (kind == Fault::Kind::none) continue;
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

// ---- Faults -------------------------------------------------------------------------------------

Fault Worker::fault_at(Fault::Kind kind, const Warp& warp, int lane) const {
  Fault fault;
  fault.kind = kind;
  fault.pc = key_pc(warp.key[lane] == kNotWaiting ? warp.parked_key[lane] : warp.key[lane]);
  fault.address = warp.address[lane];
  fault.size = warp.size[lane];
  fault.store = warp.stop[lane] == Stop::store || warp.stop[lane] == Stop::atomic;
  fault.block = block_index_;
  fault.thread = warp.thread[lane];
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

void host_access(uint64_t address, unsigned size, bool store, uint64_t pc);  // findings.cpp

struct Hooks {
  [[gnu::always_inline]] static inline void access(const void* pointer, unsigned size, Stop what,
                                                   bool is_volatile, const void* pc) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    Worker* worker = running;
    if (!worker) {
      if (memory::in_device_arena(address)) [[unlikely]] {
        host_access(address, size, what != Stop::load, reinterpret_cast<uint64_t>(pc));
      }
      return;
    }
    // A lane's own stack is its registers and local memory.
    if (address - reinterpret_cast<uint64_t>(worker->fiber_->stack) < stack_bytes_) return;
    if (is_extent(address)) return;
    if (!worker->traced_) {
      if (++worker->clock_ % 256 == 0) yield(pc);  // perhaps it waits for another lane
      return;
    }
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    note(warp, lane, what, pc);
    warp.address[lane] = address;
    warp.size[lane] = static_cast<uint8_t>(size);
    warp.is_volatile[lane] = is_volatile;
    worker->stop(warp, lane);
  }

  // gcc leaves reads of a const variable alone, but not of one whose type has a constructor, as dim3's
  // has. These two are registers to a kernel, like threadIdx.
  [[gnu::always_inline]] static inline bool is_extent(uint64_t address) {
    return address - reinterpret_cast<uint64_t>(&simt_block_extent) < sizeof(uint3) ||
           address - reinterpret_cast<uint64_t>(&simt_grid_extent) < sizeof(uint3);
  }

  [[gnu::always_inline]] static inline void note(Warp& warp, int lane, Stop what, const void* pc) {
    const Lane& self = warp.lane[lane];
    note(warp, lane, what, make_key(self.depth, reinterpret_cast<uint64_t>(pc)), self.path);
  }

  [[gnu::always_inline]] static inline void note(Warp& warp, int lane, Stop what, uint64_t key,
                                                 uint32_t path) {
    if (warp.capture >> lane & 1) [[unlikely]] {
      warp.captured[lane] = load_up_to_8(warp.address[lane], warp.size[lane]);
    }
    warp.key[lane] = warp.position[lane] = key;
    warp.path[lane] = path;
    warp.stop[lane] = what;
  }

  static void result_unused() {
    if (Worker* worker = running) worker->warp_->unused |= 1u << worker->lane_;
  }

  static void atomic(const void* address, unsigned size, SharedUnit unit, const void* pc) {
    Worker* worker = running;
    if (worker) {
      Warp& warp = *worker->warp_;
      const uint32_t self = 1u << worker->lane_;
      if (unit == SharedUnit::increment && !(warp.unused & self)) unit = SharedUnit::native;
      warp.unused &= ~self;
      warp.unit[worker->lane_] = unit;
    }
    if (!worker || worker->traced_) {
      access(address, size, Stop::atomic, false, pc);
    } else if (++worker->clock_ % 256 == 0) {
      yield(pc);  // perhaps it spins on a lock that another lane holds
    }
  }

  // Pieces of at most 4 bytes: what the compiler could not prove to be aligned better.
  static void access_pieces(const void* pointer, uint64_t size, Stop what, const void* pc) {
    auto address = reinterpret_cast<uint64_t>(pointer);
    const uint64_t end = address + size;
    while (address < end) {
      unsigned piece = address % 4 == 0 ? 4 : address % 2 == 0 ? 2 : 1;
      while (piece > end - address) piece /= 2;
      access(reinterpret_cast<const void*>(address), piece, what, false, pc);
      address += piece;
    }
  }

  static void block_entry(const void* pc) {
    Worker* worker = running;
    if (!worker || !worker->traced_) return;
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    const uint64_t key = make_key(warp.lane[lane].depth, reinterpret_cast<uint64_t>(pc));
    const uint64_t here = warp.position[lane];
    // Nothing happens in between that another lane could see. So a lane that goes forward need not wait
    // for the others: it only leaves a trail, from which follow_trails() learns where lanes parted. A
    // lane that is about to go back, in a loop or into a call, first waits for those behind it.
    if (key <= here && warp.trail_length[lane]) {
      const Lane& self = warp.lane[lane];
      const uint64_t depth = kMostDepth - (here >> 48);
      note(warp, lane, Stop::resume, here,
           depth < self.depth && depth < Lane::kKnownCalls ? self.outer_paths[depth] : self.path);
      worker->stop(warp, lane);
    }
    const unsigned length = warp.trail_length[lane];
    if (length == kTrail) [[unlikely]] {
      note(warp, lane, Stop::resume, pc);
      worker->stop(warp, lane);
      return;
    }
    warp.position[lane] = key;
    warp.trail[length][lane] = key;
    warp.trail_length[lane] = static_cast<uint8_t>(length + 1);
    warp.trail_hash[lane] = (warp.trail_hash[lane] ^ static_cast<uint32_t>(key)) * 0x01000193u;
  }

  static void function_entry(const void* caller, const void* pc) {
    Worker* worker = running;
    if (!worker) return;
    Lane& lane = worker->warp_->lane[worker->lane_];
    if (lane.depth == 0 && !worker->kernel_pc) worker->kernel_pc = reinterpret_cast<uint64_t>(pc);
    if (lane.depth < Lane::kKnownCalls) {
      lane.outer_paths[lane.depth] = lane.path;
      if (lane.depth) {
        lane.path =
            lane.path * 0x01000193u + static_cast<uint32_t>(reinterpret_cast<uint64_t>(caller));
      }
    }
    if (lane.depth < kMostDepth) ++lane.depth;
  }

  static void function_exit() {
    Worker* worker = running;
    if (!worker) return;
    Lane& lane = worker->warp_->lane[worker->lane_];
    if (lane.depth) --lane.depth;
    if (lane.depth < Lane::kKnownCalls) lane.path = lane.outer_paths[lane.depth];
  }

  static int barrier(detail::BarrierReduction reduction, int predicate, const void* pc) {
    Worker* worker = running;
    if (!worker) return 0;
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    note(warp, lane, Stop::barrier, pc);
    warp.predicate[lane] = predicate;
    worker->stop(warp, lane);
    const auto count = static_cast<int>(warp.exchange[lane].result);
    const auto waiting = static_cast<int>(warp.exchange[lane].value);
    switch (reduction) {
      case detail::BarrierReduction::none:
        return 0;
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
    Worker* worker = running;
    if (!worker) return;
    if (!worker->grid_->barrier) trap("grid.sync() in a launch that is not cooperative", pc);
    worker->grid_wait_ = true;
    barrier(detail::BarrierReduction::none, 0, pc);
  }

  static uint64_t collective(detail::CollectiveOp op, unsigned mask, uint64_t value, int operand,
                             int width, const void* pc) {
    Worker* worker = running;
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
    worker->stop(warp, lane);
    return warp.exchange[lane].result;
  }

  static unsigned active_mask(const void* pc) {
    Worker* worker = running;
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
    Worker* worker = running;
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
    return worker ? static_cast<int64_t>((worker->clock_ += 32) * 8) : std::clock();
  }

  static void trap(const char* what, const void* pc, Fault::Kind kind = Fault::Kind::trap) {
    Worker* worker = running;
    if (!worker) {
      std::fprintf(stderr, "simt: %s on the host\n", what);
      std::abort();
    }
    Warp& warp = *worker->warp_;
    note(warp, worker->lane_, Stop::resume, pc);
    Fault fault = worker->fault_at(kind, warp, worker->lane_);
    fault.text = what;
    fault.address = 0;
    worker->fail(fault);
  }

  // A fault of the CPU in a lane; see install_crash_handler().
  static void crash() {
    Worker* worker = running;
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    note(warp, lane, Stop::resume, reinterpret_cast<const void*>(crash_pc_ + 1));
    Fault fault = worker->fault_at(crash_misaligned_ ? Fault::Kind::misaligned : Fault::Kind::crash,
                                   warp, lane);
    if (!crash_misaligned_) fault.address = crash_address_;
    fault.text = crash_overflow_ ? "stack" : nullptr;
    worker->fail(fault);
  }

  static void on_signal(int signal_number, siginfo_t* info, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto address = reinterpret_cast<uint64_t>(info->si_addr);
    Worker* worker = running;
    if (!worker || worker->lane_ < 0) {
      if (memory::in_device_arena(address)) {
        host_access(address, 0, false, static_cast<uint64_t>(registers[REG_RIP]) + 1);
      }
      signal(signal_number, SIG_DFL);  // the instruction runs again, and ends the process
      return;
    }
    const auto stack = reinterpret_cast<uint64_t>(worker->fiber_->stack);
    crash_pc_ = static_cast<uint64_t>(registers[REG_RIP]);
    crash_address_ = address;
    // A general protection fault without an address: an instruction that insists on alignment.
    crash_misaligned_ = info->si_code == SI_KERNEL && address == 0;
    crash_overflow_ = address - stack < 2 * kPage;
    // Go on in crash(), at the top of the lane's stack, whose frames nobody needs any more.
    registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<uint64_t>(&Hooks::crash));
    registers[REG_RSP] = static_cast<greg_t>(((stack + stack_bytes()) & ~uint64_t{15}) - 4096 - 8);
  }

  static inline const uint64_t stack_bytes_ = stack_bytes();
  static inline thread_local uint64_t crash_pc_ = 0, crash_address_ = 0;
  static inline thread_local bool crash_misaligned_ = false, crash_overflow_ = false;
};

void note_access(const void* address, unsigned size, Stop what, uint64_t pc) {
  Hooks::access(address, size, what, false, reinterpret_cast<const void*>(pc));
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
}

bool traced_program = false;

}  // namespace simt::engine

// ---- What instrumented code calls ---------------------------------------------------------------

using simt::engine::Hooks;
using simt::engine::SharedUnit;
using simt::engine::Stop;

#define SIMT_PC __builtin_return_address(0)
#define SIMT_HOOKS(size)                                           \
  extern "C" void __tsan_read##size(void* p) {                     \
    Hooks::access(p, size, Stop::load, false, SIMT_PC);            \
  }                                                                \
  extern "C" void __tsan_write##size(void* p) {                    \
    Hooks::access(p, size, Stop::store, false, SIMT_PC);           \
  }                                                                \
  extern "C" void __tsan_volatile_read##size(void* p) {            \
    Hooks::access(p, size, Stop::load, true, SIMT_PC);             \
  }                                                                \
  extern "C" void __tsan_volatile_write##size(void* p) {           \
    Hooks::access(p, size, Stop::store, true, SIMT_PC);            \
  }                                                                \
  extern "C" void __tsan_unaligned_read##size(void* p) {           \
    Hooks::access_pieces(p, size, Stop::load, SIMT_PC);            \
  }                                                                \
  extern "C" void __tsan_unaligned_write##size(void* p) {          \
    Hooks::access_pieces(p, size, Stop::store, SIMT_PC);           \
  }                                                                \
  extern "C" void __tsan_unaligned_volatile_read##size(void* p) {  \
    Hooks::access_pieces(p, size, Stop::load, SIMT_PC);            \
  }                                                                \
  extern "C" void __tsan_unaligned_volatile_write##size(void* p) { \
    Hooks::access_pieces(p, size, Stop::store, SIMT_PC);           \
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
  if (address - reinterpret_cast<uint64_t>(worker->fiber_->stack) < engine::stack_bytes()) {
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
int barrier(BarrierReduction reduction, int predicate) {
  return Hooks::barrier(reduction, predicate, SIMT_PC);
}
void grid_barrier() { Hooks::grid_barrier(SIMT_PC); }
bool grid_is_cooperative() {
  engine::Worker* worker = engine::current_worker();
  return worker && worker->is_cooperative();
}
uint64_t collective(CollectiveOp op, unsigned mask, uint64_t value, int operand, int width) {
  return Hooks::collective(op, mask, value, operand, width, SIMT_PC);
}
unsigned active_mask() { return Hooks::active_mask(SIMT_PC); }
void yield() { Hooks::yield(SIMT_PC); }
int64_t clock() { return Hooks::clock(); }
void trap(const char* what) {
  Hooks::trap(what, SIMT_PC);
  __builtin_unreachable();
}

namespace {

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

void result_unused() { Hooks::result_unused(); }
void announce_atomic(const void* address, unsigned size) {
  Hooks::atomic(address, size, SharedUnit::spin, SIMT_PC);
}

uint64_t atomic(AtomicOp op, AtomicType type, void* address, uint64_t value, uint64_t compare) {
  const unsigned size =
      type == AtomicType::u16                                                         ? 2
      : type == AtomicType::i64 || type == AtomicType::u64 || type == AtomicType::f64 ? 8
                                                                                      : 4;
  // Shared memory has no unit for these: the compiler makes a loop of them.
  const bool exchange = op == AtomicOp::exchange || op == AtomicOp::compare_exchange;
  const bool spins = !exchange && (size == 8 || type == AtomicType::f32);
  Hooks::atomic(address, size,
                op == AtomicOp::compare_exchange ? SharedUnit::compare_exchange
                : spins                          ? SharedUnit::spin
                : op == AtomicOp::add_one        ? SharedUnit::increment
                                                 : SharedUnit::native,
                SIMT_PC);
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

}  // namespace simt::detail

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
#define SIMT_ATOMIC_FETCH(bits, type, name, unit, builtin)                              \
  extern "C" type __tsan_atomic##bits##_##name(volatile type* p, type value, int) {     \
    Hooks::atomic(const_cast<const type*>(p), sizeof(type), SharedUnit::unit, SIMT_PC); \
    return builtin(p, value, __ATOMIC_SEQ_CST);                                         \
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
                  SIMT_PC);                                                                        \
    return __atomic_compare_exchange_n(p, expected, desired, false, __ATOMIC_SEQ_CST,              \
                                       __ATOMIC_SEQ_CST);                                          \
  }                                                                                                \
  extern "C" int __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* expected,     \
                                                             type desired, int, int) {             \
    Hooks::atomic(const_cast<const type*>(p), sizeof(type), SharedUnit::compare_exchange,          \
                  SIMT_PC);                                                                        \
    return __atomic_compare_exchange_n(p, expected, desired, false, __ATOMIC_SEQ_CST,              \
                                       __ATOMIC_SEQ_CST);                                          \
  }                                                                                                \
  extern "C" type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type expected,      \
                                                             type desired, int, int) {             \
    Hooks::atomic(const_cast<const type*>(p), sizeof(type), SharedUnit::compare_exchange,          \
                  SIMT_PC);                                                                        \
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
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}
