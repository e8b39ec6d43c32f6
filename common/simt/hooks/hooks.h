// What instrumented code calls, and what the headers of CUDA do: the lane's side of a Worker.
//
// A hook notes why the running lane stops (note_stop) and lets others run (Worker::stop_and_return). What runs for each
// lane at each access is inline: from the hook to the switch it is one function.
#pragma once

#include <signal.h>
#include <simt/api/runtime.h>
#include <simt/async_proxy.h>

#include <cstdarg>
#include <cstdint>

#include "base/values.h"
#include "base/zones.h"
#include "exec/switching.h"
#include "exec/worker.h"
#include "memory/allocations.h"
#include "program/program_image.h"

// Where the function was called that this stands in.
#define SIMT_PC __builtin_return_address(0)

namespace simt::engine {

struct TensorMap;

struct Hooks {
  // ---- accesses.cpp: loads and stores

  [[gnu::always_inline]] static inline void access(const void* pointer, unsigned size,
                                                   StopReason what, bool is_volatile,
                                                   const void* pc, bool is_padded = false) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    if (Worker* worker = running) {
      access_of_lane(worker, address, size, what, is_volatile, pc, is_padded);
    } else {
      access_on_host(address, size, what, is_volatile, pc);
    }
  }

  [[gnu::always_inline]] static inline void access_of_lane(Worker* worker, uint64_t address,
                                                           unsigned size, StopReason what,
                                                           bool is_volatile, const void* pc,
                                                           bool is_padded) {
    // A lane's own stack is its registers and local memory.
    if (is_on_stack(address)) {
      if (is_zone(address)) [[unlikely]]
        on_zone(address, size, what, pc);
      if (what != StopReason::load && worker->async.has_operands()) [[unlikely]]
        check_operand(address, size, pc);
      return;
    }
    if (worker->monitor.shared.is_static(address)) {
      if (is_extent(address) || (size == 1 && worker->is_guard(address, what))) return;
    }
    if (!worker->traced_) return;
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    if (what != StopReason::load && (warp.constructing >> lane & 1)) [[unlikely]]
      return;
    const uint32_t path = warp.calls.path[lane];
    const uint64_t key = make_key(warp.calls.depth[lane], reinterpret_cast<uint64_t>(pc));
    if (what == StopReason::load && !is_volatile && !is_padded) {
      if (is_next_of_queue(worker, address, size, pc)) return;
      if (worker->leads_ && worker->cursor_ == worker->queue_end_ &&
          worker->load_ahead(warp, lane, key, address, size)) {
        return;
      }
    }
    note_stop(warp, lane, what, key, path);
    warp.address[lane] = address;
    warp.size[lane] = static_cast<uint8_t>(size);
    warp.is_volatile[lane] = is_volatile;
    warp.is_padded[lane] = is_padded;
    if (is_volatile || is_padded) warp.has_marked = true;
    worker->stop_and_return<void>(warp, lane);
  }

  // A load that the group's first lane has put into the queue, to memory that may be read: notes the address, and the lane
  // goes on.
  [[gnu::always_inline]] static inline bool is_next_of_queue(Worker* worker, uint64_t address,
                                                             unsigned size, const void* pc) {
    if (worker->cursor_ == worker->queue_end_) return false;
    Warp& warp = *worker->warp_;
    const int lane = worker->lane_;
    const LoadQueue::Event& event = warp.queue.event[worker->cursor_];
    const bool is_next =
        event.key == make_key(warp.calls.depth[lane], reinterpret_cast<uint64_t>(pc)) &&
        event.size == size && event.path == warp.calls.path[lane] &&
        address - event.base <= event.last &&
        address - worker->stored_begin_ >= worker->stored_bytes_ && are_aligned(address, size);
    if (!is_next) [[unlikely]]
      return false;
    warp.queue.address[event.loads - 1][lane] = address;
    ++worker->cursor_;
    return true;
  }

  // What instrumented code calls. Blocks that are not counted run as fast as this returns, so it needs no stack
  // frame of its own.
  template <unsigned size, StopReason what, bool is_volatile>
  [[gnu::always_inline]] static inline void hook(const void* pointer, const void* pc) {
    if (!uncounted) {
      const auto address = reinterpret_cast<uint64_t>(pointer);
      Worker* worker = running;
      if (!worker) return access_on_host(address, size, what, is_volatile, pc);
      if (what == StopReason::load && !is_volatile && is_next_of_queue(worker, address, size, pc))
        return;
      return counted_access<size, what, is_volatile>(address, pc, worker);
    }
    if (--uncounted == 0) take_turns(pc);
  }

