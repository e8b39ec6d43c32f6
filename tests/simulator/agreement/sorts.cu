// Sorting networks.
#include <algorithm>

#include "program.h"

__global__ void bitonic_shared(const int* in, int* out) {
  __shared__ int s[512];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int k = 2; k <= blockDim.x; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      int other = t ^ j;
      if (other > t) {
        bool up = (t & k) == 0;
        if ((s[t] > s[other]) == up) {
          int swap = s[t];
          s[t] = s[other];
          s[other] = swap;
        }
      }
      __syncthreads();
    }
  }
  out[blockIdx.x * blockDim.x + t] = s[t];
}

__global__ void bitonic_step(int* data, int j, int k) {
  unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
  unsigned other = i ^ j;
  if (other > i) {
    if ((i & k) == 0) {
      if (data[i] > data[other]) {
        int swap = data[i];
        data[i] = data[other];
        data[other] = swap;
      }
    } else {
      if (data[i] < data[other]) {
        int swap = data[i];
        data[i] = data[other];
        data[other] = swap;
      }
    }
  }
}

__global__ void odd_even_sort(int* data, int n) {
  __shared__ int s[256];
  int t = threadIdx.x;
  if (t < n) s[t] = data[t];
  __syncthreads();
  for (int step = 0; step < n; ++step) {
    int i = 2 * t + step % 2;
    if (i + 1 < n) {
      int a = s[i], b = s[i + 1];
      s[i] = min(a, b);
      s[i + 1] = max(a, b);
    }
    __syncthreads();
  }
  if (t < n) data[t] = s[t];
}

__global__ void rank_sort(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int rank = 0;
  for (int k = 0; k < n; ++k) {
    if (in[k] < in[i] || (in[k] == in[i] && k < i)) ++rank;
  }
  out[rank] = in[i];
}

__global__ void insertion_sort_rows(int* data, int columns) {
  int* row = data + (blockIdx.x * blockDim.x + threadIdx.x) * columns;
  for (int i = 1; i < columns; ++i) {
    int v = row[i];
    int k = i;
    while (k > 0 && row[k - 1] > v) {
      row[k] = row[k - 1];
      --k;
    }
    row[k] = v;
  }
}

int main() {
  const std::vector<int> data = random_ints(1024, 10000);
  Array<int> in(data);
  {
    Array<int> out(1024);
    bitonic_shared<<<2, 512>>>(in, out);
    std::vector<int> want = data;
    std::sort(want.begin(), want.begin() + 512);
    std::sort(want.begin() + 512, want.end());
    expect("bitonic_shared", out.host(), [&](size_t i) { return want[i]; });
  }
  {
    Array<int> out(std::vector<int>(data.begin(), data.begin() + 256));
    for (int k = 2; k <= 256; k *= 2) {
      for (int j = k / 2; j > 0; j /= 2) bitonic_step<<<2, 128>>>(out, j, k);
    }
    std::vector<int> want(data.begin(), data.begin() + 256);
    std::sort(want.begin(), want.end());
    expect("bitonic_step", out.host(), [&](size_t i) { return want[i]; });
  }
  {
    Array<int> out(std::vector<int>(data.begin(), data.begin() + 150));
    odd_even_sort<<<1, 160>>>(out, 150);
    std::vector<int> want(data.begin(), data.begin() + 150);
    std::sort(want.begin(), want.end());
    expect("odd_even_sort", out.host(), [&](size_t i) { return want[i]; });
  }
  {
    Array<int> out(300);
    rank_sort<<<3, 128>>>(in, out, 300);
    std::vector<int> want(data.begin(), data.begin() + 300);
    std::sort(want.begin(), want.end());
    expect("rank_sort", out.host(), [&](size_t i) { return want[i]; });
  }
  {
    Array<int> out(data);
    insertion_sort_rows<<<2, 32>>>(out, 16);
    std::vector<int> want = data;
    for (int r = 0; r < 64; ++r) std::sort(want.begin() + 16 * r, want.begin() + 16 * (r + 1));
    expect("insertion_sort_rows", out.host(), [&](size_t i) { return want[i]; });
  }
  return finish();
}
