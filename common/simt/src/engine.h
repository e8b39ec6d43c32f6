// The execution of blocks: lanes as fibers, warps in lock-step, barriers.
//
// A CUDA thread (a lane of a warp) runs on a fiber of its own. It stops at every access to memory and at
// every barrier or collective, each stop known by its program counter. When all lanes of a warp have stopped, the scheduler forms the next group: of the waiting
// lanes the deepest call goes first, then the lowest program counter. Lanes that stopped at the same
// access are one warp instruction, and are counted as one request. So lanes diverge and meet again as
// they do on hardware; the basic blocks that a lane passes between two stops tell where. A program compiled with --fast stops at barriers and collectives only.
#pragma once

#include <simt/counting.h>
#include <simt/counts.h>
#include <simt/runtime.h>

#include <cstdint>
#include <vector>

#include "async.h"
#include "context.h"
#include "cooperative.h"
#include "races.h"
#include "symbols.h"
#include "trace.h"

namespace simt::engine {

inline constexpr int kLanes = 32;
inline constexpr unsigned kMaxBlockThreads = 1024;
// A lane that has entered this many blocks without an access waits for the others.
inline constexpr unsigned kTrail = 16;
inline constexpr unsigned kMaxDynamicShared = 227 * 1024;

// A stack and what runs on it: one lane after another.
struct Fiber {
  Context context = nullptr;
  char* stack = nullptr;  // lowest address
  unsigned color = 0;     // its number, see Worker::rebuild
};

// Which way shared memory takes for an atomic operation; see SharedAccess.
enum class SharedUnit : uint8_t { native, compare_exchange, increment, spin };

enum class Stop : uint8_t { resume, load, store, atomic, collective, barrier };

// A lane's key: what orders the waiting lanes. The smallest goes first.
inline constexpr uint64_t kNotWaiting = ~uint64_t{0};
inline constexpr unsigned kMostDepth = 0xfffe;
inline uint64_t make_key(unsigned depth, uint64_t pc) {
  return static_cast<uint64_t>(kMostDepth - depth) << 48 | pc;
}
inline uint64_t key_pc(uint64_t key) { return key & 0xffff'ffff'ffff; }

// What a lane brings to a collective of its warp, and takes from it.
struct Exchange {
  detail::CollectiveOp op;
  unsigned mask;
  uint64_t value;
  int operand;
  int width;
  uint64_t result;
};

struct Lane {
  Fiber* fiber = nullptr;
  unsigned depth = 0;
  uint32_t path = 0;  // a hash of the return addresses of the open calls
  static constexpr unsigned kKnownCalls = 48;
  uint32_t outer_paths[kKnownCalls];
};

// Arrays over lanes, because the scheduler reads one field of all 32.
struct Warp {
  alignas(64) uint64_t key[kLanes];
  alignas(64) uint64_t address[kLanes];
  uint32_t path[kLanes];
  Stop stop[kLanes];
  uint8_t size[kLanes];
  bool is_volatile[kLanes];
  uint64_t parked_key[kLanes];  // of lanes at a barrier or a collective
  uint3 thread[kLanes];
  Lane lane[kLanes];
  Exchange exchange[kLanes];
  int predicate[kLanes];  // of __syncthreads_count and its like

  // The basic blocks that each lane of the group has entered since it was resumed, as keys.
  uint64_t position[kLanes];  // the last of them, or of the lane's stops
  alignas(64) uint64_t trail[kTrail][kLanes];
  uint32_t trail_hash[kLanes];
  uint8_t trail_length[kLanes];

  SharedUnit unit[kLanes];  // of lanes that stopped at an atomic: how shared memory would do it
  uint32_t unused = 0;      // lanes whose next atomic's old value nobody looks at

  uint32_t live = 0;     // lanes that have not exited
  uint32_t group = 0;    // lanes that were resumed together last
  uint32_t pending = 0;  // those of them that have not run yet
  uint32_t at_barrier = 0;
  uint32_t at_collective = 0;
  uint64_t group_key = 0;
  uint64_t steps = 0;  // groups formed since the block began or a barrier opened
  bool yielded = false;
  int index = 0;
  bool last_first = false;  // spinning: serve the lanes that wait longest in the order
  WarpOrder order;          // what __syncwarp has ordered, for the race check

