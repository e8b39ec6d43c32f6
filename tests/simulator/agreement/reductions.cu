// The series of sums: modulo, strided, sequential, first add during load, last warp, shuffles.
#include "program.h"

__global__ void reduce_modulo(const float* in, float* out, int n) {
  extern __shared__ float sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned int s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduce_strided(const float* in, float* out, int n) {
  extern __shared__ float sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned int s = 1; s < blockDim.x; s *= 2) {
    unsigned int index = 2 * s * tid;
    if (index < blockDim.x) sdata[index] += sdata[index + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduce_sequential(const float* in, float* out, int n) {
  extern __shared__ float sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduce_first_add(const float* in, float* out, int n) {
  extern __shared__ float sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  float mine = i < n ? in[i] : 0.0f;
  if (i + blockDim.x < n) mine += in[i + blockDim.x];
  sdata[tid] = mine;
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] = mine = mine + sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = mine;
}

__global__ void reduce_last_warp(const float* in, float* out, int n) {
  extern __shared__ float sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 32; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid < 32) {
    float v = sdata[tid];
    v += sdata[tid + 32];
    __syncwarp();
    sdata[tid] = v;
    __syncwarp();
    v += sdata[tid + 16];
    __syncwarp();
    sdata[tid] = v;
    __syncwarp();
    v += sdata[tid + 8];
    __syncwarp();
    sdata[tid] = v;
    __syncwarp();
    v += sdata[tid + 4];
    __syncwarp();
    sdata[tid] = v;
    __syncwarp();
    v += sdata[tid + 2];
    __syncwarp();
    sdata[tid] = v;
    __syncwarp();
    v += sdata[tid + 1];
    if (tid == 0) out[blockIdx.x] = v;
  }
}

template <unsigned int blockSize>
__global__ void reduce_unrolled(const float* in, float* out, int n) {
  __shared__ float sdata[blockSize];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockSize + tid;
  float sum = 0.0f;
  for (; i < n; i += blockSize * gridDim.x) sum += in[i];
  sdata[tid] = sum;
  __syncthreads();
  if (blockSize >= 512) {
    if (tid < 256) sdata[tid] += sdata[tid + 256];
    __syncthreads();
  }
  if (blockSize >= 256) {
    if (tid < 128) sdata[tid] += sdata[tid + 128];
    __syncthreads();
  }
  if (blockSize >= 128) {
    if (tid < 64) sdata[tid] += sdata[tid + 64];
    __syncthreads();
  }
  if (tid < 32) {
    float v = sdata[tid] + sdata[tid + 32];
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
    if (tid == 0) out[blockIdx.x] = v;
  }
}

__inline__ __device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset >>= 1)
    value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

__inline__ __device__ float block_sum(float value) {
  static __shared__ float shared[32];
  int lane = threadIdx.x % 32;
  int warp = threadIdx.x / 32;
  value = warp_sum(value);
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? shared[lane] : 0.0f;
  if (warp == 0) value = warp_sum(value);
  return value;
}

__global__ void reduce_block(const float* in, float* out, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void reduce_atomic_warp(const float* in, float* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = warp_sum(i < n ? in[i] : 0.0f);
  if (threadIdx.x % 32 == 0) atomicAdd(total, v);
}

__global__ void count_positive(const float* in, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0.0f) atomicAdd(count, 1);
}

__global__ void count_positive_shared(const float* in, int* count, int n) {
  __shared__ int local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0.0f) atomicAdd(&local, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(count, local);
}

__global__ void dot(const float4* a, const float4* b, float* out, int n4) {
  __shared__ float cache[128];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += blockDim.x * gridDim.x) {
    float4 x = a[i], y = b[i];
    sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
  }
  cache[threadIdx.x] = sum;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
    __syncthreads();
    i /= 2;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = cache[0];
}

