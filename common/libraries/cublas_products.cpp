// The products of cuBLAS: see simt/cublas_routines.h.
#include "libraries/blas.h"
#include "libraries/blas_call.h"

namespace {

using namespace simt;
using blas::Call;
using blas::place;

// A number of a type that a handle's user names.
double number_at(const void* p, cudaDataType type, std::ptrdiff_t i) {
  switch (type) {
    case CUDA_R_16F:
      return __half2float(static_cast<const __half*>(p)[i]);
    case CUDA_R_16BF:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(p)[i]);
    case CUDA_R_32F:
      return static_cast<const float*>(p)[i];
    case CUDA_R_64F:
      return static_cast<const double*>(p)[i];
    case CUDA_R_8I:
      return static_cast<const signed char*>(p)[i];
    default:
      return static_cast<const int*>(p)[i];
  }
}
void put_number(void* p, cudaDataType type, std::ptrdiff_t i, double value) {
  switch (type) {
    case CUDA_R_16F:
      static_cast<__half*>(p)[i] = __float2half(static_cast<float>(value));
      break;
    case CUDA_R_16BF:
      static_cast<__nv_bfloat16*>(p)[i] = __float2bfloat16(static_cast<float>(value));
      break;
    case CUDA_R_32F:
      static_cast<float*>(p)[i] = static_cast<float>(value);
      break;
    case CUDA_R_64F:
      static_cast<double*>(p)[i] = value;
      break;
    default:
      static_cast<int*>(p)[i] = static_cast<int>(value);
  }
}
uint64_t bytes_of(cudaDataType type) {
  return type == CUDA_R_64F                         ? 8
         : type == CUDA_R_32F || type == CUDA_R_32I ? 4
         : type == CUDA_R_8I                        ? 1
                                                    : 2;
}
bool is_known(cudaDataType type) {
  return type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_32F || type == CUDA_R_64F ||
         type == CUDA_R_8I || type == CUDA_R_32I;
}

// A product, whose operands may be of different types.
struct Product {
  bool ta, tb;
  int m, n, k;
  const void* a;
  cudaDataType a_type;
  int lda;
  const void* b;
  cudaDataType b_type;
  int ldb;
  void* c;
  cudaDataType c_type;
  int ldc;

  void check(Call& call) const {
    call.require(m >= 0 && n >= 0 && k >= 0, "an extent is negative");
    call.matrix("A", a, bytes_of(a_type), ta ? k : m, ta ? m : k, lda);
    call.matrix("B", b, bytes_of(b_type), tb ? n : k, tb ? k : n, ldb);
    call.matrix("C", c, bytes_of(c_type), m, n, ldc, true);
  }
  template <class T>
  void run(T alpha, T beta) const {
    blas::multiply<T>(
        m, n, k, alpha,
        [&](long i, long l) { return static_cast<T>(number_at(a, a_type, place(ta, i, l, lda))); },
        [&](long l, long j) { return static_cast<T>(number_at(b, b_type, place(tb, l, j, ldb))); },
        beta,
        [&](long i, long j) {
          return static_cast<T>(number_at(c, c_type, place(false, i, j, ldc)));
        },
        [&](long i, long j, T value) { put_number(c, c_type, place(false, i, j, ldc), value); });
  }
};

template <class T>
constexpr cudaDataType kType = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;

// Products of a real type.
template <class T>
struct Products {
  static cublasStatus_t gemm(Call call, cublasOperation_t opa, cublasOperation_t opb, int m, int n,
                             int k, const T* alpha, const T* a, int lda, long long stride_a,
                             const T* b, int ldb, long long stride_b, const T* beta, T* c, int ldc,
                             long long stride_c, int count) {
    std::vector<Product> products;
    for (int i = 0; i < count; ++i) {
      products.push_back(product(opa, opb, m, n, k, a + i * stride_a, lda, b + i * stride_b, ldb,
                                 c + i * stride_c, ldc));
    }
    return run(call, products, alpha, beta);
  }
  static cublasStatus_t gemm(Call call, cublasOperation_t opa, cublasOperation_t opb, int m, int n,
                             int k, const T* alpha, const T* const* a, int lda, const T* const* b,
                             int ldb, const T* beta, T* const* c, int ldc, int count) {
    call.vector("the list of A", a, count, 1);
    call.vector("the list of B", b, count, 1);
    call.vector("the list of C", c, count, 1);
    std::vector<Product> products;
    if (call.run([] {}) == CUBLAS_STATUS_SUCCESS) {
      for (int i = 0; i < count; ++i)
        products.push_back(product(opa, opb, m, n, k, a[i], lda, b[i], ldb, c[i], ldc));
    }
    return run(call, products, alpha, beta);
  }

