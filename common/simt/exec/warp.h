// The state of a warp: where its lanes stand, and what each part of exec keeps about them.
//
// Arrays over lanes, because the scheduler reads one field of all 32. Each part resets itself when a block begins.
#pragma once

#include <simt/api/runtime.h>

#include <cstdint>
#include <vector>

#include "base/lane_simd.h"
#include "base/request.h"
#include "check/warp_checks.h"
#include "fibers/fiber_pool.h"

namespace simt::engine {

// Why a lane stands still.
enum class StopReason : uint8_t { resume, load, store, atomic, collective, barrier };
static_assert(static_cast<int>(StopReason::load) == static_cast<int>(Access::load) &&
              static_cast<int>(StopReason::store) == static_cast<int>(Access::store) &&
              static_cast<int>(StopReason::atomic) == static_cast<int>(Access::atomic));

// A lane's key: what orders the waiting lanes. The smallest goes first: the deepest call, then the lowest program counter.
inline constexpr uint64_t kNotWaiting = ~uint64_t{0};
inline constexpr unsigned kMostDepth = 0xfffe;
inline constexpr uint64_t make_key(unsigned depth, uint64_t pc) {
  return static_cast<uint64_t>(kMostDepth - depth) << 48 | pc;
}
// Of a lane that has not run yet.
inline constexpr uint64_t kStart = make_key(0, 1);
inline uint64_t key_pc(uint64_t key) { return key & 0xffff'ffff'ffff; }

// When the compiler lets one lane do an atomic operation for all that name its address.
enum class Merge : uint8_t {
  never,
  unused,      // if nobody looks at the old value
  sum,         // 32-bit sums: also if all bring one value, or if the warp is full
  same_value,  // 64-bit sums: if all bring one value
};

// What a lane brings to a collective of its warp, and takes from it.
struct Exchange {
  detail::CollectiveOp op;
  unsigned mask;
  uint64_t value;
  int operand;
  int width;
  uint64_t result;
};

// An instruction that all lanes of a warp carry out together: each brings its operands, and `run` is called with those of all.
struct WholeWarp {
  void (*run)(WholeWarp* const* lanes);
};
// Why it could not be.
inline constexpr uint64_t kTooFewLanes = 1, kOtherInstruction = 2;

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

  void reset();
};

// What the lanes of a group do between two stops.
//
// Loads wait for nobody as long as all lanes go the same way: no lane can tell when another has loaded.
// The first lane of the group fills the queue with the blocks that it enters and with what it loads; the others
// follow it, each noting its own addresses, until they stop where the first did or come to something
// else. Then the loads are counted one after another, each as one request of those who took part.
struct LoadQueue {
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

// Where a lane stands, out of the arrays of its warp.
struct LaneStop {
  uint64_t key, address;
  uint32_t path;
  StopReason stop;
  uint8_t size;
  bool is_volatile, is_padded;
  uint8_t queue_end;
};

// A lane's stop, while it is still in the past, at a load that it ran ahead of.
struct PendingStop {
  LaneStop stop;
  uint8_t load, loads;  // where it is, and how many there are
};

// What a lane did after a load that it ran ahead of, and what must not be known before that one is counted:
// it computed an index outside its array, or an address that is not aligned.
struct DeferredEffect {
  int lane;
  unsigned load;  // its place in the load queue
  WrongIndex index = {};
  uint64_t misaligned = 0;
};

// The basic blocks that each lane of the group has entered since its last access, as keys: first those of a part of
// the queue, then its own.
struct Trail {
  // A lane that has entered so many without an access waits for the others.
  static constexpr unsigned kMost = 16;
  uint64_t position[kLanes];  // the last of its own, or of the lane's stops
  uint8_t queue_begin[kLanes] = {}, queue_end[kLanes] = {};
  alignas(64) uint64_t block[kMost][kLanes];
  uint32_t hash[kLanes];
  uint8_t length[kLanes];

  void reset();
};

// Asynchronous copies, and rows of matrices.
struct Copies {
  uint32_t lanes = 0;       // those that stopped at one, to their `address`
  uint64_t source[kLanes];  // what they copy
  uint32_t zeros = 0;       // those that write zeros instead, and read nothing
  uint32_t rows = 0;        // those that stopped at a row of a matrix

