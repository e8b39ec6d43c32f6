// Pieces of an array on several streams, each with its copies and its kernel; events and a callback.
#include <cstdio>

// data: (n)
__global__ void transform(int n, float* data, float a, float b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = a * data[i] + b;
}

void count_call(void* calls) { ++*static_cast<int*>(calls); }

int main() {
  constexpr int n = 6000, streams = 4, piece = n / streams;
  float *host, *device;
  cudaMallocHost(&host, n * sizeof(float));
  cudaMalloc(&device, n * sizeof(float));
  for (int i = 0; i < n; ++i) host[i] = 0.5f * (i % 1000);

  cudaStream_t stream[streams];
  cudaEvent_t begin, end, first_done;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventCreateWithFlags(&first_done, cudaEventDisableTiming);
  for (cudaStream_t& s : stream) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);

  int calls = 0;
  cudaEventRecord(begin);
  for (int s = 0; s < streams; ++s) {
    float* part = device + s * piece;
    cudaMemcpyAsync(part, host + s * piece, piece * sizeof(float), cudaMemcpyHostToDevice,
                    stream[s]);
    transform<<<(piece + 255) / 256, 256, 0, stream[s]>>>(piece, part, 2.0f, s);
    cudaMemcpyAsync(host + s * piece, part, piece * sizeof(float), cudaMemcpyDeviceToHost,
                    stream[s]);
    cudaLaunchHostFunc(stream[s], count_call, &calls);
    if (s == 0) cudaEventRecord(first_done, stream[0]);
  }
  // The second stream goes over its piece again once the first stream has finished.
  cudaStreamWaitEvent(stream[1], first_done, 0);
  transform<<<(piece + 255) / 256, 256, 0, stream[1]>>>(piece, device + piece, 1.0f, 10.0f);
  cudaMemcpyAsync(host + piece, device + piece, piece * sizeof(float), cudaMemcpyDeviceToHost,
                  stream[1]);
  for (cudaStream_t s : stream) cudaStreamSynchronize(s);
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float milliseconds = -1;
  cudaEventElapsedTime(&milliseconds, begin, end);

  int wrong = calls == streams && milliseconds >= 0 && cudaStreamQuery(stream[0]) == cudaSuccess &&
                      cudaEventQuery(first_done) == cudaSuccess
                  ? 0
                  : 1;
  for (int i = 0; i < n; ++i) {
    const int s = i / piece;
    wrong += host[i] != 2 * (0.5f * (i % 1000)) + s + (s == 1 ? 10 : 0);
  }
  std::printf("streams: %s (%d wrong)\n", wrong ? "FAILED" : "ok", wrong);
  for (cudaStream_t s : stream) cudaStreamDestroy(s);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaEventDestroy(first_done);
  cudaFreeHost(host);
  cudaFree(device);
  return wrong != 0;
}
