// The execution of blocks: lanes as fibers, warps in lock-step, barriers.
//
// A CUDA thread (a lane of a warp) runs on a fiber of its own. It stops at accesses to memory and at
// every barrier or collective, each stop known by its program counter; at loads only where the lanes of
// its warp may have parted, see Script. When all lanes of a warp have stopped, the scheduler forms the next group: of the waiting
// lanes the deepest call goes first, then the lowest program counter. Lanes that stopped at the same
// access are one warp instruction, and are counted as one request. So lanes diverge and meet again as
// they do on hardware; the basic blocks that a lane passes between two stops tell where. A program compiled with --fast stops at barriers and collectives only.
#pragma once

#include <simt/counting.h>
#include <simt/counts.h>
#include <simt/runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/fault.h"
#include "base/lane_simd.h"
#include "base/symbols.h"
#include "check/block_races.h"
#include "check/shared_races.h"
#include "check/thread_order.h"
#include "check/thread_races.h"
#include "count/count_table.h"
#include "exec/async_state.h"
#include "exec/context.h"
#include "exec/grid_barrier.h"
#include "exec/hang_proof.h"
#include "exec/patience.h"
#include "memory/footprint.h"

namespace simt::engine {

inline constexpr unsigned kMaxBlockThreads = 1024;
// A lane that has entered this many blocks without an access waits for the others.
inline constexpr unsigned kTrail = 16;
inline constexpr unsigned kMaxDynamicShared = 227 * 1024;

// A stack and what runs on it: one lane, and after it another.
struct Fiber {
  Context first = nullptr;  // before anything runs on it
  char* stack = nullptr;    // lowest address
  unsigned color = 0;       // its number, see Worker::rebuild
};

// Which way shared memory takes for an atomic operation; see SharedAccess.
enum class SharedUnit : uint8_t { native, compare_exchange, increment, spin };

// When the compiler lets one lane do an atomic operation for all that name its address.
enum class Merge : uint8_t {
  never,
  unused,      // if nobody looks at the old value
  sum,         // 32-bit sums: also if all bring one value, or if the warp is full
  same_value,  // 64-bit sums: if all bring one value
};

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

// An atomic operation.
struct Update {
  detail::AtomicOp op;
  detail::AtomicType type;
  void* address;
  uint64_t value, compare;
};

// The open calls of each lane.
struct Calls {
  unsigned depth[kLanes];
  uint32_t path[kLanes];  // a hash of the return addresses
  static constexpr unsigned kKnown = 48;
  uint32_t outer_paths[kKnown][kLanes] = {};
};

// What the lanes of a group do between two stops.
//
// Loads wait for nobody as long as all lanes go the same way: no lane can tell when another has loaded.
// The first lane of the group writes down which blocks it enters and what it loads; the others
// follow, each noting its own addresses, until they stop where the first did or come to something
// else. Then the loads are counted one after another, each as one request of those who took part.
struct Script {
  struct Event {
    uint64_t key;
    uint64_t base, last;  // of a load: the memory that may be read, and the highest offset into it
    uint32_t path;
    uint8_t size;    // of a load; 0: a block
    uint8_t loads;   // so many with this one
    uint8_t blocks;  // since the last load, with this one
  };
  static constexpr unsigned kEvents = 48;
  static constexpr unsigned kLoads = 16;

  unsigned length = 0;
  Event event[kEvents];
  uint8_t load[kLoads];  // their places among the events
  alignas(64) uint64_t address[kLoads][kLanes];