  template <unsigned size, StopReason what, bool is_volatile>
  [[gnu::noinline]] static void counted_access(uint64_t address, const void* pc, Worker* worker) {
    access_of_lane(worker, address, size, what, is_volatile, pc, false);
  }
  // Apart, so that the host's code does without the stack frame of a lane's access.
  static void access_on_host(uint64_t address, unsigned size, StopReason what, bool is_volatile,
                             const void* pc);
  static void take_turns(const void* pc);
  static void perhaps_spins(const void* pc);
  static void access_pieces(const void* pointer, uint64_t size, StopReason what, const void* pc,
                            unsigned widest = 4);

  [[gnu::always_inline]] static inline bool is_on_stack(uint64_t address) {
    return (address ^ stack_pointer()) < stacks.span;
  }

  // ---- local_arrays.cpp: the zones around a thread's own arrays

  [[gnu::always_inline]] static inline bool is_zone(uint64_t address) {
    uint32_t bytes;
    __builtin_memcpy(&bytes, reinterpret_cast<const void*>(address), sizeof(bytes));
    return bytes == zones::kMark;
  }
  static void on_zone(uint64_t address, unsigned size, StopReason what, const void* pc);

  // gcc leaves reads of a const variable alone, but not of one whose type has a constructor, as dim3's
  // has. These two are registers to a kernel, like threadIdx.
  [[gnu::always_inline]] static inline bool is_extent(uint64_t address) {
    return address - reinterpret_cast<uint64_t>(&simt_block_extent) < sizeof(uint3) ||
           address - reinterpret_cast<uint64_t>(&simt_grid_extent) < sizeof(uint3);
  }

  [[gnu::always_inline]] static inline void note(Warp& warp, int lane, StopReason what,
                                                 const void* pc) {
    const Calls& calls = warp.calls;
    note_stop(warp, lane, what, make_key(calls.depth[lane], reinterpret_cast<uint64_t>(pc)),
              calls.path[lane]);
  }

  // The running lane waits for its turn, and goes on at once if nobody else is before it.
  static void pause(Worker& worker, const void* pc) {
    note(*worker.warp_, worker.lane_, StopReason::resume, pc);
    worker.stop(*worker.warp_, worker.lane_);
  }

  // For what a thread cannot do in a plain loop.
  static Worker* fiber_worker() {
    Worker* worker = running;
    if (worker && worker->is_loop_) worker->leave_loop();
    return worker;
  }

  // ---- atomics.cpp

  static uint64_t update(detail::AtomicOp op, detail::AtomicType type, void* pointer,
                         uint64_t value, uint64_t compare, unsigned size, SharedUnit unit,
                         Merge merge, const void* pc);
  static void atomic(const void* address, unsigned size, SharedUnit unit, Merge merge,
                     const void* pc);
  static void note_unit(Warp& warp, int lane, SharedUnit unit, Merge merge);
  static void result_unused();
  static void mark_same_address(bool same_value);
  static void mark_within_block(uint64_t address);

  // ---- copies.cpp, async_copies.cpp

  static void copy(char* to, const char* from, size_t size, const char* pc);
  static void fill(char* to, int value, size_t size, const void* pc);
  static void look_at_host_copy(const void* to, const void* from, uint64_t size, const void* pc);
  static void host_block(const void* pointer, uint64_t size, StopReason what, const void* pc);
  static void copy_async(void* to, const void* from, unsigned size, unsigned bytes, const void* pc);
  static void begin_copy(const void* to, const void* from, unsigned size, bool zeros,
                         const void* pc);
  static void commit_copies(const void* pc);
  static void wait_copies(unsigned kept, const void* pc);

  // ---- control_flow.cpp

  static void block_entry(const void* pc);
  static void function_entry(const void* caller, const void* pc);
  static void function_exit(const void* pc);
  static void function_exit_before_accesses(const void* pc);
  static void wrong_index(const char* array, int64_t index, const void* pc);
  static void misaligned(uint64_t address);
  static void defer_for_access(DeferredEffect effect);

  // ---- mbarriers.cpp, bulk_copies.cpp

