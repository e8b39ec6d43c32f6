// Objects in kernels: virtual functions, new and delete, malloc and free, function pointers, lambdas, placement
// new in shared memory.
#include <cstdio>
#include <new>

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  __device__ explicit Square(float side) : side_(side) {}
  __device__ float area() const override { return side_ * side_; }
  float side_;
};
struct Ring : Shape {
  __device__ Ring(float outer, float inner) : outer_(outer), inner_(inner) {}
  __device__ ~Ring() override {}
  __device__ float area() const override { return 3 * (outer_ * outer_ - inner_ * inner_); }
  float outer_, inner_;
};

__global__ void make(Shape** shapes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i % 2) {
    shapes[i] = new Ring(i + 2, i);
  } else {
    shapes[i] = new Square(i);
  }
}
__global__ void measure(Shape* const* shapes, float* areas, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) areas[i] = shapes[i]->area();
}
__global__ void destroy(Shape** shapes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) delete shapes[i];
}

using Operation = float (*)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ Operation operations[2] = {add, multiply};

template <class F>
__global__ void apply(F f, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(operations[i % 2](in[i], 3.0f));
}

// Each block sorts out its own scratch memory.
__global__ void scratch(int* out) {
  __shared__ int* list;
  __shared__ alignas(Square) unsigned char room[sizeof(Square)];
  if (threadIdx.x == 0) {
    list = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
    new (room) Square(5);
  }
  __syncthreads();
  if (!list) return;
  list[blockDim.x - 1 - threadIdx.x] = threadIdx.x;
  __syncthreads();
  const auto* square = reinterpret_cast<const Shape*>(room);
  out[blockIdx.x * blockDim.x + threadIdx.x] = list[threadIdx.x] + int(square->area());
  __syncthreads();
  if (threadIdx.x == 0) free(list);
}

int main() {
  const int n = 100;
  Shape** shapes;
  float *areas, *out;
  int* numbers;
  cudaMalloc(&shapes, n * sizeof(Shape*));
  cudaMallocManaged(&areas, n * sizeof(float));
  cudaMallocManaged(&out, n * sizeof(float));
  cudaMallocManaged(&numbers, 128 * sizeof(int));
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);

  make<<<4, 32>>>(shapes, n);
  measure<<<4, 32>>>(shapes, areas, n);
  destroy<<<4, 32>>>(shapes, n);
  const float bias = 0.5f;
  apply<<<4, 32>>>([=] __device__(float x) { return x + bias; }, areas, out, n);
  scratch<<<2, 64>>>(numbers);
  bool right = cudaDeviceSynchronize() == cudaSuccess;
  for (int i = 0; i < n; ++i) {
    const float area = i % 2 ? 3.0f * ((i + 2) * (i + 2) - i * i) : 1.0f * i * i;
    right = right && areas[i] == area && out[i] == (i % 2 ? area * 3 : area + 3) + bias;
  }
  for (int i = 0; i < 128; ++i) right = right && numbers[i] == 63 - i % 64 + 25;
  std::printf("device_objects: %s\n", right ? "ok" : "FAILED");
  cudaFree(shapes);
  cudaFree(areas);
  cudaFree(out);
  cudaFree(numbers);
  return right ? 0 : 1;
}
