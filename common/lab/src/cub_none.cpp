// lab/cub.h where there is no CUB.
#include "lab/cub.h"

namespace lab {

CubLaunch cub_sum(float*, const float*, std::size_t) { return {}; }
CubLaunch cub_sum(int*, const int*, std::size_t) { return {}; }
CubLaunch cub_fold_largest(int*, const int*, std::size_t) { return {}; }
CubLaunch cub_arg_max(float*, std::int64_t*, const float*, std::size_t) { return {}; }
CubLaunch cub_histogram(int*, const std::uint8_t*, std::size_t) { return {}; }
CubLaunch cub_exclusive_sum(unsigned*, const unsigned*, std::size_t) { return {}; }
CubLaunch cub_sum_by_key(unsigned*, const unsigned*, const unsigned*, std::size_t) { return {}; }
CubLaunch cub_select_repeats(unsigned*, unsigned*, const unsigned*, std::size_t) { return {}; }
CubLaunch cub_select_even(unsigned*, unsigned*, const unsigned*, std::size_t) { return {}; }
CubLaunch cub_sort_pairs(unsigned*, unsigned*, const unsigned*, const unsigned*, std::size_t) {
  return {};
}
CubLaunch cub_scatter_add(unsigned*, unsigned, const unsigned*, const unsigned*, std::size_t) {
  return {};
}
CubLaunch thrust_gather(unsigned*, const unsigned*, const unsigned*, std::size_t) { return {}; }
CubLaunch thrust_scatter(unsigned*, const unsigned*, const unsigned*, std::size_t) { return {}; }

ThrustSum thrust_sum(const float*, std::size_t) { return {}; }
ThrustSum thrust_dot_product(const float*, const float*, std::size_t) { return {}; }

}  // namespace lab
