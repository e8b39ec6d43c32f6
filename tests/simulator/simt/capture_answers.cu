// What the runtime answers to calls made while a stream is captured into a graph, in each mode, for a stream that waits for the
// default stream and one that does not. test_api_answers.py holds it to what an H100 answered.
#include <cuda_runtime.h>

#include <cstdio>
#include <thread>

// What stands in an answer is the call as it is written here.
#define SAY(call) std::printf("  %-60s %s\n", #call, cudaGetErrorName(call))

__global__ void k(int* a) { *a += 1; }
__device__ int variable;

static int *a, *h, *m;

template <class F>
static void during(const char* name, unsigned flags, cudaStreamCaptureMode mode, F calls) {
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, flags);
  cudaStreamBeginCapture(s, mode);
  k<<<1, 1, 0, s>>>(a);
  std::printf("%s flags %u mode %d\n", name, flags, static_cast<int>(mode));
  calls(s);
  std::printf("  last %s\n", cudaGetErrorName(cudaGetLastError()));
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  std::printf("  status %d\n", static_cast<int>(status));
  cudaGraph_t graph = nullptr;
  const cudaError_t end = cudaStreamEndCapture(s, &graph);
  std::printf("  end %s graph %d last %s\n", cudaGetErrorName(end), graph != nullptr,
              cudaGetErrorName(cudaGetLastError()));
  if (graph) cudaGraphDestroy(graph);
  cudaStreamDestroy(s);
  cudaDeviceSynchronize();
}

int main() {
  cudaMalloc(&a, 64);
  cudaMallocHost(&h, 64);
  cudaMallocManaged(&m, 64);
  cudaMemset(a, 0, 64);
  cudaEvent_t ev;
  cudaEventCreate(&ev);
  cudaEventRecord(ev);
  cudaDeviceSynchronize();
  int* p;
  int x = 0;
  cudaStream_t t;
  for (cudaStreamCaptureMode mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                                     cudaStreamCaptureModeRelaxed}) {
    for (unsigned f : {0u, 1u}) {
      during("malloc", f, mode, [&](cudaStream_t s) { SAY(cudaMalloc(&p, 4)); });
      during("malloc twice", f, mode, [&](cudaStream_t s) {
        SAY(cudaMalloc(&p, 4));
        SAY(cudaMalloc(&p, 4));
      });
      during("mallochost", f, mode, [&](cudaStream_t s) { SAY(cudaMallocHost(&p, 4)); });
      during("managed", f, mode, [&](cudaStream_t s) { SAY(cudaMallocManaged(&p, 4)); });
      during("free", f, mode, [&](cudaStream_t s) {
        int* q = p;
        SAY(cudaFree(q));
      });
      during("freenull", f, mode, [&](cudaStream_t s) { SAY(cudaFree(nullptr)); });
      during("devicesync", f, mode, [&](cudaStream_t s) { SAY(cudaDeviceSynchronize()); });
      during("streamsync", f, mode, [&](cudaStream_t s) { SAY(cudaStreamSynchronize(s)); });
      during("streamquery", f, mode, [&](cudaStream_t s) { SAY(cudaStreamQuery(s)); });
      during("legacysync", f, mode, [&](cudaStream_t s) { SAY(cudaStreamSynchronize(0)); });
      during("memcpy", f, mode,
             [&](cudaStream_t s) { SAY(cudaMemcpy(&x, a, 4, cudaMemcpyDeviceToHost)); });
      during("memset", f, mode, [&](cudaStream_t s) { SAY(cudaMemset(a, 0, 4)); });
      during("memcpyasync legacy", f, mode,
             [&](cudaStream_t s) { SAY(cudaMemcpyAsync(h, a, 4, cudaMemcpyDeviceToHost, 0)); });
      during("memcpyasync s", f, mode,
             [&](cudaStream_t s) { SAY(cudaMemcpyAsync(h, a, 4, cudaMemcpyDeviceToHost, s)); });
      during("symbol", f, mode, [&](cudaStream_t s) { SAY(cudaMemcpyToSymbol(variable, &x, 4)); });
      during("launch legacy", f, mode, [&](cudaStream_t s) {
        k<<<1, 1>>>(a);
        SAY(cudaGetLastError());
      });
      during("eventquery", f, mode, [&](cudaStream_t s) { SAY(cudaEventQuery(ev)); });
      during("eventsync", f, mode, [&](cudaStream_t s) { SAY(cudaEventSynchronize(ev)); });
      during("record legacy", f, mode, [&](cudaStream_t s) { SAY(cudaEventRecord(ev, 0)); });
      during("streamcreate", f, mode, [&](cudaStream_t s) { SAY(cudaStreamCreate(&t)); });
      during("getprops", f, mode, [&](cudaStream_t s) {
        cudaDeviceProp q;
        SAY(cudaGetDeviceProperties(&q, 0));
        size_t fr, to;
        SAY(cudaMemGetInfo(&fr, &to));
      });
      during("mallocasync s", f, mode, [&](cudaStream_t s) {
        int* q;
        SAY(cudaMallocAsync(&q, 64, s));
        SAY(cudaFreeAsync(q, s));
      });
      during("other thread malloc", f, mode, [&](cudaStream_t s) {
        std::thread([&] {
          SAY(cudaMalloc(&p, 4));
          std::printf("  its last %s\n", cudaGetErrorName(cudaGetLastError()));
        }).join();
      });
      during("relaxed exchange malloc", f, mode, [&](cudaStream_t s) {
        cudaStreamCaptureMode r = cudaStreamCaptureModeRelaxed;
        cudaThreadExchangeStreamCaptureMode(&r);
        SAY(cudaMalloc(&p, 4));
        cudaThreadExchangeStreamCaptureMode(&r);
      });
    }
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
