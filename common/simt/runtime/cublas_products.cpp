// The products of cuBLAS: see simt/cublas_routines.h.
#include "runtime/blas.h"
#include "runtime/blas_call.h"

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
  }
SIMT_CUBLAS_REAL(S, float)
SIMT_CUBLAS_REAL(D, double)
#undef SIMT_CUBLAS_REAL

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                            int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  if (!is_known(a_type) || !is_known(b_type) || !is_known(c_type))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const Product product{opa != CUBLAS_OP_N,
                        opb != CUBLAS_OP_N,
                        m,
                        n,
                        k,
                        a,
                        a_type,
                        lda,
                        b,
                        b_type,
                        ldb,
                        c,
                        c_type,
                        ldc};
  const cudaDataType scale = compute == CUBLAS_COMPUTE_64F   ? CUDA_R_64F
                             : compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I
                             : compute == CUBLAS_COMPUTE_16F ? CUDA_R_16F
                                                             : CUDA_R_32F;
  Call call = SIMT_CALL("cublasGemmEx");
  product.check(call);
  const double by_product = number_at(alpha, scale, 0), by_c = number_at(beta, scale, 0);
  return call.run([=] {
    if (scale == CUDA_R_64F || scale == CUDA_R_32I) {
      product.run<double>(by_product, by_c);
    } else {
      product.run<float>(static_cast<float>(by_product), static_cast<float>(by_c));
    }
  });
}
