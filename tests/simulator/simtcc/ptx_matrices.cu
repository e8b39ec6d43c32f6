// The matrix instructions of a warp against a product on the host. nvcc compiles this file as well (test_ptx.py).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

namespace wmma = nvcuda::wmma;

static int failed = 0;
static void expect(bool good, const char* what, int line) {
  if (good) return;
  std::printf("FAILED: line %d: %s\n", line, what);
  ++failed;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

static std::vector<void*> allocated;
template <class T>
T* managed(int n) {
  T* p;
  cudaMallocManaged(&p, n * sizeof(T));
  std::memset(static_cast<void*>(p), 0, n * sizeof(T));
  allocated.push_back(p);
  return p;
}

// ---- mma

struct Tf32 {
  float value;
};
template <class T>
constexpr int kDepth = 32 / static_cast<int>(sizeof(T));

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, std::int8_t>, int, float>;

// D = A B + C: A 16 rows, B 8 columns, each of kDepth<T> elements; C and D 16 x 8.
template <class T>
__global__ void product(const T* a, const T* b, const Sum<T>* c, Sum<T>* d) {
  const int lane = threadIdx.x, row = lane / 4, first = lane % 4 * (4 / sizeof(T));
  constexpr int depth = kDepth<T>;
  unsigned x[4], y[2];
  Sum<T> z[4];
  for (int i = 0; i < 4; ++i)
    x[i] = *reinterpret_cast<const unsigned*>(
        &a[(row + i % 2 * 8) * depth + first + i / 2 * depth / 2]);
  for (int i = 0; i < 2; ++i)
    y[i] = *reinterpret_cast<const unsigned*>(&b[row * depth + first + i * depth / 2]);
  for (int i = 0; i < 4; ++i) z[i] = c[(row + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2];
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  } else if constexpr (std::is_same_v<T, __half>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%10, %11, %12, %13};"
        : "=f"(z[0]), "=f"(z[1]), "=f"(z[2]), "=f"(z[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "f"(z[0]), "f"(z[1]),
          "f"(z[2]), "f"(z[3]));
  } else if constexpr (std::is_same_v<T, Tf32>) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(z[0]), "+r"(z[1]), "+r"(z[2]), "+r"(z[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  }
  for (int i = 0; i < 4; ++i) d[(row + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = z[i];
}

template <class T>
float value(T x) {
  if constexpr (std::is_same_v<T, Tf32>)
    return x.value;
  else
    return static_cast<float>(x);
}
template <class T>
T element(int x) {
  if constexpr (std::is_same_v<T, Tf32>)
    return {static_cast<float>(x)};
  else
    return static_cast<T>(static_cast<float>(x));
}

// Small integers: every order of the additions gives the same.
template <class T>
void test_product() {
  constexpr int depth = kDepth<T>;
  T *a = managed<T>(16 * depth), *b = managed<T>(8 * depth);
  Sum<T>*c = managed<Sum<T>>(128), *d = managed<Sum<T>>(128);
  for (int i = 0; i < 16 * depth; ++i) a[i] = element<T>(i * 7 % 23 - 11);
  for (int i = 0; i < 8 * depth; ++i) b[i] = element<T>(i * 5 % 19 - 9);
  for (int i = 0; i < 128; ++i) c[i] = static_cast<Sum<T>>(i - 50);
  product<T><<<1, 32>>>(a, b, c, d);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  bool same = true;
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      float sum = static_cast<float>(c[i * 8 + j]);
      for (int k = 0; k < depth; ++k) sum += value(a[i * depth + k]) * value(b[j * depth + k]);
      same &= static_cast<float>(d[i * 8 + j]) == sum;
    }
  }
  EXPECT(same);
}

// ---- ldmatrix, stmatrix, movmatrix

// out[i * 32 + lane]: register i. Rows of 80 bytes: no two of eight meet in a bank.
__global__ void load(const std::uint16_t* in, unsigned* out) {
  __shared__ __align__(16) std::uint16_t tile[32 * 40];
  const int lane = threadIdx.x;
  for (int i = lane; i < 32 * 40; i += 32) tile[i] = in[i];
  __syncthreads();
  const auto row = static_cast<unsigned>(__cvta_generic_to_shared(&tile[lane * 40]));
  unsigned r[4], t[2], one;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2 + 16];"
               : "=r"(t[0]), "=r"(t[1])
               : "r"(row));
  // Lanes that name no row may give any address.
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(one)
               : "r"(lane < 8 ? row + 32 : 0xffffffffu));
  for (int i = 0; i < 4; ++i) out[i * 32 + lane] = r[i];
  for (int i = 0; i < 2; ++i) out[128 + i * 32 + lane] = t[i];
  out[192 + lane] = one;
}