  // Lanes that wrote the same word in one instruction: is it the same value? See races.h.
  uint32_t capture = 0;
  uint64_t captured[kLanes];
};

// The launch that the workers run.
struct Grid {
  dim3 grid;
  dim3 block;
  size_t dynamic_shared = 0;
  void (*entry)(void*) = nullptr;
  void* closure = nullptr;
  uint64_t step_budget = 0;
  bool traced = false;
  GridBarrier* barrier = nullptr;  // of a cooperative launch
  uint64_t stride = 1;             // of the blocks, in linear order, every so many is traced
};

inline uint64_t linear_block(dim3 grid, uint3 block) {
  return (uint64_t{block.z} * grid.y + block.y) * grid.x + block.x;
}

// A fault as the lane saw it; described in words later, on a stack that has room.
struct Fault {
  enum class Kind : uint8_t {
    none,
    out_of_bounds,
    misaligned,
    shared_race,
    barrier_divergence,
    invalid_mask,
    hang,
    trap,
    assertion,
    crash,
    shared_out_of_bounds,
    shared_uninitialized,
    grid_barrier,  // that another block never reaches
  };
  Kind kind = Kind::none;
  uint64_t pc = 0;
  uint64_t other_pc =
      0;  // race: of the earlier access. barrier: where the others are, 0 if they exited
  uint64_t address = 0;
  unsigned size = 0;
  bool store = false;
  bool other_store = false;
  uint3 block{};
  uint3 thread{};
  uint3 other_thread{};
  unsigned lanes = 0;  // how many lanes of the warp did it
  const char* text = nullptr;
  const symbols::SharedVariable* missed = nullptr;  // static shared memory: next to what it fell
};

// One OS thread that runs blocks.
class Worker {
 public:
  Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs a block to its end, or until a fault stops it; false if it did.
  bool run_block(const Grid& grid, uint3 block_index);

  Trace trace;                // counts of the launch so far, by program counter
  std::vector<Fault> faults;  // of the launch so far
  uint64_t kernel_pc = 0;     // an address inside the kernel, once known
  void* dynamic_shared() const { return dynamic_shared_; }
  size_t dynamic_shared_size() const { return grid_->dynamic_shared; }
  // How many grid-wide barriers this block has passed. What two blocks do is ordered where it differs.
  BlockExtras extras;
  // The number of the running lane in its block.
  unsigned thread_rank() const { return static_cast<unsigned>(warp_->index * kLanes + lane_); }
  // A barrier that is none of the engine's has let threads of the block go on: what comes after is ordered
  // behind what came before.
  void order_shared() { races_.next_interval(); }
  bool is_cooperative() const { return grid_->barrier; }
  uint32_t grid_epoch() const { return grid_epoch_; }

 private:
  friend struct Hooks;
  friend detail::MemoryKind detail::memory_of(const void*);
  friend uint64_t detail::collective(detail::CollectiveOp, unsigned, uint64_t, int, int);

  // The scheduler: the lane to run next, or -1 if no lane of the warp can.
  int schedule(Warp& warp);
  void stop(Warp& warp, int lane);
  void switch_to(int lane);
  void leave_to_main();
  void run_warp(Warp& warp);
  void lane_main();
  static void fiber_entry();
  Fiber* take_fiber();
  void rebuild(Fiber& fiber);

  void begin_block(const Grid& grid, uint3 block_index);
  void abandon_block();
  bool open_barrier();
  bool pass_grid_barrier();
  void report_deadlock();

  void count_access(Warp& warp, uint32_t group);
  void count_shared(Warp& warp, uint32_t lanes, unsigned size, Stop stop, uint64_t pc,
                    Counts& counts);
  void check_global(Warp& warp, uint32_t lanes, unsigned size, Stop stop, uint64_t pc);
  bool resolve_collectives(Warp& warp);
  void follow_trails(Warp& warp);
  void settle_captures(Warp& warp);

  [[noreturn]] void fail(const Fault& fault);
  void add_fault(const Fault& fault);
  Fault fault_at(Fault::Kind kind, const Warp& warp, int lane) const;

  const Grid* grid_ = nullptr;
  uint3 block_index_{};
  Warp* warp_ = nullptr;    // running now
  int lane_ = -1;           // running now; -1: none, the OS thread's own stack
  Fiber* fiber_ = nullptr;  // running now
  Context main_ = nullptr;
  bool aborted_ = false;
  bool traced_ = false;     // this block
  bool grid_wait_ = false;  // the barrier where the lanes gather is the grid's
  uint32_t grid_epoch_ = 0;
  uint64_t clock_ = 0;
  std::vector<Warp*> warps_;  // made once, used by block after block
  unsigned warp_count_ = 0;   // of this block
  std::vector<Fiber*> free_fibers_;
  unsigned fiber_count_ = 0;
  RaceCheck races_;
  uint64_t last_base_ = 1, last_end_ = 0;  // the allocation hit last
  char* dynamic_shared_ = nullptr;
  uint64_t tls_base_ = 0, tls_size_ = 0;  // static shared memory of this OS thread
  const std::vector<symbols::SharedVariable>&
      variables_;  // read before there are lanes: they have no room
  const symbols::SharedVariable* variable_ = nullptr;  // hit last
  const symbols::SharedVariable* shared_variable(uint64_t offset, unsigned size);
  struct Conflict {
    uint8_t lane, other_lane;
    uint64_t address;
  };
  std::vector<Conflict> conflicts_;  // same word, same instruction
  uint64_t conflict_pc_ = 0;
};

// The worker of this OS thread while it runs a lane, else nullptr.
Worker* current_worker();

// An access of the running lane that no instrumented code makes; nothing on the host or without tracing.
void note_access(const void* address, unsigned size, Stop what, uint64_t pc);

// Ends the kernel with a finding at `pc`, a return address in the kernel.
void trap_at(const char* what, uint64_t pc);

// The program's first address, from which the race check counts program counters.
uint64_t program_base();

}  // namespace simt::engine
