// How fast --fast is: kernels without barriers, against the same work as a plain C++ loop.
// tools/measure/simulator/README.md says how to run it.
//
// Each body below is compiled twice: into a kernel, and into an ordinary function that is not inlined
// and takes its indices as a parameter. The plain loop calls that function once for each thread of the
// grid. Both run on one core. Each time is the best of many, taken in turns, because on a shared
// machine a run that was interrupted says nothing about the program.

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kN = 512;  // rows and columns
constexpr int kRuns = 40;

/// Where a thread of the plain loop is.
struct Place {
  int x, y;
};

/// Where a CUDA thread is.
__device__ __forceinline__ Place here() {
  return {static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
          static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y)};
}

struct Saxpy {
  static constexpr const char* kName = "saxpy";
  __forceinline__ static void body(Place at, const float* x, float* y) {
    const int i = at.y * kN + at.x;
    y[i] = 2.0f * x[i] + y[i];
  }
};

struct Transpose {
  static constexpr const char* kName = "naive transpose";
  __forceinline__ static void body(Place at, const float* in, float* out) {
    out[at.x * kN + at.y] = in[at.y * kN + at.x];
  }
};

struct Multiply {
  static constexpr const char* kName = "naive matrix multiply";
  __forceinline__ static void body(Place at, const float* in, float* out) {
    constexpr int kDepth = 32;  // of the sum, to keep the run short
    float sum = 0.0f;
    for (int k = 0; k < kDepth; ++k) sum += in[at.y * kN + k] * in[k * kN + at.x];
    out[at.y * kN + at.x] = sum;
  }
};

struct Stencil {
  static constexpr const char* kName = "stencil of 5 points";
  __forceinline__ static void body(Place at, const float* in, float* out) {
    if (at.x < 1 || at.y < 1 || at.x >= kN - 1 || at.y >= kN - 1) return;
    const int i = at.y * kN + at.x;
    out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - kN] + in[i + kN]);
  }
};

struct Mandelbrot {
  static constexpr const char* kName = "Mandelbrot set";
  __forceinline__ static void body(Place at, const float*, float* out) {
    const float a = static_cast<float>(at.x) * 3.0f / kN - 2.0f;
    const float b = static_cast<float>(at.y) * 2.0f / kN - 1.0f;
    float x = 0.0f, y = 0.0f;
    int steps = 0;
    for (; steps < 32 && x * x + y * y < 4.0f; ++steps) {
      const float next = x * x - y * y + a;
      y = 2.0f * x * y + b;
      x = next;
    }
    out[at.y * kN + at.x] = static_cast<float>(steps);
  }
};

/// Launch: grid (kN / 32, kN / 8), block (32, 8).
template <class Work>
__global__ void kernel(const float* in, float* out) {
  Work::body(here(), in, out);
}

template <class Work>
[[gnu::noinline]] void function(Place at, const float* in, float* out) {
  Work::body(at, in, out);
}

template <class F>
double seconds(F work) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Prints a line; false if the two sides computed something else.
template <class Work>
bool compare() {
  constexpr std::size_t kBytes = sizeof(float) * kN * kN;
  std::vector<float> host(kN * kN), ours(kN * kN), plain(kN * kN, 0.0f);
  for (int i = 0; i < kN * kN; ++i) host[i] = static_cast<float>(i % 8191) / 8191.0f;
  float *in, *out;
  if (cudaMalloc(&in, kBytes) != cudaSuccess || cudaMalloc(&out, kBytes) != cudaSuccess)
    return false;
  cudaMemcpy(in, host.data(), kBytes, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, kBytes);

  double best_ours = 1e9, best_plain = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    best_ours = std::min(best_ours, seconds([&] {
                           kernel<Work><<<dim3(kN / 32, kN / 8), dim3(32, 8)>>>(in, out);
                           cudaDeviceSynchronize();
                         }));
    best_plain = std::min(best_plain, seconds([&] {
                            for (int y = 0; y < kN; ++y) {
                              for (int x = 0; x < kN; ++x) {
                                function<Work>({x, y}, host.data(), plain.data());
                              }
                            }
                          }));
  }
  cudaMemcpy(ours.data(), out, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  constexpr double kThreads = 1.0 * kN * kN;
  std::printf("%-22s %6.2f ns a thread, plain %6.2f ns: %5.2f times\n", Work::kName,
              1e9 * best_ours / kThreads, 1e9 * best_plain / kThreads, best_ours / best_plain);
  if (ours == plain) return true;
  std::printf("%s: the two results differ\n", Work::kName);
  return false;
}

}  // namespace

int main() {
  setenv("SIMT_THREADS", "1", 1);
  const bool same = compare<Saxpy>() & compare<Transpose>() & compare<Multiply>() &
                    compare<Stencil>() & compare<Mandelbrot>();
  return same ? 0 : 1;
}
