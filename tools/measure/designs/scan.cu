// stand-alone bench: exclusive scan, segmented scan, find_repeats
#include <thrust/iterator/counting_iterator.h>

#include <cub/cub.cuh>

#include "bench.h"
typedef unsigned long long u64;
__device__ unsigned g_bad;
__global__ void fill(int* p, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x)
    p[i] = (int)(hash32(i) % 2001) - 1000;
}
__global__ void fill_rep(int* p, size_t n,
                         unsigned per) {  // density of a[i]==a[i+1] about 1/per (0: none, 1: all)
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x)
    p[i] = per == 1 ? 7 : per == 0 ? (int)i : (int)(hash32(i) % per);
}
__global__ void fill_flags(unsigned char* p, size_t n, unsigned per) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x)
    p[i] = per && hash32(i + 77) % per == 0;
}
__global__ void check(const int* in, const int* out, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x)
    if (i == 0 ? out[0] != 0 : (unsigned)out[i] - (unsigned)out[i - 1] != (unsigned)in[i - 1])
      atomicAdd(&g_bad, 1u);
}
__global__ void check_seg(const int* in, const unsigned char* f, const int* out, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x)
    if ((unsigned)out[i] != (unsigned)in[i] + ((i == 0 || f[i]) ? 0u : (unsigned)out[i - 1]))
      atomicAdd(&g_bad, 1u);
}
struct State {
  unsigned ticket, epoch, pad[30];
  u64 words[1 << 18];
};
// roles by warp: 0 load, 1 publish, 2 look back, then RW reduce, then SW scan
template <int TILE, int STAGES, int RW, int SW, bool BULK_OUT, bool STATIC, int OCC>
__global__ __launch_bounds__((3 + RW + SW) * 32, OCC) void scan_ws(const int* __restrict__ in,
                                                                   int* __restrict__ out, size_t n,
                                                                   State* st) {
  extern __shared__ __align__(128) char raw[];
  int* ring = (int*)raw;
  __shared__ uint64_t full[STAGES], counted[STAGES], ready[STAGES], empty[STAGES];
  __shared__ int part[STAGES][SW], prefix[STAGES];
  __shared__ unsigned tile_of[STAGES], s_epoch;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32,
                 tiles = (unsigned)((n + TILE - 1) / TILE);
  unsigned first = 0;
  if (threadIdx.x == 0) {
    first = STATIC ? blockIdx.x : atomicAdd(&st->ticket, 1u);
    for (int s = 0; s < STAGES; s++) {
      mb_init(full + s, 1);
      mb_init(counted + s, RW);
      mb_init(ready + s, 2);
      mb_init(empty + s, SW);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (threadIdx.x == 32) s_epoch = *(volatile unsigned*)&st->epoch + 1;
  __syncthreads();
  if (warp == 0) {
    unsigned tile = __shfl_sync(~0u, first, 0);
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES;
      unsigned next = 0;
      if (STATIC)
        next = tile + gridDim.x;
      else if (lane == 0)
        next = atomicAdd(&st->ticket, 1u);
      if (k >= STAGES) mb_wait(empty + s, (k / STAGES - 1) & 1);
      if (lane == 0) tile_of[s] = tile;
      if (tile >= tiles) {
        if (lane == 0) mb_arrive(full + s);
        tile = next;
        break;
      }
      if ((size_t)(tile + 1) * TILE <= n) {
        if (lane == 0) {
          mb_expect(full + s, TILE * 4);
          bulk_load(ring + s * TILE, in + (size_t)tile * TILE, TILE * 4, full + s);
        }
      } else {
        for (int i = lane; i < TILE; i += 32)
          ring[s * TILE + i] = (size_t)tile * TILE + i < n ? in[(size_t)tile * TILE + i] : 0;
        __syncwarp();
        if (lane == 0) mb_arrive(full + s);
      }
      tile = __shfl_sync(~0u, next, 0);
    }
    if (lane == 0) {
      if (STATIC) {
        if (atomicAdd(&st->ticket, 1u) == gridDim.x - 1) {
          st->ticket = 0;
          st->epoch = s_epoch;
        }
      } else if (tile == tiles + 2 * gridDim.x - 1) {
        st->ticket = 0;
        st->epoch = s_epoch;
      }
    }
  } else if (warp == 1) {
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES;
      mb_wait(counted + s, (k / STAGES) & 1);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) break;
      int v = lane < SW ? part[s][lane] : 0;
      v = __reduce_add_sync(~0u, v);
      if (lane == 0) {
        st_relaxed(st->words + tile, (u64)s_epoch << 32 | (unsigned)v);
        mb_arrive(ready + s);
      }
    }
  } else if (warp == 2) {
    unsigned prev = 0xffffffffu;
    int incl = 0;  // inclusive prefix of tile prev
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES;
      mb_wait(counted + s, (k / STAGES) & 1);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) break;
      int v = 0;
      for (unsigned t0 = prev + 1; t0 < tile; t0 += 128) {
        u64 w[4];
        bool all;
        do {
          all = true;
#pragma unroll
          for (int j = 0; j < 4; j++) {
            const unsigned t = t0 + lane + 32 * j;
            w[j] = t < tile ? ld_relaxed(st->words + t) : (u64)s_epoch << 32;
            all &= (unsigned)(w[j] >> 32) == s_epoch;
          }
        } while (!all);
        v += (int)((unsigned)w[0] + (unsigned)w[1] + (unsigned)w[2] + (unsigned)w[3]);
      }
      int mine = lane < SW ? part[s][lane] : 0;
      const int excl = incl + (int)__reduce_add_sync(~0u, v);
      incl = excl + (int)__reduce_add_sync(~0u, mine);
      prev = tile;
      if (lane == 0) {
        prefix[s] = excl;
        mb_arrive(ready + s);
      }
    }
  } else if (warp < 3 + RW) {
    constexpr int ROWS = TILE / SW / 128;
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES;
      mb_wait(full + s, (k / STAGES) & 1);
      if (tile_of[s] >= tiles) {
        if (lane == 0) mb_arrive(counted + s);
        break;
      }
#pragma unroll
      for (int p = warp - 3; p < SW; p += RW) {
        const int4* src = (const int4*)(ring + s * TILE + p * (TILE / SW));
        int v = 0;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          const int4 x = src[r * 32 + lane];
          v += (x.x + x.y) + (x.z + x.w);
        }
        v = __reduce_add_sync(~0u, v);
        if (lane == 0) part[s][p] = v;
      }
      if (lane == 0) mb_arrive(counted + s);
    }
  } else {
    constexpr int ROWS = TILE / SW / 128;
    const int p = warp - 3 - RW;
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES;
      mb_wait(full + s, (k / STAGES) & 1);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) break;
      int4* src = (int4*)(ring + s * TILE + p * (TILE / SW));
      int4 x[ROWS];
      int sum[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        x[r] = src[r * 32 + lane];
        x[r].y += x[r].x;
        x[r].z += x[r].y;
        x[r].w += x[r].z;
        sum[r] = x[r].w;
      }
