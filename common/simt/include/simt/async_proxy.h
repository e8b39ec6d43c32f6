/// \file
/// The asynchronous proxy: what the copy engine does with shared memory, and the mbarriers that count its bytes.
/// No program calls these itself.
#pragma once

#include <simt/api/runtime.h>

#include <cstdint>

namespace simt::detail {

/// An mbarrier's word in shared memory. What the hardware does with it is no access of the thread's.
void mbarrier_init(uint64_t* word, uint32_t count);
void mbarrier_inval(uint64_t* word);
/// `expects`: announces so many bytes first. \return the word before
uint64_t mbarrier_arrive(uint64_t* word, uint32_t count, bool drops, bool expects, uint32_t bytes);
void mbarrier_expect(uint64_t* word, uint32_t bytes);
/// Is the phase over that has this parity (`by_parity`), or that an arrival gave this word for?
bool mbarrier_wait(uint64_t* word, uint64_t phase, bool by_parity);
/// The calling thread's asynchronous copies (cp.async) arrive at the barrier. `counts`: without this the phase would not wait for it.
void copies_arrive(uint64_t* word, bool counts);

/// cp.async.bulk: `size` bytes to shared memory, which are reported to the barrier, and from it. With `blocks` to the same place, and the
/// same barrier, of all blocks of the cluster whose bit is set.
void bulk_load(void* to, const void* from, uint32_t size, uint64_t* barrier, unsigned blocks = 0);
void bulk_store(void* to, const void* from, uint32_t size);
/// The same of a box of a tensor, whose map is at `map`. \param corner of the box, the innermost coordinate first
struct Corner {
  int at[5];
  int rank;
};
void tensor_load(void* to, const void* map, Corner corner, uint64_t* barrier, unsigned blocks = 0);
void tensor_store(const void* map, Corner corner, const void* from);
/// Groups of stores, as those of cp.async. `reads`: only until the engine has read what they store.
void bulk_commit();
void bulk_wait(unsigned kept, bool reads);

/// wgmma.mma_async: sums of 16 rows a warp, and n columns.
struct Wgmma {
  MatrixType type = MatrixType::bf16;
  unsigned n = 0;
  uint64_t a = 0;  ///< descriptors
  uint32_t a_registers[4] = {};
  const void* a_variables[4] = {};  ///< that stand for these registers, or nullptr
  const void* frame = nullptr;      ///< of the function that has the instruction
  uint64_t b = 0;
  bool has_a_in_registers = false;
  bool adds = false;  ///< to the sums so far
  bool negates_a = false, negates_b = false;
  bool turns_a = false, turns_b = false;  ///< Neighbours are elements of one k.
};
/// \param sums the n / 2 variables that stand for the lane's registers. They have a mark until wait_wgmma().
void wgmma(const Wgmma& how, float* const* sums);
void fence_wgmma();
void commit_wgmma();
void wait_wgmma(unsigned kept);

void fence_proxy_async();
/// The program has instructions of this proxy: shared memory keeps who wrote what.
bool use_async_proxy();

}  // namespace simt::detail
