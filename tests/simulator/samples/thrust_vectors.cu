// Thrust around kernels of one's own, as programs use it: vectors whose memory a kernel takes, memory of cudaMalloc that
// algorithms take, function objects and lambdas of the device, random numbers.
#include <thrust/copy.h>
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/pair.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/universal_vector.h>

#include <cmath>
#include <cstdio>
#include <iterator>
#include <sstream>
#include <vector>

static int failures = 0;

static void check(bool right, const char* what, int line) {
  if (right) return;
  ++failures;
  std::printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

__global__ void scale(float* data, int n, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= by;
}

// A vector's memory goes to a kernel, the kernel's result to an algorithm.
static void around_a_kernel() {
  const int n = 1000;
  thrust::host_vector<float> h(n);
  for (int i = 0; i < n; ++i) h[i] = static_cast<float>(i);
  thrust::device_vector<float> d = h;
  scale<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(d.data()), n, 2.0f);
  CHECK(thrust::reduce(d.begin(), d.end(), 0.0f) == 999000.0f);
  scale<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(&d[0]), n, 0.5f);
  h = d;
  for (int i = 0; i < n; ++i) CHECK(h[i] == static_cast<float>(i));
  const float last = d[n - 1];
  d[0] = 7;
  d[1] += last;
  CHECK(last == 999 && d[0] == 7 && d[1] == 1000 && d.front() == 7 && d.back() == 999);
  d.push_back(5);
  d.resize(2 * n, -1.0f);
  CHECK(d.size() == 2 * n && d[n] == 5 && d[2 * n - 1] == -1);
  std::vector<float> all(d.size());
  thrust::copy(d.begin(), d.end(), all.begin());
  CHECK(all[n] == 5 && all[n + 1] == -1);
  d = std::vector<float>{3, 1, 2};
  thrust::sort(d.begin(), d.end(), thrust::greater<float>());
  std::ostringstream text;
  thrust::copy(d.begin(), d.end(), std::ostream_iterator<float>(text, " "));
  text << d[0];
  CHECK(text.str() == "3 2 1 3");
  thrust::device_vector<float> other(d.rbegin(), d.rend());
  CHECK(other != d && other[0] == 1);
  other.swap(d);
  d.erase(d.begin());
  d.insert(d.begin(), 9.0f);
  CHECK(d[0] == 9 && d[1] == 2 && d[2] == 3 && d.size() == 3);
  d.clear();
  d.shrink_to_fit();
  CHECK(d.empty() && d.capacity() == 0);
  thrust::device_vector<float> grown(2, 1.0f);
  grown.resize(9);
  CHECK(grown.size() == 9 && grown[1] == 1 && grown[8] == 0);
  grown.pop_back();
  CHECK(grown.size() == 8 && grown.back() == 0);
}

// Memory of cudaMalloc, by a pointer that says so, or by a policy.
static void around_raw_memory() {
  const int n = 500;
  int* raw = nullptr;
  cudaMalloc(&raw, n * sizeof(int));
  const thrust::device_ptr<int> p(raw);
  thrust::sequence(p, p + n);
  CHECK(p[n - 1] == n - 1 && thrust::reduce(p, p + n) == n * (n - 1) / 2);
  thrust::sort(thrust::device, raw, raw + n, thrust::greater<int>());
  CHECK(*thrust::device_pointer_cast(raw) == n - 1);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  thrust::exclusive_scan(thrust::cuda::par.on(stream), raw, raw + n, raw);
  cudaStreamSynchronize(stream);
  std::vector<int> h(n);
  cudaMemcpy(h.data(), raw, n * sizeof(int), cudaMemcpyDeviceToHost);
  CHECK(h[0] == 0 && h[1] == n - 1 && h[2] == 2 * n - 3);
  thrust::fill(thrust::host, h.begin(), h.end(), 3);
  CHECK(thrust::reduce(h.begin(), h.end()) == 3 * n);
  cudaStreamDestroy(stream);
  cudaFree(raw);

  thrust::device_ptr<double> owned = thrust::device_malloc<double>(10);
  thrust::fill(owned, owned + 10, 0.5);
  CHECK(thrust::reduce(owned, owned + 10) == 5.0);
  thrust::device_free(owned);

  thrust::universal_vector<int> shared(100, 2);
  CHECK(thrust::reduce(thrust::device, shared.begin(), shared.end()) == 200 && shared[5] == 2);
}

