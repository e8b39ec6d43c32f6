// Inline PTX of memory, warps and barriers, against the same in C++. nvcc compiles this file as well (test_ptx.py).
#include <cstdint>
#include <cstdio>
#include <cstring>

using u64 = unsigned long long;

static int failed = 0;
static void expect(bool good, const char* what, int line) {
  if (good) return;
  std::printf("FAILED: line %d: %s\n", line, what);
  ++failed;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

template <class T>
T* managed(int n) {
  T* p;
  cudaMallocManaged(&p, n * sizeof(T));
  std::memset(static_cast<void*>(p), 0, n * sizeof(T));
  return p;
}

// ---- loads and stores

__global__ void copy(const unsigned* in, unsigned* out) {
  unsigned a, b, c, d;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(in));
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(out), "r"(d), "r"(c) : "memory");
  asm volatile("st.global.cs.u32 [%0+8], %1;" ::"l"(out), "r"(b) : "memory");
  asm volatile("st.wt.u32 [%0+%2], %1;" ::"l"(out), "r"(a), "n"(12) : "memory");
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {%0, _}, [%1+-4];"
               : "=r"(a)
               : "l"(in + 5));
  asm volatile("st.u32 [%0 + 16], %1;" ::"l"(out), "r"(a) : "memory");
  u64 policy, two;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm("ld.global.L2::cache_hint.u64 %0, [%1], %2;" : "=l"(two) : "l"(in + 6), "l"(policy));
  asm volatile("st.global.b64 [%0+24], %1;" ::"l"(out), "l"(two) : "memory");
  // Narrow ones, in registers that are wider
  asm("ld.global.s8 %0, [%1];" : "=r"(a) : "l"(in + 8));
  asm("ld.global.u8 %0, [%1];" : "=r"(b) : "l"(in + 8));
  asm("ld.global.s16 %0, [%1];" : "=r"(c) : "l"(in + 8));
  std::uint16_t h;
  asm("ld.global.cg.b16 %0, [%1+2];" : "=h"(h) : "l"(in + 8));
  out[8] = a, out[9] = b, out[10] = c, out[11] = h;
  asm volatile("st.global.u8 [%0+48], %1;" ::"l"(out), "r"(0x123u) : "memory");
  asm volatile("st.global.b16 [%0+50], %1;" ::"l"(out), "r"(0x45678u) : "memory");
  asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(a) : "l"(in));
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(b) : "l"(in + 1));
  asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(c) : "l"(in + 2));
  asm volatile("st.release.gpu.global.u32 [%0+52], %1;" ::"l"(out), "r"(a + b + c) : "memory");
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(out + 14), "r"(1) : "memory");
  asm volatile("st.volatile.u32 [%0], %1;" ::"l"(out + 15), "r"(2) : "memory");
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in));
  asm volatile("prefetch.global.L1 [%0];" ::"l"(in));
  asm volatile("prefetch.tensormap [%0];" ::"l"(in));
  double x;
  asm("ld.global.f64 %0, [%1];" : "=d"(x) : "l"(in + 10));
  asm volatile("{ .reg .u64 p; cvta.to.global.u64 p, %0; st.global.f64 [p], %1; }" ::"l"(out + 16),
               "d"(2 * x)
               : "memory");
}

__global__ void shared(unsigned* out) {
  __shared__ alignas(16) unsigned tile[64];
  extern __shared__ unsigned dynamic[];
  const unsigned t = threadIdx.x;
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile + t));
  const auto beside = static_cast<std::uint32_t>(__cvta_generic_to_shared(dynamic));
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(3 * t) : "memory");
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(beside + 4 * t), "r"(5 * t) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  unsigned a, b, c, d;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(at ^ 4) : "memory");
  asm volatile(
      "{ .reg .u64 p; .reg .u32 q; cvta.to.shared.u64 p, %1; cvt.u32.u64 q, p; ld.shared.u32 %0, "
      "[q+4]; }"
      : "=r"(b)
      : "l"(dynamic + (t & ~1u))
      : "memory");
  asm volatile("{ .reg .u64 p, q; cvt.u64.u32 p, %1; cvta.shared.u64 q, p; ld.u32 %0, [q]; }"
               : "=r"(c)
               : "r"(at)
               : "memory");
  asm volatile(
      "{ .reg .pred p, q; isspacep.shared p, %1; isspacep.global q, %2; selp.u32 %0, 1, 0, p; @q "
      "add.u32 %0, %0, 2; }"
      : "=r"(d)
      : "l"(tile), "l"(out));
  const bool same = __cvta_shared_to_generic(at) == tile + t;
  asm volatile("barrier.sync 0, %0;" ::"r"(blockDim.x) : "memory");
  out[t] = a + 1000 * b;
  out[64 + t] = c + 1000 * d + 100000 * same;
}

