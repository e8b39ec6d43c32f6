#include "memory/tensor_map.h"

#include <algorithm>

namespace simt::engine {

const TensorMap* TensorMap::at(const void* map) {
  const auto* const found = static_cast<const TensorMap*>(map);
  return found->mark == kMark ? found : nullptr;
}

unsigned TensorMap::rows() const {
  unsigned count = 1;
  for (unsigned d = 1; d < rank; ++d) count *= box[d];
  return count;
}

TensorMap::Row TensorMap::row(const int* corner, unsigned i) const {
  uint64_t from = address;
  for (unsigned d = 1; d < rank; ++d) {
    const int64_t at = corner[d] + static_cast<int64_t>(i % box[d]);
    i /= box[d];
    if (at < 0 || at > int64_t{dimensions[d]}) return {0, 0, 0};
    from += static_cast<uint64_t>(at) * strides[d - 1];
  }
  const int64_t first = std::max<int64_t>(corner[0], 0);
  const int64_t last = std::min<int64_t>(int64_t{corner[0]} + box[0], int64_t{dimensions[0]} + 1);
  if (first >= last) return {0, 0, 0};
  return {from + static_cast<uint64_t>(first) * element_bytes,
          static_cast<unsigned>(first - corner[0]) * element_bytes,
          static_cast<unsigned>(last - first) * element_bytes};
}

}  // namespace simt::engine
