// cuBLAS beside kernels: the routines that programs call, on operands that are no square and have room between their columns.
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <vector>

static int failures = 0;

static void check(bool right, const char* what, int line) {
  if (right) return;
  ++failures;
  std::printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define CALL(call) check((call) == CUBLAS_STATUS_SUCCESS, #call, __LINE__)

template <class T>
struct Buffer {
  T* data = nullptr;
  std::size_t n;
  explicit Buffer(const std::vector<T>& host) : n(host.size()) {
    cudaMalloc(&data, n * sizeof(T));
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

template <class T>
static std::vector<T> numbers(int n, int seed) {
  std::vector<T> values(n);
  for (int i = 0; i < n; ++i) values[i] = static_cast<T>((i * 37 + seed) % 19 - 9);
  return values;
}

static void vectors(cublasHandle_t handle) {
  const int n = 100;
  const std::vector<float> x = numbers<float>(n, 1), y = numbers<float>(n, 5);
  const Buffer<float> dx(x), dy(y);
  const float alpha = 2;
  float dot = 0, norm = 0, sum = 0, expected_dot = 0, expected_norm = 0, expected_sum = 0;
  for (int i = 0; i < n; ++i) {
    expected_dot += x[i] * y[i];
    expected_norm += x[i] * x[i];
    expected_sum += std::fabs(x[i]);
  }
  CALL(cublasSdot(handle, n, dx.data, 1, dy.data, 1, &dot));
  CALL(cublasSnrm2(handle, n, dx.data, 1, &norm));
  CALL(cublasSasum(handle, n, dx.data, 1, &sum));
  CHECK(dot == expected_dot && std::fabs(norm - std::sqrt(expected_norm)) < 1e-4f &&
        sum == expected_sum);
  int place = 0;
  CALL(cublasIsamax(handle, n, dx.data, 1, &place));
  CHECK(place >= 1 && std::fabs(x[place - 1]) == 9);
  CALL(cublasSaxpy(handle, n / 2, &alpha, dx.data, 2, dy.data, 1));  // every other of x
  for (int i = 0; i < n; ++i) CHECK(dy.host()[i] == y[i] + (i < n / 2 ? 2 * x[2 * i] : 0));
  CALL(cublasScopy(handle, n, dx.data, 1, dy.data, 1));
  CALL(cublasSscal(handle, n, &alpha, dy.data, 1));
  CHECK(dy.host()[7] == 2 * x[7]);
  // a result in device memory
  CALL(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  const Buffer<float> result(std::vector<float>{0});
  CALL(cublasSdot(handle, n, dx.data, 1, dx.data, 1, result.data));
  CALL(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  CHECK(result.host()[0] == expected_norm);
}

template <class T>
static T element(const std::vector<T>& a, bool transposed, int i, int j, int ld) {
  return transposed ? a[i * ld + j] : a[j * ld + i];
}

static void products(cublasHandle_t handle) {
  const int m = 13, n = 10, k = 300, ldc = 15;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const int lda = (ta ? k : m) + 1, ldb = (tb ? n : k) + 2;
      const std::vector<float> a = numbers<float>(lda * (ta ? m : k), 3);
      const std::vector<float> b = numbers<float>(ldb * (tb ? k : n), 4);
      const std::vector<float> c = numbers<float>(ldc * n, 2);
      const Buffer<float> da(a), db(b), dc(c);
      const float alpha = 0.5f, beta = 3;
      CALL(cublasSgemm(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n,
                       k, &alpha, da.data, lda, db.data, ldb, &beta, dc.data, ldc));
      const std::vector<float> seen = dc.host();
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < ldc; ++i) {
          float sum = 0;
          for (int l = 0; l < k && i < m; ++l)
            sum += element(a, ta, i, l, lda) * element(b, tb, l, j, ldb);
          const float before = c[j * ldc + i];
          CHECK(seen[j * ldc + i] == (i < m ? alpha * sum + beta * before : before));
        }
      }
    }
  }
  // y = A x, and with A transposed
  const std::vector<double> a = numbers<double>(m * n, 6), x = numbers<double>(m + n, 7);
  const Buffer<double> da(a), dx(x), dy(std::vector<double>(m + n, NAN));
  const double one = 1, zero = 0;  // 0 does not read y
  CALL(cublasDgemv(handle, CUBLAS_OP_N, m, n, &one, da.data, m, dx.data, 1, &zero, dy.data, 1));
  double sum = 0;
  for (int j = 0; j < n; ++j) sum += a[j * m + 5] * x[j];
  CHECK(dy.host()[5] == sum);
  CALL(cublasDgemv(handle, CUBLAS_OP_T, m, n, &one, da.data, m, dx.data, 1, &zero, dy.data, 1));
  sum = 0;
  for (int i = 0; i < m; ++i) sum += a[5 * m + i] * x[i];
  CHECK(dy.host()[5] == sum);
  const Buffer<double> transposed(std::vector<double>(m * n, 0));
  CALL(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, &one, da.data, m, &zero, transposed.data,
                   n, transposed.data, n));
  CHECK(transposed.host()[4 * n + 3] == a[3 * m + 4]);
}

static void batches(cublasHandle_t handle) {
  const int n = 4, count = 3;
  const std::vector<float> a = numbers<float>(n * n * count, 1),
                           b = numbers<float>(n * n * count, 2);
  const Buffer<float> da(a), db(b), dc(std::vector<float>(n * n * count, 0)), de(dc.host());
  const float one = 1, zero = 0;
  CALL(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, da.data, n, n * n,
                                 db.data, n, n * n, &zero, dc.data, n, n * n, count));
  std::vector<float*> lists[3];
  for (int i = 0; i < count; ++i) {
    lists[0].push_back(da.data + i * n * n);
    lists[1].push_back(db.data + i * n * n);
    lists[2].push_back(de.data + i * n * n);
  }
  const Buffer<float*> la(lists[0]), lb(lists[1]), lc(lists[2]);
  CALL(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, la.data, n, lb.data, n,
                          &zero, lc.data, n, count));
  float sum = 0;
  for (int l = 0; l < n; ++l) sum += a[32 + l * n + 1] * b[32 + 2 * n + l];
  CHECK(dc.host()[32 + 2 * n + 1] == sum && dc.host() == de.host());

  std::vector<__half> ha(n * n), hb(n * n);
  for (int i = 0; i < n * n; ++i) ha[i] = __float2half(a[i]), hb[i] = __float2half(b[i]);
  const Buffer<__half> dha(ha), dhb(hb);
  CALL(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, dha.data, CUDA_R_16F, n,
                    dhb.data, CUDA_R_16F, n, &zero, dc.data, CUDA_R_32F, n, CUBLAS_COMPUTE_32F,
                    CUBLAS_GEMM_DEFAULT));
  for (int i = 0; i < n * n; ++i) CHECK(dc.host()[i] == de.host()[i]);
}

int main() {
  cublasHandle_t handle = nullptr;
  CALL(cublasCreate(&handle));
  vectors(handle);
  products(handle);
  batches(handle);
  CALL(cublasDestroy(handle));
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  std::printf("cublas: %s\n", failures ? "FAILED" : "ok");
  return failures ? 1 : 0;
}