  unsigned loads(unsigned events) const { return events ? event[events - 1].loads : 0; }
  unsigned blocks(unsigned events) const { return events ? event[events - 1].blocks : 0; }
};

// A lane's stop, while it is still in the past, at a load that it ran ahead of.
struct Future {
  uint64_t key, address;
  uint32_t path;
  Stop stop;
  uint8_t size;
  bool is_volatile, is_padded;
  uint8_t script_end;
  uint8_t load, loads;  // where it is, and how many there are
};

// An index outside its array, as the compiler's check saw it ahead of the access.
struct WrongIndex {
  uint64_t pc;
  int64_t index;
  const char* array;  // "'int [8]'"
};

// What a lane did after a load that it ran ahead of, and what must not be known before that one is counted:
// it printed `text`, or computed an index outside its array, or an address that is not aligned.
struct Later {
  int lane;
  unsigned load;  // its place in the script
  char* text = nullptr;
  WrongIndex index = {};
  uint64_t misaligned = 0;
};

// Arrays over lanes, because the scheduler reads one field of all 32.
struct Warp {
  alignas(64) uint64_t key[kLanes];
  alignas(64) uint64_t address[kLanes];
  uint32_t path[kLanes];
  Stop stop[kLanes];
  uint8_t size[kLanes];
  bool is_volatile[kLanes];
  bool is_padded[kLanes];  // part of a larger access, of which only some bytes have been written
  uint64_t parked_key[kLanes];  // of lanes at a barrier or a collective
  uint3 thread[kLanes];
  Fiber* fiber[kLanes];
  alignas(64) Context context[kLanes] = {};  // nullptr: the lane has no fiber
  Calls calls;
  Exchange exchange[kLanes];
  uint32_t waking = 0;  // lanes that have more to do when they go on: they take the result of one,
  uint32_t entering = 0;        // or, those of these,
  uint64_t entry_key[kLanes];   // enter this block
  uint32_t updating = 0;        // or carry out
  Update update[kLanes];        // this
  uint32_t outside_kernel = 0;  // lanes whose outermost known call was not the kernel's
  int predicate[kLanes];        // of __syncthreads_count and its like

  // The basic blocks that each lane of the group has entered since its last access, as keys: first
  // those of a part of the script, then its own.
  uint64_t position[kLanes];  // the last of its own, or of the lane's stops
  uint8_t script_begin[kLanes] = {}, script_end[kLanes] = {};
  alignas(64) uint64_t trail[kTrail][kLanes];
  uint32_t trail_hash[kLanes];
  uint8_t trail_length[kLanes];

  Script script;
  bool scripted = false;  // the group runs by it
  uint32_t together = 0;  // the lanes of the group, if all came the same way
  uint32_t ahead = 0;     // lanes that stand at a load of the script, and have run to their future
  Future future[kLanes];
  std::vector<Later> later;  // in the order of the lanes

  uint32_t copying = 0;     // lanes that stopped at an asynchronous copy to `address`
  uint64_t source[kLanes];  // of these: what they copy
  uint32_t zeroing = 0;     // of these: lanes that write zeros instead, and read nothing

  SharedUnit unit[kLanes];      // of lanes that stopped at an atomic: how shared memory would do it
  uint32_t unused = 0;          // lanes whose next atomic's old value nobody looks at
  uint32_t same_address = 0;    // lanes whose next atomic names the address that all lanes name
  uint32_t same_value = 0;      // ... and brings the value that all bring
  uint32_t merged = 0;          // lanes that stopped at an atomic which one lane does for all
  uint32_t merged_if_full = 0;  // ... if all 32 lanes take part

  uint32_t live = 0;                // lanes that have not exited
  uint32_t born = 0;                // lanes that there are
  uint32_t live_then[kLanes] = {};  // of lanes at a collective: who had not exited when they came
  uint32_t group = 0;               // lanes that were resumed together last
  uint32_t pending = 0;             // those of them that have not run yet
  uint32_t at_barrier = 0;
  uint32_t at_collective = 0;
  uint64_t group_key = 0;
  // Groups formed since the block began, a barrier opened, or it came to new addresses.
  uint64_t steps = 0;
  uint64_t lowest = 0, highest = 0;  // addresses that it came to, now and then
  bool touched = false;              // memory, since they were looked at
  bool yielded = false;
  int index = 0;
  bool last_first = false;  // spinning: serve the lanes that wait longest in the order
  WarpOrder order;          // what __syncwarp has ordered, for the race check

  // Indices whose accesses are still to come. Nobody sees the accesses to a thread's own arrays.
  uint32_t has_wrong_index = 0;
  std::vector<WrongIndex> wrong_index[kLanes];
  uint32_t constructing = 0;  // lanes that run the constructor of a shared variable: see is_guard()
  bool has_pieces = false;    // one place may load, store, and in different sizes: access_pieces()
  uint32_t has_misaligned = 0;
  uint64_t misaligned[kLanes];  // an address that is no multiple of what its type needs
  bool is_misaligned(int lane) const {
    return (has_misaligned >> lane & 1) && misaligned[lane] == address[lane];
  }

