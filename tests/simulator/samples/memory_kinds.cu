// One kernel on memory of every kind: plain, managed, mapped and pitched, with variables of the device.
#include <cstdio>
#include <vector>

__constant__ int offsets[2];
__device__ int launches;
__device__ int table[3] = {100, 200, 300};

__global__ void add_offsets(int rows, int columns, const int* in, size_t pitch, int* out) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (blockIdx.x == 0 && row == 0 && threadIdx.x == 0) atomicAdd(&launches, 1);
  if (row >= rows || column >= columns) return;
  const auto* line = reinterpret_cast<const int*>(reinterpret_cast<const char*>(in) + row * pitch);
  out[row * columns + column] = line[column] + offsets[row % 2] + table[column % 3];
}

int main() {
  constexpr int rows = 5, columns = 77, n = rows * columns;
  constexpr size_t width = columns * sizeof(int);
  std::vector<int> in(n), result(n);
  for (int i = 0; i < n; ++i) in[i] = i * i % 1009;
  const int values[2] = {1000, 2000};
  cudaMemcpyToSymbol(offsets, values, sizeof(values));
  const int last = 3000;
  cudaMemcpyToSymbol(table, &last, sizeof(int), 2 * sizeof(int));

  const auto wrong_ones = [&](const int* out) {
    const int from_table[3] = {100, 200, 3000};
    int wrong = 0;
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const int i = row * columns + column;
        wrong += out[i] != in[i] + values[row % 2] + from_table[column % 3];
      }
    }
    return wrong;
  };
  const dim3 grid((columns + 31) / 32, rows);
  int wrong = 0;

  // Plain memory, the rows a pitch apart.
  int *pitched, *out;
  size_t pitch = 0;
  cudaMallocPitch(&pitched, &pitch, width, rows);
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy2D(pitched, pitch, in.data(), width, width, rows, cudaMemcpyHostToDevice);
  add_offsets<<<grid, 32>>>(rows, columns, pitched, pitch, out);
  cudaMemcpy(result.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
  wrong += wrong_ones(result.data());

  // Managed memory, which host and device both use.
  int* managed;
  cudaMallocManaged(&managed, n * sizeof(int));
  for (int i = 0; i < n; ++i) wrong += managed[i] != 0;  // fresh managed memory is zero
  add_offsets<<<grid, 32>>>(rows, columns, pitched, pitch, managed);
  cudaDeviceSynchronize();
  wrong += wrong_ones(managed);

  // Memory of the host, mapped: the device writes into it.
  int *mapped, *alias;
  cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped);
  cudaHostGetDevicePointer(&alias, mapped, 0);
  add_offsets<<<grid, 32>>>(rows, columns, pitched, pitch, alias);
  cudaDeviceSynchronize();
  wrong += wrong_ones(mapped);

  int count = 0;
  cudaMemcpyFromSymbol(&count, launches, sizeof(int));
  int* address;
  cudaGetSymbolAddress(reinterpret_cast<void**>(&address), launches);
  cudaMemset(address, 0, sizeof(int));
  int none = -1;
  cudaMemcpy(&none, address, sizeof(int), cudaMemcpyDeviceToHost);
  wrong += count != 3 || none != 0;

  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, managed);
  wrong += attributes.type != cudaMemoryTypeManaged;
  cudaPointerGetAttributes(&attributes, mapped);
  wrong += attributes.type != cudaMemoryTypeHost;

  std::printf("memory_kinds: %s (%d wrong)\n", wrong ? "FAILED" : "ok", wrong);
  cudaFree(pitched);
  cudaFree(out);
  cudaFree(managed);
  cudaFreeHost(mapped);
  return wrong != 0;
}
