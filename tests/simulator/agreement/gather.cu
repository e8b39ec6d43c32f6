// Reads and writes whose places come from memory.
#include <algorithm>
#include <numeric>

#include "program.h"

__constant__ float table[64];

__global__ void gather(const float* in, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

__global__ void scatter(const float* __restrict__ in, const int* __restrict__ index,
                        float* __restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

__global__ void gather_float4(const float4* in, const int* index, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

__global__ void gather_twice(const float* in, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[index[i]]];
}

__global__ void lookup(const int* key, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[key[i] % 64];
}

__global__ void positive_only(const float* in, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int from = index[i];
    if (in[i] > 0.0f) out[i] = in[from];
  }
}

__global__ void spmv(const int* row_start, const int* column, const float* value, const float* x,
                     float* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int k = row_start[row]; k < row_start[row + 1]; ++k) sum += value[k] * x[column[k]];
    y[row] = sum;
  }
}

__global__ void spmv_warp(const int* __restrict__ row_start, const int* __restrict__ column,
                          const float* __restrict__ value, const float* __restrict__ x,
                          float* __restrict__ y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = row_start[row] + lane; k < row_start[row + 1]; k += 32) {
    sum += value[k] * x[column[k]];
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (lane == 0) y[row] = sum;
}

__global__ void binary_search(const int* sorted, int n, const int* wanted, int* position, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  int key = wanted[i];
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  position[i] = low;
}

__global__ void follow_list(const int* next, int* end, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = i;
  while (next[at] >= 0) at = next[at];
  end[i] = at;
}

int main() {
  const int n = 2000, threads = 128, blocks = (n + threads - 1) / threads;
  const std::vector<float> data = random_floats(4 * n);
  std::vector<int> permutation(n);
  std::iota(permutation.begin(), permutation.end(), 0);
  for (int i = n - 1; i > 0; --i) std::swap(permutation[i], permutation[next_random() % (i + 1)]);
  const std::vector<int> random = random_ints(n, n);
  std::vector<int> strided(n);
  for (int i = 0; i < n; ++i) strided[i] = i * 7 % n;

  Array<float> in(data);
  for (const std::vector<int>& order : {permutation, random, strided}) {
    Array<int> index(order);
    Array<float> out(n);
    gather<<<blocks, threads>>>(in, index, out, n);
    expect("gather", out.host(), [&](size_t i) { return data[order[i]]; });
  }
  {
    Array<int> index(permutation);
    Array<float> out(n), out4(4 * n);
    scatter<<<blocks, threads>>>(in, index, out, n);
    std::vector<float> want(n);
    for (int i = 0; i < n; ++i) want[permutation[i]] = data[i];
    expect("scatter", out.host(), [&](size_t i) { return want[i]; });
    gather_float4<<<blocks, threads>>>((float4*)(float*)in, index, (float4*)(float*)out4, n);
    expect("gather_float4", out4.host(),
           [&](size_t i) { return data[4 * permutation[i / 4] + i % 4]; });
    gather_twice<<<blocks, threads>>>(in, index, out, n);
    expect("gather_twice", out.host(), [&](size_t i) { return data[permutation[permutation[i]]]; });
    Array<float> some(n);
    positive_only<<<blocks, threads>>>(in, index, some, n);
    expect("positive_only", some.host(),
           [&](size_t i) { return data[i] > 0 ? data[permutation[i]] : 0; });
  }
  {
    const std::vector<float> entries = random_floats(64);
    CHECK(cudaMemcpyToSymbol(table, entries.data(), 64 * sizeof(float)));
    Array<int> key(random);
    Array<float> out(n);
    lookup<<<blocks, threads>>>(key, out, n);
    expect("lookup", out.host(), [&](size_t i) { return entries[random[i] % 64]; });
  }
  {
    const int rows = 300;
    std::vector<int> start(1, 0), column;
    std::vector<float> value;
    for (int r = 0; r < rows; ++r) {
      const int length = (int)(next_random() % 60);
      for (int k = 0; k < length; ++k) {
        column.push_back((int)(next_random() % n));
        value.push_back((float)(k + 1) / 8);
      }
      start.push_back((int)column.size());
    }
    std::vector<float> want(rows);
    for (int r = 0; r < rows; ++r) {
      for (int k = start[r]; k < start[r + 1]; ++k) want[r] += value[k] * data[column[k]];
    }
    Array<int> s(start), c(column);
    Array<float> v(value), y(rows), z(rows);
    spmv<<<(rows + 63) / 64, 64>>>(s, c, v, in, y, rows);
    expect(
        "spmv", y.host(), [&](size_t i) { return want[i]; }, 1e-3);
    spmv_warp<<<(rows + 3) / 4, 128>>>(s, c, v, in, z, rows);
    expect(
        "spmv_warp", z.host(), [&](size_t i) { return want[i]; }, 1e-3);
  }
  {
    std::vector<int> sorted = random_ints(1000, 5000);
    std::sort(sorted.begin(), sorted.end());
    const std::vector<int> wanted = random_ints(500, 5000);
    Array<int> s(sorted), w(wanted), position(500);
    binary_search<<<4, 128>>>(s, 1000, w, position, 500);
    expect("binary_search", position.host(), [&](size_t i) {
      return std::lower_bound(sorted.begin(), sorted.end(), wanted[i]) - sorted.begin();
    });
    std::vector<int> next(512);
    for (int i = 0; i < 512; ++i) next[i] = i % 37 == 0 ? -1 : i - 1 - (i % 37) / 3;
    for (int i = 0; i < 512; ++i) next[i] = next[i] < i / 37 * 37 ? -1 : next[i];
    Array<int> links(next), end(512);
    follow_list<<<2, 256>>>(links, end, 512);
    expect("follow_list", end.host(), [&](size_t i) {
      int at = (int)i;
      while (next[at] >= 0) at = next[at];
      return at;
    });
  }
  return finish();
}
