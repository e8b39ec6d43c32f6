// The peers of lab/cub.h.
#include "lab/cub.h"

namespace lab {

Peer vendor(const std::string& name, const CubLaunch& work) {
  if (!work) return {.name = name, .absent = why_no_cub};
  return {.name = name, .launch = [work] { work(nullptr); }};
}

Peer vendor(const std::string& name, const ThrustSum& work, float* result, Clock clock) {
  if (!work) return {.name = name, .absent = why_no_cub};
  return {.name = name, .launch = [work, result] { *result = work(); }, .clock = clock};
}

}  // namespace lab
