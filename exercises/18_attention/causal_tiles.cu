// # Which tiles does a causal block need?
//
// Kind: fill in
// Level: 3
// Minutes: 10
//
// Query i of `queries` sees the keys 0 to i + keys - queries: the last query sees all of them. A
// block has 32 queries and goes over the keys in tiles of 32, through shared memory. Here a query
// only adds up the keys that it sees, a number each.
//
// `tiles_needed` says how many tiles the block loads, from the first on: not one that none of its
// queries sees. `needs_mask` says for which of them the queries have to compare indices: not for a
// tile of which all queries of the block see all keys. keys >= queries; neither is a multiple of
// 32 always.
//
// Bars at 1024 x 1024: 528 load requests, 32 comparisons

#include <cuda_runtime.h>

constexpr int kTile = 32;  // queries of a block, and keys of a tile

// The number of keys that a query sees.
__host__ __device__ inline int seen(int query, int queries, int keys) {
  return query + 1 + keys - queries;
}

#ifdef SOLUTION
__host__ __device__ inline int tiles_needed(int query0, int queries, int keys) {
  const int last = query0 + kTile < queries ? query0 + kTile - 1 : queries - 1;
  return (seen(last, queries, keys) + kTile - 1) / kTile;
}
#else
__host__ __device__ inline int tiles_needed(int query0, int queries, int keys) {
  return (keys + kTile - 1) / kTile;  // TODO
}
#endif

__host__ __device__ inline bool needs_mask(int key0, int query0, int queries, int keys) {
#ifdef SOLUTION
  return key0 + kTile > seen(query0, queries, keys);  // the first query sees the fewest keys
#else
  return true;  // TODO
#endif
}

// A block of 32 threads for each 32 queries. masks: how many tiles of all blocks were masked.
__global__ void causal_sums(const float* in, float* out, int* masks, int queries, int keys) {
  __shared__ float tile[kTile];
  const int query0 = blockIdx.x * kTile, query = query0 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < tiles_needed(query0, queries, keys); ++t) {
    const int key0 = t * kTile;
    tile[threadIdx.x] = key0 + threadIdx.x < keys ? in[key0 + threadIdx.x] : 0;
    __syncthreads();
    if (needs_mask(key0, query0, queries, keys)) {
      if (threadIdx.x == 0) atomicAdd(masks, 1);
      for (int k = 0; k < kTile; ++k) sum += key0 + k < seen(query, queries, keys) ? tile[k] : 0;
    } else {
      for (int k = 0; k < kTile; ++k) sum += tile[k];
    }
    __syncthreads();
  }
  if (query < queries) out[query] = sum;
}