#pragma unroll
      for (int d = 1; d < 32; d *= 2)
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          const int y = __shfl_up_sync(~0u, sum[r], d);
          if ((int)lane >= d) sum[r] += y;
        }
      mb_wait(ready + s, (k / STAGES) & 1);
      int off = prefix[s];
      {
        const int q = lane < (unsigned)p ? part[s][lane] : 0;
        off += __reduce_add_sync(~0u, q);
      }
      const size_t at = (size_t)tile * TILE + p * (TILE / SW);
      if (BULK_OUT && (size_t)(tile + 1) * TILE <= n) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          const int e = off + sum[r] - x[r].w;
          src[r * 32 + lane] = {e, e + x[r].x, e + x[r].y, e + x[r].z};
          off += __shfl_sync(~0u, sum[r], 31);
        }
        proxy_fence();
        __syncwarp();
        if (lane == 0) {
          bulk_store(out + at, src, TILE / SW * 4);
          bulk_commit();
          if (STAGES > 3) {
            bulk_wait_read<1>();
            if (k) mb_arrive(empty + (k - 1) % STAGES);
          } else {
            bulk_wait_read<0>();
            mb_arrive(empty + s);
          }
        }
      } else {
        __syncwarp();
        if (lane == 0 && !BULK_OUT) mb_arrive(empty + s);  // (a partial tile is the last)
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          const int e = off + sum[r] - x[r].w;
          const size_t i = at + r * 128 + lane * 4;
          if (i + 4 <= n)
            *(int4*)(out + i) = {e, e + x[r].x, e + x[r].y, e + x[r].z};
          else {
            if (i < n) out[i] = e;
            if (i + 1 < n) out[i + 1] = e + x[r].x;
            if (i + 2 < n) out[i + 2] = e + x[r].y;
          }
          off += __shfl_sync(~0u, sum[r], 31);
        }
      }
    }
    if (BULK_OUT && lane == 0) bulk_wait<0>();
  }
}
// segmented inclusive scan; BYTES: flags in bytes, else keys of int: a segment begins where key differs from the one before
struct Seg {
  int v;
  bool f;
};
template <int TILE, int STAGES, int RW, int SW, bool KEYS, int OCC>
__global__ __launch_bounds__((3 + RW + SW) * 32, OCC) void seg_ws(const int* __restrict__ in,
                                                                  const void* __restrict__ heads,
                                                                  int* __restrict__ out, size_t n,
                                                                  State* st) {
  extern __shared__ __align__(128) char raw[];
  constexpr int HB = KEYS ? TILE * 4 : TILE, BYTES = TILE * 4 + HB + 16;
  __shared__ uint64_t full[STAGES], counted[STAGES], ready[STAGES], empty[STAGES];
  __shared__ int part[STAGES][SW], prefix[STAGES];
  __shared__ unsigned pf[STAGES];
  __shared__ unsigned tile_of[STAGES], s_epoch;
  __shared__ unsigned char partf[STAGES][SW];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32,
                 tiles = (unsigned)(n / TILE);  // bench: whole tiles only
  unsigned first = 0;
  if (threadIdx.x == 0) {
    first = atomicAdd(&st->ticket, 1u);
    for (int s = 0; s < STAGES; s++) {
      mb_init(full + s, 1);
      mb_init(counted + s, RW);
      mb_init(ready + s, 2);
      mb_init(empty + s, SW);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (threadIdx.x == 32) s_epoch = *(volatile unsigned*)&st->epoch + 1;
  __syncthreads();
  const u64 EP = (u64)s_epoch << 33;  // word: epoch 31 bits, flag, value
  auto load_head = [&](int s, int p, int row,
                       unsigned tile) -> unsigned {  // 4 head bits of the lane's 4 elements
    const char* base = raw + (size_t)s * BYTES + TILE * 4 + 16;
    const int e = p * (TILE / SW) + row * 128 + (int)lane * 4;
    if (!KEYS) {
      const uchar4 f = *(const uchar4*)(base + e);
      return (f.x != 0) | (f.y != 0) << 1 | (f.z != 0) << 2 | (f.w != 0) << 3;
    }
    const int4 k = *(const int4*)(base + e * 4);
    int q = __shfl_up_sync(~0u, k.w, 1);
    if (lane == 0) q = *(const int*)(base + e * 4 - 4);
    if (e == 0 && tile == 0) q = ~k.x;
    return (unsigned)(k.x != q) | (unsigned)(k.y != k.x) << 1 | (unsigned)(k.z != k.y) << 2 |
           (unsigned)(k.w != k.z) << 3;
  };
  if (warp == 0) {
    unsigned tile = __shfl_sync(~0u, first, 0);
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES;
      unsigned next = 0;
      if (lane == 0) next = atomicAdd(&st->ticket, 1u);
      if (k >= STAGES) mb_wait(empty + s, (k / STAGES - 1) & 1);
      if (lane == 0) {
        tile_of[s] = tile;
        if (tile >= tiles)
          mb_arrive(full + s);
        else {
          const int ahead = KEYS && tile ? 16 : 0;
          mb_expect(full + s, TILE * 4 + HB + ahead);
          bulk_load(raw + (size_t)s * BYTES, in + (size_t)tile * TILE, TILE * 4, full + s);
          bulk_load(raw + (size_t)s * BYTES + TILE * 4 + 16 - ahead,
                    (const char*)heads + (size_t)tile * HB - ahead, HB + ahead, full + s);
        }
      }
      const bool done = tile >= tiles;
      tile = __shfl_sync(~0u, next, 0);
      if (done) break;
    }
    if (lane == 0 && tile == tiles + 2 * gridDim.x - 1) {
      st->ticket = 0;
      st->epoch = s_epoch;
    }
  } else if (warp == 1) {
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES;
      mb_wait(counted + s, (k / STAGES) & 1);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) break;
      const bool f = lane < SW && partf[s][lane];
      const unsigned b = __ballot_sync(~0u, f);
      const int from = b ? 31 - __clz(b) : 0;
      int v = lane < SW && (int)lane >= from ? part[s][lane] : 0;
      v = __reduce_add_sync(~0u, v);
      if (lane == 0) {
        st_relaxed(st->words + tile, EP | (u64)(b != 0) << 32 | (unsigned)v);
        mb_arrive(ready + s);
      }
    }
  } else if (warp == 2) {
    unsigned prev = 0xffffffffu;
    int incl = 0;  // sum since the last head up to the end of prev
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES;
      mb_wait(counted + s, (k / STAGES) & 1);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) break;
      for (unsigned t0 = prev + 1; t0 < tile; t0 += 128) {
        u64 w[4];
        bool all;
        do {
          all = true;
#pragma unroll
          for (int j = 0; j < 4; j++) {
            const unsigned t = t0 + lane + 32 * j;
            w[j] = t < tile ? ld_relaxed(st->words + t) : EP;
            all &= (unsigned)(w[j] >> 33) == (unsigned)(EP >> 33);
          }
        } while (!all);
#pragma unroll
        for (int j = 0; j < 4; j++) {
          const unsigned b = __ballot_sync(~0u, w[j] >> 32 & 1);
          const int from = b ? 31 - __clz(b) : 0;
          int v = (int)lane >= from ? (int)(unsigned)w[j] : 0;
          v = __reduce_add_sync(~0u, v);
          incl = b ? v : incl + v;
        }
      }
      const int excl = incl;
      {
        const bool f = lane < SW && partf[s][lane];
        const unsigned b = __ballot_sync(~0u, f);
        const int from = b ? 31 - __clz(b) : 0;
        int v = lane < SW && (int)lane >= from ? part[s][lane] : 0;
        v = __reduce_add_sync(~0u, v);
        incl = b ? v : incl + v;
      }
      prev = tile;
      if (lane == 0) {
        prefix[s] = excl;
        mb_arrive(ready + s);
      }
    }
  } else if (warp < 3 + RW) {
    constexpr int ROWS = TILE / SW / 128;
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES;
      mb_wait(full + s, (k / STAGES) & 1);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) {
        if (lane == 0) mb_arrive(counted + s);
        break;
      }