 private:
  static Product product(cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,
                         const T* a, int lda, const T* b, int ldb, T* c, int ldc) {
    return {opa != CUBLAS_OP_N,
            opb != CUBLAS_OP_N,
            m,
            n,
            k,
            a,
            kType<T>,
            lda,
            b,
            kType<T>,
            ldb,
            c,
            kType<T>,
            ldc};
  }
  static cublasStatus_t run(Call& call, const std::vector<Product>& products, const T* alpha,
                            const T* beta) {
    for (const Product& one : products) one.check(call);
    const T by_product = *alpha, by_c = *beta;  // which may be gone when a graph runs
    return call.run([=] {
      for (const Product& one : products) one.run<T>(by_product, by_c);
    });
  }
};

}  // namespace

#define SIMT_CUBLAS_REAL(letter, T)                                                                \
  cublasStatus_t cublas##letter##gemm(                                                             \
      cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,    \
      const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {    \
    return Products<T>::gemm(SIMT_CALL("cublas" #letter "gemm"), opa, opb, m, n, k, alpha, a, lda, \
                             0, b, ldb, 0, beta, c, ldc, 0, 1);                                    \
  }                                                                                                \
  cublasStatus_t cublas##letter##gemmStridedBatched(                                               \
      cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,    \
      const T* alpha, const T* a, int lda, long long stride_a, const T* b, int ldb,                \
      long long stride_b, const T* beta, T* c, int ldc, long long stride_c, int count) {           \
    return Products<T>::gemm(SIMT_CALL("cublas" #letter "gemmStridedBatched"), opa, opb, m, n, k,  \
                             alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c,    \
                             count);                                                               \
  }                                                                                                \
  cublasStatus_t cublas##letter##gemmBatched(                                                      \
      cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,    \
      const T* alpha, const T* const a[], int lda, const T* const b[], int ldb, const T* beta,     \
      T* const c[], int ldc, int count) {                                                          \
    return Products<T>::gemm(SIMT_CALL("cublas" #letter "gemmBatched"), opa, opb, m, n, k, alpha,  \
                             a, lda, b, ldb, beta, c, ldc, count);                                 \
  }
SIMT_CUBLAS_REAL(S, float)
SIMT_CUBLAS_REAL(D, double)
#undef SIMT_CUBLAS_REAL

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                           int m, int n, int k, const __half* alpha, const __half* a, int lda,
                           const __half* b, int ldb, const __half* beta, __half* c, int ldc) {
  const Product product{opa != CUBLAS_OP_N,
                        opb != CUBLAS_OP_N,
                        m,
                        n,
                        k,
                        a,
                        CUDA_R_16F,
                        lda,
                        b,
                        CUDA_R_16F,
                        ldb,
                        c,
                        CUDA_R_16F,
                        ldc};
  Call call = SIMT_CALL("cublasHgemm");
  product.check(call);
  const float by_product = __half2float(*alpha), by_c = __half2float(*beta);
  return call.run([=] { product.run<float>(by_product, by_c); });
}

static cublasStatus_t gemm_of_types(Call call, Product product, const void* alpha,
                                    long long stride_a, long long stride_b, const void* beta,
                                    long long stride_c, int count, cublasComputeType_t compute) {
  if (!is_known(product.a_type) || !is_known(product.b_type) || !is_known(product.c_type))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const cudaDataType scale = compute == CUBLAS_COMPUTE_64F   ? CUDA_R_64F
                             : compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I
                             : compute == CUBLAS_COMPUTE_16F ? CUDA_R_16F
                                                             : CUDA_R_32F;
  std::vector<Product> products;
  for (int i = 0; i < count; ++i) {
    Product one = product;
    one.a = static_cast<const char*>(product.a) +
            i * stride_a * static_cast<long long>(bytes_of(product.a_type));
    one.b = static_cast<const char*>(product.b) +
            i * stride_b * static_cast<long long>(bytes_of(product.b_type));
    one.c = static_cast<char*>(product.c) +
            i * stride_c * static_cast<long long>(bytes_of(product.c_type));
    one.check(call);
    products.push_back(one);
  }
  const double a = number_at(alpha, scale, 0), b = number_at(beta, scale, 0);
  return call.run([=] {
    for (const Product& one : products) {
      if (scale == CUDA_R_64F || scale == CUDA_R_32I) {
        one.run<double>(a, b);
      } else {
        one.run<float>(static_cast<float>(a), static_cast<float>(b));
      }
    }
  });
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                            int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  return gemm_of_types(SIMT_CALL("cublasGemmEx"),
                       {opa != CUBLAS_OP_N, opb != CUBLAS_OP_N, m, n, k, a, a_type, lda, b, b_type,
                        ldb, c, c_type, ldc},
                       alpha, 0, 0, beta, 0, 1, compute);
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t opa,
                                          cublasOperation_t opb, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType a_type,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType b_type, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType c_type, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
  return gemm_of_types(SIMT_CALL("cublasGemmStridedBatchedEx"),
                       {opa != CUBLAS_OP_N, opb != CUBLAS_OP_N, m, n, k, a, a_type, lda, b, b_type,
                        ldb, c, c_type, ldc},
                       alpha, stride_a, stride_b, beta, stride_c, count, compute);
}