__global__ void store(const unsigned* in, std::uint16_t* out) {
  __shared__ __align__(16) std::uint16_t tile[32 * 8], turned[8 * 8];
  const int lane = threadIdx.x;
  const auto row = static_cast<unsigned>(__cvta_generic_to_shared(&tile[lane * 8]));
  const auto first = static_cast<unsigned>(__cvta_generic_to_shared(&turned[lane % 8 * 8]));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(in[lane]), "r"(in[32 + lane]), "r"(in[64 + lane]), "r"(in[96 + lane])
               : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(first),
               "r"(in[lane])
               : "memory");
  __syncwarp();
  for (int i = lane; i < 256; i += 32) out[i] = tile[i];
  for (int i = lane; i < 64; i += 32) out[256 + i] = turned[i];
}

__global__ void turn(unsigned* values) {
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(values[threadIdx.x]));
}

void test_rows() {
  auto* in = managed<std::uint16_t>(32 * 40);
  auto* out = managed<unsigned>(224);
  for (int i = 0; i < 32 * 40; ++i) in[i] = static_cast<std::uint16_t>(i);
  load<<<1, 32>>>(in, out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  bool straight = true, turned = true, one = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned r = lane / 4, c = lane % 4 * 2;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned at = (8 * i + r) * 40 + c;
      straight &= out[i * 32 + lane] == (at | (at + 1) << 16);
    }
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned at = (8 * i + c) * 40 + 8 + r;
      turned &= out[128 + i * 32 + lane] == (at | (at + 40) << 16);
    }
    const unsigned at = r * 40 + 16 + c;
    one &= out[192 + lane] == (at | (at + 1) << 16);
  }
  EXPECT(straight);
  EXPECT(turned);
  EXPECT(one);

  auto* registers = managed<unsigned>(128);
  auto* tile = managed<std::uint16_t>(320);
  for (unsigned i = 0; i < 128; ++i) registers[i] = 2 * i | (2 * i + 1) << 16;
  store<<<1, 32>>>(registers, tile);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  bool stored = true;
  for (int i = 0; i < 256; ++i) stored &= tile[i] == i;
  for (int i = 0; i < 64; ++i) stored &= tile[256 + i % 8 * 8 + i / 8] == i;
  EXPECT(stored);

  turn<<<1, 32>>>(registers);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  bool moved = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned first = lane % 4 * 16 + lane / 4;
    moved &= registers[lane] == (first | (first + 8) << 16);
  }
  EXPECT(moved);
}

// ---- wmma

