// What programs here have in common: floats go in, one launch makes others of them, and those are compared.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

/// The element i of an input, where nothing else is asked for.
inline float some(int i) { return static_cast<float>(i % 1000); }

/// main(): launch(out, in) gets n floats of value(i) and makes `outputs` of them, near want(in, i).
template <class Launch, class Want>
int run(int n, int outputs, float (*value)(int), Launch launch, Want want) {
  std::vector<float> h_in(n), h_out(outputs);
  for (int i = 0; i < n; ++i) h_in[i] = value(i);
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, outputs * sizeof(float));
  cudaMemcpy(in, h_in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, outputs * sizeof(float));
  launch(out, in);
  cudaMemcpy(h_out.data(), out, outputs * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  int wrong = 0;
  for (int i = 0; i < outputs; ++i) {
    const float right = want(h_in.data(), i);
    wrong += !(std::fabs(h_out[i] - right) <= 0.001f * std::fabs(right));
  }
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
