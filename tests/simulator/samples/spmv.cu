// y = A * x of a sparse matrix by rows (CSR): a tile of 8 lanes for each row.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

// begins: (rows + 1), columns and values: (begins[rows])
__global__ void multiply(int rows, const int* __restrict__ begins, const int* __restrict__ columns,
                         const double* __restrict__ values, const double* __restrict__ x,
                         double* y) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (row >= rows) return;
  double sum = 0;
  for (int i = begins[row] + tile.thread_rank(); i < begins[row + 1]; i += tile.size()) {
    sum += values[i] * __ldg(&x[columns[i]]);
  }
  sum = cg::reduce(tile, sum, cg::plus<double>());
  cg::invoke_one(tile, [&] { y[row] = sum; });
}

template <class T>
T* copied(const std::vector<T>& host) {
  T* device = nullptr;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

int main() {
  constexpr int n = 301;
  std::vector<int> begins = {0}, columns;
  std::vector<double> values, x(n), y(n);
  unsigned state = 5;
  for (int row = 0; row < n; ++row) {
    x[row] = std::cos(0.1 * row);
    for (int column = row % 7; column < n;) {
      columns.push_back(column);
      values.push_back(1.0 / (1 + (row * 31 + column) % 13));
      state = state * 1664525u + 1013904223u;
      column += 1 + (state >> 24) % (3 + row % 60);
    }
    begins.push_back(static_cast<int>(columns.size()));
  }
  int* device_begins = copied(begins);
  int* device_columns = copied(columns);
  double* device_values = copied(values);
  double* device_x = copied(x);
  double* device_y = copied(y);
  multiply<<<(n + 15) / 16, 128>>>(n, device_begins, device_columns, device_values, device_x,
                                   device_y);
  cudaMemcpy(y.data(), device_y, n * sizeof(double), cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int row = 0; row < n; ++row) {
    double sum = 0;
    for (int i = begins[row]; i < begins[row + 1]; ++i) sum += values[i] * x[columns[i]];
    wrong += !(std::fabs(y[row] - sum) <= 1e-12 * (1 + begins[row + 1] - begins[row]));
  }
  std::printf("spmv: %s (%d wrong)\n", wrong ? "FAILED" : "ok", wrong);
  cudaFree(device_begins);
  cudaFree(device_columns);
  cudaFree(device_values);
  cudaFree(device_x);
  cudaFree(device_y);
  return wrong != 0;
}
