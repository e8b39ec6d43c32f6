// What of lab/cublas_gemm.h and lab/cublas_eight_bits.h a build without cuBLAS has.
#include "lab/backend.h"
#include "lab/cublas_eight_bits.h"
#include "lab/cublas_gemm.h"

namespace lab {

namespace {

Peer no_peer(const char* name) {
  Peer none;
  none.name = name;
  none.absent = this_backend().name == "simulator" ? "needs a GPU and cuBLAS"
                                                   : "this program was built without it";
  return none;
}

}  // namespace

SgemmLaunch cublas_sgemm_in_streams() { return {}; }

Peer cublas_int8(const EightBitProduct<int>&) { return no_peer("cuBLASLt INT8"); }

Peer cublas_fp8(const EightBitProduct<__nv_bfloat16>&, const float*, const float*, bool) {
  return no_peer("cuBLASLt FP8");
}

}  // namespace lab
