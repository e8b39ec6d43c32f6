/// \file
/// The rules by which the memory accesses of a warp are counted, as an H200 (sm_90) counts them.
///
/// Pure functions of the addresses: no state, no allocation. The scheduler calls them for every warp
/// instruction, the tests for every rule, and the site's explorers use the same rules.
#pragma once

#include <cstdint>

namespace simt {

/// Bytes of a sector, the unit in which global memory moves to L1.
inline constexpr unsigned kSectorBytes = 32;
/// Banks of shared memory, each 4 bytes wide.
inline constexpr unsigned kBanks = 32;

/// What a warp instruction does to shared memory.
enum class SharedAccess {
  load,
  store,
  atomic,            ///< the hardware's own: 32-bit integers, and exchange of any width
  compare_exchange,  ///< 32 or 64 bits
  increment          ///< adds the constant one to 32 bits, with no use of the old value
};

/// The cost of one warp instruction on shared memory.
struct SharedCost {
  unsigned wavefronts = 0;  ///< Passes through the banks.
  unsigned phases = 0;  ///< Passes if no two words had met in a bank: the rest are bank conflicts.
  unsigned ideal = 0;   ///< What Nsight Compute calls ideal: as few passes as the bytes ask for.
  unsigned phase_lanes = 32;  ///< Neighbouring lanes that go through the banks together.
  unsigned reported =
      0;  ///< What it says of this instruction: `wavefronts`, but for loads whose phases may join.
};

/// Counts the distinct sectors that a warp touches.
/// \param addresses 32 byte addresses, one a lane; those of inactive lanes are ignored.
/// \param active bit i is set if lane i takes part.
/// \param size bytes of each lane's access.
/// Source of the rule: the CUDA C++ Programming Guide, device memory accesses; measured on an H200
/// as l1tex__t_sectors_pipe_lsu_mem_global_op_ld/st.
unsigned count_sectors(const uint64_t* addresses, uint32_t active, unsigned size);
/// The same of 32 active lanes at `first`, `first + step`, ...: of one place, a row or a column of a matrix. 0 for other steps.
unsigned count_sectors_in_steps(uint64_t first, uint64_t step, unsigned size);

/// Counts the sectors of an atomic instruction on global memory.
///
/// It goes through L1 in passes. A pass serves up to four lines of 128 bytes, one for each of four sets, and
/// counts the sectors in them. The line of a set is that of its first waiting lane. The lanes of that line
/// take part, except those whose offset within a line is also that of an earlier waiting lane of the set:
/// it compares offsets, not whole addresses. So lanes that name the same address take turns, and 32 lanes on one counter
/// are 32 sectors; and lanes that only look alike are kept apart at times, which costs random addresses in many
/// lines about 2 % more. With n the line's number, bit 0 of the set is the parity of the bits 0, 2 and 4 of n, and
/// bit 1 that of 1, 3 and 4. (Higher bits take part as well, which only moves what looks alike.)
///
/// Measured on an H200 as l1tex__t_sectors_pipe_lsu_mem_global_op_red and _op_atom: 247 patterns of
/// addresses, whose sectors, tag look-ups and wavefronts tell the passes apart.
/// \param addresses 32 byte addresses, one a lane, aligned to the size of the access.
/// \param active bit i is set if lane i takes part.
unsigned count_atomic_sectors(const uint64_t* addresses, uint32_t active);

/// Counts the wavefronts of one warp instruction on shared memory.
///
/// Bank = (byte address / 4) mod 32. Lanes that touch the same 4-byte word are served together. Up to
/// 32 bits, all lanes form one phase; at 64 bits each half-warp is a phase, at 128 bits each
/// quarter-warp. A phase takes as many wavefronts as the fullest bank has distinct words. Loads of 64
/// bits in which every active lane i reads the address of lane i^1, or every one that of lane i^2,
/// take one phase instead of two; those of 128 bits two instead of four. Nsight Compute's source
/// counters decide that for each half of a 128-bit load by itself, and only where one pass is left of two phases:
/// `reported` is 3 where the lanes of one half agree and the hardware, which wants all of them, takes 4.
///
/// The ideal is what the active lanes' bytes would fill, 128 a wavefront, and no more than was taken.
///
/// Atomics serve each lane by itself: a wavefront for every lane of the fullest bank, whether the words
/// differ or not. Compare-and-exchange takes two for each. Adding the constant one with no use of the
/// old value merges lanes of one word, as a store does.
/// \param addresses 32 byte addresses, one a lane, aligned to the size.
/// \param active bit i is set if lane i takes part; no bit set costs nothing.
/// \param size bytes of each lane's access: 1, 2, 4, 8 or 16.
SharedCost count_wavefronts(const uint64_t* addresses, uint32_t active, unsigned size,
                            SharedAccess access);

/// One round of an atomic operation on shared memory that the hardware does not have: additions of
/// floats, and of 64 bits all but exchanges.
struct SpinRound {
  SharedCost load;          ///< Reading the old values.
  unsigned wavefronts = 0;  ///< Of the attempt to replace them; these are ideal by definition.
  uint32_t done = 0;        ///< Lanes that succeeded. The others take part in the next round.
};

/// Counts one round of such a loop: the active lanes load, compute, and try to put the new value in the
/// old one's place. Of the lanes that meet in a bank one succeeds, and of those that name one address one.
/// The attempt takes two wavefronts for each phase with an active lane.
/// \param size 4 or 8
/// Source of the rule: measured on an H200, whose code is LDS and ATOMS.CAST.SPIN in a loop.
SpinRound count_spin_round(const uint64_t* addresses, uint32_t active, unsigned size);

/// The cost of one warp instruction that copies from global to shared memory (cp.async): a load from global
/// memory, but no store, to the hardware's counters; its wavefronts count among all of shared memory only.
struct CopyCost {
  unsigned sectors = 0;     ///< Of global memory.
  unsigned wavefronts = 0;  ///< Passes that write to shared memory.
  unsigned ideal = 0;       ///< As few of these as the bytes ask for.
};

/// Counts an asynchronous copy, as Nsight Compute's source counters do (`memory_l1_wavefronts_shared`). The counter of
/// the pipe itself, l1tex__data_pipe_lsu_wavefronts_mem_shared, knows nothing of these passes where pieces have 16 bytes.
///
/// Pieces of 4 and 8 bytes go through L1. The sectors are those of any load. The lanes of a phase (all of them, or
/// each half-warp) go from the banks in which L1 holds the data, bank = (address / 4) mod 32, to the banks
/// where they belong. Two lanes meet if they share a bank on one side or the other, also where they read the same
/// word. A phase takes as many passes as the lane that meets most has to do with, itself included: 32 lanes that
/// copy one word are 32. (Where lanes meet on one side only, that is the fullest bank.)
///
/// Pieces of 16 bytes pass L1 by, and all lanes go together. A pass moves sectors of one line of 128 bytes into one line
/// of shared memory. It takes a sector from each place and brings one to each; all of them whole, in place or with
/// their halves swapped, or all of them one half, the same one, to the same one; and all by an even number of sectors, or all by
/// an odd one. So neighbours that stay neighbours are 4 passes, swizzled tiles no more, and 32 lanes are 32 passes
/// if no two have lines in common. The sectors are counted where they are written: a sector of shared memory counts
/// once for each line that its bytes come from.
///
/// Lanes that write zeros read no sector. At 16 bytes they take part in the passes as if they had read; at 4 and 8 they
/// have an instruction of their own, with the wavefronts of a store.
///
/// Source of the rule: 530 patterns, measured on an H200: `cp*` in tests/simulator/microkernels, and 492 launches with lanes at
/// random, padded and swizzled tiles, absent lanes and zeros (tests/simulator/agreement/async_copies.cu). It misses one of
/// them, by one pass: five lanes at random.
/// \param from 32 addresses in global memory, one a lane
/// \param to where they go in shared memory
/// \param active the lanes that take part
/// \param zeros those of them that write zeros instead of what is at `from`
/// \param size 4, 8 or 16; all addresses are multiples of it
CopyCost count_copy(const uint64_t* from, const uint64_t* to, uint32_t active, uint32_t zeros,
                    unsigned size);

}  // namespace simt