// ---- atomic operations

__global__ void atomics(unsigned* out, u64* wide, float* sum, int* signed_out) {
  __shared__ unsigned local;
  const unsigned t = threadIdx.x;
  if (t == 0) local = 0;
  __syncthreads();
  unsigned old, none;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(out), "r"(1) : "memory");
  asm volatile("red.global.or.b32 [%0], %1;" ::"l"(out + 1), "r"(1u << old) : "memory");
  asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(out + 2), "r"(t) : "memory");
  asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;"
               : "=r"(none)
               : "l"(out + 3), "r"(t)
               : "memory");
  asm volatile("atom.acq_rel.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(none)
               : "l"(out + 4), "r"(t), "r"(t + 1)
               : "memory");
  asm volatile("atom.global.inc.u32 %0, [%1], 9;" : "=r"(none) : "l"(out + 5) : "memory");
  asm volatile("atom.global.exch.b64 %0, [%1], %2;"
               : "=l"(wide[1 + t])
               : "l"(wide), "l"(u64(t) << 40)
               : "memory");
  asm volatile("red.global.add.f32 [%0], 0.5;" ::"l"(sum) : "memory");
  asm volatile("red.global.min.s32 [%0], %1;" ::"l"(signed_out), "r"(5 - int(t)) : "memory");
  asm volatile(
      "red.shared.xor.b32 [%0], %1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&local))),
      "r"(1u << t % 32)
      : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  if (t == 0) out[6] = local + 0 * none;
}

// ---- asynchronous copies

#define CP_ASYNC_CG(dst, src) \
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"(dst), "l"(src), "n"(16))
__global__ void copies(const float* in, float* out) {
  __shared__ alignas(16) float tile[3][128];
  const unsigned t = threadIdx.x;
  const auto at = [&](int i, unsigned j) {
    return static_cast<unsigned>(__cvta_generic_to_shared(&tile[i][j]));
  };
  CP_ASYNC_CG(at(0, 4 * t), in + 4 * t);
  asm volatile("cp.async.commit_group;\n" ::);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at(1, t)), "l"(in + t),
               "r"(t % 2 * 4)
               : "memory");
  asm volatile(
      "{ .reg .pred p; setp.eq.u32 p, %2, 1;\n cp.async.ca.shared.global [%0], [%1], 8, p; }" ::"r"(
          at(2, 2 * t)),
      "l"(in + 2 * t), "r"(t)
      : "memory");
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group %0;" ::"n"(1) : "memory");
  out[t] = tile[0][4 * t + 1];
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[32 + t] = tile[1][t];
  out[64 + t] = tile[2][2 * t + 1];
}

// ---- barriers in shared memory

// Warp 0 fills a ring of two, warp 1 empties it; what either does is seen in `out`.
__global__ void ring(const float* in, unsigned* out, int rows) {
  __shared__ u64 full[2], empty[2];
  __shared__ float stages[2][32];
  const unsigned t = threadIdx.x, lane = t % 32;
  const auto at = [](const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); };
  const auto wait = [&](u64* barrier, unsigned parity) {
    asm volatile(
        "{ .reg .pred p;\n WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n @p bra "
        "DONE;\n bra WAIT;\n DONE: }" ::"r"(at(barrier)),
        "r"(parity)
        : "memory");
  };
  if (t < 2) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(full + t)), "r"(32) : "memory");
    asm volatile("mbarrier.init.b64 [%0], 1;" ::"l"(empty + t) : "memory");
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
  if (t < 32) {
    for (int row = 0; row < rows; ++row) {
      wait(empty + row % 2, row / 2 % 2 ^ 1);
      stages[row % 2][lane] = in[row * 32 + lane];
      asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(at(full + row % 2))
                   : "memory");
    }
    return;
  }
  float sum = 0;
  for (int row = 0; row < rows; ++row) {
    wait(full + row % 2, row / 2 % 2);
    sum += stages[row % 2][31 - lane];
    __syncwarp();
    if (lane == 0)
      asm volatile("mbarrier.arrive.shared.b64 _, [%0], 1;" ::"r"(at(empty + row % 2)) : "memory");
  }
  out[lane] = static_cast<unsigned>(sum);
}

