// Faults around bulk copies: their mbarriers, their bytes, and the fences between threads and the copy engine.
#include <cstdint>
#include <cuda/ptx>

#include "planted.h"

namespace {

namespace ptx = cuda::ptx;
using Barrier = std::uint64_t;

constexpr unsigned kN = 128, kBytes = kN * sizeof(float);

// clang-format off
__device__ void wait(Barrier* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {}  // fault: bulk_bytes_too_many // fault: bulk_bytes_too_few // fault: bulk_no_arrival // fault: bulk_parity_ahead // fault: bulk_no_empty_wait // fault: bulk_init_at_once
}
__device__ void announce(Barrier* barrier, unsigned bytes) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier, bytes);  // fault: bulk_arrival_too_many
}
__device__ void load(float* to, const float* from, unsigned bytes, Barrier* barrier) {
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, bytes, barrier);  // fault: bulk_one_waits // fault: bulk_stage_in_use // fault: bulk_past_end
}
__device__ void take(float* to, const float* from) { *to = 2 * *from; }  // fault: bulk_no_wait // fault: bulk_parity_behind // fault: bulk_one_waits // fault: bulk_no_expect // fault: bulk_stage_in_use
__device__ void store(float* to, const float* from, unsigned bytes) {
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, to, from, bytes);  // fault: bulk_no_proxy_fence
}
// clang-format on

enum class Fault {
  none,
  no_wait,
  parity,
  one_waits,
  no_expect,
  too_many,
  too_few,
  no_arrival,
  past_end
};

// A tile that a barrier brings, which no thread may look at before it is initialized.
__global__ void tile_at_once(const float* in, float* out, bool meets) {
  __shared__ __align__(128) float tile[kN];
  __shared__ Barrier full;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);  // fault: bulk_init_at_once
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    announce(&full, kBytes);
    load(tile, in, kBytes, &full);
  }
  if (meets) __syncthreads();
  wait(&full, 0);
  take(&out[t], &tile[t]);
}
void bulk_init_at_once(bool fixed) {
  OnDevice<float> in(kN), out(kN);
  tile_at_once<<<1, kN>>>(in.data(), out.data(), fixed);
}

// One tile: a thread asks for it, all wait for it.
__global__ void one_tile(const float* in, float* out, Fault fault) {
  __shared__ __align__(128) float tile[kN];
  __shared__ Barrier full;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full, fault == Fault::no_arrival ? 2 : 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (t == 0) {
    const unsigned bytes = fault == Fault::too_many  ? 2 * kBytes
                           : fault == Fault::too_few ? kBytes / 2
                                                     : kBytes;
    if (fault == Fault::no_expect)
      ptx::mbarrier_arrive(&full);
    else
      announce(&full, bytes);
    load(tile, in + (fault == Fault::past_end ? 4 : 0), kBytes, &full);
  }
  if (fault == Fault::one_waits) {
    if (t < 32) wait(&full, 0);
  } else if (fault != Fault::no_wait) {
    wait(&full, fault == Fault::parity ? 1 : 0);
  }
  take(&out[t], &tile[t]);
}
void run_one_tile(Fault fault) {
  OnDevice<float> in(kN), out(kN);
  one_tile<<<1, kN>>>(in.data(), out.data(), fault);
}
void bulk_no_wait(bool fixed) { run_one_tile(fixed ? Fault::none : Fault::no_wait); }
void bulk_parity_behind(bool fixed) { run_one_tile(fixed ? Fault::none : Fault::parity); }
void bulk_one_waits(bool fixed) { run_one_tile(fixed ? Fault::none : Fault::one_waits); }
void bulk_no_expect(bool fixed) { run_one_tile(fixed ? Fault::none : Fault::no_expect); }
void bulk_bytes_too_many(bool fixed) { run_one_tile(fixed ? Fault::none : Fault::too_many); }
void bulk_bytes_too_few(bool fixed) { run_one_tile(fixed ? Fault::none : Fault::too_few); }
void bulk_no_arrival(bool fixed) { run_one_tile(fixed ? Fault::none : Fault::no_arrival); }
void bulk_past_end(bool fixed) { run_one_tile(fixed ? Fault::none : Fault::past_end); }

// A ring of two stages: warp 4 loads, the others compute.
__global__ void ring(const float* in, float* out, int tiles, bool waits, unsigned flip) {
  __shared__ __align__(128) float stage[2][kN];
  __shared__ Barrier full[2], empty[2];
  const unsigned t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 2; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], kN / 32);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (t >= kN) {
    for (int i = 0; i < tiles && t == kN; ++i) {
      const int s = i % 2;
      if (waits && i >= 2) wait(&empty[s], (i / 2 - 1) % 2);
      announce(&full[s], kBytes);
      load(stage[s], in + i * kN, kBytes, &full[s]);
    }
    return;
  }
  for (int i = 0; i < tiles; ++i) {
    const int s = i % 2;
    wait(&full[s], (i / 2 % 2) ^ (i >= 4 ? flip : 0));
    out[i * kN + t] = 2 * stage[s][t];
    __syncwarp();
    if (t % 32 == 0) ptx::mbarrier_arrive(&empty[s]);
  }
}
void bulk_parity_ahead(bool fixed) {
  OnDevice<float> in(6 * kN), out(6 * kN);
  ring<<<1, kN + 32>>>(in.data(), out.data(), 6, true, fixed ? 0 : 1);
}

