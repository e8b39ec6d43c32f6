// The execution of blocks: lanes as fibers, warps in lock-step, barriers.
//
// A CUDA thread (a lane of a warp) runs on a fiber of its own. It stops at accesses to memory and at
// every barrier or collective, each stop known by its program counter; at loads only where the lanes of
// its warp may have parted, see LoadQueue. When all lanes of a warp have stopped, the scheduler forms the next group: of the
// waiting lanes the deepest call goes first, then the lowest program counter. Lanes that stopped at the same
// access are one warp instruction, and are counted as one request. So lanes diverge and meet again as
// they do on hardware; the basic blocks that a lane passes between two stops tell where. A program compiled with --fast
// stops at barriers and collectives only.
#pragma once

#include <simt/api/runtime.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/fault.h"
#include "exec/async_state.h"
#include "exec/cluster.h"
#include "exec/grid_barrier.h"
#include "exec/hang_proof.h"
#include "exec/patience.h"
#include "exec/warp.h"
#include "fibers/fiber_pool.h"
#include "monitor/monitor.h"
#include "program/symbols.h"

namespace simt::engine {

// A warp that has formed this many groups makes room for the others; sooner where many blocks wait for each other.
inline constexpr uint64_t kSlice = 1 << 12, kShortSlice = 1 << 8;
// In a block that is not counted a lane makes so many accesses before it looks whether others should have a turn.
inline constexpr unsigned kTurn = 256;

// The launch that the workers run.
struct Grid {
  dim3 grid;
  dim3 block;
  size_t dynamic_shared = 0;
  void (*entry)(void*) = nullptr;
  void* closure = nullptr;
  uint64_t kernel = 0;  // where it begins; 0: unknown, or the thread does more than to call it
  uint64_t step_budget = 0;
  int device = 0;
  int beside = -1;                                 // see beside_host::of_this_thread()
  const std::atomic<unsigned>* running = nullptr;  // launches, this one among them
  bool has_company() const { return running && *running > 1; }
  uint32_t offset = 0;  // of its blocks among those that run at once
  const VectorClock* behind = nullptr;
  bool traced = false;
  bool run_ahead = true;  // see LoadQueue
  uint64_t recorded = 0;  // steps of its first block that are kept; with it, nothing runs ahead
  bool checks_blocks = false;  // races between blocks, and global memory that nobody has written
  GridBarrier* barrier = nullptr;  // of a cooperative launch
  Cluster* cluster = nullptr;      // of a launch in clusters
  HangVote* hang_vote = nullptr;
  // Of a plain launch: lets blocks begin that a GPU would have resident, too, if there are any left.
  void (*start_more)(int device) = nullptr;
  uint64_t (*begun)(int device) =
      nullptr;          // how many blocks; once there is a fault, how many there were then
  uint64_t stride = 1;  // of the blocks, in linear order, every so many is traced
};

// How many times the usual time the reader allows (SIMT_STEPS).
inline uint64_t patience_of(const Grid& grid) {
  constexpr uint64_t kUsualBudget = uint64_t{1} << 24;
  return std::max<uint64_t>(grid.step_budget / kUsualBudget, 1);
}

// One OS thread that runs blocks.
class Worker {
 public:
  Worker();
  // Called on the OS thread that runs it. A thread may end, and a later one have its id and this worker.
  void attach();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // On the OS thread that runs it. The grid stays until the next launch.
  void begin_launch(const Grid& grid);
  // Runs the block with this linear number to its end, or until a fault stops it; false if it did.
  bool run_block(uint64_t number);
  // The same of the block of this rank in the cluster that the grid's workers run.
  bool run_in_cluster(unsigned rank);

  Monitor monitor;
  AsyncState async;
  uint64_t kernel_pc = 0;  // an address inside the kernel, once known

  // The number of the running lane in its block.
  unsigned thread_rank() const {
    return is_loop_ ? loop_thread() : static_cast<unsigned>(warp_->checks.index * kLanes + lane_);
  }
  bool is_cooperative() const { return grid_->barrier; }
  const Cluster* cluster() const { return grid_->cluster; }
  unsigned cluster_rank() const { return cluster_rank_; }
  size_t dynamic_shared_size() const { return grid_->dynamic_shared; }
  // What is wrong with what a lane stopped for.
  Fault fault_at(Fault::Kind kind, const Warp& warp, int lane) const;

 private:
  friend struct
      Hooks;  // what instrumented code calls: it runs on a lane, and is the other half of this class

  // scheduler.cpp: the lane to run next, or -1 if no lane of the warp can.
  int schedule(Warp& warp);
  int form_group(Warp& warp);
  void note_progress(Progress& progress, uint64_t address) {
    if (address < progress.told_lowest || address > progress.told_highest)
      note_new_end(progress, address);
  }
  void note_new_end(Progress& progress, uint64_t address);
  void make_room(Warp& warp, uint64_t key, int first);
  void park(Warp& warp, uint32_t group, StopReason what);
  void record(const Warp& warp, RecordedStep::What what, uint32_t lanes, uint64_t key);
  void run_warp(Warp& warp);

  // requests.cpp: `group` are the lanes of a warp instruction that accesses memory. False where the block has to end.
  bool observe(Warp& warp, uint32_t group);

  // switching.h, fibers.cpp: from one lane to the next.
  void stop(Warp& warp, int lane);
  int next_lane(Warp& warp, int lane);
  template <class Result>
  Result stop_and_return(Warp& warp, int lane);
  uint64_t prepare(Warp& warp, int lane);
  uint64_t wake(Warp& warp, int lane);
  void switch_to(Warp& warp, int lane);
  void leave_to_main();
  // `pc` is where the kernel says that it is left; without it this returns to nobody.
  void exit_lane(uint64_t pc = 0);
  bool passes_on(Warp& warp, int lane, uint64_t pc);
  bool follows_the_first(Warp& warp, int lane);
  uint64_t last_before_exit() const;
  static void fiber_entry();
  void note_entry(int lane, uint64_t pc);

