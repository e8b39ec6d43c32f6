// CUB: functions of the whole device with their temporary memory, and what the threads of a block or a warp do together.
#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <vector>

static int failures = 0;

static void check(bool right, const char* what, int line) {
  if (right) return;
  ++failures;
  std::printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

template <class T>
struct Buffer {
  T* data = nullptr;
  std::size_t n;
  explicit Buffer(std::size_t size) : n(size) { cudaMalloc(&data, n * sizeof(T)); }
  explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
    cudaMemcpy(data, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() { cudaFree(data); }
  std::vector<T> host() const {
    std::vector<T> copy(n);
    cudaMemcpy(copy.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost);
    return copy;
  }
};

// Asks for the size of the temporary memory, takes it, and calls again.
template <class F>
static void with_temporary(F call) {
  void* temporary = nullptr;
  std::size_t bytes = 0;
  CHECK(call(temporary, bytes) == cudaSuccess && bytes > 0);
  cudaMalloc(&temporary, bytes);
  CHECK(call(temporary, bytes) == cudaSuccess);
  cudaFree(temporary);
}

struct IsLarge {
  __host__ __device__ bool operator()(int x) const { return x > 500; }
};
struct MaxOf {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

static void whole_device() {
  const int n = 1000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * 387 % 1000;  // a permutation
  const Buffer<int> in(host), out(n), count(1);
  with_temporary(
      [&](void* t, std::size_t& b) { return cub::DeviceReduce::Sum(t, b, in.data, out.data, n); });
  CHECK(out.host()[0] == 499500);
  with_temporary(
      [&](void* t, std::size_t& b) { return cub::DeviceReduce::Max(t, b, in.data, out.data, n); });
  CHECK(out.host()[0] == 999);
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceReduce::Reduce(t, b, in.data, out.data, n, MaxOf(), 5000);
  });
  CHECK(out.host()[0] == 5000);
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceScan::ExclusiveSum(t, b, in.data, out.data, n);
  });
  CHECK(out.host()[0] == 0 && out.host()[2] == 387 && out.host()[n - 1] == 499500 - host[n - 1]);
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceScan::InclusiveSum(t, b, in.data, out.data, n);
  });
  CHECK(out.host()[2] == 387 + 774 && out.host()[n - 1] == 499500);
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceRadixSort::SortKeys(t, b, in.data, out.data, n);
  });
  CHECK(out.host()[0] == 0 && out.host()[700] == 700);
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceRadixSort::SortKeys(t, b, in.data, out.data, n, 0, 4);  // the low 4 bits
  });
  CHECK(out.host()[0] % 16 == 0 && out.host()[n - 1] % 16 == 15);
  const Buffer<float> keys(std::vector<float>{2.5f, -1, 0, -7}), sorted(4);
  const Buffer<int> where(std::vector<int>{0, 1, 2, 3}), places(4);
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceRadixSort::SortPairsDescending(t, b, keys.data, sorted.data, where.data,
                                                     places.data, 4);
  });
  CHECK((sorted.host() == std::vector<float>{2.5f, 0, -1, -7}));
  CHECK((places.host() == std::vector<int>{0, 2, 1, 3}));
  cub::DoubleBuffer<float> both(keys.data, sorted.data);
  with_temporary(
      [&](void* t, std::size_t& b) { return cub::DeviceRadixSort::SortKeys(t, b, both, 4); });
  CHECK(((both.Current() == keys.data ? keys : sorted).host() ==
         std::vector<float>{-7, -1, 0, 2.5f}));

  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceSelect::If(t, b, in.data, out.data, count.data, n, IsLarge());
  });
  CHECK(count.host()[0] == 499 && out.host()[0] == 774);
  const Buffer<int> runs(std::vector<int>{4, 4, 4, 1, 1, 9});
  with_temporary([&](void* t, std::size_t& b) {
    return cub::DeviceSelect::Unique(t, b, runs.data, out.data, count.data, 6);
  });
  CHECK(count.host()[0] == 3 && out.host()[1] == 1);
}

