// Kernels of which nvcc makes other accesses than the source has: each for one cause. What the machine code counts for is held to
// an H200.
#include "../program.h"

constexpr int kTile = 16, kBlock = 128;

// The row of a tile: four neighbours are one load of 128 bits.
__global__ void tile_product(const float* a, const float* b, float* c, int n) {
  __shared__ float rows[kTile][kTile], columns[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sum = 0;
  for (int t = 0; t < n; t += kTile) {
    rows[y][x] = a[row * n + t + x];
    columns[y][x] = b[(t + y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += rows[y][k] * columns[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// A loop whose end is not known: unrolled, with a loop for the rest.
__global__ void weights(const float* in, const float* weight, float* out, int n, int taps) {
  __shared__ float kept[64];
  if (threadIdx.x < taps) kept[threadIdx.x] = weight[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + taps > n) return;
  float sum = 0;
  for (int k = 0; k < taps; ++k) sum += in[i + k] * kept[k];
  out[i] = sum;
}

// Four neighbours of each thread, loaded and stored.
__global__ void running_sums(const int* in, int* out) {
  __shared__ int all[4 * kBlock];
  for (int i = threadIdx.x; i < 4 * kBlock; i += kBlock) all[i] = in[blockIdx.x * 4 * kBlock + i];
  __syncthreads();
  for (int i = 1; i < 4; ++i) all[4 * threadIdx.x + i] += all[4 * threadIdx.x + i - 1];
  __syncthreads();
  for (int i = threadIdx.x; i < 4 * kBlock; i += kBlock) out[blockIdx.x * 4 * kBlock + i] = all[i];
}

// One store of the source, which both sides of a branch make.
__global__ void next_state(const int* now, int* next, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= n - 1) return;
  const int around = now[i - 1] + now[i] + now[i + 1];
  next[i] = around == 2 || (around == 1 && now[i]) ? 1 : 0;
}

// Every lane has another number of turns.
__global__ void row_lengths(const int* begin, const float* values, float* sums, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = begin[row]; i < begin[row + 1]; ++i) sum += values[i];
  sums[row] = sum;
}

// The centre is loaded anew for each neighbour, and need not be.
__global__ void attraction(const float4* bodies, float* pull, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  pull[i] = 0;
  for (int k = 0; k < n; ++k) {
    const float distance = bodies[k].x - bodies[i].x;
    pull[i] += distance * bodies[k].w;
  }
}

// Two places of which the source does not say that they differ.
__global__ void swap_and_add(float* data) {
  __shared__ float pairs[2 * kBlock];
  const int t = threadIdx.x;
  pairs[2 * t] = data[2 * t];
  pairs[2 * t + 1] = data[2 * t + 1];
  for (int step = 1; step < kBlock; step *= 2) {
    __syncthreads();
    if (t % step == 0) {
      const int left = 2 * t, right = 2 * t + 2 * step - 1;
      const float before = pairs[left];
      pairs[left] = pairs[right];
      pairs[right] += before;
    }
  }
  __syncthreads();
  data[2 * t] = pairs[2 * t];
  data[2 * t + 1] = pairs[2 * t + 1];
}

// Beyond 105,615 the argument is reduced with a table.
__global__ void sines(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}

int main() {
  constexpr int kSide = 64, kMany = 2000, kRows = 300;
  Array<float> a(random_floats(kSide * kSide)), b(random_floats(kSide * kSide)), c(kSide * kSide);
  tile_product<<<dim3(kSide / kTile, kSide / kTile), dim3(kTile, kTile)>>>(a, b, c, kSide);
  Array<float> in(random_floats(kMany)), weight(random_floats(64)), out(kMany);
  weights<<<kMany / kBlock, kBlock>>>(in, weight, out, kMany, 11);
  std::vector<int> cells(8 * kBlock);
  for (int& cell : cells) cell = static_cast<int>(next_random() % 2);
  Array<int> now(cells), next(8 * kBlock);
  running_sums<<<2, kBlock>>>(now, next);
  next_state<<<8, kBlock>>>(now, next, 8 * kBlock - 5);
  std::vector<int> begins{0};
  for (int row = 0; row < kRows; ++row)
    begins.push_back(begins.back() + static_cast<int>(next_random() % 13));
  Array<int> begin(begins);
  Array<float> values(random_floats(static_cast<size_t>(begins.back()) + 1)), sums(kRows);
  row_lengths<<<3, kBlock>>>(begin, values, sums, kRows);
  Array<float> bodies(random_floats(4 * 200)), pull(200);
  attraction<<<2, kBlock>>>(reinterpret_cast<const float4*>(static_cast<float*>(bodies)), pull,
                            200);
  Array<float> data(random_floats(2 * kBlock));
  swap_and_add<<<1, kBlock>>>(data);
  std::vector<float> angles = random_floats(kMany);
  for (size_t i = 0; i < angles.size(); ++i) angles[i] *= i % 5 ? 100.0f : 1e6f;
  Array<float> angle(angles), sine(kMany);
  sines<<<(kMany + kBlock - 1) / kBlock, kBlock>>>(angle, sine, kMany);
  c.host(), out.host(), next.host(), sums.host(), pull.host(), data.host(), sine.host();
}