  // run_ahead.cpp
  void begin_queue(Warp& warp, uint32_t lanes);
  void settle_queue(Warp& warp);
  void replay_in_step(Warp& warp);
  bool load_ahead(Warp& warp, int lane, uint64_t key, uint64_t address, unsigned size);

  // divergence.cpp: where lanes part. enter_block() has them leave trails.
  void follow_trails(Warp& warp);
  void enter_block(Warp& warp, int lane, uint64_t key);
  void enter_pending_block(Warp& warp, int lane);
  void leave_trail(Warp& warp, int lane, uint64_t key, unsigned length);

  // collectives.cpp
  bool resolve_collectives(Warp& warp);

  // block.cpp
  void begin_block(uint64_t number);
  void begin_warps();
  bool run_warps();
  void abandon_block();
  bool let_others_run();
  void note_exits(unsigned warp, uint32_t before);
  bool open_barrier();
  bool set_same_registers();
  bool pass_grid_barrier();
  void report_deadlock();
  void report_exited_threads(uint64_t barrier_pc);

  // uncounted.cpp: a block that is not traced begins as a plain loop over its threads, on one stack. The first thread
  // that has to wait for others ends that: from there on every thread is a fiber.
  void run_as_loop();
  bool run_threads();
  unsigned loop_thread() const;  // the running one, linear
  void leave_loop();

  // hang_proof.cpp
  void report_hang(const Warp& stuck, uint64_t stuck_key, uint64_t steps);
  template <class F>
  void for_each_wait(F&& f);
  unsigned registers_at_launch() const;
  unsigned registers_of(unsigned warp, bool wanted);
  bool has_registers_for(unsigned warp);
  void name_registers(Fault& fault);
  const Warp* telling_wait(int& found);
  void name_other_waits(Fault& fault, uint64_t told, uint64_t parity);
  void name_barrier(Fault& hang) const;
  const Warp* running_warp() const;
  bool proves_hang();
  bool has_company();
  bool takes_too_long();

  // worker.cpp
  [[noreturn]] void fail(const Fault& fault);
  [[noreturn]] void end_block();
  // True if g++ notes there whether it has run the constructor of a shared variable, which is to do nothing.
  bool is_guard(uint64_t address, StopReason what);

  const Grid* grid_ = nullptr;
  Warp* warp_ = nullptr;  // running now
  int lane_ = -1;         // running now; -1: none, the OS thread's own stack
  Context main_ = nullptr;
  bool aborted_ = false;
  const void* printing_pc_ = nullptr;  // where the lane prints that runs now
  bool is_clean_ = false;              // the block before has been passed: see Warp::was_passed
  bool gets_on_ = false;               // a warp came to new addresses, since that was looked at
  bool traced_ = false;                // this block
  uint64_t entry_pc_ = 0;              // what the kernel's own call is known by; 0: not known yet
  uint64_t clock_ = 0;

  std::vector<Warp*> warps_;  // made once, used by block after block
  uint3 extent_{};            // of the block
  unsigned thread_count_ = 0;
  bool knows_threads_ = false;  // the warps know the indices of their threads
  unsigned warp_count_ = 0;     // of this block
  unsigned cluster_rank_ = 0;
  bool grid_wait_ = false;  // the barrier where the lanes gather is the grid's
  FiberPool pools_[2];      // of small stacks and of large ones
  FiberPool* pool_ = pools_;
  void* signal_stack_ = nullptr;
  const std::vector<symbols::Guard>& guards_;

  // Of the lane that runs: the next event of the queue and where it ends for this lane.
  unsigned cursor_ = 0, queue_end_ = 0;
  bool leads_ = false;  // it fills the queue
  uint64_t limit_ = 0;  // the lowest key of lanes outside of the group: they go first there
  uint64_t stored_begin_ = 0,
           stored_bytes_ = 0;  // where lanes of the group may still have to store

  bool is_loop_ = false;
  Fiber* loop_fiber_ = nullptr;
  Context loop_context_ = nullptr;
  unsigned turns_ = 0, turns_of_ = 0;  // so often this thread has done what one does that spins
  void (*waited_)(void*) = nullptr;    // the kernel in which a thread had to wait last

  HangWatch hang_watch_;
  Patience patience_;
  uint64_t slice_ = kSlice;
  bool waits_beside_ =
      false;  // some warp has polled in vain, and another kernel or the host is at work
  uint64_t joined_ =
      0;  // blocks that the launch had let begin beside the first ones, when this was looked at
};

// The worker of this OS thread while it runs a lane, else nullptr.
#define SIMT_OF_THIS_THREAD [[gnu::tls_model("local-exec"), gnu::visibility("hidden")]]
SIMT_OF_THIS_THREAD extern __thread Worker* running;
// In a block that is not counted: how many more accesses the running lane makes before it looks whether others
// should have a turn. 0 in a block that is counted, and on the host. It is all that the hooks look at then.
SIMT_OF_THIS_THREAD extern __thread unsigned uncounted;

}  // namespace simt::engine

// What kernels see as threadIdx & co. The headers declare them const; here they are written.
extern "C" {
extern __thread uint3 simt_thread_index asm("threadIdx");
extern __thread uint3 simt_block_index asm("blockIdx");
extern __thread uint3 simt_block_extent asm("blockDim");
extern __thread uint3 simt_grid_extent asm("gridDim");
}
