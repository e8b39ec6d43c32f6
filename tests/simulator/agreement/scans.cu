// Prefix sums: Hillis and Steele, Blelloch with and without conflicts, by warps.
#include "program.h"

__global__ void scan_hillis_steele(const float* in, float* out, int n) {
  extern __shared__ float temp[];
  int t = threadIdx.x;
  int from = 1, to = 0;
  temp[t] = t > 0 ? in[t - 1] : 0.0f;
  __syncthreads();
  for (int offset = 1; offset < n; offset *= 2) {
    to = 1 - to;
    from = 1 - to;
    if (t >= offset) {
      temp[to * n + t] = temp[from * n + t] + temp[from * n + t - offset];
    } else {
      temp[to * n + t] = temp[from * n + t];
    }
    __syncthreads();
  }
  out[t] = temp[to * n + t];
}

__global__ void scan_in_place(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int offset = 1; offset < 256; offset <<= 1) {
    int v = 0;
    if (t >= offset) v = s[t - offset];
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[t];
}

__global__ void scan_blelloch(const float* in, float* out, int n) {
  extern __shared__ float temp[];
  int t = threadIdx.x;
  int offset = 1;
  temp[2 * t] = in[2 * t];
  temp[2 * t + 1] = in[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1;
      int bi = offset * (2 * t + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (t == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1;
      int bi = offset * (2 * t + 2) - 1;
      float left = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += left;
    }
  }
  __syncthreads();
  out[2 * t] = temp[2 * t];
  out[2 * t + 1] = temp[2 * t + 1];
}

#define CONFLICT_FREE(n) ((n) >> 5)

__global__ void scan_blelloch_padded(const float* in, float* out, int n) {
  extern __shared__ float temp[];
  int t = threadIdx.x;
  int a = t, b = t + n / 2;
  temp[a + CONFLICT_FREE(a)] = in[a];
  temp[b + CONFLICT_FREE(b)] = in[b];
  int offset = 1;
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1;
      int bi = offset * (2 * t + 2) - 1;
      ai += CONFLICT_FREE(ai);
      bi += CONFLICT_FREE(bi);
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (t == 0) temp[n - 1 + CONFLICT_FREE(n - 1)] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1;
      int bi = offset * (2 * t + 2) - 1;
      ai += CONFLICT_FREE(ai);
      bi += CONFLICT_FREE(bi);
      float left = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += left;
    }
  }
  __syncthreads();
  out[a] = temp[a + CONFLICT_FREE(a)];
  out[b] = temp[b + CONFLICT_FREE(b)];
}

__device__ int warp_scan(int value) {
  int lane = threadIdx.x % 32;
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(0xffffffff, value, d);
    if (lane >= d) value += other;
  }
  return value;
}

__global__ void scan_warps(const int* in, int* out, int* block_sums) {
  __shared__ int warp_sums[32];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int i = blockIdx.x * blockDim.x + t;
  int value = warp_scan(in[i]);
  if (lane == 31) warp_sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    int sum = lane < blockDim.x / 32 ? warp_sums[lane] : 0;
    warp_sums[lane] = warp_scan(sum);
  }
  __syncthreads();
  if (warp > 0) value += warp_sums[warp - 1];
  out[i] = value;
  if (t == blockDim.x - 1) block_sums[blockIdx.x] = value;
}

__global__ void add_block_sums(int* data, const int* block_sums) {
  if (blockIdx.x == 0) return;
  __shared__ int before;
  if (threadIdx.x == 0) {
    before = 0;
    for (int b = 0; b < blockIdx.x; ++b) before += block_sums[b];
  }
  __syncthreads();
  data[blockIdx.x * blockDim.x + threadIdx.x] += before;
}

__global__ void compact(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool keep = i < n && in[i] % 2 == 0;
  unsigned kept = __ballot_sync(0xffffffff, keep);
  int lane = threadIdx.x % 32;
  int base = 0;
  if (lane == 0 && kept) base = atomicAdd(count, __popc(kept));
  base = __shfl_sync(0xffffffff, base, 0);
  if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = in[i];
}

int main() {
  const std::vector<float> data = random_floats(512);
  Array<float> in(data);
  const auto before = [&](size_t i) {
    float sum = 0;
    for (size_t k = 0; k < i; ++k) sum += data[k];
    return sum;
  };
  {
    Array<float> a(512), b(512), c(512);
    scan_hillis_steele<<<1, 512, 2 * 512 * sizeof(float)>>>(in, a, 512);
    expect("scan_hillis_steele", a.host(), before, 1e-3);
    scan_blelloch<<<1, 256, 512 * sizeof(float)>>>(in, b, 512);
    expect("scan_blelloch", b.host(), before, 1e-3);
    scan_blelloch_padded<<<1, 256, (512 + 16) * sizeof(float)>>>(in, c, 512);
    expect("scan_blelloch_padded", c.host(), before, 1e-3);
  }
  {
    const std::vector<int> numbers = random_ints(2048, 100);
    Array<int> from(numbers), to(2048), blocks(8), sums(8);
    scan_in_place<<<8, 256>>>(from, to);
    expect("scan_in_place", to.host(), [&](size_t i) {
      int sum = 0;
      for (size_t k = i / 256 * 256; k <= i; ++k) sum += numbers[k];
      return sum;
    });
    scan_warps<<<8, 256>>>(from, to, sums);
    add_block_sums<<<8, 256>>>(to, sums);
    expect("scan_warps", to.host(), [&](size_t i) {
      int sum = 0;
      for (size_t k = 0; k <= i; ++k) sum += numbers[k];
      return sum;
    });
    Array<int> kept(2048), count(1);
    compact<<<8, 256>>>(from, kept, count, 2000);
    expect("compact", count.host(), [&](size_t) {
      int even = 0;
      for (int i = 0; i < 2000; ++i) even += numbers[i] % 2 == 0;
      return even;
    });
  }
  return finish();
}
