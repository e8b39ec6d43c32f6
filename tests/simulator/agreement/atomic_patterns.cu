// One warp, one atomic instruction, many patterns of addresses: what does each cost?
// `atomic_patterns` runs them; (`--print` prints them instead, one JSON line for each launch.)
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

__global__ void red_u32(unsigned* out, const int* index, unsigned value) {
  int at = index[threadIdx.x];
  if (at >= 0) atomicAdd(&out[at], value);
}
__global__ void red_one(unsigned* out, const int* index) {
  int at = index[threadIdx.x];
  if (at >= 0) atomicAdd(&out[at], 1u);
}
__global__ void atom_u32(unsigned* out, const int* index, unsigned value, unsigned* old) {
  int at = index[threadIdx.x];
  if (at >= 0) old[threadIdx.x] = atomicAdd(&out[at], value);
}
__global__ void red_f32(unsigned* out, const int* index, float value) {
  int at = index[threadIdx.x];
  if (at >= 0) atomicAdd(reinterpret_cast<float*>(&out[at]), value);
}
__global__ void red_u64(unsigned* out, const int* index, unsigned long long value) {
  int at = index[threadIdx.x];
  if (at >= 0) atomicAdd(reinterpret_cast<unsigned long long*>(out) + at, value);
}
__global__ void red_max(unsigned* out, const int* index, unsigned value) {
  int at = index[threadIdx.x];
  if (at >= 0) atomicMax(&out[at], value);
}
__global__ void cas_u32(unsigned* out, const int* index, unsigned value, unsigned* old) {
  int at = index[threadIdx.x];
  if (at >= 0) old[threadIdx.x] = atomicCAS(&out[at], 0u, value);
}

static bool print_only = false;
static unsigned* out;
static int* index_;
static unsigned* old_;
static int number = 0;
static unsigned state = 1;
static unsigned rnd() {
  state = state * 1664525u + 1013904223u;
  return state >> 9;
}

static void launch(const std::string& family, const std::vector<int>& at,
                   const char* kernel = "red_u32") {
  if (print_only) {
    std::printf("{\"index\":%d,\"family\":\"%s\",\"kernel\":\"%s\",\"at\":[", number,
                family.c_str(), kernel);
    for (size_t i = 0; i < 32; ++i) std::printf("%s%d", i ? "," : "", at[i]);
    std::printf("]}\n");
  } else {
    cudaMemcpy(index_, at.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);
    const std::string k = kernel;
    if (k == "red_u32") red_u32<<<1, 32>>>(out, index_, 3);
    if (k == "red_one") red_one<<<1, 32>>>(out, index_);
    if (k == "atom_u32") atom_u32<<<1, 32>>>(out, index_, 3, old_);
    if (k == "red_f32") red_f32<<<1, 32>>>(out, index_, 3.0f);
    if (k == "red_u64") red_u64<<<1, 32>>>(out, index_, 3);
    if (k == "red_max") red_max<<<1, 32>>>(out, index_, 3);
    if (k == "cas_u32") cas_u32<<<1, 32>>>(out, index_, 3, old_);
  }
  ++number;
}

static std::vector<int> shuffled(std::vector<int> v) {
  for (int i = 31; i > 0; --i) std::swap(v[i], v[rnd() % (i + 1)]);
  return v;
}

template <class F>
static std::vector<int> lanes(F f) {
  std::vector<int> at(32);
  for (int i = 0; i < 32; ++i) at[i] = f(i);
  return at;
}

