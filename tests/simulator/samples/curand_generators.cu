// Random numbers made for the device by cuRAND's generators of the host, and used by a kernel.
#include <curand.h>

#include <cmath>
#include <cstdio>
#include <vector>

static int failures = 0;

static void check(bool right, const char* what, int line) {
  if (right) return;
  ++failures;
  std::printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define CALL(call) check((call) == CURAND_STATUS_SUCCESS, #call, __LINE__)

__global__ void count_hits(const float* x, const float* y, int n, int* hits) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] * x[i] + y[i] * y[i] <= 1) atomicAdd(hits, 1);
}

template <class T>
static void moments(const T* data, int n, double& mean, double& deviation) {
  std::vector<T> host(n);
  cudaMemcpy(host.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost);
  double sum = 0, squares = 0;
  for (const T& x : host) {
    sum += x;
    squares += static_cast<double>(x) * x;
  }
  mean = sum / n;
  deviation = std::sqrt(squares / n - mean * mean);
}

int main() {
  const int n = 100000;
  float* numbers = nullptr;
  double* doubles = nullptr;
  unsigned* words = nullptr;
  int* hits = nullptr;
  cudaMalloc(&numbers, 2 * n * sizeof(float));
  cudaMalloc(&doubles, n * sizeof(double));
  cudaMalloc(&words, n * sizeof(unsigned));
  cudaMalloc(&hits, sizeof(int));
  cudaMemset(hits, 0, sizeof(int));
  curandGenerator_t generator = nullptr;
  CALL(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
  CALL(curandSetPseudoRandomGeneratorSeed(generator, 1234ULL));
  CALL(curandGenerateUniform(generator, numbers, 2 * n));
  count_hits<<<(n + 255) / 256, 256>>>(numbers, numbers + n, n, hits);
  int inside = 0;
  cudaMemcpy(&inside, hits, sizeof(int), cudaMemcpyDeviceToHost);
  CHECK(std::fabs(4.0 * inside / n - 3.14159) < 0.03);

  double mean, deviation;
  moments(numbers, n, mean, deviation);
  CHECK(std::fabs(mean - 0.5) < 0.01 && std::fabs(deviation - 0.2887) < 0.01);
  CALL(curandGenerateNormal(generator, numbers, n, 5.0f, 2.0f));
  moments(numbers, n, mean, deviation);
  CHECK(std::fabs(mean - 5) < 0.05 && std::fabs(deviation - 2) < 0.05);
  CALL(curandGenerateUniformDouble(generator, doubles, n));
  moments(doubles, n, mean, deviation);
  CHECK(std::fabs(mean - 0.5) < 0.01);
  CHECK(curandGenerateNormal(generator, numbers, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);

  // The same seed gives the same numbers, wherever one begins.
  std::vector<unsigned> first(10), again(5);
  CALL(curandSetPseudoRandomGeneratorSeed(generator, 7));
  CALL(curandGenerate(generator, words, 10));
  cudaMemcpy(first.data(), words, 40, cudaMemcpyDeviceToHost);
  CALL(curandSetGeneratorOffset(generator, 0));
  CALL(curandGenerate(generator, words, 5));
  CALL(curandGenerate(generator, words, 5));
  cudaMemcpy(again.data(), words, 20, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 5; ++i) CHECK(first[5 + i] == again[i]);
  CALL(curandDestroyGenerator(generator));

  CALL(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_MT19937));
  std::vector<float> host(1000, -1.0f);
  CALL(curandGenerateUniform(generator, host.data(), host.size()));
  for (const float x : host) CHECK(x > 0 && x <= 1);
  CALL(curandDestroyGenerator(generator));
  cudaFree(numbers);
  cudaFree(doubles);
  cudaFree(words);
  cudaFree(hits);
  std::printf("curand: %s\n", failures ? "FAILED" : "ok");
  return failures ? 1 : 0;
}