  void reset() { lanes = zeros = rows = 0; }
};

// Atomic operations: how the hardware does them.
struct Atomics {
  SharedUnit unit[kLanes];      // of lanes that stopped at one: how shared memory would do it
  uint32_t unused = 0;          // lanes whose next one's old value nobody looks at
  uint32_t same_address = 0;    // lanes whose next one names the address that all lanes name
  uint32_t same_value = 0;      // ... and brings the value that all bring
  uint32_t merged = 0;          // lanes that stopped at one which one lane does for all
  uint32_t merged_if_full = 0;  // ... if all 32 lanes take part
  uint32_t within_block = 0;    // lanes whose next atomic access has the scope of the block

  void reset() { unused = same_address = same_value = merged = merged_if_full = within_block = 0; }
};

// A warp that makes no progress: see Worker::form_group().
struct Progress {
  // Groups formed since the block began, a barrier opened, or it came to new addresses.
  uint64_t steps = 0;
  uint64_t lowest = ~uint64_t{0}, highest = 0;            // addresses that it came to, now and then
  uint64_t told_lowest = ~uint64_t{0}, told_highest = 0;  // ... when it last got on by far
  bool touched = false;                                   // memory, since they were looked at
  bool polled = false,
       polls = false;  // atomic or volatile accesses since then, and in the slice before
  bool yielded = false;
  bool last_first = false;  // spinning: serve the lanes that wait longest in the order

  void reset() { *this = {}; }
};

// Where the first lane left the kernel, and where it was before; see Worker::exit_lane(). The others leave no trace: most warps
// end with all of them.
struct FirstExit {
  int lane;
  uint64_t pc, before;
};

struct Warp {
  // Where each lane stands.
  alignas(64) uint64_t key[kLanes];
  alignas(64) uint64_t address[kLanes];
  uint32_t path[kLanes];
  StopReason stop[kLanes];
  uint8_t size[kLanes];
  bool is_volatile[kLanes];
  // Part of a larger access, of which only some bytes have been written; or an atomic exchange whose old value nobody looks at.
  bool is_padded[kLanes];
  uint64_t parked_key[kLanes];  // of lanes at a barrier or a collective
  uint3 thread[kLanes];
  FirstExit first_exit;
  Fiber* fiber[kLanes];
  alignas(64) Context context[kLanes] = {};  // nullptr: the lane has no fiber

  uint32_t live = 0;     // lanes that have not exited
  uint32_t born = 0;     // lanes that there are
  uint32_t group = 0;    // lanes that were resumed together last
  uint32_t pending = 0;  // those of them that have not run yet
  uint64_t group_key = 0;
  uint32_t at_barrier = 0;
  uint32_t at_collective = 0;
  uint32_t live_then[kLanes] = {};  // of lanes at a collective: who had not exited when they came

  // What is left to do of what a lane stopped for: lanes that have more to do when they go on take the result of
  // an exchange, or enter a block, or carry out an atomic operation.
  uint32_t waking = 0;
  uint32_t entering = 0;
  uint64_t entry_key[kLanes];
  uint32_t updating = 0;
  Update update[kLanes];
  Exchange exchange[kLanes];
  int predicate[kLanes];  // of __syncthreads_count and its like

  Calls calls;
  uint32_t outside_kernel = 0;  // lanes whose outermost known call was not the kernel's
  uint32_t constructing = 0;    // lanes in the constructor of a shared variable: see is_guard()
  // One place may load, store, and in different sizes: Hooks::access_pieces().
  bool has_pieces = false;
  bool has_marked = false;  // some access was volatile or padded
  bool has_waited = false;  // some lanes have been at a barrier or a collective
  bool has_begun = false;   // its lanes have been let run
  // The block before was passed: each lane came straight to the end of the kernel, the way of the first. Then the arrays are
  // as they were when it began, but for the keys.
  bool was_passed = false;
  bool has_stray = false;  // of the lanes that have exited, one went another way

  Trail trail;
  LoadQueue queue;
  bool runs_ahead = false;  // the group uses it
  uint32_t together = 0;    // the lanes of the group, if all came the same way
  uint32_t ahead = 0;       // lanes at a load of the queue, which have run to their pending stop
  PendingStop pending_stop[kLanes];
  std::vector<DeferredEffect> deferred;  // in the order of the lanes

  Copies copies;
  Atomics atomics;
  Progress progress;
  WarpChecks checks;

  Warp() { checks.thread = thread; }
  // A block begins, in which the warp has this number and so many lanes.
  void reset(unsigned number, unsigned lanes);

  // Of lanes that have all exited without a stop: has none loaded, or gone another way than the first?
  bool is_passed() const {
    return runs_ahead && !has_stray && !queue.loads(queue.length) && !checks.has_wrong_index &&
           deferred.empty();
  }

 private:
  void reset_arrays(unsigned lanes);
};

}  // namespace simt::engine
