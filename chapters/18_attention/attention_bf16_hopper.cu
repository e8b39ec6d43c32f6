// ## BF16 on Hopper (second reading)
//
// ```{drawing} turns
// ```
//
// Beside Hopper's tensor cores a softmax takes long. For a tile of 128 queries and 128 keys with 128 columns, an SM's tensor cores need
// 2,048 cycles for both products, and its special function units 1,024 for 16,384 powers of two. One after the other, that would leave
// the tensor cores idle for a third of the time at least.
//= 2,048 cycles: 4 * 128 ** 3 / 4096
//= 1,024 for 16,384: (128 * 128 / 16, 128 * 128)
//
// Within a warpgroup the softmax depends on the first product, and the second one on the softmax. So the work that fills the gap has
// to be that of another warpgroup, and it has to come at the right time: they take turns.
//
// `wgmma` takes its left operand from registers, too, and its sums lie as those of `mma.sync`: the weights stay where they are once
// more. Queries, keys and values come by the TMA, in boxes of 64 columns (chapter 17). Each rung changes one thing.
//
// - `boxes`: one thread requests boxes, one {term}`warpgroup` computes, with 64 queries.
// - `two_groups`: two warpgroups use the same tiles of K and V. While one makes weights, the other may multiply; nothing enforces it.
// - `turns`: named barriers do. In its turn a warpgroup issues the products with this tile's keys and the last tile's values.
// - `ahead`: a softmax begins while the products with the last values still run: `wait_group 1` where `turns` has 0.
// - `three_groups`: heads of 64 columns leave registers and shared memory for a third warpgroup.
// - `persistent`: {term}`blocks stay <persistent block>`, one for each SM, and request the next item's queries before this output has left.
// - `dealt_items`: the host decides which block computes what, so that each has as much to do.
//
//? in_turn: `ahead` has a variant without turns: a softmax may begin early, and nothing orders the warpgroups. What
//?   becomes of the rate for heads of 64 columns, 4096 positions and no mask?
//? choices: it is better | within 5 per cent | it drops by more
//? answer: {"it is better": rate("ahead/bf16,d=64,short,full,no_turns") > 1.05 * rate("ahead/bf16,d=64,short,full"),
//?   "within 5 per cent": 0.95 < rate("ahead/bf16,d=64,short,full,no_turns") / rate("ahead/bf16,d=64,short,full") < 1.05,
//?   "it drops by more": rate("ahead/bf16,d=64,short,full,no_turns") < 0.95 * rate("ahead/bf16,d=64,short,full")}
//
// It drops, to 389 TFLOP/s from 436. All four combinations ran at the same clock here: 399 with neither, 440 with turns alone, and
// these two. For 128 columns, where the clock is lower and not the same, it is 578 beside 615.
//= it is 578 beside 615: (rate("ahead/bf16,d=128,short,full,no_turns") / 1000, rate("ahead/bf16,d=128,short,full") / 1000)
//= 399 with neither, 440 with turns alone: (rate("two_groups/bf16,d=64,short,full") / 1000, rate("turns/bf16,d=64,short,full") / 1000)
//= to 389 TFLOP/s from 436: (rate("ahead/bf16,d=64,short,full,no_turns") / 1000, rate("ahead/bf16,d=64,short,full") / 1000)
//
// ### Registers
//
// How many registers a thread needs decides the tile. It has 64 scores, 64 sums and 32 registers of weights at the same time: the weights
// of the last tile are operands while the scores of this one are made. `setmaxnreg` gives 240 to each thread that computes.
//= 64 scores, 64 sums and 32: (64 * 128 / 128, 64 * 128 / 128, 64 * 128 / 128 / 2)
//
// A wgmma reads and writes registers while the program goes on. Where ptxas cannot tell that nothing touches them before the wait, it
// waits after each instruction, and says "wgmma.mma_async instructions are serialized". So `are_ready` stands behind each wait.

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hopper.h"
#include "items.h"
#include "lab/lab.h"

