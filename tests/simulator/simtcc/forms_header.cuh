// Launches and declarations that reach simtcc from a header.
#pragma once

#define LAUNCH_1D(kernel, n, ...) kernel<<<((n) + 31) / 32, 32>>>(__VA_ARGS__)

template <class T>
__global__ void add_one(T* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += 1;
}

template <class T>
inline void launch_from_header(T* values, int n) {
  // clang-format off
  add_one<<<dim3((n + 31) / 32),
            dim3(32)>>>(values, n);
  // clang-format on
}
