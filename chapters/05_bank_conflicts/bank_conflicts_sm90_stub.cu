/// \file
/// Stands in for bank_conflicts_sm90.cu on the simulator, on other GPUs and with older toolkits: says why
/// the last rungs cannot run here.

#include "lab/gemm.h"

void register_sm90(lab::GemmLadder& ladder) {
  const char* const reason =
      "needs a GPU of compute capability 9.0, with mbarrier, TMA and setmaxnreg, and CUDA 12.9";
  ladder.skip("producer_warps", reason,
              "four warps load, eight compute; a block stays for many tiles");
  ladder.skip("even_shares", reason, "the tiles that make no whole wave are cut along K, evenly");
  ladder.skip("tile_by_shape", reason, "smaller tiles where there are few of them");
}