// Warps of 7: CUB takes any size, and a shuffle's own width only powers of two.
__global__ void sum_sevens(int* sums, int* before, int* all) {
  using Reduce = cub::WarpReduce<int, 7>;
  using Scan = cub::WarpScan<int, 7>;
  __shared__ typename Reduce::TempStorage for_reduce[4];
  __shared__ typename Scan::TempStorage for_scan[4];
  const int x = threadIdx.x, warp = x / 7;
  const int sum = Reduce(for_reduce[warp]).Sum(x);
  int prefix, total;
  Scan(for_scan[warp]).InclusiveSum(x, prefix, total);
  if (x % 7 == 0) sums[warp] = sum;
  before[x] = prefix - x;
  all[x] = total;
}

static void sevens() {
  const Buffer<int> sums(4), before(28), all(28);
  sum_sevens<<<1, 28>>>(sums.data, before.data, all.data);
  const std::vector<int> sum = sums.host(), prefix = before.host(), total = all.host();
  for (int i = 0; i < 28; ++i) {
    int expected = 0, whole = 0;
    for (int j = i / 7 * 7; j < i / 7 * 7 + 7; ++j) expected += j < i ? j : 0, whole += j;
    CHECK(prefix[i] == expected && total[i] == whole && sum[i / 7] == whole);
  }
}

template <int kThreads>
__global__ void sum_blocks(const int* in, int* sums, int* prefixes, int n) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Reduce::TempStorage for_reduce;
  __shared__ typename Scan::TempStorage for_scan;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int x = i < n ? in[i] : 0;
  const int sum = Reduce(for_reduce).Sum(x);
  int before, total;
  Scan(for_scan).ExclusiveSum(x, before, total);
  if (i < n) prefixes[i] = before;
  if (threadIdx.x == 0) sums[blockIdx.x] = sum == total ? sum : -1;
}

template <int kThreads, int kItems>
__global__ void tiles(const int* in, int* out, int* largest, int n) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kThreads>;
  using Reduce = cub::BlockReduce<int, kThreads>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
    typename Reduce::TempStorage reduce;
  } storage;
  int items[kItems], sums[kItems];
  const int base = blockIdx.x * kThreads * kItems;
  Load(storage.load).Load(in + base, items, n - base, 0);
  __syncthreads();
  const int most = Reduce(storage.reduce).Reduce(items, MaxOf());
  if (threadIdx.x == 0) largest[blockIdx.x] = most;
  __syncthreads();
  Scan(storage.scan).InclusiveSum(items, sums);
  __syncthreads();
  Store(storage.store).Store(out + base, sums, n - base);
}

__global__ void warps(const int* in, int* sums) {
  using Reduce = cub::WarpReduce<int>;
  __shared__ typename Reduce::TempStorage for_reduce[2];
  const int sum = Reduce(for_reduce[threadIdx.x / 32]).Sum(in[threadIdx.x]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
}

static void in_kernels() {
  const int n = 1000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * 387 % 1000;
  const Buffer<int> in(host), out(n), sums(16);
  const auto sum_of = [&](int first, int last) {
    int sum = 0;
    for (int i = first; i < std::min(last, n); ++i) sum += host[i];
    return sum;
  };
  sum_blocks<96><<<11, 96>>>(in.data, sums.data, out.data, n);
  for (int b = 0; b < 11; ++b) CHECK(sums.host()[b] == sum_of(96 * b, 96 * b + 96));
  for (int i = 0; i < n; ++i) CHECK(out.host()[i] == sum_of(i / 96 * 96, i));
  sum_blocks<72><<<14, 72>>>(in.data, sums.data, out.data, n);  // a last warp of 8 lanes
  for (int b = 0; b < 14; ++b) CHECK(sums.host()[b] == sum_of(72 * b, 72 * b + 72));
  for (int i = 0; i < n; ++i) CHECK(out.host()[i] == sum_of(i / 72 * 72, i));
  tiles<64, 4><<<4, 64>>>(in.data, out.data, sums.data, n);
  for (int b = 0; b < 4; ++b) {
    const auto first = host.begin() + 256 * b;
    CHECK(sums.host()[b] == *std::max_element(first, std::min(first + 256, host.end())));
  }
  for (int i = 0; i < n; ++i) CHECK(out.host()[i] == sum_of(i / 256 * 256, i + 1));
  warps<<<1, 64>>>(in.data, sums.data);
  CHECK(sums.host()[0] == sum_of(0, 32) && sums.host()[1] == sum_of(32, 64));
}

int main() {
  whole_device();
  sevens();
  in_kernels();
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  std::printf("cub: %s\n", failures ? "FAILED" : "ok");
  return failures ? 1 : 0;
}
