// Where lanes go: blocks of the code, calls, and what the compiler's own checks say ahead of an access.
#include "base/host_memory.h"
#include "exec/pending_stops.h"
#include "hooks/hooks.h"
#include "program/program.h"

namespace simt::engine {

// Each of these runs for each lane at each block of code or call: in one piece with what calls it.
[[gnu::always_inline]] inline void Hooks::block_entry(const void* pc) {
  Worker* worker = running;
  if (!worker || !worker->traced_) return;
  Warp& warp = *worker->warp_;
  const int lane = worker->lane_;
  const uint64_t key = make_key(warp.calls.depth[lane], reinterpret_cast<uint64_t>(pc));
  if (worker->cursor_ != worker->queue_end_) {
    const LoadQueue::Event& event = warp.queue.event[worker->cursor_];
    if (event.key == key && !event.size) [[likely]] {
      ++worker->cursor_;
      return;
    }
    worker->queue_end_ = worker->cursor_;  // this lane goes its own way
  }
  worker->enter_block(warp, lane, key);
}

[[gnu::always_inline]] inline void Hooks::function_entry(const void* caller, const void* pc) {
  Worker* worker = running;
  if (!worker || worker->is_loop_) return;
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
  if (stack_pointer() - lowest >= stacks.span) [[unlikely]]
    overflow(caller);
}

[[gnu::always_inline]] inline void Hooks::function_exit(const void* pc) {
  Worker* worker = running;
  if (!worker || worker->is_loop_) return;
  Calls& calls = worker->warp_->calls;
  const int lane = worker->lane_;
  unsigned& depth = calls.depth[lane];
  if (depth) --depth;
  if (worker->async.has_operands()) [[unlikely]]
    worker->async.pending_sums(worker->thread_rank()).return_to(depth);
  // What is left of the kernel is its return.
  if (!depth && worker->traced_ && !(worker->warp_->outside_kernel >> lane & 1)) {
    if (worker->follows_the_first(*worker->warp_, lane)) return;
    return worker->exit_lane(reinterpret_cast<uint64_t>(pc));
  }
  if (depth < Calls::kKnown) calls.path[lane] = calls.outer_paths[depth][lane];
}

// The kernel goes on to its return, and its thread is over when it comes back from there.
void Hooks::function_exit_before_accesses(const void* pc) {
  Worker* worker = running;
  if (!worker || worker->is_loop_) return;
  if (worker->warp_->calls.depth[worker->lane_] > 1) function_exit(pc);
}

void Hooks::wrong_index(const char* array, int64_t index, const void* pc) {
  defer_for_access({.lane = 0, .load = 0, .index = {reinterpret_cast<uint64_t>(pc), index, array}});
}

void Hooks::misaligned(uint64_t address) {
  defer_for_access({.lane = 0, .load = 0, .misaligned = address});
}

// What the compiler's checks say ahead of an access of the running lane.
void Hooks::defer_for_access(DeferredEffect effect) {
  Worker* worker = running;
  if (!worker || !worker->traced_) return;
  const HostMemory bookkeeping;
  Warp& warp = *worker->warp_;
  effect.lane = worker->lane_;
  if (const unsigned loads = loads_ahead()) {
    effect.load = loads - 1;
    warp.deferred.push_back(effect);
  } else {
    engine::note(warp, effect);
  }
}

}  // namespace simt::engine

using simt::engine::Hooks;

extern "C" {
void __tsan_init() { simt::engine::traced_program = true; }
void __tsan_func_entry(void* caller) { Hooks::function_entry(caller, SIMT_PC); }
void __tsan_func_exit() { Hooks::function_exit(SIMT_PC); }
void simt_leave_after_accesses() { Hooks::function_exit_before_accesses(SIMT_PC); }  // layout.h

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
