#include "lab/convolution.h"

namespace lab {

std::string Convolution::wrong() const {
  if (n < 1 || c < 1 || h < 1 || w < 1 || k < 1 || r < 1 || s < 1)
    return "each of N, C, H, W, K, R and S is at least 1";
  if (stride < 1 || dilation < 1 || pad < 0)
    return "stride and dilation are at least 1, padding at least 0";
  if (groups < 1 || c % groups != 0 || k % groups != 0) return "groups divide C and K";
  if (h + 2 * pad < dilation * (r - 1) + 1 || w + 2 * pad < dilation * (s - 1) + 1)
    return "a filter is no larger than the padded image";
  if (inputs() >> 31 != 0 || outputs() >> 31 != 0 || weights() >> 31 != 0)
    return "images, filters and results have less than 2^31 elements each";
  return "";
}

}  // namespace lab