#pragma unroll
      for (int p = warp - 3; p < SW; p += RW) {
        const int4* src = (const int4*)(raw + (size_t)s * BYTES + p * (TILE / SW) * 4);
        int v = 0;
        bool any = false;
        // lane-wise suffix: only what follows the last head of the part counts
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
          const int4 x = src[r * 32 + lane];
          const unsigned h = load_head(s, p, r, tile);
          const unsigned b = __ballot_sync(~0u, h != 0);
          int own = x.w;
          if (!(h & 8)) {
            own += x.z;
            if (!(h & 4)) {
              own += x.y;
              if (!(h & 2)) own += x.x;
            }
          }
          if (b) {
            any = true;
            const int from = 31 - __clz(b);
            v = (int)lane >= from ? own : 0;
          } else
            v += own;
        }
        v = __reduce_add_sync(~0u, v);
        if (lane == 0) {
          part[s][p] = v;
          partf[s][p] = any;
        }
      }
      if (lane == 0) mb_arrive(counted + s);
    }
  } else {
    constexpr int ROWS = TILE / SW / 128;
    const int p = warp - 3 - RW;
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES;
      mb_wait(full + s, (k / STAGES) & 1);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) break;
      const int4* src = (const int4*)(raw + (size_t)s * BYTES + p * (TILE / SW) * 4);
      int4 x[ROWS];
      int sum[ROWS];
      unsigned h[ROWS], b[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        x[r] = src[r * 32 + lane];
        h[r] = load_head(s, p, r, tile);
        b[r] = __ballot_sync(~0u, h[r] != 0);
        if (!(h[r] & 2)) x[r].y += x[r].x;
        if (!(h[r] & 4)) x[r].z += x[r].y;
        if (!(h[r] & 8)) x[r].w += x[r].z;
        sum[r] = x[r].w;
      }
      // inclusive segmented scan over lanes: lane adds from lane-d only if no head in (lane-d, lane]
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const unsigned below = b[r] & (0xffffffffu >> (31 - lane));
        const int start = below ? 31 - __clz(below) : -1;  // the last lane with a head up to me
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
          const int y = __shfl_up_sync(~0u, sum[r], d);
          if ((int)lane - d >= (start < 0 ? 0 : start)) sum[r] += y;
        }
      }
      mb_wait(ready + s, (k / STAGES) & 1);
      int off = prefix[s];
      {
        const bool f = lane < (unsigned)p && partf[s][lane];
        const unsigned bb = __ballot_sync(~0u, f);
        const int from = bb ? 31 - __clz(bb) : 0;
        const int q = lane < (unsigned)p && (int)lane >= from ? part[s][lane] : 0;
        const int v = __reduce_add_sync(~0u, q);
        off = bb ? v : off + v;
      }
      __syncwarp();
      if (lane == 0) mb_arrive(empty + s);
      const size_t at = (size_t)tile * TILE + p * (TILE / SW);
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const unsigned lt = b[r] & ((1u << lane) - 1);
        int e = __shfl_up_sync(~0u, sum[r], 1);
        if (lane == 0) e = 0;
        if (!lt) e += off;  // what comes in from the left
        const int last = __shfl_sync(~0u, sum[r], 31);
        off = b[r] ? last : off + last;
        int4 o = x[r];
        if (!(h[r] & 1)) {
          o.x += e;
          if (!(h[r] & 2)) {
            o.y += e;
            if (!(h[r] & 4)) {
              o.z += e;
              if (!(h[r] & 8)) o.w += e;
            }
          }
        }
        *(int4*)(out + at + r * 128 + lane * 4) = o;
      }
    }
  }
}
// find_repeats: RW warps compare and count, leave masks; SW warps write
template <int TILE, int STAGES, int RINGS, int RW, int SW, int OCC>
__global__ __launch_bounds__((3 + RW + SW) * 32, OCC) void rep_ws(const int* __restrict__ in,
                                                                  unsigned* __restrict__ out,
                                                                  unsigned* __restrict__ count,
                                                                  size_t n, State* st) {
  extern __shared__ __align__(128) char raw[];
  int* ring = (int*)raw;
  constexpr int SLOT = TILE + 4;
  constexpr int MASKS = TILE / 32;  // RINGS: mask stages
  __shared__ uint64_t full[STAGES], empty[STAGES], counted[RINGS], ready[RINGS], taken[RINGS];
  __shared__ unsigned mask[RINGS][MASKS], part[RINGS][RW], prefix[RINGS];
  __shared__ unsigned tile_at[STAGES], tile_of[RINGS], s_epoch;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, tiles = (unsigned)(n / TILE);
  unsigned first = 0;
  if (threadIdx.x == 0) {
    first = atomicAdd(&st->ticket, 1u);
    for (int s = 0; s < STAGES; s++) {
      mb_init(full + s, 1);
      mb_init(empty + s, RW);
    }
    for (int s = 0; s < RINGS; s++) {
      mb_init(counted + s, RW);
      mb_init(ready + s, 2);
      mb_init(taken + s, SW);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (threadIdx.x == 32) s_epoch = *(volatile unsigned*)&st->epoch + 1;
  __syncthreads();
  if (warp == 0) {
    unsigned tile = __shfl_sync(~0u, first, 0);
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES;
      unsigned next = 0;
      if (lane == 0) next = atomicAdd(&st->ticket, 1u);
      if (k >= STAGES) mb_wait(empty + s, (k / STAGES - 1) & 1);
      if (lane == 0) {
        tile_at[s] = tile;
        if (tile >= tiles)
          mb_arrive(full + s);
        else {
          const unsigned b = TILE * 4 + (tile + 1 < tiles ? 16 : 0);
          mb_expect(full + s, b);
          bulk_load(ring + s * SLOT, in + (size_t)tile * TILE, b, full + s);
        }
      }
      const bool done = tile >= tiles;
      tile = __shfl_sync(~0u, next, 0);
      if (done) break;
    }
    if (lane == 0 && tile == tiles + 2 * gridDim.x - 1) {
      st->ticket = 0;
      st->epoch = s_epoch;
    }
  } else if (warp == 1) {
    for (unsigned k = 0;; k++) {
      const int s = k % RINGS;
      mb_wait(counted + s, (k / RINGS) & 1);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) {
        if (lane == 0) mb_arrive(ready + s);
        break;
      }
      const unsigned v = __reduce_add_sync(~0u, lane < RW ? part[s][lane] : 0);
      if (lane == 0) {
        st_relaxed(st->words + tile, (u64)s_epoch << 32 | v);
        mb_arrive(ready + s);
      }
    }
  } else if (warp == 2) {
    unsigned prev = 0xffffffffu, incl = 0;
    for (unsigned k = 0;; k++) {
      const int s = k % RINGS;
      mb_wait(counted + s, (k / RINGS) & 1);
      const unsigned tile = tile_of[s];
      if (tile >= tiles) {
        if (lane == 0) mb_arrive(ready + s);
        break;
      }
      unsigned v = 0;
      for (unsigned t0 = prev + 1; t0 < tile; t0 += 128) {
        u64 w[4];
        bool all;
        do {
          all = true;
#pragma unroll
          for (int j = 0; j < 4; j++) {
            const unsigned t = t0 + lane + 32 * j;
            w[j] = t < tile ? ld_relaxed(st->words + t) : (u64)s_epoch << 32;
            all &= (unsigned)(w[j] >> 32) == s_epoch;
          }
        } while (!all);
        v += (unsigned)w[0] + (unsigned)w[1] + (unsigned)w[2] + (unsigned)w[3];
      }
      const unsigned excl = incl + __reduce_add_sync(~0u, v);
      incl = excl + __reduce_add_sync(~0u, lane < RW ? part[s][lane] : 0);
      prev = tile;
      if (lane == 0) {
        prefix[s] = excl;
        if (tile == tiles - 1) *count = incl;
        mb_arrive(ready + s);
      }
    }
  } else if (warp < 3 + RW) {
    constexpr int ROWS = TILE / RW / 32;
    static_assert(ROWS <= 32 || ROWS % 32 == 0);
    const int p = warp - 3;
    for (unsigned k = 0;; k++) {
      const int s = k % STAGES, q = k % RINGS;
      mb_wait(full + s, (k / STAGES) & 1);
      const unsigned tile = tile_at[s];
      if (k >= RINGS) mb_wait(taken + q, (k / RINGS - 1) & 1);
      if (p == 0 && lane == 0) tile_of[q] = tile;
      if (tile >= tiles) {
        if (lane == 0) mb_arrive(counted + q);
        break;
      }
      const int* src = ring + s * SLOT + p * (TILE / RW);
      unsigned total = 0;
#pragma unroll
      for (int g = 0; g < ROWS; g += 32) {
        unsigned m = 0;
#pragma unroll
        for (int r = 0; r < (ROWS < 32 ? ROWS : 32); r++) {
          const int e = (g + r) * 32 + lane;
          bool eq = src[e] == src[e + 1];
          if (p == RW - 1 && g + r == ROWS - 1) eq = eq && !(tile == tiles - 1 && lane == 31);
          const unsigned b = __ballot_sync(~0u, eq);
          if ((int)lane == r) m = b;
        }
        if (ROWS >= 32 || lane < ROWS) mask[q][p * ROWS + g + lane] = m;
        total += __popc(m);
      }
      total = __reduce_add_sync(~0u, total);
      if (lane == 0) part[q][p] = total;
      __syncwarp();
      if (lane == 0) {
        mb_arrive(empty + s);
        mb_arrive(counted + q);
      }
    }
  } else {
    static_assert(MASKS / SW >= 32 || true);
    const int p = warp - 3 - RW;
    constexpr int EACH = MASKS / SW;
    static_assert(EACH <= 32 && (EACH * 32) % (TILE / RW) == 0 || (TILE / RW) % (EACH * 32) == 0);
    for (unsigned k = 0;; k++) {
      const int q = k % RINGS;
      mb_wait(ready + q, (k / RINGS) & 1);
      const unsigned tile = tile_of[q];
      if (tile >= tiles) break;
      unsigned m = lane < EACH ? mask[q][p * EACH + lane] : 0;
      unsigned before = 0;
      for (int j = lane; j < p * EACH; j += 32) before += __popc(mask[q][j]);
      before = __reduce_add_sync(~0u, before) + prefix[q];
      __syncwarp();
      if (lane == 0) mb_arrive(taken + q);
      unsigned c = __popc(m), inc = c;
#pragma unroll
      for (int d = 1; d < 32; d *= 2) {
        const unsigned y = __shfl_up_sync(~0u, inc, d);
        if ((int)lane >= d) inc += y;
      }
      const unsigned off = before + inc - c;
      const unsigned at = tile * TILE + p * EACH * 32 + lane;
      if (__any_sync(~0u, c)) {
#pragma unroll 4
        for (int j = 0; j < EACH; j++) {
          const unsigned mm = __shfl_sync(~0u, m, j), o = __shfl_sync(~0u, off, j);
          if (mm >> lane & 1) out[o + __popc(mm & ((1u << lane) - 1))] = at + j * 32;
        }
      }
    }
  }
}
__global__ void check_rep(const int* in, const unsigned* out, size_t count) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
       i += (size_t)gridDim.x * blockDim.x)
    if (in[out[i]] != in[out[i] + 1] || (i && out[i] <= out[i - 1])) atomicAdd(&g_bad, 1u);
}
__global__ void count_rep(const int* in, size_t n, u64* c) {
  u64 s = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i + 1 < n;
       i += (size_t)gridDim.x * blockDim.x)
    s += in[i] == in[i + 1];
  atomicAdd(c, s);
}
struct Same {
  const int* a;
  __device__ bool operator()(unsigned i) const { return a[i] == a[i + 1]; }
};
template <class K>
static int smem_limit(K k, int bytes) {
  CK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  return bytes;
}
int main(int argc, char** argv) {
  const size_t most = 1ull << 28;
  int *in, *out, *keys;
  State* st;
  CK(cudaMalloc(&in, most * 4));
  CK(cudaMalloc(&out, most * 4));
  CK(cudaMalloc(&keys, most * 4));
  CK(cudaMalloc(&st, sizeof(State)));
  CK(cudaMemset(st, 0, sizeof(State)));
  void* temp;
  size_t tb = 256 << 20;
  CK(cudaMalloc(&temp, tb));
  fill<<<1320, 256>>>(in, most);
  for (int lg : {28, 24, 20}) {
    const size_t n = 1ull << lg;
    const int count = lg == 28 ? 1 : 100;
    const size_t copies = most / n;
    std::vector<Variant> vs;
    auto a = [=](int i) { return in + (i % copies) * n; };
    auto b = [=](int i) { return out + (i % copies) * n; };
    auto ok = [=] {
      unsigned z = 0, sum = 0;
      for (size_t c = 0; c < std::min<size_t>(copies, count); c += 17) {
        CK(cudaMemcpyToSymbol(g_bad, &z, 4));
        check<<<1320, 256>>>(a(c), b(c), n);
        unsigned g;
        CK(cudaMemcpyFromSymbol(&g, g_bad, 4));
        sum += g;
      }
      CK(cudaMemset(out, 0xff, most * 4));
      if (sum) std::printf("bad %u\n", sum);
      return sum == 0;
    };
    vs.push_back({"cub ExclusiveSum",
                  graph_of(count,
                           [=](int i, cudaStream_t s) {
                             size_t bb = tb;
                             CK(cub::DeviceScan::ExclusiveSum(temp, bb, a(i), b(i), (int)n, s));
                           }),
                  ok});
    if (lg == 28)
      vs.push_back({"memcpy",
                    [=] { CK(cudaMemcpyAsync(out, in, n * 4, cudaMemcpyDeviceToDevice, 0)); },
                    nullptr});
#define SCAN(TILE, ST, RW, SW, BO, STAT, OCC)                                                  \
  do {                                                                                         \
    auto k = scan_ws<TILE, ST, RW, SW, BO, STAT, OCC>;                                         \
    const int sm = smem_limit(k, TILE * 4 * ST);                                               \
    vs.push_back({"ws tile" #TILE " st" #ST " rw" #RW " sw" #SW " bulkout" #BO " static" #STAT \
                  " occ" #OCC,                                                                 \
                  graph_of(count,                                                              \
                           [=](int i, cudaStream_t s) {                                        \
                             k<<<132 * OCC, (3 + RW + SW) * 32, sm, s>>>(a(i), b(i), n, st);   \
                           }),                                                                 \
                  ok});                                                                        \
  } while (0)
    SCAN(8192, 6, 4, 8, 0, 0, 1);
    SCAN(8192, 6, 4, 8, 1, 0, 1);
    SCAN(8192, 6, 4, 8, 0, 1, 1);
    SCAN(8192, 6, 4, 16, 0, 0, 1);
    SCAN(8192, 6, 8, 16, 1, 0, 1);
    SCAN(4096, 12, 4, 8, 0, 0, 1);
    SCAN(4096, 12, 4, 8, 1, 0, 1);
    SCAN(4096, 6, 4, 8, 0, 0, 2);
    SCAN(4096, 6, 4, 8, 1, 0, 2);
    SCAN(8192, 3, 4, 8, 0, 0, 2);
    SCAN(8192, 3, 4, 8, 1, 0, 2);
    SCAN(4096, 4, 4, 8, 0, 0, 3);
    SCAN(16384, 3, 4, 16, 0, 0, 1);
    SCAN(8192, 4, 4, 8, 0, 0, 1);
    SCAN(8192, 4, 8, 8, 1, 1, 1);
    SCAN(4096, 12, 8, 8, 1, 1, 1);
    if (lg < 28) {
      SCAN(4096, 4, 8, 8, 0, 1, 2);
      SCAN(2048, 4, 8, 8, 0, 0, 3);
      SCAN(4096, 4, 8, 8, 1, 1, 2);
      SCAN(8192, 2, 8, 8, 0, 1, 1);
      SCAN(8192, 2, 8, 16, 0, 1, 1);
      SCAN(8192, 6, 8, 16, 0, 1, 1);
      SCAN(8192, 6, 8, 16, 0, 0, 1);
      SCAN(8192, 2, 8, 8, 0, 0, 1);
      SCAN(4096, 2, 8, 8, 0, 0, 2);
      SCAN(2048, 8, 4, 4, 0, 1, 2);
      SCAN(2048, 4, 4, 4, 0, 1, 4);
      SCAN(2048, 4, 4, 4, 0, 0, 4);
    }
    char title[64];
    std::snprintf(title, 64, "exclusive scan int 2^%d", lg);
    bench(title, 8.0 * n, vs, 11, count);
  }
  const size_t n = most;
  unsigned char* flags = (unsigned char*)keys;
  for (unsigned per : {0u, 2u, 100u, 100000u}) {
    fill_flags<<<1320, 256>>>(flags, n, per);
    std::vector<Variant> vs;
    auto ok = [=] {
      unsigned z = 0;
      CK(cudaMemcpyToSymbol(g_bad, &z, 4));
      check_seg<<<1320, 256>>>(in, flags, out, n);
      CK(cudaMemcpyFromSymbol(&z, g_bad, 4));
      CK(cudaMemset(out, 0xff, n * 4));
      if (z) std::printf("bad %u\n", z);
      return z == 0;
    };
#define SEG(TILE, ST, RW, SW, OCC)                                                                \
  do {                                                                                            \
    auto k = seg_ws<TILE, ST, RW, SW, false, OCC>;                                                \
    const int sm = smem_limit(k, (TILE * 5 + 16) * ST);                                           \
    vs.push_back({"seg flags tile" #TILE " st" #ST " rw" #RW " sw" #SW " occ" #OCC,               \
                  [=] { k<<<132 * OCC, (3 + RW + SW) * 32, sm>>>(in, flags, out, n, st); }, ok}); \
  } while (0)
    SEG(8192, 5, 4, 8, 1);
    SEG(8192, 5, 8, 16, 1);
    SEG(4096, 5, 4, 8, 2);
    SEG(4096, 5, 8, 8, 2);
    SEG(4096, 10, 8, 8, 1);
    char title[64];
    std::snprintf(title, 64, "segmented scan, flags 1/%u", per);
    bench(title, 9.0 * n, vs, 7);
  }
  for (unsigned per : {2u, 100u, 100000u}) {
    std::vector<Variant> vs;
    {
      std::vector<int> h(n);
      unsigned x = 1;
      int key = 0;
      for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        key += (x >> 8) % per == 0;
        h[i] = key;
      }
      CK(cudaMemcpy(keys, h.data(), n * 4, cudaMemcpyHostToDevice));
    }
    vs.push_back({"cub InclusiveSumByKey",
                  [=] {
                    size_t bb = tb;
                    CK(cub::DeviceScan::InclusiveSumByKey(temp, bb, keys, in, out, (int)n));
                  },
                  nullptr});
    int* want;
    CK(cudaMalloc(&want, n * 4));
    {
      size_t bb = tb;
      CK(cub::DeviceScan::InclusiveSumByKey(temp, bb, keys, in, want, (int)n));
    }
    auto ok = [=] {
      std::vector<int> g(1 << 22), w(1 << 22);
      bool same = true;
      for (size_t o = 0; o < n; o += n / 8) {
        CK(cudaMemcpy(g.data(), out + o, 4 << 22, cudaMemcpyDeviceToHost));
        CK(cudaMemcpy(w.data(), want + o, 4 << 22, cudaMemcpyDeviceToHost));
        same &= g == w;
      }
      CK(cudaMemset(out, 0xff, n * 4));
      return same;
    };
#define SEGK(TILE, ST, RW, SW, OCC)                                                              \
  do {                                                                                           \
    auto k = seg_ws<TILE, ST, RW, SW, true, OCC>;                                                \
    const int sm = smem_limit(k, (TILE * 8 + 16) * ST);                                          \
    vs.push_back({"seg keys tile" #TILE " st" #ST " rw" #RW " sw" #SW " occ" #OCC,               \
                  [=] { k<<<132 * OCC, (3 + RW + SW) * 32, sm>>>(in, keys, out, n, st); }, ok}); \
  } while (0)
    SEGK(8192, 3, 4, 8, 1);
    SEGK(4096, 6, 8, 16, 1);
    SEGK(4096, 6, 4, 8, 1);
    SEGK(4096, 3, 4, 8, 2);
    SEGK(4096, 3, 8, 8, 2);
    SEGK(2048, 6, 4, 8, 2);
    char title[64];
    std::snprintf(title, 64, "segmented scan, keys 1/%u", per);
    bench(title, 12.0 * n, vs, 7);
    CK(cudaFree(want));
  }
  u64* cnt;
  CK(cudaMalloc(&cnt, 16));
  unsigned* found = (unsigned*)(cnt + 1);
  for (unsigned per : {0u, 16u, 2u, 1u}) {
    fill_rep<<<1320, 256>>>(in, n, per == 16 ? 16 : per);
    CK(cudaMemset(cnt, 0, 8));
    count_rep<<<1320, 256>>>(in, n, cnt);
    u64 want;
    CK(cudaMemcpy(&want, cnt, 8, cudaMemcpyDeviceToHost));
    std::printf("repeats %llu = 1/%.2f\n", want, (double)n / (double)want);
    std::vector<Variant> vs;
    auto ok = [=] {
      unsigned z = 0, c;
      CK(cudaMemcpy(&c, found, 4, cudaMemcpyDeviceToHost));
      if (c != want) {
        std::printf("count %u of %llu\n", c, want);
        return false;
      }
      CK(cudaMemcpyToSymbol(g_bad, &z, 4));
      if (c) check_rep<<<1320, 256>>>(in, (unsigned*)out, c);
      CK(cudaMemcpyFromSymbol(&z, g_bad, 4));
      CK(cudaMemset(out, 0x0f, n * 4));
      CK(cudaMemset(found, 0xff, 4));
      return z == 0;
    };
    vs.push_back({"cub Select::If",
                  [=] {
                    size_t bb = tb;
                    CK(cub::DeviceSelect::If(temp, bb, thrust::counting_iterator<unsigned>(0),
                                             (unsigned*)out, found, (int)(n - 1), Same{in}));
                  },
                  ok});
#define REP(TILE, ST, RINGS, RW, SW, OCC)                                                     \
  do {                                                                                        \
    auto k = rep_ws<TILE, ST, RINGS, RW, SW, OCC>;                                            \
    const int sm = smem_limit(k, (TILE + 4) * 4 * ST);                                        \
    vs.push_back(                                                                             \
        {"rep tile" #TILE " st" #ST " rings" #RINGS " rw" #RW " sw" #SW " occ" #OCC,          \
         [=] { k<<<132 * OCC, (3 + RW + SW) * 32, sm>>>(in, (unsigned*)out, found, n, st); }, \
         ok});                                                                                \
  } while (0)
    REP(8192, 6, 12, 8, 8, 1);
    REP(8192, 6, 12, 8, 16, 1);
    REP(8192, 6, 12, 16, 8, 1);
    REP(4096, 6, 12, 4, 8, 2);
    REP(8192, 3, 12, 8, 8, 2);
    REP(8192, 3, 8, 4, 8, 2);
    REP(4096, 12, 12, 8, 8, 1);
    REP(4096, 6, 12, 8, 8, 2);
    REP(8192, 6, 24, 8, 8, 1);
    char title[64];
    std::snprintf(title, 64, "find_repeats 1/%u", per);
    bench(title, 4.0 * n + 4.0 * want, vs, 7);
  }
  std::fprintf(json_file(), "{}]\n");
}