/// A block's tiles: GROUPS warpgroups with 64 queries each, and BN keys; SLOTS tiles of keys or values are in shared memory.
template <int D_, int BN_, int GROUPS_, int SLOTS_>
struct Blocking {
  static constexpr int D = D_, BN = BN_, GROUPS = GROUPS_, SLOTS = SLOTS_, BM = 64 * GROUPS;
  static constexpr int THREADS = 128 * (1 + GROUPS);
  static constexpr unsigned Q_BYTES = 2 * BM * D, SLOT_BYTES = 2 * BN * D, ALIGNMENT = 1024;
  static constexpr unsigned BYTES = Q_BYTES + SLOTS * SLOT_BYTES + ALIGNMENT;
  /// Registers of a thread that only loads, and of one that computes: at most 65536 for all.
  static constexpr int FEW = GROUPS == 3 ? 32 : 24, MANY = GROUPS == 3 ? 160 : 240;
};

/// What distinguishes the rungs' kernels.
struct How {
  bool takes_turns;  ///< one warpgroup after the other issues its products
  bool ahead;        ///< a softmax begins before the products with the last values are complete
};

/// Requests what the block's items need: queries, and tiles of K and V from the last that a query sees to the first. Each
/// tile of K is requested before the values of the tile that was before it.
template <class T, class TilesOf>
__device__ __forceinline__ void load_items(const Item* items, int rounds, int group,
                                           TilesOf tiles_of, std::uint32_t queries,
                                           const CUtensorMap& map_q, const CUtensorMap& map_k,
                                           const CUtensorMap& map_v, std::uint64_t* full,
                                           std::uint64_t* empty, std::uint64_t* q_full,
                                           std::uint64_t* q_empty) {
  Slot<T::SLOTS> slot;
  const auto load = [&](const CUtensorMap& map, int head, int tile) {
    wait_for(&empty[slot.at], slot.parity ^ 1);  // in the first round they are empty
    expect(&full[slot.at], T::SLOT_BYTES);
    const std::uint32_t to = queries + T::Q_BYTES + slot.at * T::SLOT_BYTES;
#pragma unroll
    for (int col = 0; col < T::D; col += 64) {
      load_box(to + 2 * col * T::BN, map, head, tile * T::BN, col, &full[slot.at]);
    }
    slot.advance();
  };
  for (int round = 0; round < rounds; ++round) {
    const Item item = items[blockIdx.x + round * gridDim.x];
    if (item.head < 0) break;
    const int of_keys = item.head / group;
    int tile = tiles_of(item.row0) - 1;
    load(map_k, of_keys, tile);
    wait_for(q_empty, (round & 1) ^ 1);
    expect(q_full, T::Q_BYTES);
#pragma unroll
    for (int col = 0; col < T::D; col += 64) {
      load_box(queries + 2 * col * T::BM, map_q, item.head, item.row0, col, q_full);
    }
    for (; tile > 0; --tile) load(map_k, of_keys, tile - 1), load(map_v, of_keys, tile);
    load(map_v, of_keys, 0);
  }
}