int main(int argc, char** argv) {
  print_only = argc > 1 && std::strcmp(argv[1], "--print") == 0;
  if (!print_only) {
    cudaMalloc(&out, 1 << 20);
    cudaMemset(out, 0, 1 << 20);
    cudaMalloc(&index_, 128);
    cudaMalloc(&old_, 128);
  }
  // Simple ones first.
  launch("same", lanes([](int) { return 0; }));
  launch("stride1", lanes([](int i) { return i; }));
  launch("stride8", lanes([](int i) { return 8 * i; }));
  launch("stride32", lanes([](int i) { return 32 * i; }));
  launch("t/2", lanes([](int i) { return i / 2; }));
  launch("t%16", lanes([](int i) { return i % 16; }));
  launch("t/4", lanes([](int i) { return i / 4; }));
  launch("t%8", lanes([](int i) { return i % 8; }));
  launch("t%4*8", lanes([](int i) { return i % 4 * 8; }));
  launch("t/8*8", lanes([](int i) { return i / 8 * 8; }));
  launch("t%4*32", lanes([](int i) { return i % 4 * 32; }));
  launch("t/8*32", lanes([](int i) { return i / 8 * 32; }));
  // Two addresses, m lanes and 32 - m, close or far, in blocks or interleaved.
  for (int distance : {1, 8, 32, 4096}) {
    for (int m : {1, 2, 5, 8, 12, 16}) {
      launch("two/d" + std::to_string(distance) + "/m" + std::to_string(m),
             lanes([&](int i) { return i < m ? 0 : distance; }));
    }
    launch("two/d" + std::to_string(distance) + "/interleaved",
           lanes([&](int i) { return i % 2 * distance; }));
  }
  // k lanes on one address, the others on addresses of their own: in the same line, in other lines.
  for (int k : {2, 3, 4, 8, 16}) {
    launch("k_same/dense/" + std::to_string(k), lanes([&](int i) { return i < k ? 0 : i; }));
    launch("k_same/last/" + std::to_string(k), lanes([&](int i) { return i >= 32 - k ? 31 : i; }));
    launch("k_same/sectors/" + std::to_string(k), lanes([&](int i) { return i < k ? 0 : 8 * i; }));
    launch("k_same/lines/" + std::to_string(k), lanes([&](int i) { return i < k ? 0 : 32 * i; }));
  }
  // One pair, at places (i, j); the others at lines of their own.
  for (auto [i, j] : {std::pair{0, 1}, {0, 16}, {0, 31}, {15, 16}, {30, 31}}) {
    launch("pair/dense/" + std::to_string(i) + "," + std::to_string(j),
           lanes([&, i = i, j = j](int l) { return l == j ? i : l; }));
  }
  // Two pairs: crossing, nested, in turn; of one sector, of two sectors, of two lines.
  for (int distance : {1, 8, 32}) {
    const int A = 0, B = distance;
    const std::vector<std::vector<int>> orders = {{A, A, B, B}, {A, B, A, B}, {A, B, B, A},
                                                  {A, A, A, B}, {A, B, A, A}, {B, A, A, A}};
    for (const auto& order : orders) {
      launch("four/d" + std::to_string(distance),
             lanes([&](int i) { return i < 4 ? order[i] : -1; }));
    }
  }
  // Three addresses of one sector with multiplicities that an order can pack well or badly.
  for (int trial = 0; trial < 6; ++trial) {
    std::vector<int> at(32);
    for (int i = 0; i < 32; ++i) at[i] = i < 8 ? 0 : i < 20 ? 1 : 2;
    launch("sector_of_3", trial == 0 ? at : shuffled(at));
  }
  // Random keys of n bins.
  for (int bins : {2, 3, 4, 8, 16, 32, 64, 128, 256, 1024}) {
    for (int trial = 0; trial < 7; ++trial) {
      launch("random/" + std::to_string(bins), lanes([&](int) { return (int)(rnd() % bins); }));
    }
  }
  // Random sectors, lines: one word each.
  for (int bins : {4, 8, 16, 32}) {
    for (int trial = 0; trial < 3; ++trial) {
      launch("random_sectors/" + std::to_string(bins),
             lanes([&](int) { return 8 * (int)(rnd() % bins); }));
      launch("random_lines/" + std::to_string(bins),
             lanes([&](int) { return 32 * (int)(rnd() % bins); }));
    }
  }
  // The same keys in many orders.
  {
    std::vector<int> at = lanes([&](int) { return (int)(rnd() % 64); });
    launch("order/as_drawn", at);
    std::sort(at.begin(), at.end());
    launch("order/sorted", at);
    std::vector<int> reversed(at.rbegin(), at.rend());
    launch("order/reversed", reversed);
    for (int trial = 0; trial < 9; ++trial) launch("order/shuffled", shuffled(at));
  }
  // Partial warps.
  for (int active : {2, 3, 4, 6, 8, 12, 16, 24}) {
    for (int trial = 0; trial < 3; ++trial) {
      launch("partial/" + std::to_string(active),
             lanes([&](int i) { return i < active ? (int)(rnd() % 16) : -1; }));
    }
  }
  // Other operations on the same keys.
  for (int trial = 0; trial < 4; ++trial) {
    const std::vector<int> at = lanes([&](int) { return (int)(rnd() % 64); });
    for (const char* kernel :
         {"red_u32", "red_one", "atom_u32", "red_f32", "red_u64", "red_max", "cas_u32"}) {
      launch("operations/" + std::to_string(trial), at, kernel);
    }
  }
  if (print_only) return 0;
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("%d launches: %s\n", number, cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
