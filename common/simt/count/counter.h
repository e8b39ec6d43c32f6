// The hardware's counters: a request goes in, what it would count is added.
#pragma once

#include <simt/counting.h>
#include <simt/counts.h>

#include "base/lane_simd.h"
#include "base/request.h"
#include "count/count_table.h"
#include "count/word_tally.h"

namespace simt::engine {

// One worker's.
class Counter {
 public:
  void count_global(const Request& request, Counts& counts);
  // `rows`: so lie the addresses, or nullptr.
  void count_shared(const Request& request, const TwoRows* rows, Counts& counts);

  CountTable table;
  WordTally atomics;  // on global memory

 private:
  const SharedCost& cost_of(const TwoRows& rows, const uint64_t* addresses, Access kind);
  void count_shared_atomic(const Request& request, Counts& counts);

  // What requests in regular steps have cost before.
  struct KnownCost {
    uint32_t apart = 0, step = 0, words = 0;
    Access kind = Access::atomic;
    SharedCost cost;
  };
  KnownCost known_costs_[32];
};

}  // namespace simt::engine
