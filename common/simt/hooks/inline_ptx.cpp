// What inline PTX asks of an address: shared memory by 32 bits, and global memory where it says .global.
#include <device_launch_parameters.h>

#include "hooks/hooks.h"

namespace simt::detail {

uint64_t to_shared_window(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const engine::Worker* worker = engine::running;
  return worker ? worker->monitor.shared.to_window(address) : address;
}

void* from_shared_window(uint32_t address) {
  const engine::Worker* worker = engine::running;
  if (!worker) return reinterpret_cast<void*>(uint64_t{address});
  if (!worker->monitor.shared.is_near_window(address)) {
    engine::Hooks::trap(
        "an instruction for shared memory was given an address of another kind: "
        "__cvta_generic_to_shared() makes one of a pointer",
        SIMT_PC, engine::Fault::Kind::trap, address);
  }
  return reinterpret_cast<void*>(worker->monitor.shared.from_window(address));
}

void check_global(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  engine::Worker* worker = engine::running;
  if (!worker) return;
  const bool is_shared = worker->monitor.shared.holds(address);
  if (!is_shared && !engine::Hooks::is_on_stack(address)) [[likely]]
    return;
  engine::Hooks::trap(is_shared
                          ? "an instruction with .global was given an address of shared memory"
                          : "an instruction with .global was given an address of local memory",
                      SIMT_PC, engine::Fault::Kind::trap, address);
}

void check_barrier(unsigned threads) {
  constexpr unsigned kLanes = 32;
  const unsigned all = blockDim.x * blockDim.y * blockDim.z;
  if (threads % kLanes == 0 && threads / kLanes == (all + kLanes - 1) / kLanes) return;
  engine::Hooks::trap(
      "a barrier for a number of threads other than the block's, which is not simulated", SIMT_PC);
}

}  // namespace simt::detail
