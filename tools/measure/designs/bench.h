#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>
#define CK(x)                                                                            \
  do {                                                                                   \
    cudaError_t e_ = (x);                                                                \
    if (e_ != cudaSuccess) {                                                             \
      std::printf("ERR %s:%d %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_)); \
      std::exit(3);                                                                      \
    }                                                                                    \
  } while (0)
struct Variant {
  std::string name;
  std::function<void()> launch;
  std::function<bool()> check;
  std::vector<float> ms;
  bool ok = true;
};
inline FILE* json_file() {
  static FILE* f = nullptr;
  if (!f) {
    std::string p = std::getenv("OUT") ? std::getenv("OUT") : ".";
    f = std::fopen((p + "/" + std::getenv("BENCH") + ".json").c_str(), "w");
    std::fprintf(f, "[\n");
  }
  return f;
}
// interleaved timing; bytes -> GB/s
inline void bench(const char* title, double bytes, std::vector<Variant>& vs, int runs = 15,
                  int per = 1) {
  cudaEvent_t a, b;
  CK(cudaEventCreate(&a));
  CK(cudaEventCreate(&b));
  for (auto& v : vs) {
    v.launch();
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) {
      std::printf("FATAL %s %s: %s\n", title, v.name.c_str(), cudaGetErrorString(e));
      std::exit(4);
    }
    if (v.check) v.ok = v.check();
    v.launch();
    CK(cudaDeviceSynchronize());
    if (v.check && v.ok) v.ok = v.check();
  }
  for (int r = 0; r < runs + 2; r++)
    for (auto& v : vs) {
      if (!v.ok) continue;
      CK(cudaEventRecord(a));
      v.launch();
      CK(cudaEventRecord(b));
      CK(cudaEventSynchronize(b));
      float ms;
      CK(cudaEventElapsedTime(&ms, a, b));
      if (r >= 2) v.ms.push_back(ms / per);
    }
  std::printf("== %s\n", title);
  double first = 0;
  for (auto& v : vs) {
    if (!v.ok) {
      std::printf("  %-34s WRONG\n", v.name.c_str());
      continue;
    }
    std::sort(v.ms.begin(), v.ms.end());
    double m = v.ms[v.ms.size() / 2];
    if (!first) first = m;
    std::printf("  %-34s %9.2f us  p10 %9.2f p90 %9.2f  %7.0f GB/s  x%.3f\n", v.name.c_str(),
                m * 1e3, v.ms[v.ms.size() / 10] * 1e3, v.ms[v.ms.size() * 9 / 10] * 1e3,
                bytes / m / 1e6, first / m);
    std::fprintf(json_file(),
                 "{\"set\":\"%s\",\"name\":\"%s\",\"median_us\":%.4f,\"p10\":%.4f,\"p90\":%.4f,"
                 "\"gbs\":%.1f},\n",
                 title, v.name.c_str(), m * 1e3, v.ms[v.ms.size() / 10] * 1e3,
                 v.ms[v.ms.size() * 9 / 10] * 1e3, bytes / m / 1e6);
  }
  std::fflush(stdout);
  std::fflush(json_file());
  CK(cudaEventDestroy(a));
  CK(cudaEventDestroy(b));
}
// a graph of `count` launches; launch(i, stream)
inline std::function<void()> graph_of(int count, std::function<void(int, cudaStream_t)> launch) {
  cudaStream_t s;
  CK(cudaStreamCreate(&s));
  cudaGraph_t g;
  cudaGraphExec_t x;
  CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < count; i++) launch(i, s);
  CK(cudaStreamEndCapture(s, &g));
  CK(cudaGraphInstantiate(&x, g, 0));
  return [x] { CK(cudaGraphLaunch(x, 0)); };
}
// ---- PTX
__device__ __forceinline__ uint32_t s32(const void* p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void mb_init(uint64_t* b, int n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(s32(b)), "r"(n));
}
__device__ __forceinline__ void mb_expect(uint64_t* b, uint32_t n) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(s32(b)), "r"(n)
               : "memory");
}
__device__ __forceinline__ void mb_arrive(uint64_t* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(s32(b)) : "memory");
}
__device__ __forceinline__ void mb_wait(uint64_t* b, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nL1:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra "
      "D1;\nbra L1;\nD1:\n}" ::"r"(s32(b)),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void bulk_load(void* dst, const void* src, uint32_t bytes,
                                          uint64_t* bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(s32(dst)),
      "l"(src), "r"(bytes), "r"(s32(bar))
      : "memory");
}
__device__ __forceinline__ void bulk_store(void* dst, const void* src, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst),
               "r"(s32(src)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void bulk_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int N>
__device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
template <int N>
__device__ __forceinline__ void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void proxy_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ unsigned long long ld_relaxed(const unsigned long long* p) {
  unsigned long long v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void st_relaxed(unsigned long long* p, unsigned long long v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
__device__ __forceinline__ uint32_t hash32(uint64_t i) {
  uint32_t x = (uint32_t)i * 0x9E3779B1u ^ (uint32_t)(i >> 32);
  x ^= x >> 16;
  x *= 0x85EBCA6Bu;
  x ^= x >> 13;
  x *= 0xC2B2AE35u;
  x ^= x >> 16;
  return x;
}