// One thread comes to a barrier for 4 arrivals, and then for 3.
__global__ void phases(unsigned* out) {
  __shared__ u64 barrier;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  u64 state;
  unsigned over, pending;
#define IS_OVER "selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(at), "l"(state) : "memory"
  asm volatile("mbarrier.init.shared.b64 [%0], 4;" ::"r"(at) : "memory");
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
  out[0] = pending;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; " IS_OVER);
  out[1] = over;
  asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" ::"r"(at) : "memory");
  asm volatile("mbarrier.arrive.noComplete.release.cta.shared.b64 _, [%0], 1;" ::"r"(at)
               : "memory");
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; " IS_OVER);
  out[2] = over;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 1; " IS_OVER);
  out[3] = over;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 3;" : "=l"(state) : "r"(at) : "memory");
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.acquire.cta.shared.b64 p, [%1], %2, 100; " IS_OVER);
  out[4] = over;
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
#undef IS_OVER
}

// ---- warps, special registers

__global__ void lanes(unsigned* out) {
  unsigned lane, d, p;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  const auto put = [&](int row) { out[row * 32 + lane] = d; };
#define SHUFFLE(row, mode, b, c)                                      \
  asm volatile("{ .reg .pred q; shfl.sync." mode                      \
               ".b32 %0|q, %2, %3, %4, -1; selp.u32 %1, 100, 0, q; }" \
               : "=r"(d), "=r"(p)                                     \
               : "r"(lane), "r"(b), "r"(c));                          \
  d += p;                                                             \
  put(row);
  SHUFFLE(0, "idx", lane + 3, 0x1f)
  SHUFFLE(1, "up", 2, 0)
  SHUFFLE(2, "down", 5, 0x1f)
  SHUFFLE(3, "bfly", 6, 0x1f)
  SHUFFLE(4, "idx", 2, 0x181f)  // width 8
  SHUFFLE(5, "up", 3, 0x1800)
  SHUFFLE(6, "down", 3, 0x181f)
  SHUFFLE(7, "down", 1, 0x0f)  // the last lane is 15
  asm volatile("{ .reg .pred q; setp.gt.u32 q, %1, 20; vote.sync.ballot.b32 %0, q, -1; }"
               : "=r"(d)
               : "r"(lane));
  put(8);
  asm volatile(
      "{ .reg .pred q, a, b, c; setp.gt.u32 q, %1, 20; vote.sync.all.pred a, q, -1; "
      "vote.sync.any.pred b, !q, -1;\n"
      "vote.sync.uni.pred c, q, -1; selp.u32 %0, 1, 0, a; @b add.u32 %0, %0, 2; @c add.u32 %0, %0, "
      "4; }"
      : "=r"(d)
      : "r"(lane));
  put(9);
  asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(d) : "r"(lane % 3));
  put(10);
  asm volatile("{ .reg .pred q; match.all.sync.b32 %0|q, %1, -1; @q add.u32 %0, %0, 7; }"
               : "=r"(d)
               : "r"(5));
  put(11);
  asm volatile("redux.sync.add.s32 %0, %1, -1;" : "=r"(d) : "r"(lane));
  put(12);
  asm volatile("redux.sync.min.s32 %0, %1, -1;" : "=r"(d) : "r"(3 - int(lane)));
  put(13);
  asm volatile("activemask.b32 %0;" : "=r"(d));
  put(14);
  asm volatile("bar.warp.sync -1;");
  asm volatile(
      "{ .reg .u32 a, b; mov.u32 %0, %%lanemask_lt; mov.u32 a, %%lanemask_ge; xor.b32 %0, %0, a; }"
      : "=r"(d));
  put(15);
  asm volatile("{ .reg .pred q; setp.lt.u32 q, %1, 7; bar.red.popc.u32 %0, 0, q; }"
               : "=r"(d)
               : "r"(threadIdx.x));
  put(16);
  asm volatile(
      "{ .reg .pred q; setp.lt.u32 q, %1, 7; barrier.cta.red.and.aligned.pred q, 0, !q; selp.u32 "
      "%0, 1, 2, q; }"
      : "=r"(d)
      : "r"(threadIdx.x));
  put(17);
  unsigned e;
  asm("{ .reg .u32 x, y; mov.u32 x, %%ctaid.x; mov.u32 y, %ntid.x; mov.u32 %0, %%tid.x; mad.lo.u32 "
      "%0, x, y, %0; mov.u32 %1, %%nctaid.y; }"
      : "=r"(d), "=r"(e));
  d = 10 * d + e;
  put(18);
  u64 begin, end, now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(begin));
  asm volatile("nanosleep.u32 20;");
  asm volatile("griddepcontrol.launch_dependents; griddepcontrol.wait;");
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(end));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(d));
  d = end >= begin && now > 0;
  put(19);
  asm volatile("membar.gl; membar.cta; membar.sys; fence.acq_rel.gpu; fence.sc.cta;" ::: "memory");
}

