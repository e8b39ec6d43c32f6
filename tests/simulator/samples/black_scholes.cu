// Prices of European options by the formula of Black and Scholes.
#include <cmath>
#include <cstdio>
#include <vector>

struct Option {
  float price, strike, years;
};

template <class Real>
__host__ __device__ Real normal(Real x) {
  return Real(0.5) * erfc(-x * Real(0.70710678118654752));
}

// What a call and a put are worth, in `Real`.
template <class Real>
__host__ __device__ void worth(const Option& option, Real rate, Real volatility, Real& call,
                               Real& put) {
  const Real price = option.price, strike = option.strike, years = option.years;
  const Real spread = volatility * sqrt(years);
  const Real d1 = (log(price / strike) + (rate + volatility * volatility / 2) * years) / spread;
  const Real discounted = strike * exp(-rate * years);
  call = price * normal(d1) - discounted * normal(d1 - spread);
  put = discounted * normal(spread - d1) - price * normal(-d1);
}

__global__ void price(int n, const Option* options, float rate, float volatility, float* calls,
                      float* puts) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    worth(options[i], rate, volatility, calls[i], puts[i]);
  }
}

int main() {
  constexpr int n = 1001;
  constexpr float rate = 0.02f, volatility = 0.3f;
  std::vector<Option> options(n);
  std::vector<float> calls(n), puts(n);
  for (int i = 0; i < n; ++i) {
    options[i] = {5 + 25.0f * (i % 37) / 37, 1 + 99.0f * (i % 101) / 101, 0.25f + i % 10};
  }
  Option* device_options;
  float *device_calls, *device_puts;
  cudaMalloc(&device_options, n * sizeof(Option));
  cudaMalloc(&device_calls, n * sizeof(float));
  cudaMalloc(&device_puts, n * sizeof(float));
  cudaMemcpy(device_options, options.data(), n * sizeof(Option), cudaMemcpyHostToDevice);
  price<<<3, 128>>>(n, device_options, rate, volatility, device_calls, device_puts);
  cudaMemcpy(calls.data(), device_calls, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(puts.data(), device_puts, n * sizeof(float), cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    double call, put;
    worth<double>(options[i], rate, volatility, call, put);
    wrong += !(std::fabs(calls[i] - call) <= 1e-4) || !(std::fabs(puts[i] - put) <= 1e-4);
  }
  std::printf("black_scholes: %s (%d wrong)\n", wrong ? "FAILED" : "ok", wrong);
  cudaFree(device_options);
  cudaFree(device_calls);
  cudaFree(device_puts);
  return wrong != 0;
}
