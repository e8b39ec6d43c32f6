// Indices outside their array, which the compiler's check sees ahead of the access (-fsanitize=bounds).
#pragma once

#include <cstdint>

#include "base/block_context.h"
#include "base/request.h"
#include "check/faults.h"
#include "check/warp_checks.h"
#include "memory/shared_memory.h"

namespace simt::engine {

class ArrayIndexCheck {
 public:
  ArrayIndexCheck(const BlockContext& block, const SharedMemory& shared, FaultLog& faults)
      : block_(block), shared_(shared), faults_(faults) {}

  // A lane has computed such an index; the access comes next.
  static void note(WarpChecks& warp, int lane, const WrongIndex& wrong);

  // An access by a lane that has. Is it the access with that index? Then it may still hit what was meant:
  // `tile[0][i]` walks over all rows of a tile. False if it does not.
  bool settle(const Request& request, int lane);

  // No access to memory that all can see had those indices: the arrays are the thread's own.
  void report(WarpChecks& warp, int lane);
  // The same of all lanes but those that are live.
  void report_exited(WarpChecks& warp, uint32_t live);

 private:
  const BlockContext& block_;
  const SharedMemory& shared_;
  FaultLog& faults_;
};

}  // namespace simt::engine
