// # Whose pieces are these?
//
// Kind: fill in
// Level: 4
// Minutes: 12
//
// Stream-K deals out `tiles * k_tiles` K-tiles evenly: worker w has those from `first_of(w)` up to,
// but not including, `first_of(w + 1)`. A tile of C consists of `k_tiles` in a row, so a tile may
// have pieces of several workers. The worker that has the *last* K-tile of a tile collects: it adds
// the pieces of those before it to its own.
//
// Complete both functions. `collector` says which worker collects a tile. `pieces_before` says how
// many other workers the collector gets a piece from. tiles * k_tiles is at least `workers` and at
// most 2,000,000.

#include <cuda_runtime.h>

__host__ __device__ int first_of(int w, int workers, int total) {
  const int each = total / workers, longer = total % workers;
  return w * each + (w < longer ? w : longer);
}

#ifdef SOLUTION
__host__ __device__ int collector(int tile, int k_tiles, int workers, int total) {
  const int last = (tile + 1) * k_tiles - 1;
  int w = 0;
  while (first_of(w + 1, workers, total) <= last) ++w;  // who has its last K-tile
  return w;
}
#else
__host__ __device__ int collector(int tile, int k_tiles, int workers, int total) {
  return tile * workers / (total / k_tiles);  // TODO
}
#endif

__host__ __device__ int pieces_before(int tile, int k_tiles, int workers, int total) {
#ifdef SOLUTION
  const int w = collector(tile, k_tiles, workers, total);
  int before = 0;
  while (first_of(w - before, workers, total) > tile * k_tiles) ++before;
  return before;
#else
  return total < workers * k_tiles * tile;  // TODO
#endif
}

// What the check launches: a thread for each tile.
__global__ void fix_up(int* who, int* pieces, int tiles, int k_tiles, int workers) {
  const int tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile >= tiles) return;
  who[tile] = collector(tile, k_tiles, workers, tiles * k_tiles);
  pieces[tile] = pieces_before(tile, k_tiles, workers, tiles * k_tiles);
}
