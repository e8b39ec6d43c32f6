// # Whose event is it?
//
// Kind: repair
// Level: 1
// Minutes: 5
//
// `below_largest` computes how far each of n numbers lies below the largest one: out[i] = largest -
// in[i]. One stream finds the largest, another one subtracts. The second has to wait for the first,
// and an event is there for that. Still, `./learn check` says that nothing orders the two kernels.
//
// Repair `below_largest`. Both streams are made with cudaStreamNonBlocking. The host must not wait.

#include <cuda_runtime.h>

// *largest = the largest of n numbers and what it was.
__global__ void find_largest(int* largest, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(largest, in[i]);
}

__global__ void subtract(int* out, const int* in, const int* largest, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = *largest - in[i];
}

// in: n numbers on the device, out: room for as many. largest: a number on the device, 0.
void below_largest(int* out, const int* in, int* largest, int n, cudaStream_t finds,
                   cudaStream_t subtracts) {
  const int blocks = (n + 127) / 128;
  cudaEvent_t found = nullptr;
  cudaEventCreateWithFlags(&found, cudaEventDisableTiming);
  find_largest<<<blocks, 128, 0, finds>>>(largest, in, n);
#ifdef SOLUTION
  cudaEventRecord(found, finds);
#else
  cudaEventRecord(found);
#endif
  cudaStreamWaitEvent(subtracts, found);
  subtract<<<blocks, 128, 0, subtracts>>>(out, in, largest, n);
  cudaEventDestroy(found);
}
