/// \file
/// Stands in for bank_conflicts_peers.cu where there is no cuBLAS: says why the peer cannot run.

#include "lab/gemm.h"

void register_peers(lab::GemmLadder& ladder) {
  const char* const reason = "needs a GPU and cuBLAS";
  ladder.skip_peer("cuBLAS", reason);
  ladder.skip("cublas", reason, "the vendor's library: what all others are compared with");
}
