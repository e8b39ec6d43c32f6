// What a lane has done wrong, as it saw it; report/describe.h puts it into words.
#pragma once

#include <vector_types.h>

#include <array>
#include <cstdint>

#include "program/symbols.h"

namespace simt::engine {

// The number of a block in its grid, in the order of launches.
inline uint64_t linear_block(dim3 grid, uint3 block) {
  return (uint64_t{block.z} * grid.y + block.y) * grid.x + block.x;
}

// Described in words later, on a stack that has room.
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
    global_race,
    global_uninitialized,
    array_out_of_bounds,
    local_out_of_bounds,
    constant_write,
    stack_overflow,
    division_by_zero,
    exited_lane,
    absent_lane,             // whose value a broadcast asks for, and which its mask does not name
    exited_thread,           // before a barrier that others reach
    constant_uninitialized,  // `other_store`: something was copied to the variable
    proxy_fence,  // that is missing between a thread's write and what the copy engine or wgmma reads
    pending_register,  // of wgmma: a sum that a thread touches before it is there, or (`text`) one of A that it overwrites
    closed_memory,  // of another device
    other_swizzle,  // of a descriptor: `size` bytes, and the bulk copy's has `lanes`
    absent_block,   // of the cluster, whose shared memory a thread accesses; `cause` says which way
  };
  Kind kind = Kind::none;
  // Of a race between threads of a block. Update: several read an element, and write it. In place: a thread reads what another
  // overwrites in the same step. Lock: an update by threads that hold one, which orders nothing. Of one between blocks: an atomic operation has the scope of the block. Barrier: a thread
  // arrives at one that another initialises.
  // Of what a bulk copy has yet to bring. No bytes: its barrier's phase ends without them. Parity: a wait for the phase before let
  // the thread pass. Stage in use: of a bulk copy to what threads still read. Source in use: a thread
  // writes to what a store of the copy engine still reads.
  enum class Cause : uint8_t {
    unknown,
    in_place,
    update,
    lock,
    scope,
    barrier,
    no_bytes,
    parity,
    stage_in_use,
    source_in_use,
    store_under_way,  // of a race between blocks: a store of the copy engine that nobody has waited for
    store_read,       // ... but until it was read
    not_begun,        // of an absent block
    exited
  };
  Cause cause = Cause::unknown;
  uint64_t pc = 0;
  // Race: of the earlier access. Barrier: where the others are, 0 if they exited. Exited thread: where it left the kernel.
  uint64_t other_pc = 0;
  // Hang: that of memory which the host can write, if it is read again and again; else 0. Exited thread: the program
  // counter before it left.
  uint64_t address = 0;
  bool host_waits = false;  // hang: the host has gone on after the launch, and waits for it now
  uint64_t not_begun = 0;   // hang: so many blocks
  unsigned size = 0;
  bool store = false;  // atomic operations among them
  bool atomic = false;
  bool other_store = false;
  uint3 block{};
  uint3 thread{};
  uint3 other_thread{};
  bool same_block = false;   // global race: of two threads of one block; else
  uint64_t other_block = 0;  // the linear index in
  dim3 grid;                 // this grid
  int device = 0;            // of the kernel
  int other_device = -1;     // global race: of the other block, if that is of another launch
  int rank = -1;             // in the cluster, of the other block whose shared memory it is
  int other_rank = -1;       // ... and of the other thread's block
  unsigned lanes = 0;        // how many lanes of the warp did it
  bool again = false;        // and warps after it: `lanes` are of all of them
  const char* text = nullptr;
  // Of an asynchronous copy: the last wait that leaves it under way, or 0; and how many groups a wait may leave.
  uint64_t wait_pc = 0;
  unsigned may_leave = 0;
  // Static shared memory: the array that holds the address, or beside which it fell; else it is dynamic. The
  // address counts from the start of either memory, and `limit` is how many bytes of the latter there are. Of a
  // hang it is how many steps the warp was given; 0: more would not help. At a barrier of PTX: for how many threads that is, `size`
  // its number, `lanes` how many have come. At an mbarrier: `lanes` of `size` arrivals are missing in the phase `may_leave`, and
  // `other_block` of `not_begun` announced bytes have come; `store` is the parity that is waited for, if `other_store`.
  const symbols::SharedVariable* variable = nullptr;
  uint64_t limit = 0;
  // Of a hang at an mbarrier: where the last arrival was, and others that wait for another mbarrier, or the other parity.
  uint64_t arrival_pc = 0;
  struct Waiting {
    uint64_t pc = 0;
    uint3 thread{};
    uint64_t address = 0, parity = 0, phase = 0;
    unsigned missing = 0, expected = 0;
    uint64_t arrived = 0, announced = 0;  // bytes
  };
  Waiting waiting[2] = {};
  // Of a hang at setmaxnreg: what a thread of each warpgroup has, or waits for; `size` registers, with which the block has `not_begun`.
  std::array<uint16_t, 8> registers{};
};

// Does the kernel end there? After a race, or a read of memory before anyone wrote there, it goes on.
inline bool ends_the_kernel(Fault::Kind kind) {
  return kind != Fault::Kind::shared_race && kind != Fault::Kind::shared_uninitialized &&
         kind != Fault::Kind::global_race && kind != Fault::Kind::global_uninitialized &&
         kind != Fault::Kind::division_by_zero && kind != Fault::Kind::exited_lane &&
         kind != Fault::Kind::absent_lane && kind != Fault::Kind::exited_thread &&
         kind != Fault::Kind::proxy_fence && kind != Fault::Kind::constant_uninitialized;
}

}  // namespace simt::engine