/// out = softmax(scale Q K^T) V: one thread requests boxes, GROUPS warpgroups compute, 64 queries each. A query that sees no
/// key gets zeros.
///
/// @param items  (rounds, blocks): what each block computes, one after the other
///
/// Launch: as many blocks as a round has items, T::THREADS threads, T::BYTES of dynamic shared memory.
/// Requires: compute capability 9.0a; maps of (heads, rows, D), in boxes of BM rows of Q, BN rows of K and V.
/// Source of the idea: Shah et al., FlashAttention-3, 2024.
template <class T, bool CAUSAL, How HOW>
__global__ void __launch_bounds__(T::THREADS, 1)
    attention_by_boxes(bf16* __restrict__ out, const __grid_constant__ CUtensorMap map_q,
                       const __grid_constant__ CUtensorMap map_k,
                       const __grid_constant__ CUtensorMap map_v, const Item* __restrict__ items,
                       int rounds, Heads shape, float scale) {
  extern __shared__ uint4 memory[];
  __shared__ std::uint64_t full[T::SLOTS], empty[T::SLOTS], q_full, q_empty;
  const int group = static_cast<int>(threadIdx.x) / 128;
  const std::uint32_t queries =
      (address_of(memory) + T::ALIGNMENT - 1) / T::ALIGNMENT * T::ALIGNMENT;
  if (threadIdx.x == 0) {
    for (int s = 0; s < T::SLOTS; ++s) initialize(&full[s], 1), initialize(&empty[s], T::GROUPS);
    initialize(&q_full, 1), initialize(&q_empty, T::GROUPS);
    barriers_are_initialized();
  }
  __syncthreads();
  const auto tiles_of = [&](int row0) {  // that some query of the block sees; at least one
    const int seen = CAUSAL ? shape.seen(min(row0 + T::BM, shape.queries) - 1) : shape.keys;
    return max(1, (seen + T::BN - 1) / T::BN);
  };
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(T::FEW));
    if (threadIdx.x == 0) {
      load_items<T>(items, rounds, shape.group, tiles_of, queries, map_q, map_k, map_v, full, empty,
                    &q_full, &q_empty);
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(T::MANY));
  // The first row of the warpgroup, and of the thread. If `own` is made of `first`, or by signed divisions, ptxas of CUDA 13.0 spills.
  const unsigned t = threadIdx.x % 128, warpgroup = threadIdx.x / 128 - 1;
  const int first = 64 * warpgroup, own = 64 * warpgroup + t / 32 * 16 + t % 32 / 4;
  Slot<T::SLOTS> slot;
  const auto address = [&] { return queries + T::Q_BYTES + slot.at * T::SLOT_BYTES; };
  const auto release = [&](int which) {
    if (t == 0) arrive(&empty[which]);
  };
  // Barrier g has two warpgroups: the one before g arrives, and g waits. The first one's turn comes without a wait.
  const auto await_turn = [&] {
    if (HOW.takes_turns) asm volatile("bar.sync %0, 256;" ::"r"(group) : "memory");
  };
  const auto end_turn = [&] {
    if (HOW.takes_turns) {
      asm volatile("bar.arrive %0, 256;" ::"r"(group % T::GROUPS + 1) : "memory");
    }
  };
  if (group == T::GROUPS) end_turn();
  float scores[T::BN / 8][4], sums[T::D / 8][4];
  std::uint32_t weights[T::BN / 16][4];

  const auto multiply_keys = [&](std::uint32_t keys) {
#pragma unroll
    for (int k = 0; k < T::D; k += 16) {
      const int box = k / 64 * 128, col = k % 64 * 2;  // in bytes for each row
      wgmma(scores, descriptor(queries + box * T::BM + 128 * first + col, 16),
            descriptor(keys + box * T::BN + col, 16), k > 0);
    }
    wgmma_commit();
  };
  const auto multiply_values = [&](std::uint32_t values, bool add) {
#pragma unroll
    for (int k = 0; k < T::BN; k += 16) {
      wgmma(sums, weights[k / 16], descriptor(values + 128 * k, 128 * T::BN), add || k > 0);
    }
    wgmma_commit();
  };

  for (int round = 0; round < rounds; ++round) {
    const Item item = items[blockIdx.x + round * gridDim.x];
    if (item.head < 0) break;
    const int row = item.row0 + own;
    const int seen_by_all = CAUSAL ? shape.seen(item.row0 + first) : shape.keys;
    const int tiles = tiles_of(item.row0);
    TwoRows softmax;
    float shrink[2];
    // The scores of a tile are there: their keys may be overwritten, after the last tile the queries as well.
    const auto to_weights = [&](int tile, int keys) {
      are_ready(scores);
      release(keys);
      if (tile == 0 && t == 0) arrive(&q_empty);
      if (tile * T::BN + T::BN > seen_by_all) {
        const int last[] = {CAUSAL ? shape.seen(row) : shape.keys,
                            CAUSAL ? shape.seen(row + 8) : shape.keys};
        mask_scores(scores, tile * T::BN, last);
      }
      softmax.add(scores, scale, shrink);
    };
    wait_for(&full[slot.at], slot.parity);
    wait_for(&q_full, round & 1);
    wgmma_fence();
    multiply_keys(address());
    wgmma_wait<0>();
    to_weights(tiles - 1, slot.at);
    slot.advance();
    to_operand(weights, scores);

    for (int tile = tiles - 2; tile >= 0; --tile) {
      const Slot<T::SLOTS> keys = slot;
      wait_for(&full[slot.at], slot.parity);
      await_turn();
      wgmma_fence();
      multiply_keys(address());
      slot.advance();
      wait_for(&full[slot.at], slot.parity);
      multiply_values(address(), tile < tiles - 2);
      end_turn();
      wgmma_wait<HOW.ahead ? 1 : 0>();
      to_weights(tile, keys.at);
      wgmma_wait<0>();
      are_ready(sums);
      release(slot.at);
      slot.advance();
      to_operand(weights, scores);
      multiply_rows(sums, shrink);
    }
    wait_for(&full[slot.at], slot.parity);
    wgmma_fence();
    multiply_values(address(), tiles > 1);
    wgmma_wait<0>();
    are_ready(sums);
    release(slot.at);
    slot.advance();
    float factor[2];
    softmax.finish(factor);
    multiply_rows(sums, factor);
    store_rows(out + std::size_t(item.head) * shape.queries * T::D, sums, row, shape.queries);
  }
  if (group == 1) await_turn();  // an arrival that nobody awaits would be left
}

