// Kernels that launch kernels, as teaching programs do: a recursion over depth, one launch by each thread, sums by halves, a
// quicksort, streams of the device, a tail launch, and memory that kernels allocate. A grid waits for nothing that it has
// launched; what it launches sees all that it wrote before.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

static int failures = 0;

static void check(bool right, const char* what, int line) {
  if (right) return;
  ++failures;
  std::printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define CALL(call) check((call) == cudaSuccess, #call, __LINE__)

// ---- each level launches the next, of half as many threads

__global__ void nest(int* threads_at, int depth) {
  atomicAdd(&threads_at[depth], 1);
  if (threadIdx.x == 0 && blockDim.x > 1) nest<<<1, blockDim.x / 2>>>(threads_at, depth + 1);
}

static void levels() {
  const int depths = 6;
  int* at = nullptr;
  CALL(cudaMalloc(&at, depths * sizeof(int)));
  CALL(cudaMemset(at, 0, depths * sizeof(int)));
  nest<<<2, 32>>>(at, 0);
  int seen[depths] = {};
  CALL(cudaMemcpy(seen, at, sizeof(seen), cudaMemcpyDeviceToHost));
  for (int depth = 0; depth < depths; ++depth) CHECK(seen[depth] == 2 * (32 >> depth));
  CALL(cudaFree(at));
}

// ---- one launch by each thread, with as many threads as its row has elements

struct Row {
  int begin, length;
};

template <class T>
__global__ void scale_row(T* data, Row row, T factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < row.length) data[row.begin + i] *= factor;
}
__global__ void scale_rows(float* data, const Row* rows, int count) {
  const int r = threadIdx.x;
  if (r >= count) return;
  const Row row = rows[r];
  scale_row<<<(row.length + 31) / 32, 32>>>(data, row, r + 1.0f);
}

static void rows() {
  const std::vector<Row> host = {{0, 5}, {5, 40}, {45, 1}, {46, 100}};
  const int n = 146;
  std::vector<float> ones(n, 1.0f);
  float* data = nullptr;
  Row* on_device = nullptr;
  CALL(cudaMalloc(&data, n * sizeof(float)));
  CALL(cudaMalloc(&on_device, host.size() * sizeof(Row)));
  CALL(cudaMemcpy(data, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(on_device, host.data(), host.size() * sizeof(Row), cudaMemcpyHostToDevice));
  scale_rows<<<1, 32>>>(data, on_device, static_cast<int>(host.size()));
  CALL(cudaMemcpy(ones.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (size_t r = 0; r < host.size(); ++r) {
    for (int i = 0; i < host[r].length; ++i) CHECK(ones[host[r].begin + i] == r + 1.0f);
  }
  CALL(cudaFree(data));
  CALL(cudaFree(on_device));
}

// ---- a quicksort whose halves go into two streams

__global__ void quicksort(int* data, int left, int right, int depth) {
  if (depth > 8 || right - left < 8) {
    for (int i = left + 1; i <= right; ++i) {
      for (int j = i; j > left && data[j - 1] > data[j]; --j) {
        const int kept = data[j];
        data[j] = data[j - 1];
        data[j - 1] = kept;
      }
    }
    return;
  }
  int low = left, high = right;
  const int pivot = data[(left + right) / 2];
  while (low <= high) {
    while (data[low] < pivot) ++low;
    while (data[high] > pivot) --high;
    if (low > high) break;
    const int kept = data[low];
    data[low++] = data[high];
    data[high--] = kept;
  }
  if (left < high) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, stream>>>(data, left, high, depth + 1);
    cudaStreamDestroy(stream);
  }
  if (low < right) quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, low, right, depth + 1);
}

static void sorted() {
  const int n = 300;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = (i * 7919) % 1009;
  int* data = nullptr;
  CALL(cudaMalloc(&data, n * sizeof(int)));
  CALL(cudaMemcpy(data, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  quicksort<<<1, 1>>>(data, 0, n - 1, 0);
  CALL(cudaDeviceSynchronize());
  std::vector<int> seen(n);
  CALL(cudaMemcpy(seen.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost));
  std::sort(host.begin(), host.end());
  CHECK(seen == host);
  CALL(cudaFree(data));
}

// ---- a tail launch begins when all others have ended

__global__ void add_one(int* sum) { atomicAdd(sum, 1); }
__global__ void note(const int* sum, int* seen) { *seen = *sum; }
__global__ void in_order(int* sum, int* seen) {
  if (threadIdx.x == 0) note<<<1, 1, 0, cudaStreamTailLaunch>>>(sum, seen);
  add_one<<<2, 4>>>(sum);
}

static void tails() {
  int* data = nullptr;
  CALL(cudaMalloc(&data, 2 * sizeof(int)));
  CALL(cudaMemset(data, 0, 2 * sizeof(int)));
  in_order<<<1, 10>>>(data, data + 1);
  int seen[2] = {};
  CALL(cudaMemcpy(seen, data, sizeof(seen), cudaMemcpyDeviceToHost));
  CHECK(seen[0] == 80 && seen[1] == 80);
  CALL(cudaFree(data));
}

// ---- errors, and memory that a kernel allocates for what it launches

__global__ void fill(int* data, int n) {
  const int i = threadIdx.x;
  if (i < n) data[i] = i;
}
__global__ void sum_up(const int* data, int n, int* sum) {
  int own = 0;
  for (int i = 0; i < n; ++i) own += data[i];
  *sum = own;
}
__global__ void release(int* data) { cudaFree(data); }
__global__ void allocates(int* sum, int* errors) {
  const int n = 100;
  int* data = nullptr;
  if (cudaMalloc(&data, n * sizeof(int)) != cudaSuccess) return;
  fill<<<1, 5000>>>(data, n);  // too many threads
  errors[0] = cudaGetLastError() != cudaSuccess;
  errors[1] = cudaGetLastError() != cudaSuccess;
  fill<<<1, 128>>>(data, n);
  sum_up<<<1, 1>>>(data, n, sum);
  release<<<1, 1>>>(data);
}

static void memory() {
  int* data = nullptr;
  CALL(cudaMalloc(&data, 3 * sizeof(int)));
  CALL(cudaMemset(data, 0, 3 * sizeof(int)));
  allocates<<<1, 1>>>(data, data + 1);
  int seen[3] = {};
  CALL(cudaMemcpy(seen, data, sizeof(seen), cudaMemcpyDeviceToHost));
  CHECK(seen[0] == 4950 && seen[1] == 1 && seen[2] == 0);
  CALL(cudaFree(data));
}

int main() {
  levels();
  rows();
  sorted();
  tails();
  memory();
  check(cudaDeviceSynchronize() == cudaSuccess, "the device", __LINE__);
  std::printf("dynamic_parallelism: %s\n", failures ? "FAILED" : "ok");
  return failures ? 1 : 0;
}