  // Lanes that wrote the same word in one instruction: is it the same value? See races.h.
  uint32_t capture = 0;
  uint64_t captured[kLanes];

  // Lanes that have read shared memory which nobody had written, and have stored nothing since. What they
  // store may come of it.
  uint32_t doubtful = 0;
  uint8_t doubt_number[kLanes];  // which such read: Worker::doubts_, from 1
  void doubt(int lane, uint8_t number) {
    if (!number) return;
    doubtful |= 1u << lane;
    doubt_number[lane] = number;
  }
};

// The launch that the workers run.
struct Grid {
  dim3 grid;
  dim3 block;
  size_t dynamic_shared = 0;
  void (*entry)(void*) = nullptr;
  void* closure = nullptr;
  uint64_t kernel = 0;  // where it begins; 0: unknown, or the thread does more than to call it
  uint64_t step_budget = 0;
  bool traced = false;
  bool run_ahead = true;       // see Script
  bool checks_blocks = false;  // races between blocks, and global memory that nobody has written
  GridBarrier* barrier = nullptr;  // of a cooperative launch
  Standstill* standstill = nullptr;
  uint64_t stride = 1;  // of the blocks, in linear order, every so many is traced
};

// One OS thread that runs blocks.
class Worker {
 public:
  Worker();
  // Called on the OS thread that runs it. A thread may end, and a later one have its id and this worker.
  void attach();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs a block to its end, or until a fault stops it; false if it did.
  bool run_block(const Grid& grid, uint3 block_index);

  Trace trace;                // counts of the launch so far, by program counter
  std::vector<Fault> faults;  // of the launch so far
  std::vector<BlockRace> block_races;
  GlobalCheck global;
  RaceCheck races;           // of shared memory
  ThreadRaces thread_races;  // of the block's threads in global memory
  Effects effects;           // of the launch so far
  uint64_t kernel_pc = 0;    // an address inside the kernel, once known
  void* dynamic_shared() const { return dynamic_shared_; }
  size_t dynamic_shared_size() const { return grid_->dynamic_shared; }
  BlockExtras extras;
  // The number of the running lane in its block.
  unsigned thread_rank() const {
    return plain_ ? plain_thread() : static_cast<unsigned>(warp_->index * kLanes + lane_);
  }
  // A barrier that is none of the engine's has let threads of the block go on: what comes after is ordered
  // behind what came before.
  void order_shared() {
    races.next_interval();
    thread_races.next_interval();
  }
  bool is_cooperative() const { return grid_->barrier; }
  // The running lane has begun a copy to shared memory, and one has arrived. In between nobody may read there.
  void copy_begins(const void* to, unsigned size);
  void copy_arrives(const void* to, unsigned size);

 private:
  friend struct Hooks;
  friend detail::MemoryKind detail::memory_of(const void*);
  friend uint64_t detail::collective(detail::CollectiveOp, unsigned, uint64_t, int, int, int);

  // The scheduler: the lane to run next, or -1 if no lane of the warp can.
  int schedule(Warp& warp);
  int form_group(Warp& warp);
  void begin_script(Warp& warp, uint32_t lanes);
  void settle_script(Warp& warp);
  void replay_in_step(Warp& warp);
  void go_back(Warp& warp);
  void advance(Warp& warp, uint32_t lanes);
  void stand_at_load(Warp& warp, int lane);
  void settle_later(Warp& warp, uint32_t lanes, unsigned load);
  void learn(Warp& warp, uint64_t key, uint32_t group, Stop what);
  bool load_ahead(Warp& warp, int lane, uint64_t key, uint64_t address, unsigned size);
  void stop(Warp& warp, int lane);
  int next_lane(Warp& warp, int lane);
  template <class Result>
  Result stop_and_return(Warp& warp, int lane);
  uint64_t prepare(Warp& warp, int lane);
  uint64_t wake(Warp& warp, int lane);
  void switch_to(Warp& warp, int lane);
  void leave_to_main();
  void run_warp(Warp& warp);
  void lane_main();
  void exit_lane();  // returns to nobody
  static void fiber_entry();
  Fiber* take_fiber();
  Fiber* make_fiber();
  void rebuild(Fiber& fiber);
  void free_fiber(Fiber& fiber);

