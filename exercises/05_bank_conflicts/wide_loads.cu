// # Wide loads
//
// Kind: predict
// Level: 3
// Minutes: 10
//
// A load of 8 bytes per lane (`float2`) goes through the banks in one phase for each half-warp, a
// load of 16 bytes (`float4`) in one for each quarter. Conflicts are counted within a phase, and
// the wavefronts of the phases add up. How many wavefronts does each load take? The index is that
// of a `float2` or `float4`, so multiply by its size.

#include <cuda_runtime.h>

struct Neighbours {
  __device__ int operator()(int lane) const { return lane; }
};
struct EverySecond {
  __device__ int operator()(int lane) const { return 2 * lane; }
};
// The lower half-warp reads neighbours, the upper one every second element.
struct Mixed {
  __device__ int operator()(int lane) const { return lane < 16 ? lane : 2 * lane; }
};

template <class Vector, class Index>
__global__ void read(float* out) {
  __shared__ alignas(16) float s[4 * 64];
  for (int i = threadIdx.x; i < 4 * 64; i += 32) s[i] = i;
  __syncwarp();
  const Vector v = reinterpret_cast<const Vector*>(s)[Index()(threadIdx.x)];
  out[threadIdx.x] = v.x + v.y;
}

#ifdef SOLUTION
constexpr int kFloat2Neighbours = 2;
constexpr int kFloat2EverySecond = 4;
constexpr int kFloat2Mixed = 3;
constexpr int kFloat4Neighbours = 4;
constexpr int kFloat4EverySecond = 8;
#else
constexpr int kFloat2Neighbours = -1;   // TODO
constexpr int kFloat2EverySecond = -1;  // TODO
constexpr int kFloat2Mixed = -1;        // TODO
constexpr int kFloat4Neighbours = -1;   // TODO
constexpr int kFloat4EverySecond = -1;  // TODO
#endif
