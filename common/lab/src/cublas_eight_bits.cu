/// \file
/// Bodies of lab/cublas_eight_bits.h.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lab/buffer.h"
#include "lab/check.h"
#include "lab/cublas_eight_bits.h"

namespace lab {
namespace {

void check_lt(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Failure(std::string(call) + " returned " + cublasLtGetStatusName(status) + ": " +
                cublasLtGetStatusString(status));
}

cublasLtHandle_t handle() {
  static cublasLtHandle_t made = nullptr;
  if (made == nullptr) check_lt(cublasLtCreate(&made), "cublasLtCreate");
  return made;
}

/// A product as cuBLASLt knows it. It stores by columns: row-major C is its C^T = B^T A^T, of which B, whose rows lie along K, is
/// transposed.
template <class Factor>
class Plan {
 public:
  static constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

  template <class C>
  Plan(const EightBitProduct<C>& p, cublasComputeType_t compute, cudaDataType_t factors,
       cudaDataType_t scale, cudaDataType_t sums)
      : workspace_(workspace_bytes, "cuBLASLt's workspace"), a_(p.a), b_(p.b), c_(p.c) {
    check_lt(cublasLtMatmulDescCreate(&product_, compute, scale), "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    const auto wide = [](int extent) { return static_cast<std::uint64_t>(extent); };
    make(of_b_, factors, wide(p.k), wide(p.n), p.ld);
    make(of_a_, factors, wide(p.k), wide(p.m), p.ld);
    make(of_c_, sums, wide(p.n), wide(p.m), p.n);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    for (const cublasLtMatrixLayout_t layout : {of_a_, of_b_, of_c_})
      cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(product_);
  }

  template <class V>
  void set(cublasLtMatmulDescAttributes_t what, V value) {
    check_lt(cublasLtMatmulDescSetAttribute(product_, what, &value, sizeof value),
             "cublasLtMatmulDescSetAttribute");
  }

  /// Asks for its best algorithm; false if it has none.
  bool find() {
    cublasLtMatmulPreference_t wish = nullptr;
    check_lt(cublasLtMatmulPreferenceCreate(&wish), "cublasLtMatmulPreferenceCreate");
    check_lt(cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                  &workspace_bytes, sizeof workspace_bytes),
             "cublasLtMatmulPreferenceSetAttribute");
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle(), product_, of_b_, of_a_, of_c_, of_c_, wish, 1, &best_, &found);
    check_lt(cublasLtMatmulPreferenceDestroy(wish), "cublasLtMatmulPreferenceDestroy");
    return status == CUBLAS_STATUS_SUCCESS && found == 1;
  }

  void run() {
    const Factor one = 1, zero = 0;
    check_lt(cublasLtMatmul(handle(), product_, &one, b_, of_b_, a_, of_a_, &zero, c_, of_c_, c_,
                            of_c_, &best_.algo, workspace_.data(), workspace_bytes, nullptr),
             "cublasLtMatmul");
  }

 private:
  static void make(cublasLtMatrixLayout_t& layout, cudaDataType_t type, std::uint64_t rows,
                   std::uint64_t cols, int ld) {
    check_lt(cublasLtMatrixLayoutCreate(&layout, type, rows, cols, ld),
             "cublasLtMatrixLayoutCreate");
  }

  DeviceBuffer<unsigned char> workspace_;
  const void *a_, *b_;
  void* c_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t of_a_ = nullptr, of_b_ = nullptr, of_c_ = nullptr;
  cublasLtMatmulHeuristicResult_t best_{};
};

template <class Factor>
Peer peer_of(const std::string& name, const std::shared_ptr<Plan<Factor>>& plan) {
  Peer peer;
  peer.name = name;
  if (plan->find())
    peer.launch = [plan] { plan->run(); };
  else
    peer.absent = "cuBLASLt has no kernel for this size";
  return peer;
}

}  // namespace

Peer cublas_int8(const EightBitProduct<int>& product) {
  return peer_of("cuBLASLt INT8", std::make_shared<Plan<int>>(product, CUBLAS_COMPUTE_32I,
                                                              CUDA_R_8I, CUDA_R_32I, CUDA_R_32I));
}

Peer cublas_fp8(const EightBitProduct<__nv_bfloat16>& product, [[maybe_unused]] const float* rows,
                [[maybe_unused]] const float* cols, bool fast_sums) {
  const auto plan = std::make_shared<Plan<float>>(product, CUBLAS_COMPUTE_32F, CUDA_R_8F_E4M3,
                                                  CUDA_R_32F, CUDA_R_16BF);
  plan->set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(fast_sums));
#if CUBLAS_VERSION >= 120900
  for (const auto which : {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_DESC_B_SCALE_MODE})
    plan->set(which, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
  plan->set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, cols);
  plan->set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, rows);
  return peer_of(fast_sums ? "cuBLASLt FP8, fast sums" : "cuBLASLt FP8", plan);
#else
  Peer none;
  none.name = "cuBLASLt FP8";
  none.absent = "a factor for each row needs cuBLAS 12.9";
  return none;
#endif
}

}  // namespace lab
