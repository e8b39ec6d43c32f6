// The peers of lab/cub.h.
#include "lab/cub.h"

namespace lab {

Peer vendor(const std::string& name, const CubLaunch& work,
            const std::vector<Expectation>& outputs) {
  if (!work) return {.name = name, .absent = why_no_cub};
  return {.name = name, .launch = [work] { work(nullptr); }, .outputs = outputs};
}

Peer vendor(const std::string& name, const ThrustSum& work, float* result, Clock clock,
            const std::vector<Expectation>& outputs) {
  if (!work) return {.name = name, .absent = why_no_cub};
  return {.name = name,
          .launch = [work, result] { *result = work(); },
          .outputs = outputs,
          .clock = clock};
}

}  // namespace lab