  struct Owned {
    Mbarrier& barrier;
    Monitor& monitor;  // of the block whose shared memory it is in
  };
  static Owned mbarrier_of(const uint64_t* word, const void* pc);
  static Mbarrier& mbarrier(const uint64_t* word, const void* pc);
  static void arrive(const Owned& at);
  static void mbarrier_init(uint64_t* word, uint32_t count, const void* pc);
  static void mbarrier_inval(uint64_t* word, const void* pc);
  static uint64_t mbarrier_arrive(uint64_t* word, uint32_t count, bool drops, bool expects,
                                  uint32_t bytes, const void* pc);
  static void mbarrier_expect(uint64_t* word, uint32_t bytes, const void* pc);
  static bool mbarrier_wait(uint64_t* word, uint64_t phase, bool by_parity, const void* pc);
  static void copies_arrive(uint64_t* word, bool counts, const void* pc);
  static void tell_of_copies(const uint64_t* word, const void* pc);
  static void announce(Mbarrier& barrier, uint32_t bytes);
  static void deliver(Mbarrier& barrier);
  static void end_phase(const Owned& at);
  static void access_bulk(Access kind, uint64_t address, uint64_t bytes, bool is_copy,
                          const void* pc);
  static void check_bulk(const void* shared, uint64_t alignment, const void* pc);
  static void check_range(const void* global, uint32_t size, const void* pc);
  static void issue(BulkLoad&& load, uint64_t* barrier, const void* pc);
  static void issue(BulkLoad&& load, uint64_t* barrier, unsigned blocks, const void* pc);
  static void bulk_load(void* to, const void* from, uint32_t size, uint64_t* barrier,
                        unsigned blocks, const void* pc);
  static void read_for_store(uint64_t address, unsigned bytes, const void* pc);
  static void write_for_store(uint64_t address, unsigned bytes, const void* pc);
  static void commit_stores(const void* pc);
  static void wait_stores(unsigned kept, bool reads, const void* pc);
  static void bulk_store(void* to, const void* from, uint32_t size, const void* pc);
  static const TensorMap& tensor_map(const void* map, const detail::Corner& corner, const void* pc);
  static void tensor_load(void* to, const void* map, const detail::Corner& corner,
                          uint64_t* barrier, unsigned blocks, const void* pc);
  static void tensor_store(const void* map, const detail::Corner& corner, const void* from,
                           const void* pc);
  static void fence_proxy(const void* pc);

  // ---- wgmma.cpp

  static void wgmma(const detail::Wgmma& how, float* const* sums, const void* pc);
  static void check_fence(const detail::Wgmma& how, float* const* sums, const void* pc);
  static void fence_wgmma(const void* pc);
  static void commit_wgmma(const void* pc);
  static void wait_wgmma(unsigned kept, const void* pc);
  static void read_matrix(const void* matrix, unsigned first, unsigned lines,
                          detail::MatrixType type, const void* pc);
  static void set_registers(unsigned number, bool takes, const void* pc);
  static uint64_t shared_from_descriptor(uint32_t low);
  static void check_operand(uint64_t address, unsigned size, const void* pc);
  static void check_pending_sum(uint64_t address, StopReason what, const void* pc);

  // ---- synchronization.cpp

  static void fence(const void* pc, bool whole_device);
  static int barrier(detail::BarrierReduction reduction, int predicate, const void* pc);
  static void grid_barrier(const void* pc);
  static void named_barrier(unsigned number, unsigned threads, bool waits, const void* pc);
  static void come_to(AsyncState::Named& named, unsigned first, unsigned last, bool waits,
                      const void* pc);
  static void cluster_arrive(const void* pc);
  static void cluster_wait(const void* pc);
  static const void* map_shared(uint64_t address, unsigned rank, const void* pc);
  static void exit_thread(const void* pc);
  static uint64_t collective(detail::CollectiveOp op, unsigned mask, uint64_t value, int operand,
                             int width, const void* pc);
  static unsigned active_mask(const void* pc);

  // ---- matrices.cpp

  static void whole_warp(WholeWarp& operands, const void* pc);
  static char* access_row(const detail::MatrixRows& rows, StopReason what, const void* pc);

  // ---- synchronization.cpp

  static void note_barrier(const void* word, Access kind, const void* pc);
  static void yield(const void* pc);
  static void await_arrivals(const void* pc);
  static int64_t clock();

  static unsigned loads_ahead() {
    Worker* worker = running;
    return worker && !worker->is_loop_ && worker->warp_->runs_ahead
               ? worker->warp_->queue.loads(worker->cursor_)
               : 0;
  }
  // For whatever orders accesses, or frees memory, without being an access itself: waits for the other lanes, so that
  // what the running one has loaded so far is counted and checked before.
  static void catch_up(const void* pc);
  static void note_texture() {
    if (running) running->monitor.global_checker.footprint.note_texture();
  }
  static int print(const char* format, va_list arguments, const void* pc);

  // ---- crash.cpp

  // What is wrong with what the running lane does at `pc`. What it has loaded ahead has been checked before.
  static Fault fault_here(Fault::Kind kind, const void* pc);
  // Ends the kernel with a finding at `pc`, a return address in the kernel; `address` is what it is about, if anything.
  static void trap(const char* what, const void* pc, Fault::Kind kind = Fault::Kind::trap,
                   uint64_t address = 0);
  static void overflow(const void* pc);
  static void crash();
  static void on_division(int signal_number, siginfo_t*, void* context);
  static void on_signal(int signal_number, siginfo_t* info, void* context);
};

}  // namespace simt::engine
