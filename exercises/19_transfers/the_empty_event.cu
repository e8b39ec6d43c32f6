// # The buffer that is not empty yet
//
// Kind: repair
// Level: 4
// Minutes: 10
//
// `sums` adds up an array of the host in pieces of kPiece floats. Copies are made in one stream and
// sums in another, and two buffers on the device take turns: while one is summed, the other is
// filled. An event says when a buffer is full. Nothing says when it is empty again, so a copy may
// overwrite what is still being read.
//
// Repair `sums`. The copy of a piece has to overlap with the sum of the piece before it, so nothing
// may wait on the host.

#include <cuda_runtime.h>

#include <algorithm>

constexpr int kPiece = 256;

// *sum += the elements of a piece of up to kPiece.
__global__ void add_piece(float* sum, const float* piece, int count) {
  if (threadIdx.x < count) atomicAdd(sum, piece[threadIdx.x]);
}

// buffers: 2 * kPiece floats on the device. sum: a float on the device, 0. in: n floats of the
// host, pinned.
void sums(float* sum, const float* in, int n, float* buffers, cudaStream_t copies,
          cudaStream_t adds) {
#ifdef SOLUTION
  cudaEvent_t full[2], empty[2];
#else
  cudaEvent_t full[2];
#endif
  for (int b = 0; b < 2; ++b) {
    cudaEventCreate(&full[b]);
#ifdef SOLUTION
    cudaEventCreate(&empty[b]);
#endif
  }
  for (int first = 0, piece = 0; first < n; first += kPiece, ++piece) {
    const int b = piece % 2, count = std::min(kPiece, n - first);
#ifdef SOLUTION
    if (piece >= 2) cudaStreamWaitEvent(copies, empty[b]);
#endif
    cudaMemcpyAsync(buffers + b * kPiece, in + first, count * sizeof(float), cudaMemcpyHostToDevice,
                    copies);
    cudaEventRecord(full[b], copies);
    cudaStreamWaitEvent(adds, full[b]);
    add_piece<<<1, kPiece, 0, adds>>>(sum, buffers + b * kPiece, count);
#ifdef SOLUTION
    cudaEventRecord(empty[b], adds);
#else
    // TODO
#endif
  }
  for (int b = 0; b < 2; ++b) {
    cudaEventDestroy(full[b]);
#ifdef SOLUTION
    cudaEventDestroy(empty[b]);
#endif
  }
}