__global__ void arg_max(const float* in, float* best, int* where, int n) {
  __shared__ float value[256];
  __shared__ int place[256];
  int t = threadIdx.x;
  float v = -1e30f;
  int p = -1;
  for (int i = t; i < n; i += blockDim.x) {
    if (in[i] > v) {
      v = in[i];
      p = i;
    }
  }
  value[t] = v;
  place[t] = p;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s && value[t + s] > value[t]) {
      value[t] = value[t + s];
      place[t] = place[t + s];
    }
    __syncthreads();
  }
  if (t == 0) {
    *best = value[0];
    *where = place[0];
  }
}

__global__ void reduce_double(const double* in, double* out, int n) {
  extern __shared__ double wide[];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  wide[t] = i < n ? in[i] : 0.0;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) wide[t] += wide[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = wide[0];
}

int main() {
  const int n = 4000, threads = 256, blocks = 16;
  const std::vector<float> data = random_floats(n);
  Array<float> in(data);
  const auto part = [&](size_t block, int width) {
    double sum = 0;
    for (int i = (int)block * width; i < (int)(block + 1) * width && i < n; ++i) sum += data[i];
    return sum;
  };
  const auto whole = [&](size_t) {
    double sum = 0;
    for (float x : data) sum += x;
    return sum;
  };
  const auto summed = [](const std::vector<float>& parts) {
    double sum = 0;
    for (float x : parts) sum += x;
    return std::vector<double>(1, sum);
  };
  const size_t bytes = threads * sizeof(float);
  Array<float> out(blocks);
  reduce_modulo<<<blocks, threads, bytes>>>(in, out, n);
  expect("reduce_modulo", out.host(), [&](size_t b) { return part(b, threads); });
  reduce_strided<<<blocks, threads, bytes>>>(in, out, n);
  expect("reduce_strided", out.host(), [&](size_t b) { return part(b, threads); });
  reduce_sequential<<<blocks, threads, bytes>>>(in, out, n);
  expect("reduce_sequential", out.host(), [&](size_t b) { return part(b, threads); });
  reduce_last_warp<<<blocks, threads, bytes>>>(in, out, n);
  expect("reduce_last_warp", out.host(), [&](size_t b) { return part(b, threads); });
  {
    Array<float> half(8);
    reduce_first_add<<<8, threads, bytes>>>(in, half, n);
    expect("reduce_first_add", half.host(), [&](size_t b) { return part(b, 2 * threads); });
    Array<float> eight(8), four(4);
    reduce_unrolled<128><<<8, 128>>>(in, eight, n);
    expect("reduce_unrolled<128>", summed(eight.host()), whole, 1e-3);
    reduce_unrolled<512><<<4, 512>>>(in, four, n);
    expect("reduce_unrolled<512>", summed(four.host()), whole, 1e-3);
    reduce_block<<<8, 192>>>(in, eight, n);
    expect("reduce_block", summed(eight.host()), whole, 1e-3);
    dot<<<8, 128>>>((float4*)(float*)in, (float4*)(float*)in, eight, n / 4);
    expect("dot", summed(eight.host()), [&](size_t) {
      double sum = 0;
      for (float x : data) sum += x * x;
      return sum;
    });
  }
  {
    Array<float> total(1);
    reduce_atomic_warp<<<blocks, threads>>>(in, total, n);
    expect("reduce_atomic_warp", total.host(), whole, 1e-3);
    const auto positive = [&](size_t) {
      int count = 0;
      for (float x : data) count += x > 0;
      return count;
    };
    Array<int> one(1), other(1);
    count_positive<<<blocks, threads>>>(in, one, n);
    expect("count_positive", one.host(), positive);
    count_positive_shared<<<blocks, threads>>>(in, other, n);
    expect("count_positive_shared", other.host(), positive);
  }
  {
    Array<float> best(1);
    Array<int> where(1);
    arg_max<<<1, 256>>>(in, best, where, n);
    expect("arg_max", best.host(), [&](size_t) {
      float v = data[0];
      for (float x : data) v = x > v ? x : v;
      return v;
    });
    std::vector<double> wide(data.begin(), data.end());
    Array<double> from(wide), to(blocks);
    reduce_double<<<blocks, threads, threads * sizeof(double)>>>(from, to, n);
    expect("reduce_double", to.host(), [&](size_t b) { return part(b, threads); });
  }
  return finish();
}
