// Where the first infinity of a program is from: `infinities WAY`.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

constexpr int kN = 1000;

template <class T>
__global__ void divide(const T* by, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = T(1) / by[i];  // divides
}

template <class T>
__global__ void shift_and_divide(T* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = T(1) / (x[i] - T(500));  // in place
}

__global__ void sum(const double* terms, double* result, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += terms[i];
  *result = sum;
}

__global__ void count_down(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = -i;  // as a float, no number
}

template <class T>
struct Array {
  explicit Array(const std::vector<T>& values) {
    cudaMalloc(&data, values.size() * sizeof(T));
    cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Array() { cudaFree(data); }
  std::vector<T> back(int n) const {
    std::vector<T> values(n);
    cudaMemcpy(values.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }
  T* data = nullptr;
};

template <class T>
std::vector<T> numbers(int zero_at) {
  std::vector<T> values(kN, T(3));
  if (zero_at >= 0) values[zero_at] = 0;
  return values;
}

template <class T>
bool divides(std::vector<T> by) {
  const Array<T> in(by), out(std::vector<T>(kN, T(1)));
  divide<<<8, 128>>>(in.data, out.data, kN);
  bool all = true;
  for (const T value : out.back(kN)) all = all && std::isfinite(value);
  return all;
}

int run(std::string_view way) {
  if (way == "finite") return !divides(numbers<float>(-1));
  if (way == "float") return divides(numbers<float>(700));
  if (way == "sum") {
    // The host copies the sum alone, which another kernel makes.
    const Array<double> in(numbers<double>(700)), out(numbers<double>(-1)), total({0.0});
    divide<<<8, 128>>>(in.data, out.data, kN);
    sum<<<1, 1>>>(out.data, total.data, kN);
    return std::isfinite(total.back(1)[0]);
  }
  if (way == "in_place") {
    std::vector<float> values(kN);
    for (int i = 0; i < kN; ++i) values[i] = static_cast<float>(i);
    const Array<float> x(values);
    shift_and_divide<<<8, 128>>>(x.data, kN);
    return std::isfinite(x.back(kN)[500]);
  }
  if (way == "given") {
    std::vector<float> by = numbers<float>(700);
    by[10] = NAN;
    return divides(by);
  }
  if (way == "kept") {
    // What the host copies is finite.
    const Array<float> in(numbers<float>(700)), out(numbers<float>(-1));
    divide<<<8, 128>>>(in.data, out.data, kN);
    return !std::isfinite(out.back(700)[0]);
  }
  if (way == "integers") {
    const Array<int> out(std::vector<int>(kN, 1));
    count_down<<<8, 128>>>(out.data, kN);
    return out.back(kN)[1] != -1;
  }
  std::fprintf(stderr, "infinities: there is no way called %s\n", way.data());
  return 2;
}

}  // namespace

int main(int argc, char** argv) { return run(argc > 1 ? argv[1] : ""); }
