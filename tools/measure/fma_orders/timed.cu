/// \file
/// Verifies and times `even_shares<true, Large>` of several files of machine code: `orders.py` makes them and calls this.
///
/// usage: timed FILE SYMBOL [FILE SYMBOL ...]      prints the clock, then "median ms, p10, p90, TFLOP/s" of each
#include <cstdio>

#include "chapter.inc"

namespace {

constexpr int N = 4096;
constexpr int CHECKED = 1024;  // elements of the first product that are computed again, in double

__device__ float element(unsigned i) {  // between -1 and 1
  i = (i ^ 61) ^ (i >> 16);
  i *= 9;
  i = (i ^ (i >> 4)) * 0x27d4eb2d;
  return static_cast<float>(static_cast<int>(i ^ (i >> 15))) / 2147483648.0f;
}

__global__ void fill(float* to, unsigned seed) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = element(i + seed);
}

/// Counts elements of c, every 16,381st, that are more than `most` away from the sum in double.
__global__ void check(const float* a, const float* b, const float* c, double most, int* wrong) {
  const unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 16381u % (N * N);
  double sum = 0;
  for (unsigned k = 0; k < N; ++k)
    sum += static_cast<double>(a[at / N * N + k]) * static_cast<double>(b[k * N + at % N]);
  if (!(fabs(sum - static_cast<double>(c[at])) <= most)) atomicAdd(wrong, 1);
}

/// Counts elements of c that have other bits than `expected`.
__global__ void compare(const unsigned* c, const unsigned* expected, int* wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (c[i] != expected[i]) atomicAdd(wrong, 1);
}

void driver(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "timed: %s fails, error %d\n", what, static_cast<int>(result));
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  CUDA_CHECK(cudaFree(nullptr));
  constexpr unsigned blocks = N * N / 256;
  lab::DeviceBuffer<float> a(N * N, "a"), b(N * N, "b"), c(N * N, "c"), expected(N * N, "expected");
  fill<<<blocks, 256>>>(a.data(), 0);
  fill<<<blocks, 256>>>(b.data(), N * N);
  const auto sms = static_cast<unsigned>(lab::device_attribute(cudaDevAttrMultiProcessorCount));
  lab::DeviceBuffer<float> partials(std::size_t{sms} * Large::BM * Large::BN, "partials");
  lab::DeviceBuffer<int> ready(sms + 1, "ready"), wrong(1, "wrong");
  ready.zero();
  lab::Gemm g{N, N, N, 1, a.data(), N, b.data(), N, 0, c.data(), N};
  CUtensorMap map_b = tensor_map(g.b, N, N, N, BK, Large::BN);
  Plan plan(g, Large::BM, Large::BN, static_cast<int>(sms), true);
  float* sums = partials.data();
  int* flags = ready.data();
  void* arguments[] = {&g, &map_b, &plan, &sums, &flags};

  std::vector<lab::Contestant> all;
  for (int i = 1; i + 1 < argc; i += 2) {
    CUmodule module;
    CUfunction kernel;
    driver(cuModuleLoad(&module, argv[i]), argv[i]);
    driver(cuModuleGetFunction(&kernel, module, argv[i + 1]), argv[i + 1]);
    constexpr int shared = sizeof(SharedStorage<Large>);
    driver(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared),
           "shared memory");
    all.push_back({[=, &arguments] {
      driver(cuLaunchKernel(kernel, sms, 1, 1, block_threads, 1, 1, shared, nullptr, arguments,
                            nullptr),
             "a launch");
    }});
    CUDA_CHECK(cudaMemset(c.data(), 0xff, sizeof(float) * N * N));  // NaN
    all.back().run();
    wrong.zero();
    if (i == 1) {
      check<<<CHECKED / 32, 32>>>(g.a, g.b, g.c, 1e-2, wrong.data());
      CUDA_CHECK(cudaMemcpy(expected.data(), g.c, sizeof(float) * N * N, cudaMemcpyDefault));
    } else {
      compare<<<blocks, 256>>>(reinterpret_cast<unsigned*>(g.c),
                               reinterpret_cast<unsigned*>(expected.data()), wrong.data());
    }
    if (const int count = wrong.download()[0]; count != 0) {
      std::fprintf(stderr, "timed: %d elements of the product of %s are wrong\n", count, argv[i]);
      return 1;
    }
  }
  lab::ConditionSampler sampler;
  const lab::TimingOptions options{.min_runs = 21, .max_runs = 21, .budget_s = 60};
  const auto times = lab::time_interleaved(all, options, [&] { sampler.sample(); });
  const auto seen = sampler.seen();
  std::printf("%.0f\n", seen ? seen->sm_mhz : -1.0);
  for (const auto& time : times) {
    std::printf("%.5f,%.5f,%.5f,%.3f\n", time.median, time.p10, time.p90,
                g.flops() / time.median / 1e9);
  }
}
