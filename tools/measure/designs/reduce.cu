// stand-alone bench: sum, arg-max, histogram
#include <cmath>
#include <cub/cub.cuh>

#include "bench.h"
__global__ void fill(float* p, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x)
    p[i] = (int)(hash32(i) % 2001) * 1e-3f - 1.f;
}
__global__ void fill_ties(float* p, size_t n, unsigned mod) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x)
    p[i] = (float)(hash32(i) % mod);
}
__global__ void fill_bytes(unsigned char* p, size_t n, int kind) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x) {
    unsigned h = hash32(i);
    p[i] = kind == 0   ? h & 255
           : kind == 1 ? 7
           : kind == 2 ? ((h & 7) ? 7 : (h >> 8) & 255)
                       : (unsigned)(i >> 12) & 255;
  }
}
constexpr unsigned long long EMPTY = 0;
template <int TH>
__device__ __forceinline__ float block_sum(float v) {
  __shared__ float part[TH / 32];
#pragma unroll
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
  if (threadIdx.x < 32) {
    v = threadIdx.x < TH / 32 ? part[threadIdx.x] : 0;
#pragma unroll
    for (int d = TH / 64; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  }
  return v;  // thread 0 .. 31
}
__device__ __forceinline__ float sum4(float4 a) { return (a.x + a.y) + (a.z + a.w); }
// CHUNKED: each block walks tiles of TH*U float4, grid stride; last tile guarded. FINISH 0: ticket, 1: packed words polled by last block
template <int TH, int U, int FINISH, bool CS>
__global__ __launch_bounds__(TH) void sum(const float4* __restrict__ in, size_t n4,
                                          const float* tail, int ntail, float* out,
                                          unsigned long long* words, unsigned* ticket, int pdl) {
  if (pdl == 2) {
    const size_t i = blockIdx.x * (size_t)(TH * U) + threadIdx.x;
    if (threadIdx.x % 8 == 0)
      for (int u = 0; u < U; u++)
        if (i + u * TH < n4) asm volatile("prefetch.global.L2 [%0];" ::"l"(in + i + u * TH));
  }
  if (pdl) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
  }
  float acc[4] = {};
  const size_t step = (size_t)gridDim.x * TH * U;
  size_t i = blockIdx.x * (size_t)(TH * U) + threadIdx.x;
  for (; i + (U - 1) * TH < n4; i += step) {
    float4 v[U];
#pragma unroll
    for (int u = 0; u < U; u++) v[u] = CS ? __ldcs(in + i + u * TH) : __ldg(in + i + u * TH);
#pragma unroll
    for (int u = 0; u < U; u++) acc[u & 3] += sum4(v[u]);
  }
  for (; i < n4; i += TH) {
    acc[0] += sum4(in[i]);
    if (0) break;
    if (i + TH >= (i / (TH * U) + 1) * (size_t)(TH * U)) break;
  }
  if (blockIdx.x == 0 && threadIdx.x < ntail) acc[1] += tail[threadIdx.x];
  float v = block_sum<TH>((acc[0] + acc[1]) + (acc[2] + acc[3]));
  if (FINISH == 1) {
    const unsigned last = gridDim.x - 1;
    if (blockIdx.x != last) {
      if (threadIdx.x == 0) st_relaxed(words + blockIdx.x, 1ull << 32 | __float_as_uint(v));
      return;
    }
    float w = threadIdx.x == 0 ? v : 0;
    for (unsigned b = threadIdx.x; b < last; b += TH) {
      unsigned long long x;
      while ((x = ld_relaxed(words + b)) == EMPTY) {
      }
      w += __uint_as_float((unsigned)x);
      words[b] = EMPTY;
    }
    __syncthreads();
    w = block_sum<TH>(w);
    if (threadIdx.x == 0) *out = w;
  } else {
    __shared__ bool is_last;
    float* part = (float*)(words + 8192);
    if (threadIdx.x == 0) {
      part[blockIdx.x] = v;
      __threadfence();
      is_last = atomicAdd(ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    float w = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += TH) w += __ldcg(part + b);
    __syncthreads();
    w = block_sum<TH>(w);
    if (threadIdx.x == 0) {
      *out = w;
      *ticket = 0;
    }
  }
}
// bulk copies into a ring, one block per SM (PER): 128-lane consumers
template <int BYTES, int STAGES, int TH>
__global__ __launch_bounds__(TH + 32) void sum_bulk(const char* in, size_t bytes, float* out,
                                                    unsigned long long* words) {
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      mb_init(full + s, 1);
      mb_init(empty + s, TH / 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const size_t tiles = bytes / BYTES;
  float acc[4] = {};
  if (threadIdx.x >= TH) {
    if (threadIdx.x == TH) {
      unsigned k = 0;
      for (size_t t = blockIdx.x; t < tiles; t += gridDim.x, k++) {
        int s = k % STAGES;
        if (k >= STAGES) mb_wait(empty + s, (k / STAGES - 1) & 1);
        mb_expect(full + s, BYTES);
        bulk_load(ring + s * BYTES, in + t * BYTES, BYTES, full + s);
      }
    }
  } else {
    unsigned k = 0;
    for (size_t t = blockIdx.x; t < tiles; t += gridDim.x, k++) {
      int s = k % STAGES;
      mb_wait(full + s, (k / STAGES) & 1);
      const float4* p = (const float4*)(ring + s * BYTES);
#pragma unroll
      for (int u = 0; u < BYTES / 16 / TH; u++) acc[u & 3] += sum4(p[threadIdx.x + u * TH]);
      __syncwarp();
      if (threadIdx.x % 32 == 0) mb_arrive(empty + s);
    }
  }
  __shared__ float part[TH / 32 + 1];
  float v = (acc[0] + acc[1]) + (acc[2] + acc[3]);
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  v = threadIdx.x <= TH / 32 ? part[threadIdx.x] : 0;
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  const unsigned last = gridDim.x - 1;
  if (blockIdx.x != last) {
    if (threadIdx.x == 0) st_relaxed(words + blockIdx.x, 1ull << 32 | __float_as_uint(v));
    return;
  }
  float w = threadIdx.x == 0 ? v : 0;
  for (unsigned b = threadIdx.x; b < last; b += 32) {
    unsigned long long x;
    while ((x = ld_relaxed(words + b)) == EMPTY) {
    }
    w += __uint_as_float((unsigned)x);
    words[b] = EMPTY;
  }
  for (int d = 16; d; d /= 2) w += __shfl_xor_sync(~0u, w, d);
  if (threadIdx.x == 0) *out = w;
}
// ---- arg-max: key = ordered value << 32 | ~index, larger is better, ties to the smaller index. Inner loop on floats.
struct Best {
  float v;
  unsigned i;
};
__device__ __forceinline__ unsigned long long key(float v, unsigned i) {
  unsigned u = __float_as_uint(v);
  u ^= (u >> 31) ? ~0u : 0x80000000u;
  return (unsigned long long)u << 32 | ~i;
}
__device__ __forceinline__ void take(float& bv, unsigned& bi, float v, unsigned i) {
  if (v > bv) {
    bv = v;
    bi = i;
  }
}
template <int TH, int U>
__global__ __launch_bounds__(TH) void argmax(const float4* __restrict__ in, unsigned n4,
                                             unsigned long long* out, unsigned long long* words) {
  float bv = -INFINITY, b1 = -INFINITY, b2 = -INFINITY, b3 = -INFINITY;
  unsigned bi = 0xffffffffu, i1 = ~0u, i2 = ~0u, i3 = ~0u;
  const unsigned step = gridDim.x * TH * U;
  unsigned i = blockIdx.x * (TH * U) + threadIdx.x;
  for (; i + (U - 1) * TH < n4; i += step) {
    float4 v[U];
#pragma unroll
    for (int u = 0; u < U; u++) v[u] = __ldg(in + i + u * TH);
#pragma unroll
    for (int u = 0; u < U; u++) {
      const unsigned e = 4 * (i + u * TH);
      take(bv, bi, v[u].x, e);
      take(b1, i1, v[u].y, e);
      take(b2, i2, v[u].z, e);
      take(b3, i3, v[u].w, e);
    }
  }
  auto join = [&](float v, unsigned j) {
    if (v > bv || (v == bv && j < bi)) {
      bv = v;
      bi = j;
    }
  };
  join(b1, i1 + 1);
  join(b2, i2 + 2);
  join(b3, i3 + 3);
  for (; i < n4; i += TH) {
    const float4 v = in[i];
    const unsigned e = 4 * i;
    take(bv, bi, v.x, e);
    take(bv, bi, v.y, e + 1);
    take(bv, bi, v.z, e + 2);
    take(bv, bi, v.w, e + 3);
    if (i + TH >= (i / (TH * U) + 1) * (TH * U)) break;
  }
  unsigned long long k = key(bv, bi);
  __shared__ unsigned long long part[TH / 32];
  for (int d = 16; d; d /= 2) {
    unsigned long long o = __shfl_xor_sync(~0u, k, d);
    k = o > k ? o : k;
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = k;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  k = threadIdx.x < TH / 32 ? part[threadIdx.x] : 0;
  for (int d = 16; d; d /= 2) {
    unsigned long long o = __shfl_xor_sync(~0u, k, d);
    k = o > k ? o : k;
  }
  const unsigned last = gridDim.x - 1;
  if (blockIdx.x != last) {
    if (threadIdx.x == 0) st_relaxed(words + blockIdx.x, k);
    return;
  }
  for (unsigned b = threadIdx.x; b < last; b += 32) {
    unsigned long long x;
    while ((x = ld_relaxed(words + b)) == EMPTY) {
    }
    k = x > k ? x : k;
    words[b] = EMPTY;
  }
  for (int d = 16; d; d /= 2) {
    unsigned long long o = __shfl_xor_sync(~0u, k, d);
    k = o > k ? o : k;
  }
  if (threadIdx.x == 0) *out = k;
}
// ---- histogram of bytes: bins[256][32]: lane l owns bank l
template <int TH, int U, int COLS>
__global__ __launch_bounds__(TH) void hist(const uint4* __restrict__ in, size_t n16,
                                           unsigned* out) {
  extern __shared__ unsigned bins[];
  for (int i = threadIdx.x; i < 256 * COLS; i += TH) bins[i] = 0;
  __syncthreads();
  unsigned* mine = bins + threadIdx.x % COLS;
  const size_t step = (size_t)gridDim.x * TH * U;
  for (size_t i = blockIdx.x * (size_t)(TH * U) + threadIdx.x; i < n16; i += step) {
    uint4 v[U];
#pragma unroll
    for (int u = 0; u < U; u++)
      if (i + u * TH < n16) v[u] = __ldcs(in + i + u * TH);
#pragma unroll
    for (int u = 0; u < U; u++)
      if (i + u * TH < n16) {
        const unsigned w[4] = {v[u].x, v[u].y, v[u].z, v[u].w};
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
          for (int b = 0; b < 4; b++) atomicAdd(mine + __byte_perm(w[q], 0, 0x4440 + b) * COLS, 1u);
      }
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += TH) {
    unsigned s = 0;
    for (int c = 0; c < COLS; c++) s += bins[b * COLS + (c + b) % COLS];
    if (s) atomicAdd(out + b, s);
  }
}
// per-thread 8-bit counters: thread t owns byte column; bins8[bin/4?]: word (bin, t/4... ) layout: counter of (bin, t) at byte (bin * TH + t): bank = t/4 mod 32: lanes 4 share a word -> no conflict (same word), read-modify-write of own byte
template <int TH, int U>
__global__ __launch_bounds__(TH) void hist8(const uint4* __restrict__ in, size_t n16,
                                            unsigned* out) {
  extern __shared__ unsigned char cnt
      [];  // [256][TH] swizzled: t -> t's byte lane: word index (t % 32) + 32 * (t / 128), byte (t / 32) % 4
  const int t = threadIdx.x;
  unsigned char* mine = cnt + ((t % 32) + 32 * (t / 128)) * 4 + (t / 32) % 4;
  unsigned total[256 / TH + 1] = {};
  for (int i = t; i < 256 * TH / 4; i += TH) ((unsigned*)cnt)[i] = 0;
  __syncthreads();
  const size_t step = (size_t)gridDim.x * TH * U;
  int filled = 0;
  const size_t rounds = (n16 + step - 1) / step;
  for (size_t r = 0; r < rounds; r++) {
    const size_t i = (r * gridDim.x + blockIdx.x) * (size_t)(TH * U) + t;
    uint4 v[U];
#pragma unroll
    for (int u = 0; u < U; u++)
      if (i + u * TH < n16) v[u] = __ldcs(in + i + u * TH);
#pragma unroll
    for (int u = 0; u < U; u++)
      if (i + u * TH < n16) {
        const unsigned w[4] = {v[u].x, v[u].y, v[u].z, v[u].w};
#pragma unroll
        for (int q = 0; q < 4; q++)
#pragma unroll
          for (int b = 0; b < 4; b++) mine[__byte_perm(w[q], 0, 0x4440 + b) * TH]++;
      }
    filled += 16 * U;
    if (filled + 16 * U > 255 || r + 1 == rounds) {
      filled = 0;
      __syncthreads();
      int k = 0;
      for (int b = t; b < 256; b += TH, k++) {
        unsigned s = 0;
        for (int c = 0; c < TH / 4; c++) {
          unsigned* w = (unsigned*)(cnt + b * TH) + (c + b) % (TH / 4);
          s = __dp4a(*w, 0x01010101u, s);
          *w = 0;
        }
        total[k] += s;
      }
      __syncthreads();
    }
  }
  int k = 0;
  for (int b = t; b < 256; b += TH, k++)
    if (total[k]) atomicAdd(out + b, total[k]);
}
int main() {
  const size_t most = 1ull << 28;
  float *in, *out;
  unsigned long long* words;
  unsigned* ticket;
  unsigned long long* best;
  CK(cudaMalloc(&in, most * 4));
  CK(cudaMalloc(&out, 4096));
  CK(cudaMalloc(&words, 1 << 20));
  CK(cudaMemset(words, 0, 1 << 20));
  CK(cudaMalloc(&ticket, 4));
  CK(cudaMemset(ticket, 0, 4));
  CK(cudaMalloc(&best, 64));
  fill<<<1320, 256>>>(in, most);
  void* temp;
  size_t tb = 64 << 20;
  CK(cudaMalloc(&temp, tb));
  for (int lg : {28, 24, 20}) {
    const size_t n = 1ull << lg;
    const int count = lg == 28 ? 1 : 100;
    const size_t copies = most / n, n4 = n / 4;
    std::vector<Variant> vs;
    auto at = [=](int i) { return in + (i % copies) * n; };
    float want;
    {
      std::vector<float> h(n);
      CK(cudaMemcpy(h.data(), at(count - 1), n * 4, cudaMemcpyDeviceToHost));
      double s = 0;
      for (float x : h) s += x;
      want = (float)s;
    }
    auto ok = [=] {
      float g;
      CK(cudaMemcpy(&g, out, 4, cudaMemcpyDeviceToHost));
      CK(cudaMemset(out, 0xff, 4));
      bool k = std::fabs(g - want) < 2e-3 * std::sqrt((double)n);
      if (!k) std::printf("got %g want %g\n", g, want);
      return k;
    };
    vs.push_back({"cub",
                  graph_of(count,
                           [=](int i, cudaStream_t s) {
                             size_t b = tb;
                             CK(cub::DeviceReduce::Sum(temp, b, at(i), out, (int)n, s));
                           }),
                  ok});
#define SUM(TH, U, F, CS, GRID)                                                              \
  vs.push_back({"sum th" #TH " u" #U " f" #F " cs" #CS " grid" #GRID,                        \
                graph_of(count,                                                              \
                         [=](int i, cudaStream_t s) {                                        \
                           unsigned tiles = (unsigned)((n4 + TH * U - 1) / (TH * U));        \
                           sum<TH, U, F, CS><<<std::min<unsigned>(GRID, tiles), TH, 0, s>>>( \
                               (const float4*)at(i), n4, nullptr, 0, out, words, ticket, 0); \
                         }),                                                                 \
                ok})
#define SUMP(PDL, TH, U, F, CS, GRID)                                                             \
  vs.push_back({"sum PDL" #PDL " th" #TH " u" #U " f" #F " cs" #CS " grid" #GRID,                 \
                graph_of(count,                                                                   \
                         [=](int i, cudaStream_t s) {                                             \
                           unsigned tiles = (unsigned)((n4 + TH * U - 1) / (TH * U));             \
                           cudaLaunchConfig_t c{};                                                \
                           c.gridDim = std::min<unsigned>(GRID, tiles);                           \
                           c.blockDim = TH;                                                       \
                           c.stream = s;                                                          \
                           cudaLaunchAttribute a;                                                 \
                           a.id = cudaLaunchAttributeProgrammaticStreamSerialization;             \
                           a.val.programmaticStreamSerializationAllowed = 1;                      \
                           c.attrs = &a;                                                          \
                           c.numAttrs = 1;                                                        \
                           CK(cudaLaunchKernelEx(&c, sum<TH, U, F, CS>, (const float4*)at(i), n4, \
                                                 (const float*)nullptr, 0, out, words, ticket,    \
                                                 PDL));                                           \
                         }),                                                                      \
                ok})
    if (lg > 20) {
      SUM(512, 4, 0, 0, 132 * 4);
      SUM(512, 4, 1, 0, 132 * 4);
      SUM(512, 8, 1, 0, 132 * 4);
      SUM(512, 8, 1, 1, 132 * 4);
      SUM(512, 8, 1, 1, 132 * 2);
      SUM(256, 8, 1, 1, 132 * 8);
      SUM(256, 8, 1, 1, 132 * 4);
      SUM(256, 16, 1, 1, 132 * 4);
      SUM(256, 4, 1, 1, 132 * 8);
      SUM(1024, 4, 1, 1, 132 * 2);
      SUM(1024, 4, 1, 1, 132);
      SUM(512, 8, 1, 1, 132);
      SUM(256, 8, 1, 1, 132 * 64);
      SUM(256, 8, 0, 1, 132 * 64);
      SUM(256, 4, 1, 1, 1 << 30);
      SUM(512, 4, 1, 1, 1 << 30);
      SUMP(1, 512, 4, 1, 0, 528);
      SUMP(2, 512, 4, 1, 0, 528);
      SUMP(1, 1024, 4, 1, 0, 264);
#define BULK(B, ST, TH, PER)                                                                  \
  do {                                                                                        \
    CK(cudaFuncSetAttribute(sum_bulk<B, ST, TH>, cudaFuncAttributeMaxDynamicSharedMemorySize, \
                            B* ST));                                                          \
    vs.push_back({"bulk " #B " st" #ST " th" #TH " per" #PER,                                 \
                  graph_of(count,                                                             \
                           [=](int i, cudaStream_t s) {                                       \
                             sum_bulk<B, ST, TH><<<132 * PER, TH + 32, B * ST, s>>>(          \
                                 (const char*)at(i), n * 4, out, words);                      \
                           }),                                                                \
                  ok});                                                                       \
  } while (0)
      BULK(16384, 6, 256, 2);
      BULK(16384, 4, 256, 2);
      BULK(8192, 8, 256, 2);
      BULK(16384, 12, 256, 1);
      BULK(32768, 6, 256, 1);
      BULK(8192, 6, 128, 4);
      BULK(4096, 8, 128, 4);
      BULK(8192, 4, 256, 2);
    } else {
      SUM(512, 4, 0, 0, 132);
      SUM(512, 4, 1, 0, 132);
      SUM(1024, 2, 1, 0, 132);
      SUM(1024, 2, 1, 0, 128);
      SUM(512, 2, 1, 0, 264);
      SUM(512, 4, 1, 0, 264);
      SUM(256, 4, 1, 0, 264);
      SUM(256, 2, 1, 0, 528);
      SUM(256, 8, 1, 0, 264);
      SUM(512, 1, 1, 0, 528);
      SUMP(1, 512, 4, 1, 0, 132);
      SUMP(1, 1024, 2, 1, 0, 132);
      SUMP(1, 512, 2, 1, 0, 264);
      SUMP(1, 256, 4, 1, 0, 264);
      SUMP(2, 1024, 2, 1, 0, 132);
      SUMP(2, 512, 2, 1, 0, 264);
      SUMP(1, 512, 2, 1, 0, 256);
      SUMP(2, 512, 2, 1, 0, 256);
      SUMP(1, 512, 1, 1, 0, 528);
      SUMP(2, 512, 1, 1, 0, 528);
      SUMP(2, 256, 4, 1, 0, 264);
      SUMP(1, 256, 8, 1, 0, 264);
    }
    char title[64];
    std::snprintf(title, 64, "sum float 2^%d", lg);
    bench(title, 4.0 * n, vs, lg == 28 ? 15 : 9, count);
    vs.clear();
    std::vector<float> h(n);
    CK(cudaMemcpy(h.data(), at(count - 1), n * 4, cudaMemcpyDeviceToHost));
    const unsigned where = (unsigned)(std::max_element(h.begin(), h.end()) - h.begin());
    auto okm = [=] {
      unsigned long long g;
      CK(cudaMemcpy(&g, best, 8, cudaMemcpyDeviceToHost));
      CK(cudaMemset(best, 0, 8));
      return ~(unsigned)g == where;
    };
    float* bv = (float*)(best + 2);
    int* bi = (int*)(best + 3);
    vs.push_back({"cub ArgMax",
                  graph_of(count,
                           [=](int i, cudaStream_t s) {
                             size_t b = tb;
                             CK(cub::DeviceReduce::ArgMax(temp, b, at(i), bv, (long long*)bi,
                                                          (long long)n, s));
                           }),
                  nullptr});
#define ARG(TH, U, GRID)                                                                 \
  vs.push_back({"argmax th" #TH " u" #U " grid" #GRID,                                   \
                graph_of(count,                                                          \
                         [=](int i, cudaStream_t s) {                                    \
                           unsigned tiles = (unsigned)((n4 + TH * U - 1) / (TH * U));    \
                           argmax<TH, U><<<std::min<unsigned>(GRID, tiles), TH, 0, s>>>( \
                               (const float4*)at(i), (unsigned)n4, best, words);         \
                         }),                                                             \
                okm})
    ARG(512, 4, 132 * 4);
    ARG(512, 8, 132 * 4);
    ARG(512, 8, 132 * 2);
    ARG(256, 8, 132 * 4);
    ARG(256, 8, 132 * 64);
    ARG(1024, 4, 132);
    ARG(256, 4, 132 * 8);
    ARG(256, 4, 264);
    ARG(1024, 2, 132);
    std::snprintf(title, 64, "argmax 2^%d", lg);
    bench(title, 4.0 * n, vs, lg == 28 ? 15 : 9, count);
  }
  unsigned char* bytes = (unsigned char*)in;
  const size_t nb = 1ull << 28;
  unsigned* bins = (unsigned*)words;
  for (int kind = 0; kind < 4; kind++) {
    fill_bytes<<<1320, 256>>>(bytes, nb, kind);
    std::vector<unsigned char> h(nb);
    CK(cudaMemcpy(h.data(), bytes, nb, cudaMemcpyDeviceToHost));
    std::vector<unsigned> want(256);
    for (auto b : h) want[b]++;
    std::vector<Variant> vs;
    auto ok = [=] {
      std::vector<unsigned> g(256);
      CK(cudaMemcpy(g.data(), bins, 1024, cudaMemcpyDeviceToHost));
      CK(cudaMemset(bins, 0xff, 1024));
      return g == want;
    };
    vs.push_back({"cub HistogramEven",
                  [=] {
                    size_t b = tb;
                    CK(cub::DeviceHistogram::HistogramEven(temp, b, bytes, (int*)bins, 257, 0, 256,
                                                           (int)nb));
                  },
                  ok});
#define HIST(TH, U, COLS, PER)                                                                \
  do {                                                                                        \
    CK(cudaFuncSetAttribute(hist<TH, U, COLS>, cudaFuncAttributeMaxDynamicSharedMemorySize,   \
                            1024 * COLS));                                                    \
    vs.push_back({"hist th" #TH " u" #U " cols" #COLS " per" #PER,                            \
                  [=] {                                                                       \
                    CK(cudaMemsetAsync(bins, 0, 1024));                                       \
                    hist<TH, U, COLS>                                                         \
                        <<<132 * PER, TH, 1024 * COLS>>>((const uint4*)bytes, nb / 16, bins); \
                  },                                                                          \
                  ok});                                                                       \
  } while (0)
    HIST(256, 2, 32, 6);
    HIST(256, 4, 32, 6);
    HIST(512, 2, 32, 4);
    HIST(1024, 2, 32, 2);
    HIST(1024, 1, 32, 2);
    HIST(512, 4, 32, 3);
    HIST(512, 2, 16, 4);
    HIST(512, 2, 8, 4);
    HIST(256, 2, 16, 8);
    HIST(128, 4, 32, 6);
    HIST(512, 2, 32, 1);
    HIST(1024, 2, 32, 1);
#define HIST8(TH, U, PER)                                                                          \
  do {                                                                                             \
    CK(cudaFuncSetAttribute(hist8<TH, U>, cudaFuncAttributeMaxDynamicSharedMemorySize, 256 * TH)); \
    vs.push_back({"hist8 th" #TH " u" #U " per" #PER,                                              \
                  [=] {                                                                            \
                    CK(cudaMemsetAsync(bins, 0, 1024));                                            \
                    hist8<TH, U><<<132 * PER, TH, 256 * TH>>>((const uint4*)bytes, nb / 16, bins); \
                  },                                                                               \
                  ok});                                                                            \
  } while (0)
    HIST8(256, 3, 3);
    HIST8(128, 3, 6);
    HIST8(256, 5, 3);
    char title[64];
    std::snprintf(title, 64, "histogram 2^28 kind %d", kind);
    bench(title, nb, vs, 9);
  }
  std::fprintf(json_file(), "{}]\n");
}
