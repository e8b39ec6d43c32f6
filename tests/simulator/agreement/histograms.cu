// Histograms: in global memory, in shared memory, of random, equal and skewed keys.
#include "program.h"

constexpr int BINS = 64;

__global__ void histogram_global(const int* key, unsigned* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[key[i]], 1u);
}

__global__ void histogram_stride(const unsigned char* key, int n, unsigned* bins) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int stride = blockDim.x * gridDim.x;
  while (i < n) {
    atomicAdd(&bins[key[i]], 1);
    i += stride;
  }
}

__global__ void histogram_shared(const int* key, unsigned* bins, int n) {
  __shared__ unsigned local[BINS];
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[key[i]], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

__global__ void histogram_weighted(const int* key, const int* weight, int* bins, int n) {
  __shared__ int local[BINS];
  if (threadIdx.x < BINS) local[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&local[key[i]], weight[i]);
  __syncthreads();
  if (threadIdx.x < BINS && local[threadIdx.x] > 0)
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void histogram_float(const int* key, const float* weight, float* bins, int n) {
  __shared__ float local[BINS];
  if (threadIdx.x < BINS) local[threadIdx.x] = 0.0f;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&local[key[i]], weight[i]);
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void histogram_per_warp(const int* key, unsigned* bins, int n) {
  __shared__ unsigned local[4][BINS];
  int warp = threadIdx.x / 32;
  for (int b = threadIdx.x % 32; b < BINS; b += 32) local[warp][b] = 0;
  __syncwarp();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&local[warp][key[i]], 1u);
  __syncthreads();
  if (threadIdx.x < BINS) {
    unsigned sum = 0;
    for (int w = 0; w < 4; ++w) sum += local[w][threadIdx.x];
    atomicAdd(&bins[threadIdx.x], sum);
  }
}

__global__ void histogram_matched(const int* key, unsigned* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned peers = __match_any_sync(__activemask(), key[i]);
  int leader = __ffs(peers) - 1;
  if (threadIdx.x % 32 == leader) atomicAdd(&bins[key[i]], __popc(peers));
}

__global__ void rank_in_bin(const int* key, int* cursor, int* rank, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) rank[i] = atomicAdd(&cursor[key[i]], 1);
}

__global__ void bin_extremes(const int* key, const int* value, int* low, int* high, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicMin(&low[key[i]], value[i]);
    atomicMax(&high[key[i]], value[i]);
  }
}

int main() {
  const int n = 3000, threads = 128, blocks = (n + threads - 1) / threads;
  std::vector<int> random = random_ints(n, BINS), equal(n, 5), skewed(n);
  for (int& k : skewed) k = (int)(next_random() % (1 + next_random() % BINS));
  for (const std::vector<int>* keys : {&random, &equal, &skewed}) {
    std::vector<int> want(BINS);
    for (int k : *keys) ++want[k];
    const auto counted = [&](size_t b) { return want[b]; };
    Array<int> key(*keys);
    Array<unsigned> a(BINS), b(BINS), c(BINS), d(BINS);
    histogram_global<<<blocks, threads>>>(key, a, n);
    expect("histogram_global", a.host(), counted);
    histogram_shared<<<6, threads>>>(key, b, n);
    expect("histogram_shared", b.host(), counted);
    histogram_per_warp<<<blocks, threads>>>(key, c, n);
    expect("histogram_per_warp", c.host(), counted);
    histogram_matched<<<blocks, threads>>>(key, d, n);
    expect("histogram_matched", d.host(), counted);

    const std::vector<int> weights = random_ints(n, 10);
    std::vector<int> weighted(BINS);
    for (int i = 0; i < n; ++i) weighted[(*keys)[i]] += weights[i];
    Array<int> weight(weights), e(BINS);
    histogram_weighted<<<blocks, threads>>>(key, weight, e, n);
    expect("histogram_weighted", e.host(), [&](size_t k) { return weighted[k]; });
    Array<float> real(std::vector<float>(weights.begin(), weights.end())), f(BINS);
    histogram_float<<<blocks, threads>>>(key, real, f, n);
    expect("histogram_float", f.host(), [&](size_t k) { return weighted[k]; });
    Array<int> cursor(BINS), rank(n);
    rank_in_bin<<<blocks, threads>>>(key, cursor, rank, n);
    expect("rank_in_bin", cursor.host(), counted);
    Array<int> low(BINS), high(BINS);
    bin_extremes<<<blocks, threads>>>(key, weight, low, high, n);
    expect("bin_extremes", low.host(), [](size_t) { return 0; });
  }
  {
    std::vector<unsigned char> bytes(n);
    std::vector<int> want(256);
    for (unsigned char& b : bytes) ++want[b = (unsigned char)(next_random() >> 4)];
    Array<unsigned char> key(bytes);
    Array<unsigned> bins(256);
    histogram_stride<<<4, 256>>>(key, n, bins);
    expect("histogram_stride", bins.host(), [&](size_t b) { return want[b]; });
  }
  return finish();
}
