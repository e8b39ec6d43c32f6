#include "menu.h"

namespace any_shape {
template <int MT, int LANES, int WARPS>
cudaError_t columns(const Thin& g, const Cut& cut, bool vec, cudaStream_t stream) {
  const long long blocks = 1LL * ((g.n - 1) / (4 * LANES) + 1) * cut.cluster * cut.outer;
  return vec ? start(thin_columns<Cluster, MT, LANES, WARPS, true>, blocks, 32 * WARPS, 0,
                     cut.cluster, stream, g, cut)
             : start(thin_columns<Cluster, MT, LANES, WARPS, false>, blocks, 32 * WARPS, 0,
                     cut.cluster, stream, g, cut);
}
template <int MT, int JR, int WJ, int WK>
cudaError_t rows(const Thin& g, const Cut& cut, bool vec, cudaStream_t stream) {
  constexpr int BJ = JR * WJ;
  const long long blocks = 1LL * ((g.n - 1) / BJ + 1) * cut.cluster * cut.outer;
  return vec ? start(thin_rows<Cluster, MT, JR, WJ, WK, true>, blocks, 32 * WJ * WK, 0, cut.cluster,
                     stream, g, cut)
             : start(thin_rows<Cluster, MT, JR, WJ, WK, false>, blocks, 32 * WJ * WK, 0,
                     cut.cluster, stream, g, cut);
}

#ifdef THIN_COLUMNS
cudaError_t launch_direct(const Product& g, int lanes, size_t a_i, size_t a_l, size_t b_l,
                          size_t b_j, cudaStream_t stream) {
  const long long blocks = (1LL * g.m * g.n * lanes + 127) / 128;
  const auto kernel = lanes == 1   ? direct<1>
                      : lanes == 4 ? direct<4>
                      : lanes == 8 ? direct<8>
                                   : direct<32>;
  return start(kernel, blocks, 128, 0, 1, stream, g, a_i, a_l, b_l, b_j);
}
#define LIST thin_list_columns
#else
#define LIST thin_list_rows
#endif
std::vector<ThinKernel> LIST() {
#ifdef THIN_COLUMNS
  return {{"cols1x32", false, 1, 32, columns<1, 8, 16>},
          {"cols1x128", false, 1, 128, columns<1, 32, 8>},
          {"cols1x64", false, 1, 64, columns<1, 16, 16>},
          {"cols1x32w8", false, 1, 32, columns<1, 8, 8>},
          {"cols1x32w32", false, 1, 32, columns<1, 8, 32>},
          {"cols2x32", false, 2, 32, columns<2, 8, 16>},
          {"cols2x128", false, 2, 128, columns<2, 32, 8>},
          {"cols4x32", false, 4, 32, columns<4, 8, 16>},
          {"cols4x128", false, 4, 128, columns<4, 32, 8>},
          {"cols8x32", false, 8, 32, columns<8, 8, 8>},
          {"cols8x128", false, 8, 128, columns<8, 32, 8>},
          {"cols16x64", false, 16, 64, columns<16, 16, 4>},
          {"cols16x128", false, 16, 128, columns<16, 32, 4>},
          {"cols16x128w8", false, 16, 128, columns<16, 32, 8>}};
#else
  return {{"rows1x8k4", true, 1, 8, rows<1, 4, 2, 4>},
          {"rows1x32k1", true, 1, 32, rows<1, 4, 8, 1>},
          {"rows1x4k8", true, 1, 4, rows<1, 4, 1, 8>},
          {"rows1x4k4", true, 1, 4, rows<1, 4, 1, 4>},
          {"rows1x32k2", true, 1, 32, rows<1, 8, 4, 2>},
          {"rows2x8k4", true, 2, 8, rows<2, 4, 2, 4>},
          {"rows2x16k2", true, 2, 16, rows<2, 4, 4, 2>},
          {"rows4x8k4", true, 4, 8, rows<4, 4, 2, 4>},
          {"rows4x16k2", true, 4, 16, rows<4, 4, 4, 2>},
          {"rows8x8k4", true, 8, 8, rows<8, 4, 2, 4>},
          {"rows8x16k2", true, 8, 16, rows<8, 4, 4, 2>},
          {"rows8x32k1", true, 8, 32, rows<8, 4, 8, 1>},
          {"rows16x16k2", true, 16, 16, rows<16, 4, 4, 2>},
          {"rows16x32k1", true, 16, 32, rows<16, 4, 8, 1>},
          {"rows16x8k2", true, 16, 8, rows<16, 2, 4, 2>}};
#endif
}
}  // namespace any_shape
