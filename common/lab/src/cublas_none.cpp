// What of lab/cublas_gemm.h a build without cuBLAS has.
#include "lab/cublas_gemm.h"

namespace lab {

SgemmLaunch cublas_sgemm_in_streams() { return {}; }

}  // namespace lab
