// Parameters of kernels: by reference, with constructors and destructors, const, large.
#include <cuda_runtime.h>

#include <cstdio>

#define CHECK(condition)                                         \
  do {                                                           \
    if (!(condition)) {                                          \
      std::printf("FAILED line %d: %s\n", __LINE__, #condition); \
      return 1;                                                  \
    }                                                            \
  } while (0)

int copies = 0, destroyed = 0;

// The host copies an argument and destroys the copy; the device gets its bytes.
class Counter {
 public:
  explicit Counter(int* total) : total_(total) {}
  Counter(const Counter& other) : total_(other.total_) { ++copies; }
  ~Counter() { ++destroyed; }
  __device__ void add(int n) { atomicAdd(total_, n); }

 private:
  int* total_;
};

struct Managed {
  static void* operator new(size_t size) {
    void* memory = nullptr;
    cudaMallocManaged(&memory, size);
    return memory;
  }
  static void operator delete(void* memory) { cudaFree(memory); }
  int value = 3;
};

struct Large {
  int numbers[200];
};

__global__ void by_value(Counter counter, int n) { counter.add(n); }
__global__ void by_reference(Managed& object) { atomicAdd(&object.value, 1); }
__global__ void large(const Large numbers, int* sum) {
  for (int i = threadIdx.x; i < 200; i += blockDim.x) atomicAdd(sum, numbers.numbers[i]);
}
template <class T>
__global__ void any(T counter, const Managed& object) {
  counter.add(object.value);
}

int main() {
  int* total = nullptr;
  CHECK(cudaMallocManaged(&total, sizeof(int)) == cudaSuccess);
  *total = 0;
  {
    Counter counter(total);
    by_value<<<2, 32>>>(counter, 2);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && *total == 128);
    CHECK(copies == destroyed && copies >= 1);
    int n = 1;
    void* arguments[] = {&counter, &n};
    CHECK(cudaLaunchKernel(by_value, dim3(1), dim3(8), arguments, 0, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && *total == 136);
  }
  CHECK(copies + 1 == destroyed);

  Managed* object = new Managed;
  by_reference<<<1, 7>>>(*object);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && object->value == 10);
  void* arguments[] = {&object};
  CHECK(cudaLaunchKernel(by_reference, dim3(1), dim3(5), arguments, 0, nullptr) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && object->value == 15);

  *total = 0;
  any<Counter><<<1, 2>>>(Counter(total), *object);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && *total == 30);

  Large numbers;
  for (int i = 0; i < 200; ++i) numbers.numbers[i] = i;
  *total = 0;
  large<<<1, 64>>>(numbers, total);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && *total == 199 * 100);

  // In a graph the arguments are those of the moment they were captured.
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamCreate(&stream);
  *total = 0;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  {
    Counter counter(total);
    by_value<<<1, 1, 0, stream>>>(counter, 5);
    by_reference<<<1, 1, 0, stream>>>(*object);
  }
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess && *total == 0);
  CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess && *total == 15 && object->value == 18);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);

  delete object;
  cudaFree(total);
  std::printf("PASSED\n");
  return 0;
}
