// # Loads of a struct
//
// Kind: predict
// Level: 2
// Minutes: 6
//
// `copy` has each thread of a warp copy one struct. With how many load instructions does it read
// it? A load has at most 128 bits, and the compiler may assume of the address no more than the
// alignment of the type.

#include <cuda_runtime.h>

struct Point {
  float x, y, z;
};
struct Four {
  float x, y, z, w;
};
struct alignas(8) Pair {
  float x, y;
};

template <class T>
__global__ void copy(T* out, const T* in) {
  out[threadIdx.x] = in[threadIdx.x];
}

#ifdef SOLUTION
// Three floats, aligned to 4 bytes
constexpr int kPoint = 3;
// Four floats, aligned to 4 bytes
constexpr int kFour = 4;
// CUDA's float4: four floats, aligned to 16 bytes
constexpr int kFloat4 = 1;
// Two floats, aligned to 8 bytes
constexpr int kPair = 1;
// CUDA's double2: two doubles, aligned to 16 bytes
constexpr int kDouble2 = 1;
#else
// Three floats, aligned to 4 bytes
constexpr int kPoint = -1;  // TODO
// Four floats, aligned to 4 bytes
constexpr int kFour = -1;  // TODO
// CUDA's float4: four floats, aligned to 16 bytes
constexpr int kFloat4 = -1;  // TODO
// Two floats, aligned to 8 bytes
constexpr int kPair = -1;  // TODO
// CUDA's double2: two doubles, aligned to 16 bytes
constexpr int kDouble2 = -1;  // TODO
#endif
