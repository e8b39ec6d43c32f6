// # Windows as columns
//
// Kind: predict
// Level: 1
// Minutes: 5
//
// `im2col` writes the windows of an image, with R x R taps and a padding of R / 2, as the columns
// of a matrix. The image has 4 channels of 16 x 16 pixels, 4 KiB. One block of 256 threads does it:
// a thread has one column, that is one window, and goes down its rows.
//
// Write down how large the matrix is for R = 1, 3 and 5, and what it takes to write and to read.

#include <cuda_runtime.h>

constexpr int kChannels = 4, kSide = 16;

template <int R>
__global__ void im2col(const float* in, float* columns) {
  const int y = threadIdx.x / kSide, x = threadIdx.x % kSide;
  int row = 0;
  for (int c = 0; c < kChannels; ++c) {
    for (int r = -R / 2; r <= R / 2; ++r) {
      for (int s = -R / 2; s <= R / 2; ++s, ++row) {
        const bool inside = 0 <= y + r && y + r < kSide && 0 <= x + s && x + s < kSide;
        columns[row * kSide * kSide + threadIdx.x] =
            inside ? in[(c * kSide + y + r) * kSide + x + s] : 0;
      }
    }
  }
}

#ifdef SOLUTION
// Floats of the matrix for R = 1, 3 and 5.
constexpr int kFloats1 = 1024;
constexpr int kFloats3 = 9216;
constexpr int kFloats5 = 25600;
// Global store requests of the block for R = 3.
constexpr int kStores3 = 288;
// Global load requests of the block for R = 3, and for R = 5. A warp has two rows of windows; it
// makes no request where all of its lanes are outside of the image.
constexpr int kLoads3 = 288;
constexpr int kLoads5 = 760;
#else
// Floats of the matrix for R = 1, 3 and 5.
constexpr int kFloats1 = -1;  // TODO
constexpr int kFloats3 = -1;  // TODO
constexpr int kFloats5 = -1;  // TODO
// Global store requests of the block for R = 3.
constexpr int kStores3 = -1;  // TODO
// Global load requests of the block for R = 3, and for R = 5. A warp has two rows of windows; it
// makes no request where all of its lanes are outside of the image.
constexpr int kLoads3 = -1;  // TODO
constexpr int kLoads5 = -1;  // TODO
#endif
