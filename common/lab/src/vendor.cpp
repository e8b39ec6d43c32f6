// The peers of lab/cub.h and lab/nccl.h.
#include "lab/cub.h"
#include "lab/nccl.h"

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

Peer vendor(const std::string& name, const NcclLaunch& work, const std::function<void()>& launch,
            const std::function<void()>& prepare) {
  if (!work) return {.name = name, .absent = "needs two GPUs or more, and NCCL when it is built"};
  return {.name = name, .launch = launch, .prepare = prepare};
}

}  // namespace lab