  void begin_block(const Grid& grid, uint3 block_index);
  void begin_warps();
  void run_plain();
  bool run_threads();
  unsigned plain_thread() const;  // the running one, linear
  void leave_plain();
  void abandon_block();
  bool open_barrier();
  bool pass_grid_barrier();
  void report_deadlock();
  void report_hang(const Warp& warp, uint64_t key, uint64_t steps);
  bool goes_in_circles();
  bool takes_too_long();
  void watch_access(Warp& warp, uint32_t lanes);
  void settle_stores();
  uint64_t state_of_lanes() const;

  void count_access(Warp& warp, uint32_t group);
  void count_copy(Warp& warp, uint32_t lanes);
  static uint32_t atomic_lanes(const Warp& warp, uint32_t lanes);
  void count_shared(Warp& warp, uint32_t lanes, const Span& span, unsigned size, Stop stop,
                    uint64_t pc, Counts& counts);
  bool is_sound_shared(const Span& span, unsigned size);
  const SharedCost& cost_of(const TwoRows& rows, const uint64_t* addresses, Stop what);
  void check_global(Warp& warp, uint32_t lanes, const Span& span, unsigned size, Stop stop,
                    uint64_t pc);
  bool check_blocks(Warp& warp, uint32_t lanes, unsigned size, bool are_words, Stop stop,
                    uint64_t pc);
  void check_threads(Warp& warp, uint32_t lanes, const Span& span, unsigned size, Stop what,
                     uint64_t pc, bool again);
  void check_each_thread(Warp& warp, const GlobalRequest& request);
  void check_written(Warp& warp, uint32_t lanes, unsigned size, Stop stop, uint64_t pc);
  void report_clash(Warp& warp, uint32_t lanes, Touch kind, uint64_t pc, const Note& clash,
                    uint64_t sector, int first, int last);
  void add_block_race(const BlockRace& race);
  bool is_partly_written(uint64_t address, uint64_t size) const;
  void settle_global();
  bool resolve_collectives(Warp& warp);
  void check_exited(Warp& warp, uint32_t members, uint32_t mask);
  void report_exited(Warp& warp, int lane, int other, const char* text);
  void follow_trails(Warp& warp);
  void enter_late(Warp& warp, int lane);
  void note_entry(int lane, uint64_t pc);
  void leave_trail(Warp& warp, int lane, uint64_t key, unsigned length);
  void settle_captures(Warp& warp);
  bool settle_wrong_index(Warp& warp, int lane, unsigned size);
  void report_wrong_indices(Warp& warp, int lane);
  void report_wrong_indices_of_exited(Warp& warp);
  static void note(Warp& warp, const Later& later);
  uint8_t note_doubt(const Fault& fault);
  void settle_doubts(Warp& warp, uint32_t lanes);

  [[noreturn]] void fail(const Fault& fault);
  void add_fault(const Fault& fault);
  Fault fault_at(Fault::Kind kind, const Warp& warp, int lane) const;
  void doubt_words(uint64_t address, unsigned size, uint8_t number);
  Fault shared_fault_at(Fault::Kind kind, const Warp& warp, int lane, uint64_t address);

  const Grid* grid_ = nullptr;
  uint3 block_index_{};
  Warp* warp_ = nullptr;  // running now
  int lane_ = -1;         // running now; -1: none, the OS thread's own stack
  Context main_ = nullptr;
  bool aborted_ = false;

  // Of the lane that runs: the next event of the script and where it ends for this lane.
  unsigned cursor_ = 0, script_end_ = 0;
  bool leads_ = false;  // it writes the script
  uint64_t limit_ = 0;  // the lowest key of lanes outside of the group: they go first there
  uint64_t stored_begin_ = 0,
           stored_bytes_ = 0;  // where lanes of the group may still have to store
  bool traced_ = false;        // this block
  uint64_t entry_pc_ = 0;      // what the kernel's own call is known by; 0: not known yet

  // A block that is not traced begins as a plain loop over its threads, on one stack. The first thread
  // that has to wait for others ends that: from there on every thread is a fiber.
  bool plain_ = false;
  Fiber* plain_fiber_ = nullptr;
  Context plain_context_ = nullptr;
  unsigned turns_ = 0, turns_of_ = 0;  // so often this thread has done what one does that spins
  void (*waited_)(void*) = nullptr;    // the kernel in which a thread had to wait last