// ### What each rung gains
//
// With heads of 128 columns most kernels from `turns` on ran at a lowered clock, mostly under the GPU's power cap: between 1695 MHz and
// 1905, where 1980 is the highest. With 64 columns it was 1980 up to `three_groups`. So gains of some per cent are judged with 64 columns.
//= between 1695 MHz and 1905, where 1980: (clock("turns/bf16,d=128,long,full"), clock("persistent/bf16,d=128,short,full"), clock("boxes/bf16,d=128,short,full"))
//
// A second warpgroup gains most: for 128 columns `boxes` makes 439 TFLOP/s, `two_groups` 605.
//= makes 439 TFLOP/s, `two_groups` 605: (rate("boxes/bf16,d=128,short,full") / 1000, rate("two_groups/bf16,d=128,short,full") / 1000)
//
// Turns gain 10 per cent for 64 columns without a mask, and 18 with a causal one; why a mask matters here is not measured. For 128
// columns without one `turns` makes 584 at 1860 MHz, less than `two_groups` at 1980. `ahead` by itself gains nothing: for 64 columns
// it is slower than `turns`, by 1 per cent, and by 6 with a causal mask.
//= gain 10 per cent: 100 * (ms("two_groups/bf16,d=64,short,full") / ms("turns/bf16,d=64,short,full") - 1)
//= and 18 with: 100 * (ms("two_groups/bf16,d=64,short,causal") / ms("turns/bf16,d=64,short,causal") - 1)
//= makes 584 at 1860: (rate("turns/bf16,d=128,short,full") / 1000, clock("turns/bf16,d=128,short,full"))
//= by 1 per cent, and by 6 with: (100 * (ms("ahead/bf16,d=64,short,full") / ms("turns/bf16,d=64,short,full") - 1),
//=   100 * (ms("ahead/bf16,d=64,short,causal") / ms("turns/bf16,d=64,short,causal") - 1))
//
// Heads of 64 columns have half the products for as many powers: with two warpgroups 436, with three 517. Blocks that stay make
// 508 without a mask, at a lower clock. With a causal mask an item has one to all tiles; item n goes to block n mod 132 as before.
//= warpgroups 436, with three 517: (rate("ahead/bf16,d=64,short,full") / 1000, rate("three_groups/bf16,d=64,short,full") / 1000)
//= 508 without: rate("persistent/bf16,d=64,short,full") / 1000
//
//? same_items: With 64 columns a block has 192 queries, so a head of 4096 has 22 items, and 132 is six times 22. `three_groups` makes
//?   425 TFLOP/s with a causal mask. What does `persistent` make?
//? answer: rate("persistent/bf16,d=64,short,causal") / 1000
//? unit: TFLOP/s
//? near: 20 %
//
// 256 of the 425: each block gets items of one length all the time. For 16384 positions and 128 columns a head has nearly as many items
// as there are SMs: `persistent` makes 425.
//= 256 of the 425: (rate("persistent/bf16,d=64,short,causal") / 1000, rate("three_groups/bf16,d=64,short,causal") / 1000)
//= makes 425: rate("persistent/bf16,d=128,long,causal") / 1000
//
// How many tiles an item has is known before, so the host deals: some heads at a time, items with most tiles first, each to the block
// that has least to do so far. That turns 256 into 456, and 425 into 604. Without a mask all items are alike, and dealing loses for 128
// columns: 584 where `persistent` makes 654. For 16384 positions it is 593 where it makes 583. Neither ran at one clock; why is not measured.
//= turns 256 into 456: (rate("persistent/bf16,d=64,short,causal") / 1000, rate("dealt_items/bf16,d=64,short,causal") / 1000)
//= 425 into 604: (rate("persistent/bf16,d=128,long,causal") / 1000, rate("dealt_items/bf16,d=128,long,causal") / 1000)
//= 584 where `persistent` makes 654: (rate("dealt_items/bf16,d=128,short,full") / 1000, rate("persistent/bf16,d=128,short,full") / 1000)
//= 593 where it makes 583: (rate("dealt_items/bf16,d=128,long,full") / 1000, rate("persistent/bf16,d=128,long,full") / 1000)
//
// cuDNN's kernel is called through PyTorch, in turn with `dealt_items`: in one process, so both run at the same clock, 1770 to 1980 MHz.
// `tools/measure/attention_pairs` times such pairs. Why either is faster is not measured. In TFLOP/s:
//
// | | cuDNN | `dealt_items` | ratio |
// |---|--:|--:|--:|
// | 128 columns, 4096 positions | 686 | 653 | 0.95 |
// | the same, causal | 580 | 620 | 1.07 |
// | 128 columns, 16384 positions | 628 | 597 | 0.95 |
// | the same, causal | 575 | 607 | 1.06 |
// | 64 columns, 4096 positions | 471 | 528 | 1.12 |
// | the same, causal | 437 | 480 | 1.10 |
// | 64 columns, 16384 positions | 455 | 531 | 1.17 |
// | the same, causal | 445 | 521 | 1.17 |
//= | 686 | 653 | 0.95 |: (rate("dealt_items/bf16,d=128,short,full", "4096,64", "h200_pairs") / ratio("dealt_items/bf16,d=128,short,full", "4096,64", "h200_pairs") / 1000,
//=   rate("dealt_items/bf16,d=128,short,full", "4096,64", "h200_pairs") / 1000, ratio("dealt_items/bf16,d=128,short,full", "4096,64", "h200_pairs"))
//= | 580 | 620 | 1.07 |: (rate("dealt_items/bf16,d=128,short,causal", "4096,64", "h200_pairs") / ratio("dealt_items/bf16,d=128,short,causal", "4096,64", "h200_pairs") / 1000,
//=   rate("dealt_items/bf16,d=128,short,causal", "4096,64", "h200_pairs") / 1000, ratio("dealt_items/bf16,d=128,short,causal", "4096,64", "h200_pairs"))
//= | 628 | 597 | 0.95 |: (rate("dealt_items/bf16,d=128,long,full", "4096,64", "h200_pairs") / ratio("dealt_items/bf16,d=128,long,full", "4096,64", "h200_pairs") / 1000,
//=   rate("dealt_items/bf16,d=128,long,full", "4096,64", "h200_pairs") / 1000, ratio("dealt_items/bf16,d=128,long,full", "4096,64", "h200_pairs"))
//= | 575 | 607 | 1.06 |: (rate("dealt_items/bf16,d=128,long,causal", "4096,64", "h200_pairs") / ratio("dealt_items/bf16,d=128,long,causal", "4096,64", "h200_pairs") / 1000,
//=   rate("dealt_items/bf16,d=128,long,causal", "4096,64", "h200_pairs") / 1000, ratio("dealt_items/bf16,d=128,long,causal", "4096,64", "h200_pairs"))
//= | 471 | 528 | 1.12 |: (rate("dealt_items/bf16,d=64,short,full", "4096,64", "h200_pairs") / ratio("dealt_items/bf16,d=64,short,full", "4096,64", "h200_pairs") / 1000,
//=   rate("dealt_items/bf16,d=64,short,full", "4096,64", "h200_pairs") / 1000, ratio("dealt_items/bf16,d=64,short,full", "4096,64", "h200_pairs"))
//= | 437 | 480 | 1.10 |: (rate("dealt_items/bf16,d=64,short,causal", "4096,64", "h200_pairs") / ratio("dealt_items/bf16,d=64,short,causal", "4096,64", "h200_pairs") / 1000,
//=   rate("dealt_items/bf16,d=64,short,causal", "4096,64", "h200_pairs") / 1000, ratio("dealt_items/bf16,d=64,short,causal", "4096,64", "h200_pairs"))
//= | 455 | 531 | 1.17 |: (rate("dealt_items/bf16,d=64,long,full", "4096,64", "h200_pairs") / ratio("dealt_items/bf16,d=64,long,full", "4096,64", "h200_pairs") / 1000,
//=   rate("dealt_items/bf16,d=64,long,full", "4096,64", "h200_pairs") / 1000, ratio("dealt_items/bf16,d=64,long,full", "4096,64", "h200_pairs"))
//= | 445 | 521 | 1.17 |: (rate("dealt_items/bf16,d=64,long,causal", "4096,64", "h200_pairs") / ratio("dealt_items/bf16,d=64,long,causal", "4096,64", "h200_pairs") / 1000,
//=   rate("dealt_items/bf16,d=64,long,causal", "4096,64", "h200_pairs") / 1000, ratio("dealt_items/bf16,d=64,long,causal", "4096,64", "h200_pairs"))