template <class T, class LayoutA, class LayoutB, int k, bool in_shared>
__global__ void fragments(const typename std::conditional_t<k == 8, float, T>* a,
                          const typename std::conditional_t<k == 8, float, T>* b, const float* c,
                          float* d) {
  using S = std::conditional_t<k == 8, float, T>;
  __shared__ __align__(32) S tile_a[16 * 24], tile_b[16 * 24];
  if constexpr (in_shared) {
    for (int i = threadIdx.x; i < 16 * 24; i += 32) tile_a[i] = a[i], tile_b[i] = b[i];
    __syncthreads();
  }
  wmma::fragment<wmma::matrix_a, 16, 16, k, T, LayoutA> x;
  wmma::fragment<wmma::matrix_b, 16, 16, k, T, LayoutB> y;
  wmma::fragment<wmma::accumulator, 16, 16, k, float> z, twice;
  wmma::load_matrix_sync(x, in_shared ? tile_a : a, 24);
  wmma::load_matrix_sync(y, in_shared ? tile_b : b, 24);
  wmma::load_matrix_sync(z, c, 16, wmma::mem_row_major);
  if constexpr (k == 8) {
    for (auto& e : x.x) e = wmma::__float_to_tf32(e);
  }
  wmma::mma_sync(z, x, y, z);
  wmma::fill_fragment(twice, 1.0f);
  for (int i = 0; i < z.num_elements; ++i) twice.x[i] += z.x[i];
  wmma::store_matrix_sync(d, z, 16, wmma::mem_row_major);
  wmma::store_matrix_sync(d + 256, twice, 16, wmma::mem_col_major);
}

template <class T, class LayoutA, class LayoutB, int k = 16, bool in_shared = true>
void test_fragments() {
  using S = std::conditional_t<k == 8, float, T>;
  S *a = managed<S>(16 * 24), *b = managed<S>(16 * 24);
  float *c = managed<float>(256), *d = managed<float>(512);
  for (int i = 0; i < 16 * 24; ++i) {
    a[i] = static_cast<S>(static_cast<float>(i * 7 % 23 - 11));
    b[i] = static_cast<S>(static_cast<float>(i * 5 % 19 - 9));
  }
  for (int i = 0; i < 256; ++i) c[i] = static_cast<float>(i - 100);
  fragments<T, LayoutA, LayoutB, k, in_shared><<<1, 32>>>(a, b, c, d);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  constexpr bool row_a = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool row_b = std::is_same_v<LayoutB, wmma::row_major>;
  bool same = true;
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      float sum = c[i * 16 + j];
      for (int s = 0; s < k; ++s)
        sum += static_cast<float>(a[row_a ? i * 24 + s : s * 24 + i]) *
               static_cast<float>(b[row_b ? s * 24 + j : j * 24 + s]);
      same &= d[i * 16 + j] == sum && d[256 + j * 16 + i] == sum + 1;
    }
  }
  EXPECT(same);
}

template <class T, int k = 16>
void test_layouts() {
  test_fragments<T, wmma::row_major, wmma::row_major, k>();
  test_fragments<T, wmma::row_major, wmma::col_major, k>();
  test_fragments<T, wmma::col_major, wmma::row_major, k>();
  test_fragments<T, wmma::col_major, wmma::col_major, k, false>();
}

// ---- TF32

__global__ void round_tf32(const float* in, unsigned* out) {
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out[threadIdx.x]) : "f"(in[threadIdx.x]));
}
void test_tf32() {
  auto* in = managed<float>(4);
  auto* out = managed<unsigned>(4);
  in[0] = 1.0f + 1.0f / 2048;  // halfway: away from zero
  in[1] = -1.0f - 0.9f / 2048;
  in[2] = INFINITY;
  in[3] = 3.0e38f;
  round_tf32<<<1, 4>>>(in, out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(out[0] == 0x3f802000 && out[1] == 0xbf800000 && out[2] == 0x7f800000);
}

int main() {
  test_product<__nv_bfloat16>();
  test_product<__half>();
  test_product<Tf32>();
  test_product<std::int8_t>();
  test_rows();
  test_layouts<__half>();
  test_layouts<__nv_bfloat16>();
  test_layouts<wmma::precision::tf32, 8>();
  test_tf32();
  for (void* p : allocated) cudaFree(p);
  if (failed) return 1;
  std::printf("done\n");
  return 0;
}
