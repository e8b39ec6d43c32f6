// The comparison on the device.
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "compare.h"
#include "lab/buffer.h"
#include "lab/ceil_div.h"
#include "lab/check.h"

namespace lab::detail {

namespace {

constexpr unsigned THREADS = 256, BLOCKS = 1024;

/// Each block leaves what it found of its share of the elements.
__global__ void compare_elements(Task task, Findings* of_blocks) {
  alignas(Findings)
      __shared__ unsigned char memory[THREADS * sizeof(Findings)];  // Findings have initial values
  Findings* const found = reinterpret_cast<Findings*>(memory);
  Findings mine;
  const std::size_t step = std::size_t{gridDim.x} * THREADS;
  for (std::size_t i = std::size_t{blockIdx.x} * THREADS + threadIdx.x; i < task.got.size;
       i += step) {
    note_element(mine, task, i);
  }
  found[threadIdx.x] = mine;
  for (unsigned half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) found[threadIdx.x].add(found[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = found[0];
}

}  // namespace

Findings find_on_device(const Task& task) {
  const auto blocks = static_cast<unsigned>(
      std::min<std::size_t>(ceil_div(task.got.size, std::size_t{THREADS}), BLOCKS));
  DeviceBuffer<Findings> of_blocks(blocks, "what a comparison found", 0);
  compare_elements<<<blocks, THREADS>>>(task, of_blocks.data());
  CUDA_CHECK(cudaGetLastError());
  Findings all;
  for (const Findings& one : of_blocks.download()) all.add(one);
  return all;
}

}  // namespace lab::detail
