// Asynchronous copies whose target or source is touched before they have arrived.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/pipeline>

#include "planted.h"

namespace {

constexpr int kSlice = 64;
constexpr int kSlices = 4;

// Two tiles, of which one is filled while the other is read. Each wait but the last has a copy too many under way.
__global__ void double_buffer(const float* in, float* out, bool right) {
  __shared__ float tile[2][kSlice];
  const int t = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(float));
  __pipeline_commit();
  for (int s = 0; s < kSlices; ++s) {
    __pipeline_wait_prior(right ? 0 : 1);
    __syncthreads();
    if (s + 1 < kSlices) {
      __pipeline_memcpy_async(&tile[(s + 1) % 2][t], &in[(s + 1) * kSlice + t], sizeof(float));
      __pipeline_commit();
    }
    sum += tile[s % 2][kSlice - 1 - t];  // fault: copy_wait_too_lenient
    __syncthreads();
  }
  __pipeline_wait_prior(0);
  out[t] = sum;
}

void copy_wait_too_lenient(bool fixed) {
  OnDevice<float> in(kSlice * kSlices), out(kSlice);
  double_buffer<<<1, kSlice>>>(in.data(), out.data(), fixed);
}

// The last slice has no successor whose copies may stay under way.
__global__ void last_slice(const float* in, float* out, bool right) {
  __shared__ float tile[2][kSlice];
  const int t = threadIdx.x;
  float sum = 0;
  for (int s = 0; s <= kSlices; ++s) {
    if (s < kSlices) {
      __pipeline_memcpy_async(&tile[s % 2][t], &in[s * kSlice + t], sizeof(float));
      __pipeline_commit();
    }
    if (s == 0) continue;
    if (right && s == kSlices) {
      __pipeline_wait_prior(0);
    } else {
      __pipeline_wait_prior(1);
    }
    sum += tile[(s - 1) % 2][t];  // fault: copy_last_slice
  }
  out[t] = sum;
}

void copy_last_slice(bool fixed) {
  OnDevice<float> in(kSlice * kSlices), out(kSlice);
  last_slice<<<1, kSlice>>>(in.data(), out.data(), fixed);
}

__device__ void copy_by_ptx(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}

__global__ void three_stages(const float* in, float* out, bool right) {
  __shared__ float tile[3][kSlice];
  const int t = threadIdx.x;
  for (int s = 0; s < 2; ++s) copy_by_ptx(&tile[s][t], &in[s * kSlice + t]);
  float sum = 0;
  for (int s = 0; s < kSlices; ++s) {
    const int next = s + 2 < kSlices ? s + 2 : s;
    copy_by_ptx(&tile[(s + 2) % 3][t], &in[next * kSlice + t]);
    if (right) {
      asm volatile("cp.async.wait_group 2;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 3;" ::: "memory");
    }
    __syncthreads();
    sum += tile[s % 3][kSlice - 1 - t];  // fault: ptx_group_too_many
    __syncthreads();
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = sum;
}

void ptx_group_too_many(bool fixed) {
  OnDevice<float> in(kSlice * kSlices), out(kSlice);
  three_stages<<<1, kSlice>>>(in.data(), out.data(), fixed);
}

// The wait is for the thread's own copies; only a barrier behind it makes the others' visible.
__global__ void wait_behind_barrier(const float* in, float* out, bool right) {
  __shared__ float tile[kSlice];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float));
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  if (right) __syncthreads();
  out[t] = tile[kSlice - 1 - t];  // fault: copy_no_barrier
}

void copy_no_barrier(bool fixed) {
  OnDevice<float> in(kSlice), out(kSlice);
  wait_behind_barrier<<<1, kSlice>>>(in.data(), out.data(), fixed);
}

__global__ void own_element(const float* in, float* out, bool waits) {
  __shared__ float tile[kSlice];
  const int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[t], &in[t], sizeof(float), pipe);
  pipe.producer_commit();
  if (waits) pipe.consumer_wait();
  const float value = tile[t];  // fault: copy_read_by_its_thread
  pipe.consumer_wait();
  out[t] = value;
  pipe.consumer_release();
}

void copy_read_by_its_thread(bool fixed) {
  OnDevice<float> in(kSlice), out(kSlice);
  own_element<<<1, kSlice>>>(in.data(), out.data(), fixed);
}

