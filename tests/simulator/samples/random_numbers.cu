// cuRAND's generators in kernels: the numbers of the known sequences, and their distribution.
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>

__global__ void known(unsigned* out) {
  curandState xorwow;
  curandStatePhilox4_32_10_t philox;
  curand_init(1234567890123ull, 2, 6, &xorwow);
  curand_init(1234567890123ull, 2, 6, &philox);
  out[0] = curand(&xorwow);
  out[1] = curand(&philox);
  // Jumping is the same as going.
  curandState walks = xorwow, jumps = xorwow;
  for (int i = 0; i < 1000; ++i) curand(&walks);
  skipahead(1000, &jumps);
  out[2] = curand(&walks) == curand(&jumps);
}

template <class State>
__global__ void moments(double* sums, int each) {
  State state;
  curand_init(42, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
  double uniform = 0, normal = 0, square = 0;
  for (int i = 0; i < each; ++i) {
    uniform += curand_uniform(&state);
    const double x = curand_normal(&state);
    normal += x;
    square += x * x;
  }
  atomicAdd(&sums[0], uniform);
  atomicAdd(&sums[1], normal);
  atomicAdd(&sums[2], square);
}

int main() {
  unsigned* out;
  double* sums;
  cudaMallocManaged(&out, 3 * sizeof(unsigned));
  cudaMallocManaged(&sums, 3 * sizeof(double));
  known<<<1, 1>>>(out);
  bool right = cudaDeviceSynchronize() == cudaSuccess;
  // As the toolkit's own header computes them.
  right = right && out[0] == 3766295811u && out[1] == 1025086352u && out[2] == 1;

  const int threads = 4 * 64, each = 100;
  const auto check = [&](const char* name) {
    right = right && cudaDeviceSynchronize() == cudaSuccess;
    const double n = threads * each;
    const double uniform = sums[0] / n, mean = sums[1] / n, variance = sums[2] / n - mean * mean;
    if (std::fabs(uniform - 0.5) > 0.01 || std::fabs(mean) > 0.03 ||
        std::fabs(variance - 1) > 0.05) {
      std::printf("%s: %g %g %g\n", name, uniform, mean, variance);
      right = false;
    }
    sums[0] = sums[1] = sums[2] = 0;
  };
  sums[0] = sums[1] = sums[2] = 0;
  moments<curandStateXORWOW><<<4, 64>>>(sums, each);
  check("XORWOW");
  moments<curandStatePhilox4_32_10_t><<<4, 64>>>(sums, each);
  check("Philox");
  std::printf("random_numbers: %s\n", right ? "ok" : "FAILED");
  cudaFree(out);
  cudaFree(sums);
  return right ? 0 : 1;
}