struct Particle {
  float position, speed;
};
struct Move {
  float dt;
  __device__ Particle operator()(Particle p) const {
    p.position = fmaf(dt, p.speed, p.position);
    return p;
  }
};
struct CountBelow {
  const int* limits;
  int* counts;
  __device__ void operator()(int i) const {
    if (i < limits[0]) atomicAdd(counts, 1);
  }
};

// What runs on the device alone, called by algorithms.
static void device_functions() {
  thrust::device_vector<Particle> particles(64, Particle{1, 2});
  thrust::transform(particles.begin(), particles.end(), particles.begin(), Move{0.5f});
  const Particle moved = particles[63];
  CHECK(moved.position == 2 && moved.speed == 2);
  thrust::device_vector<int> limits(1, 40), counts(1);
  thrust::for_each(
      thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(100),
      CountBelow{thrust::raw_pointer_cast(limits.data()), thrust::raw_pointer_cast(counts.data())});
  CHECK(counts[0] == 40);
  thrust::device_vector<float> x(10, 2.0f), y(10, 1.0f);
  const float a = 3;
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(),
                    [=] __device__(float xi, float yi) { return a * xi + yi; });
  CHECK(y[9] == 7);
}

// Pi by random points: each index has a sequence of its own.
struct HitsOfIndex {
  __host__ __device__ int operator()(unsigned index) const {
    thrust::default_random_engine engine(42);
    thrust::uniform_real_distribution<float> uniform(0, 1);
    engine.discard(200ull * index);
    int hits = 0;
    for (int i = 0; i < 100; ++i) {
      const float x = uniform(engine), y = uniform(engine);
      hits += x * x + y * y < 1;
    }
    return hits;
  }
};
static int dice() {
  static thrust::default_random_engine engine;
  static thrust::uniform_int_distribution<int> faces(1, 6);
  return faces(engine);
}
static void random_numbers() {
  thrust::counting_iterator<unsigned> first(0);
  const int hits =
      thrust::transform_reduce(first, first + 1000, HitsOfIndex(), 0, thrust::plus<int>());
  CHECK(std::fabs(4.0 * hits / 100000 - 3.14159) < 0.03);
  thrust::host_vector<int> throws(600);
  thrust::generate(throws.begin(), throws.end(), dice);
  const int least = *thrust::min_element(throws.begin(), throws.end());
  const int most = *thrust::max_element(throws.begin(), throws.end());
  CHECK(least == 1 && most == 6);
  thrust::minstd_rand engine;
  engine.discard(9999);
  CHECK(engine() == 399268537);  // as the standard says of the 10000th
  thrust::normal_distribution<double> normal(10, 2);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) sum += normal(engine);
  CHECK(std::fabs(sum / 10000 - 10) < 0.1);
}

// Thrust's types and its sequential algorithms within a kernel.
__global__ void median_of_rows(const int* rows, int* out, int width) {
  int row[8];
  for (int i = 0; i < width; ++i) row[i] = rows[threadIdx.x * width + i];
  thrust::sort(thrust::seq, row, row + width);
  const thrust::pair<int, int> ends(row[0], row[width - 1]);
  out[threadIdx.x] = ends.first < ends.second ? row[width / 2] : -1;
}
static void in_kernels() {
  const thrust::device_vector<int> rows(std::vector<int>{5, 1, 4, 2, 3, 9, 9, 9, 9, 9});
  thrust::device_vector<int> out(2);
  median_of_rows<<<1, 2>>>(thrust::raw_pointer_cast(rows.data()),
                           thrust::raw_pointer_cast(out.data()), 5);
  CHECK(out[0] == 3 && out[1] == -1);
}

int main() {
  around_a_kernel();
  around_raw_memory();
  device_functions();
  random_numbers();
  in_kernels();
  std::printf("thrust vectors: %s\n", failures ? "FAILED" : "ok");
  return failures ? 1 : 0;
}