// [hide] How the rungs are launched and registered
/// A launch of attention_by_boxes.
template <class T, bool CAUSAL, How HOW, Order ORDER>
static std::function<void()> launch_of(const Bf16Attention& a) {
  const Heads& h = a.shape;
  const int all = h.heads * lab::ceil_div(h.queries, T::BM);
  const int blocks = ORDER == Order::one_each ? all : std::min<int>(all, lab::multiprocessors());
  const std::vector<Item> list = ORDER == Order::dealt
                                     ? dealt(h, T::BM, T::BN, CAUSAL, blocks, heads_at_once(T::D))
                                     : in_order(h, T::BM, blocks);
  const auto items =
      std::make_shared<lab::DeviceBuffer<Item>>(std::span<const Item>(list), "items");
  const auto kernel = attention_by_boxes<T, CAUSAL, HOW>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(T::BYTES)));
  const CUtensorMap q = tensor_map(a.q, h.heads, h.queries, T::D, T::BM),
                    k = tensor_map(a.k, h.heads / h.group, h.keys, T::D, T::BN),
                    v = tensor_map(a.v, h.heads / h.group, h.keys, T::D, T::BN);
  return [=] {
    kernel<<<blocks, T::THREADS, T::BYTES>>>(a.out, q, k, v, items->data(),
                                             static_cast<int>(items->size()) / blocks, h, a.scale);
  };
}

