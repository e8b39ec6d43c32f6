// # Choose a tile
//
// Kind: fill in
// Level: 5
// Minutes: 12
//
// Three kernels compute a product: tiles of 128 x 128, 64 x 64 and 32 x 32 elements. A GPU of `sms`
// SMs runs one block on each at a time, in waves. A K-tile takes 18 units of time with the large
// tile, 6 with the middle one and 2 with the small one; a wave has `k_tiles` of them. A launch
// takes 20 more, whatever the tile.
//
// `choice` returns the number of the fastest: 0, 1 or 2; of two that are equally fast, the one with
// the larger tile. Every extent is at least 1, and m * n at most 2^40.

#include <cuda_runtime.h>

struct Kernel {
  int edge, cost;  // tiles of edge x edge; units of time for a K-tile
};

__host__ __device__ inline Kernel kernel(int number) {
  return number == 0 ? Kernel{128, 18} : number == 1 ? Kernel{64, 6} : Kernel{32, 2};
}

__host__ __device__ int choice(int m, int n, int k_tiles, int sms) {
#ifdef SOLUTION
  int best = 0;
  long long least = 0;
  for (int number = 0; number < 3; ++number) {
    const Kernel one = kernel(number);
    const long long tiles =
        ((m - 1LL) / one.edge + 1) * ((n - 1LL) / one.edge + 1);  // ragged edges have tiles, too
    const long long waves = (tiles - 1) / sms + 1;
    const long long time = 20 + waves * k_tiles * one.cost;
    if (number == 0 || time < least) best = number, least = time;
  }
  return best;
#else
  return m < 64 && n < 64 && k_tiles > 0 && sms > 0 ? 2 : 0;  // TODO
#endif
}
