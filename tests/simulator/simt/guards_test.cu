// Guarded loads. Where some lanes of a warp load and others do not, all meet again behind the guard: each load
// and each store is one request of a warp, as it is where nvcc predicates the load. The compiler must not
// give lanes ways of their own past the place where they meet.

#include <gtest/gtest.h>
#include <simt/simt.h>

#include <functional>
#include <string>

namespace {

constexpr unsigned kTile = 16;
constexpr unsigned kWarps = kTile * kTile / 32;

// What the kernels see: x and y within a tile, a matrix of m rows and n columns, walked in steps of a tile.
struct View {
  const float* a;
  const float* b;
  float* out;
  unsigned m, n, k;
};

// The tile load of every tiled matrix product.
__global__ void ternary(View v) {
  __shared__ float s[kTile][kTile], t[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (unsigned k0 = 0; k0 < v.k; k0 += kTile) {
    const bool in_a = y < v.m && k0 + x < v.k;
    const bool in_b = k0 + y < v.k && x < v.n;
    s[y][x] = in_a ? v.a[y * v.k + k0 + x] : 0.0f;
    t[y][x] = in_b ? v.b[(k0 + y) * v.n + x] : 0.0f;
    __syncthreads();
    sum += s[y][0] * t[0][x];
    __syncthreads();
  }
  v.out[y * kTile + x] = sum;
}

// The same with the conditions where they are used.
__global__ void ternary_in_place(View v) {
  __shared__ float s[kTile][kTile], t[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (unsigned k0 = 0; k0 < v.k; k0 += kTile) {
    s[y][x] = (y < v.m && k0 + x < v.k) ? v.a[y * v.k + k0 + x] : 0.0f;
    t[y][x] = (k0 + y < v.k && x < v.n) ? v.b[(k0 + y) * v.n + x] : 0.0f;
    __syncthreads();
    sum += s[y][0] * t[0][x];
    __syncthreads();
  }
  v.out[y * kTile + x] = sum;
}

__global__ void branches(View v) {
  __shared__ float s[kTile][kTile], t[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (unsigned k0 = 0; k0 < v.k; k0 += kTile) {
    float in_a, in_b;
    if (y < v.m && k0 + x < v.k) {
      in_a = v.a[y * v.k + k0 + x];
    } else {
      in_a = 0.0f;
    }
    if (k0 + y < v.k && x < v.n) {
      in_b = v.b[(k0 + y) * v.n + x];
    } else {
      in_b = 0.0f;
    }
    s[y][x] = in_a;
    t[y][x] = in_b;
    __syncthreads();
    sum += s[y][0] * t[0][x];
    __syncthreads();
  }
  v.out[y * kTile + x] = sum;
}

__global__ void three_conditions(View v) {
  __shared__ float s[kTile][kTile], t[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (unsigned k0 = 0; k0 < v.k; k0 += kTile) {
    const bool in_a = y < v.m && k0 + x < v.k && x + y < v.m + v.n;
    const bool in_b = k0 + y < v.k && x < v.n && (x + y < v.m + v.n || y > v.m);
    s[y][x] = in_a ? v.a[y * v.k + k0 + x] : 0.0f;
    t[y][x] = in_b ? v.b[(k0 + y) * v.n + x] : 0.0f;
    __syncthreads();
    sum += s[y][0] * t[0][x];
    __syncthreads();
  }
  v.out[y * kTile + x] = sum;
}

// A guard that another guard begins with.
__global__ void correlated(View v) {
  __shared__ float s[kTile][kTile], t[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (unsigned k0 = 0; k0 < v.k; k0 += kTile) {
    const bool row = y < v.m;
    s[y][x] = row && k0 + x < v.k ? v.a[y * v.k + k0 + x] : 0.0f;
    t[y][x] = row && x < v.n ? v.b[(k0 + y) * v.n + x] : 0.0f;
    __syncthreads();
    sum += s[y][0] * t[0][x];
    __syncthreads();
  }
  v.out[y * kTile + x] = sum;
}

// Rows of a border have one load, those inside two.
__global__ void nested_ternaries(View v) {
  __shared__ float s[kTile][kTile], t[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (unsigned k0 = 0; k0 < v.k; k0 += kTile) {
    s[y][x] = y < v.m && k0 + x < v.k ? (x < v.n ? v.a[y * v.k + k0 + x] : 1.0f) : 0.0f;
    t[y][x] = k0 + y < v.k ? (x < v.n && y < v.m ? v.b[(k0 + y) * v.n + x] : 1.0f) : 0.0f;
    __syncthreads();
    sum += s[y][0] * t[0][x];
    __syncthreads();
  }
  v.out[y * kTile + x] = sum;
}

__global__ void select_of_two_loads(View v) {
  __shared__ float s[kTile][kTile], t[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (unsigned k0 = 0; k0 < v.k; k0 += kTile) {
    const bool in_a = y < v.m && k0 + x < v.k;
    const bool in_b = k0 + y < v.k && x < v.n;
    s[y][x] = in_a ? v.a[y * v.k + k0 + x] : v.b[y * 16 + x];
    t[y][x] = in_b ? v.b[(k0 + y) * v.n + x] : v.a[y * 16 + x];
    __syncthreads();
    sum += s[y][0] * t[0][x];
    __syncthreads();
  }
  v.out[y * kTile + x] = sum;
}

// No guard at all: the index is held inside.
__global__ void clamped(View v) {
  __shared__ float s[kTile][kTile], t[kTile][kTile];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int m = static_cast<int>(v.m), n = static_cast<int>(v.n), k = static_cast<int>(v.k);
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += kTile) {
    s[y][x] = v.a[min(max(y - 1, 0), m - 1) * k + min(max(k0 + x - 1, 0), k - 1)];
    const int row = k0 + y + 1 < k ? k0 + y + 1 : k - 1;
    const int column = x + 1 < n ? x + 1 : n - 1;
    t[y][x] = v.b[row * n + column];
    __syncthreads();
    sum += s[y][0] * t[0][x];
    __syncthreads();
  }
  v.out[y * kTile + x] = sum;
}

// A stencil's halo: each side has a guard of its own.
__global__ void sides(View v) {
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned at = y * kTile + x;
  const float left = x > 0 && y < v.m ? v.a[at - 1] : 0.0f;
  const float right = x + 1 < v.n && y < v.m ? v.a[at + 1] : 0.0f;
  const float up = y > 0 && x < v.n ? v.a[at - kTile] : 0.0f;
  const float down = y + 1 < v.m && x < v.n ? v.a[at + kTile] : 0.0f;
  v.out[at] = left + right + up + down;
}

__global__ void early_continue(View v) {
  __shared__ float s[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  s[y][x] = 0;
  for (unsigned k0 = 0; k0 < 4; ++k0) {
    if (x + k0 >= v.k || y >= v.m) continue;
    const bool wide = y + k0 < v.m && x < v.n;
    const float more = wide ? v.a[y * kTile + x + k0] : 0.0f;
    if (!wide && x % 2) continue;
    s[y][x] += more;
    sum += v.b[y * kTile + x + k0];
  }
  v.out[y * kTile + x] = sum + s[y][x];
}

__device__ bool inside(const View& v, unsigned row, unsigned column) {
  return row < v.m && column < v.k;
}
__device__ float at_or_zero(const View& v, const float* p, unsigned row, unsigned column) {
  return inside(v, row, column) ? p[row * v.k + column] : 0.0f;
}
__global__ void guarded_by_a_function(View v) {
  __shared__ float s[kTile][kTile], t[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (unsigned k0 = 0; k0 < v.k; k0 += kTile) {
    s[y][x] = at_or_zero(v, v.a, y, k0 + x);
    t[y][x] = at_or_zero(v, v.b, y, k0 + x);
    __syncthreads();
    sum += s[y][0] * t[0][x];
    __syncthreads();
  }
  v.out[y * kTile + x] = sum;
}

struct Size {
  unsigned m, n, k;
};

class Guards : public testing::TestWithParam<Size> {
 protected:
  void SetUp() override {
    cudaMalloc(&memory_, 1 << 16);
    cudaMemset(memory_, 0, 1 << 16);
  }
  void TearDown() override { cudaFree(memory_); }

  simt::Counts counts(void (*kernel)(View)) {
    const Size size = GetParam();
    kernel<<<1, dim3(kTile, kTile)>>>(
        {memory_ + 64, memory_ + 4096, memory_ + 8192, size.m, size.n, size.k});
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return simt::launch(simt::launch_count() - 1).counts;
  }

  // How many warps have a lane for which `guard(x, y, k0)` holds, over the steps of the tile.
  template <class Guard>
  static uint64_t requests(Guard guard, unsigned end = GetParam().k, unsigned step = kTile) {
    uint64_t sum = 0;
    for (unsigned k0 = 0; k0 < end; k0 += step) {
      for (unsigned y = 0; y < kTile; y += 2) {
        bool any = false;
        for (unsigned lane = 0; lane < 32; ++lane) any |= guard(lane % kTile, y + lane / kTile, k0);
        sum += any;
      }
    }
    return sum;
  }
  static uint64_t all() {
    return requests([](unsigned, unsigned, unsigned) { return true; });
  }

  // Two tiles in shared memory: each is stored by whole warps, whatever the guards say.
  void expect_tiles(void (*kernel)(View), uint64_t loads) {
    const simt::Counts c = counts(kernel);
    EXPECT_EQ(c.global_load_requests, loads);
    EXPECT_EQ(c.shared_store_requests, 2 * all());
    EXPECT_EQ(c.shared_store_active_lanes, 2 * all() * 32);
    EXPECT_EQ(c.shared_load_requests, 2 * all());
    EXPECT_EQ(c.global_store_requests, kWarps);
  }

  float* memory_ = nullptr;
};

TEST_P(Guards, OfATileWithATernary) {
  const auto [m, n, k] = GetParam();
  const uint64_t loads =
      requests([&](unsigned x, unsigned y, unsigned k0) { return y < m && k0 + x < k; }) +
      requests([&](unsigned x, unsigned y, unsigned k0) { return k0 + y < k && x < n; });
  expect_tiles(ternary, loads);
  expect_tiles(ternary_in_place, loads);
  expect_tiles(branches, loads);
}

TEST_P(Guards, OfThreeConditions) {
  const auto [m, n, k] = GetParam();
  expect_tiles(three_conditions, requests([&](unsigned x, unsigned y, unsigned k0) {
                                   return y < m && k0 + x < k && x + y < m + n;
                                 }) + requests([&](unsigned x, unsigned y, unsigned k0) {
                                   return k0 + y < k && x < n && (x + y < m + n || y > m);
                                 }));
}

TEST_P(Guards, ThatShareACondition) {
  const auto [m, n, k] = GetParam();
  expect_tiles(correlated,
               requests([&](unsigned x, unsigned y, unsigned k0) { return y < m && k0 + x < k; }) +
                   requests([&](unsigned x, unsigned y, unsigned) { return y < m && x < n; }));
}

TEST_P(Guards, InNestedTernaries) {
  const auto [m, n, k] = GetParam();
  expect_tiles(nested_ternaries, requests([&](unsigned x, unsigned y, unsigned k0) {
                                   return y < m && k0 + x < k && x < n;
                                 }) + requests([&](unsigned x, unsigned y, unsigned k0) {
                                   return k0 + y < k && x < n && y < m;
                                 }));
}

TEST_P(Guards, ThatSelectOneOfTwoLoads) {
  const auto [m, n, k] = GetParam();
  const auto in_a = [&](unsigned x, unsigned y, unsigned k0) { return y < m && k0 + x < k; };
  const auto in_b = [&](unsigned x, unsigned y, unsigned k0) { return k0 + y < k && x < n; };
  expect_tiles(select_of_two_loads, requests(in_a) + requests(std::not_fn(in_a)) + requests(in_b) +
                                        requests(std::not_fn(in_b)));
}

TEST_P(Guards, ThatAreClampedIndices) { expect_tiles(clamped, 2 * all()); }

TEST_P(Guards, InAFunctionThatIsInlined) {
  const auto [m, n, k] = GetParam();
  expect_tiles(guarded_by_a_function, 2 * requests([&](unsigned x, unsigned y, unsigned k0) {
                                        return y < m && k0 + x < k;
                                      }));
}

TEST_P(Guards, OfAStencilsSides) {
  const auto [m, n, k] = GetParam();
  const simt::Counts c = counts(sides);
  const auto count = [](auto guard) { return requests(guard, 1, 1); };
  EXPECT_EQ(c.global_load_requests,
            count([&](unsigned x, unsigned y, unsigned) { return x > 0 && y < m; }) +
                count([&](unsigned x, unsigned y, unsigned) { return x + 1 < n && y < m; }) +
                count([&](unsigned x, unsigned y, unsigned) { return y > 0 && x < n; }) +
                count([&](unsigned x, unsigned y, unsigned) { return y + 1 < m && x < n; }));
  EXPECT_EQ(c.global_store_requests, kWarps);
}

TEST_P(Guards, WithEarlyContinue) {
  const auto [m, n, k] = GetParam();
  const auto stays = [&](unsigned x, unsigned y, unsigned k0) { return x + k0 < k && y < m; };
  const auto wide = [&](unsigned x, unsigned y, unsigned k0) {
    return stays(x, y, k0) && y + k0 < m && x < n;
  };
  const uint64_t ends =
      requests([&](unsigned x, unsigned y,
                   unsigned k0) { return stays(x, y, k0) && (wide(x, y, k0) || x % 2 == 0); },
               4, 1);
  const simt::Counts c = counts(early_continue);
  EXPECT_EQ(c.global_load_requests, requests(wide, 4, 1) + ends);
  EXPECT_EQ(c.shared_store_requests, kWarps + ends);
  EXPECT_EQ(c.shared_load_requests, kWarps + ends);
  EXPECT_EQ(c.global_store_requests, kWarps);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Guards,
                         testing::Values(Size{5, 16, 11}, Size{16, 16, 32}, Size{1, 1, 1},
                                         Size{16, 5, 17}, Size{7, 13, 40}, Size{15, 3, 31},
                                         Size{2, 16, 16}),
                         [](const auto& info) {
                           return std::to_string(info.param.m) + "x" +
                                  std::to_string(info.param.n) + "x" + std::to_string(info.param.k);
                         });

}  // namespace