/// Adds kernels of a rung for one width of a head, full and causal.
template <class T, How HOW, Order ORDER = Order::one_each>
static void add(Bf16Launches& to, const char* rung, const char* variant = "") {
  to.push_back({rung, T::D, false, launch_of<T, false, HOW, ORDER>, variant});
  to.push_back({rung, T::D, true, launch_of<T, true, HOW, ORDER>, variant});
}

using Wide = Blocking<128, 128, 2, 4>;
using Two = Blocking<64, 128, 2, 6>;
using Three = Blocking<64, 128, 3, 6>;
constexpr How NEITHER{false, false}, TURNS{true, false}, AHEAD{false, true}, BOTH{true, true};

/// attention_by_boxes with one warpgroup that computes.
static void boxes(Bf16Launches& to) {
  add<Blocking<128, 128, 1, 4>, NEITHER>(to, "boxes");
  add<Blocking<64, 128, 1, 6>, NEITHER>(to, "boxes");
}
/// With two warpgroups that use the same tiles of K and V.
static void two_groups(Bf16Launches& to) {
  add<Wide, NEITHER>(to, "two_groups"), add<Two, NEITHER>(to, "two_groups");
}
/// The two take turns: named barriers order their products.
static void turns(Bf16Launches& to) { add<Wide, TURNS>(to, "turns"), add<Two, TURNS>(to, "turns"); }
/// A softmax begins before the products with the last values are complete; with turns, and without.
static void ahead(Bf16Launches& to) {
  add<Wide, BOTH>(to, "ahead"), add<Two, BOTH>(to, "ahead");
  add<Wide, AHEAD>(to, "ahead", ",no_turns"), add<Two, AHEAD>(to, "ahead", ",no_turns");
}
/// With three warpgroups, for heads of 64 columns.
static void three_groups(Bf16Launches& to) { add<Three, BOTH>(to, "three_groups"); }
/// Blocks stay, one for each SM, and take item n mod their number.
static void persistent(Bf16Launches& to) {
  add<Wide, BOTH, Order::as_come>(to, "persistent");
  add<Three, BOTH, Order::as_come>(to, "persistent");
}
/// Blocks stay, and the host deals items, those with most tiles first.
static void dealt_items(Bf16Launches& to) {
  add<Wide, BOTH, Order::dealt>(to, "dealt_items");
  add<Three, BOTH, Order::dealt>(to, "dealt_items");
}

static const lab::Rungs here([](Bf16Launches& to) {
  boxes(to), two_groups(to), turns(to), ahead(to), three_groups(to), persistent(to);
  dealt_items(to);
});

// [/hide]