  Circle circle_;
  Patience patience_;
  bool grid_wait_ = false;  // the barrier where the lanes gather is the grid's
  uint64_t clock_ = 0;
  std::vector<Warp*> warps_;  // made once, used by block after block
  uint3 extent_{};            // of the block whose threads they know
  unsigned warp_count_ = 0;   // of this block
  struct FiberPool {
    std::array<Fiber*, kMaxBlockThreads + 1> free_fibers;
    unsigned free_count = 0;
    char* next_stack = nullptr;  // of those that are mapped, but no fiber's yet
    uint64_t stacks_left = 0;
    unsigned fiber_count = 0;
  };
  FiberPool pools_[2];  // of small stacks and of large ones
  FiberPool* pool_ = pools_;
  struct Range {
    uint64_t begin = 1, end = 0;
    bool written = false;  // all of it
  };
  std::array<Range, 4> ranges_;  // of global memory, hit before
  unsigned next_range_ = 0;
  uint64_t ranges_version_ = 0;
  const Range* global_range(uint64_t address, unsigned size);
  uint32_t fresh_ = 0;  // lanes of an access to memory that is not all written
  // Until the lanes have run: stores that clash with another block, and what they read of its flags.
  struct Unsettled {
    BlockRace race;
    uint64_t before;
    bool is_sure;  // that `before` has what the other block stored
  };
  struct Flag {
    uint64_t line, bytes;
  };
  std::vector<Unsettled> unsettled_;
  std::vector<Flag> flags_;
  // Odd from when a store is noted for the other workers to when it has been carried out: see await_stores().
  std::atomic<uint64_t> storing_{0};
  std::atomic<bool> awaits_{false};
  Worker* next_ = nullptr;  // of all workers there are, the newest first
  void begin_stores();
  void end_stores();
  bool await_stores();
  char* dynamic_shared_ = nullptr;
  void* signal_stack_ = nullptr;
  uint64_t tls_base_ = 0, tls_size_ = 0;  // static shared memory of this OS thread
  const std::vector<symbols::SharedVariable>&
      variables_;  // read before there are lanes: they have no room
  const std::vector<symbols::Guard>& guards_;
  // True if g++ notes there whether it has run the constructor of a shared variable, which is to do nothing.
  bool is_guard(uint64_t address, Stop what);
  const symbols::SharedVariable* variable_ = nullptr;  // hit last
  const symbols::SharedVariable* shared_variable(uint64_t offset, unsigned size);
  bool is_in_use(const symbols::SharedVariable& variable) const;
  // What requests in regular steps have cost before.
  struct KnownCost {
    uint32_t apart = 0, step = 0, words = 0;
    Stop what = Stop::resume;
    SharedCost cost;
  };
  KnownCost known_costs_[32];
  struct Conflict {
    uint8_t lane, other_lane;
    bool same_instruction;
    bool is_global;
    uint8_t size;
    uint64_t address;
    uint64_t before;  // what an earlier instruction has written there
    uint64_t pc, other_pc;
    uint3 other_thread;
  };
  ThreadOrder thread_order_;
  std::vector<Conflict> conflicts_;  // two that write the same word
  static constexpr size_t kMostDoubts = 255;
  std::vector<Fault> doubts_;  // reads of shared memory that nobody in this block had written
};

// Before a launch: stacks that are large enough for this kernel's own arrays.
void choose_stacks(uint64_t kernel);

// The worker of this OS thread while it runs a lane, else nullptr.
Worker* current_worker();

// The running lane does something that shows beyond its stores: it prints, allocates, ...
void show_effect();
// What a lane prints after loads that it ran ahead of comes out when the others have come as far.
bool has_run_ahead();
void print_later(char* text);  // from malloc()
// For whatever orders accesses, or frees memory, without being an access itself: waits for the other lanes,
// so that what the running one has loaded so far is counted and checked before.
void catch_up(uint64_t pc);

// An access of the running lane that no instrumented code makes; nothing on the host or without tracing.
void note_access(const void* address, unsigned size, Stop what, uint64_t pc);
// An asynchronous copy of the running lane, from global memory to shared memory, or of zeros to there.
void note_copy(const void* to, const void* from, unsigned size, bool zeros, uint64_t pc);

// Ends the kernel with a finding at `pc`, a return address in the kernel.
void trap_at(const char* what, uint64_t pc);

}  // namespace simt::engine