__global__ void copy_by_group(const float* in, float* out, bool right) {
  __shared__ float tile[2][kSlice];
  const auto block = cooperative_groups::this_thread_block();
  for (int s = 0; s < 2; ++s)
    cooperative_groups::memcpy_async(block, tile[s], in + s * kSlice, sizeof(tile[s]));
  if (right) {
    cooperative_groups::wait(block);
  } else {
    cooperative_groups::wait_prior<1>(block);
  }
  out[threadIdx.x] = tile[1][threadIdx.x];  // fault: copy_of_group
  cooperative_groups::wait(block);
}

void copy_of_group(bool fixed) {
  OnDevice<float> in(2 * kSlice), out(kSlice);
  copy_by_group<<<1, kSlice>>>(in.data(), out.data(), fixed);
}

__global__ void zeros_ahead(const float* in, float* out, int n, bool right) {
  __shared__ float tile[kSlice];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t < n ? t : 0], sizeof(float));
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
  if (t >= n) tile[t] = 0;  // fault: store_over_copy
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = tile[kSlice - 1 - t];
}

void store_over_copy(bool fixed) {
  OnDevice<float> in(kSlice), out(kSlice);
  zeros_ahead<<<1, kSlice>>>(in.data(), out.data(), kSlice - 3, fixed);
}

// Two copies to one tile, the second of which is not held back.
__global__ void one_tile(const float* in, float* out, bool right) {
  __shared__ float tile[kSlice];
  const int t = threadIdx.x;
  for (int s = 0; s < 2; ++s) {
    __pipeline_memcpy_async(&tile[t], &in[s * kSlice + t], sizeof(float));  // fault: copy_over_copy
    __pipeline_commit();
    if (right) __pipeline_wait_prior(0);
  }
  __pipeline_wait_prior(0);
  out[t] = tile[t];
}

void copy_over_copy(bool fixed) {
  std::vector<float> values(2 * kSlice);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  OnDevice<float> in(values), out(kSlice);
  one_tile<<<1, kSlice>>>(in.data(), out.data(), fixed);
}

__global__ void overwrite_source(float* data, float* out, bool right) {
  __shared__ float tile[kSlice];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &data[t], sizeof(float));  // fault: copy_source_overwritten
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
  data[t] = -1.0f;
  __pipeline_wait_prior(0);
  out[t] = tile[t];
}

void copy_source_overwritten(bool fixed) {
  OnDevice<float> data(kSlice), out(kSlice);
  overwrite_source<<<1, kSlice>>>(data.data(), out.data(), fixed);
}

// Threads behind the end copy the last element once more, a warp waits for its own copies, empty groups keep the count: no
// fault.
__global__ void sound_copies(const float* in, float* out, int n) {
  __shared__ float tile[2][kSlice], own[kSlice], last[kSlice];
  const int t = threadIdx.x, i = t < n ? t : n - 1;
  __pipeline_memcpy_async(&last[i], &in[i], sizeof(float));
  __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(float));
  __pipeline_commit();
  float sum = 0;
  for (int s = 0; s < kSlices; ++s) {
    if (s + 1 < kSlices)
      __pipeline_memcpy_async(&tile[(s + 1) % 2][t], &in[(s + 1) * kSlice + t], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[s % 2][kSlice - 1 - t] + last[i];
    __syncthreads();
    __pipeline_memcpy_async(&own[t], &in[t], sizeof(float));
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    own[t] *= 2;
    __syncwarp();
    sum += own[t ^ 1];
    __syncwarp();
  }
  out[t] = sum;
}

void copies_that_are_waited_for(bool) {
  OnDevice<float> in(kSlice * kSlices), out(kSlice);
  sound_copies<<<1, kSlice>>>(in.data(), out.data(), kSlice - 3);
}

}  // namespace

// Not run on hardware yet.
const std::vector<Planted> kAsyncCopies = {
    {"copy_wait_too_lenient", "uninitialized-shared", copy_wait_too_lenient, false},
    {"copy_last_slice", "uninitialized-shared", copy_last_slice, false},
    {"ptx_group_too_many", "uninitialized-shared", ptx_group_too_many, false},
    {"copy_no_barrier", "uninitialized-shared", copy_no_barrier, false},
    {"copy_read_by_its_thread", "uninitialized-shared", copy_read_by_its_thread, false},
    {"copy_of_group", "uninitialized-shared", copy_of_group, false},
    {"store_over_copy", "shared-race", store_over_copy, false},
    {"copy_over_copy", "shared-race", copy_over_copy, false},
    {"copy_source_overwritten", "global-race", copy_source_overwritten, false},
    {"copies_that_are_waited_for", "none", copies_that_are_waited_for, false},
};