// A stage is filled again while it is read: two tiles through one stage.
__global__ void refill(const float* in, float* out, bool waits, bool arrives_early) {
  __shared__ __align__(128) float stage[kN];
  __shared__ Barrier full, empty;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_init(&empty, kN / 32);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  for (unsigned i = 0; i < 2; ++i) {
    if (t == kN) {
      if (waits && i) wait(&empty, 0);
      announce(&full, kBytes);
      load(stage, in + i * kN, kBytes, &full);
    }
    wait(&full, i);
    if (t < kN) {
      if (arrives_early && t % 32 == 0) ptx::mbarrier_arrive(&empty);
      take(&out[i * kN + t], &stage[t]);
      __syncwarp();
      if (!arrives_early && t % 32 == 0) ptx::mbarrier_arrive(&empty);
    }
  }
}
void bulk_stage_in_use(bool fixed) {
  OnDevice<float> in(2 * kN), out(2 * kN);
  refill<<<1, kN + 32>>>(in.data(), out.data(), true, !fixed);
}
void bulk_no_empty_wait(bool fixed) {
  OnDevice<float> in(2 * kN), out(2 * kN);
  refill<<<1, kN + 32>>>(in.data(), out.data(), fixed, false);
}
void bulk_arrival_too_many(bool fixed) {
  OnDevice<float> in(6 * kN), out(6 * kN);
  ring<<<1, kN + 32>>>(in.data(), out.data(), 6, fixed, 0);
}

// Each warp has an arrival at the barrier of an empty stage, and all its lanes arrive.
__global__ void arrivals_of_lanes(bool all) {
  __shared__ Barrier empty;
  const unsigned t = threadIdx.x;
  if (t == 0) ptx::mbarrier_init(&empty, kN / 32);
  __syncthreads();
  if (all || t % 32 == 0) ptx::mbarrier_arrive(&empty);  // fault: bulk_all_arrive
  wait(&empty, 0);
}
void bulk_all_arrive(bool fixed) { arrivals_of_lanes<<<1, kN>>>(!fixed); }

// Threads write a tile, and the copy engine takes it away: twice, from the same place.
__global__ void store_tiles(float* out, bool waits) {
  __shared__ __align__(128) float tile[kN];
  const unsigned t = threadIdx.x;
  for (unsigned i = 0; i < 2; ++i) {
    if (waits && t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    __syncthreads();
    tile[t] = static_cast<float>(t + i);  // fault: bulk_source_in_use
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
      store(out + i * kN, tile, kBytes);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (t == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}
void bulk_source_in_use(bool fixed) {
  OnDevice<float> out(2 * kN);
  store_tiles<<<1, kN>>>(out.data(), fixed);
}

// Threads write a tile, and the copy engine takes it away.
__global__ void store_tile(float* out, bool fences) {
  __shared__ __align__(128) float tile[kN];
  const unsigned t = threadIdx.x;
  tile[t] = static_cast<float>(t);
  if (fences) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    store(out, tile, kBytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
  }
}
void bulk_no_proxy_fence(bool fixed) {
  OnDevice<float> out(kN);
  store_tile<<<1, kN>>>(out.data(), fixed);
}

// The copy engine takes a tile of block 0 away, whose thread then tells block 1 by a flag.
enum class Wait { none, read, all };
__global__ void hand_over(float* tiles, unsigned* flag, float* out, Wait how) {
  __shared__ __align__(128) float tile[kN];
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    tile[t] = static_cast<float>(t + 1);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t > 0) return;
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, tiles, tile,
                       kBytes);  // fault: bulk_flag_without_wait
    ptx::cp_async_bulk_commit_group();
    if (how == Wait::read)
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});  // fault: bulk_flag_after_read_wait
    if (how == Wait::all) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    return;
  }
  unsigned seen = 0;
  while (!seen)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  out[t] = tiles[t];  // fault: bulk_flag_after_read_wait // fault: bulk_flag_without_wait
}
void run_hand_over(Wait how) {
  OnDevice<float> tiles(kN), out(kN);
  OnDevice<unsigned> flag(1);
  hand_over<<<2, kN>>>(tiles.data(), flag.data(), out.data(), how);
}
void bulk_flag_after_read_wait(bool fixed) { run_hand_over(fixed ? Wait::all : Wait::read); }
void bulk_flag_without_wait(bool fixed) { run_hand_over(fixed ? Wait::all : Wait::none); }

}  // namespace

const std::vector<Planted> kBulkCopies = {
    {"bulk_no_wait", "uninitialized-shared", bulk_no_wait, false},
    {"bulk_parity_behind", "uninitialized-shared", bulk_parity_behind, false},
    {"bulk_parity_ahead", "hang", bulk_parity_ahead, false},
    {"bulk_one_waits", "shared-race", bulk_one_waits, false},
    {"bulk_no_expect", "uninitialized-shared", bulk_no_expect, false},
    {"bulk_bytes_too_many", "hang", bulk_bytes_too_many, false},
    {"bulk_bytes_too_few", "hang", bulk_bytes_too_few, false},
    {"bulk_no_arrival", "hang", bulk_no_arrival, false},
    {"bulk_past_end", "out-of-bounds", bulk_past_end, false},
    {"bulk_stage_in_use", "shared-race", bulk_stage_in_use, false},
    {"bulk_no_empty_wait", "hang", bulk_no_empty_wait, false},
    {"bulk_arrival_too_many", "trap", bulk_arrival_too_many, false},
    {"bulk_init_at_once", "shared-race", bulk_init_at_once, false},
    {"bulk_all_arrive", "trap", bulk_all_arrive, false},
    {"bulk_source_in_use", "shared-race", bulk_source_in_use, false},
    {"bulk_flag_after_read_wait", "global-race", bulk_flag_after_read_wait, false},
    {"bulk_flag_without_wait", "global-race", bulk_flag_without_wait, false},
    {"bulk_no_proxy_fence", "missing-proxy-fence", bulk_no_proxy_fence, false},
};
