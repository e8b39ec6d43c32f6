// Other threads of the block that touch the same bytes of global memory.
#pragma once

#include "base/block_context.h"
#include "base/request.h"
#include "check/store_conflicts.h"
#include "memory/range_cache.h"
#include "races/block_races.h"
#include "races/thread_order.h"
#include "races/thread_races.h"

namespace simt::engine {

class ThreadChecker {
 public:
  ThreadChecker(const BlockContext& block, BlockRaceLog& log, ThreadOrder& order,
                StoreConflicts& conflicts)
      : block_(block), log_(log), order_(order), conflicts_(conflicts) {}

  // `range` holds the bytes of all lanes, or is nullptr. `again`: some lane may come to words where the block has been.
  void check(const Request& request, const Range* range, bool again);

  ThreadRaces races;

 private:
  void check_words(const Request& request, const GlobalRequest& listed);

  const BlockContext& block_;
  BlockRaceLog& log_;
  ThreadOrder& order_;
  StoreConflicts& conflicts_;
};

}  // namespace simt::engine