int main() {
  unsigned* const in = managed<unsigned>(64);
  unsigned* const out = managed<unsigned>(20 * 32);
  for (unsigned i = 0; i < 10; ++i) in[i] = 10 + i;
  in[8] = 0x1234f180;
  const double pi = 3.14;
  std::memcpy(in + 10, &pi, 8);
  copy<<<1, 1>>>(in, out);
  cudaDeviceSynchronize();
  const unsigned copied[] = {1,           12,   11,          10,     14,         0,  16, 17,
                             0xffffff80u, 0x80, 0xfffff180u, 0x1234, 0x56780023, 33, 1,  2};
  for (int i = 1; i < 16; ++i) {
    if (out[i] != copied[i] && i != 0)
      std::printf("%d: %x instead of %x\n", i, out[i], copied[i]), ++failed;
  }
  double twice;
  std::memcpy(&twice, out + 16, 8);
  EXPECT(out[0] == 13 && twice == 2 * pi);

  shared<<<1, 64, 256>>>(out);
  cudaDeviceSynchronize();
  for (unsigned t = 0; t < 64; ++t) {
    EXPECT(out[t] == 3 * (t ^ 1) + 1000 * 5 * (t | 1));
    EXPECT(out[64 + t] == 3 * t + 3000 + 100000);
  }

  std::memset(out, 0, 32);
  u64* const wide = managed<u64>(65);
  float* const sum = managed<float>(1);
  int* const least = managed<int>(1);
  atomics<<<1, 32>>>(out, wide, sum, least);
  cudaDeviceSynchronize();
  EXPECT(out[0] == 32 && out[1] == 0xffffffff && out[2] == 31 && out[3] == 496);
  EXPECT(out[5] == 2 && out[6] == 0xffffffff && *sum == 16 && *least == -26);
  EXPECT(out[4] >= 1 && out[4] <= 32);
  u64 all = 0;
  for (int i = 0; i < 33; ++i) all += wide[i] >> 40;
  EXPECT(all == 496);

  float* const from = managed<float>(128);
  float* const to = managed<float>(96);
  for (int i = 0; i < 128; ++i) from[i] = static_cast<float>(i + 1);
  copies<<<1, 32>>>(from, to);
  cudaDeviceSynchronize();
  for (int t = 0; t < 32; ++t) {
    EXPECT(to[t] == static_cast<float>(4 * t + 2));
    EXPECT(to[32 + t] == static_cast<float>(t % 2 ? t + 1 : 0));
    EXPECT(to[64 + t] == static_cast<float>(t == 1 ? 0 : 2 * t + 2));
  }

  ring<<<1, 64>>>(from, out, 4);
  cudaDeviceSynchronize();
  for (unsigned l = 0; l < 32; ++l) EXPECT(out[l] == 4 * (32 - l) + 192);
  phases<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  EXPECT(out[0] == 4 && out[1] == 0 && out[2] == 1 && out[3] == 0 && out[4] == 1);

  lanes<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  for (unsigned l = 0; l < 32; ++l) {
    const auto at = [&](int row) { return out[row * 32 + l]; };
    EXPECT(at(0) == (l + 3) % 32 + 100);
    EXPECT(at(1) == (l >= 2 ? l - 2 + 100 : l));
    EXPECT(at(2) == (l + 5 < 32 ? l + 5 + 100 : l));
    EXPECT(at(3) == (l ^ 6) + 100);
    EXPECT(at(4) == l / 8 * 8 + 2 + 100);
    EXPECT(at(5) == (l % 8 >= 3 ? l - 3 + 100 : l));
    EXPECT(at(6) == (l % 8 < 5 ? l + 3 + 100 : l));
    EXPECT(at(7) == (l < 15 ? l + 1 + 100 : l));
    EXPECT(at(8) == 0xffe00000);
    EXPECT(at(9) == 2);
    EXPECT(at(10) == (0x49249249u << l % 3) + 0u);
    EXPECT(at(11) == 0xffffffff + 7u);
    EXPECT(at(12) == 496);
    EXPECT(static_cast<int>(at(13)) == -28);
    EXPECT(at(14) == 0xffffffff);
    EXPECT(at(15) == 0xffffffff);
    EXPECT(at(16) == 7);
    EXPECT(at(17) == 2);
    EXPECT(at(18) == 10 * l + 1);
    EXPECT(at(19) == 1);
  }
  cudaFree(in), cudaFree(out), cudaFree(wide), cudaFree(sum), cudaFree(least), cudaFree(from),
      cudaFree(to);
  std::printf(failed ? "%d FAILED\n" : "all as expected\n", failed);
  return failed ? 1 : 0;
}
