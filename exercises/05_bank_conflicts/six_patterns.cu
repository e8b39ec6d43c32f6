// # Six patterns
//
// Kind: predict
// Level: 1
// Minutes: 8
//
// One warp reads one float per lane from shared memory. Bank = (byte address / 4) mod 32; lanes
// that read the same word are served together. How many wavefronts does each of these loads take?

#include <cuda_runtime.h>

struct Same {
  __device__ int operator()(int) const { return 5; }
};
struct Neighbours {
  __device__ int operator()(int lane) const { return lane; }
};
struct Stride2 {
  __device__ int operator()(int lane) const { return 2 * lane; }
};
struct Stride32 {
  __device__ int operator()(int lane) const { return 32 * lane; }
};
struct Stride33 {
  __device__ int operator()(int lane) const { return 33 * lane; }
};
struct RowsOf8 {
  __device__ int operator()(int lane) const { return lane / 8 * 32 + lane % 8; }
};

template <class Index>
__global__ void read(float* out) {
  __shared__ float s[33 * 32];
  for (int i = threadIdx.x; i < 33 * 32; i += 32) s[i] = i;
  __syncwarp();
  out[threadIdx.x] = s[Index()(threadIdx.x)];
}

#ifdef SOLUTION
constexpr int kSame = 1;
constexpr int kNeighbours = 1;
constexpr int kStride2 = 2;
constexpr int kStride32 = 32;
constexpr int kStride33 = 1;
constexpr int kRowsOf8 = 4;
#else
constexpr int kSame = -1;        // TODO
constexpr int kNeighbours = -1;  // TODO
constexpr int kStride2 = -1;     // TODO
constexpr int kStride32 = -1;    // TODO
constexpr int kStride33 = -1;    // TODO
constexpr int kRowsOf8 = -1;     // TODO
#endif
