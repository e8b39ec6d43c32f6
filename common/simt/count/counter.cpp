#include "count/counter.h"

#include <bit>

namespace simt::engine {
namespace {

void add_load(Counts& counts, const SharedCost& cost, unsigned active) {
  ++counts.shared_load_requests;
  counts.shared_load_wavefronts += cost.wavefronts;
  counts.shared_load_bank_conflicts += cost.wavefronts - cost.phases;
  counts.shared_load_active_lanes += active;
  counts.shared_wavefronts += cost.reported;
  counts.shared_wavefronts_ideal += cost.ideal;
}

void add_store(Counts& counts, const SharedCost& cost, unsigned active) {
  ++counts.shared_store_requests;
  counts.shared_store_wavefronts += cost.wavefronts;
  counts.shared_store_bank_conflicts += cost.wavefronts - cost.phases;
  counts.shared_store_active_lanes += active;
  counts.shared_wavefronts += cost.reported;
  counts.shared_wavefronts_ideal += cost.ideal;
}

void add_atomic(Counts& counts, unsigned wavefronts, unsigned ideal, unsigned active) {
  ++counts.shared_atomic_requests;
  counts.shared_atomic_wavefronts += wavefronts;
  counts.shared_atomic_active_lanes += active;
  counts.shared_wavefronts += wavefronts;
  counts.shared_wavefronts_ideal += ideal;
}

unsigned sectors_of(const Request& request) {
  if (request.span.is_regular) {
    const auto step = static_cast<uint64_t>(request.span.step);
    if (const unsigned sectors = count_sectors_in_steps(request.span.first(), step, request.size))
      return sectors;
  }
  return count_sectors(request.address, request.lanes, request.size);
}

}  // namespace

void Counter::count_global(const Request& request, Counts& counts) {
  const uint32_t some = request.is_atomic() ? atomic_lanes(request) : request.lanes;
  const unsigned lanes = count_lanes(some);
  switch (request.kind) {
    case Access::load:
      ++counts.global_load_requests;
      counts.global_load_sectors += sectors_of(request);
      counts.global_load_active_lanes += lanes;
      counts.global_load_bytes += uint64_t{lanes} * request.size;
      break;
    case Access::store:
      ++counts.global_store_requests;
      counts.global_store_sectors += sectors_of(request);
      counts.global_store_active_lanes += lanes;
      counts.global_store_bytes += uint64_t{lanes} * request.size;
      break;
    case Access::atomic:
      ++counts.global_atomic_requests;
      counts.global_atomic_sectors += count_atomic_sectors(request.address, some);
      counts.global_atomic_active_lanes += lanes;
      for (const int lane : lanes_of(some)) atomics.add(request.address[lane]);
  }
}

// The cost depends on nothing but the rows.
const SharedCost& Counter::cost_of(const TwoRows& rows, const uint64_t* addresses, Access kind) {
  const uint32_t apart = rows.first[1] - rows.first[0];
  const uint32_t hash = (apart * 0x9e3779b9u + rows.step) * 0x9e3779b9u + rows.words;
  KnownCost& known = known_costs_[hash >> 27];
  if (known.apart != apart || known.step != rows.step || known.words != rows.words ||
      known.kind != kind) {
    known = {apart, rows.step, rows.words, kind,
             count_wavefronts(addresses, ~0u, rows.words * 4,
                              kind == Access::load ? SharedAccess::load : SharedAccess::store)};
  }
  return known.cost;
}

void Counter::count_shared(const Request& request, const TwoRows* rows, Counts& counts) {
  if (request.is_atomic()) return count_shared_atomic(request, counts);
  const bool loads = request.kind == Access::load;
  // Eight rows of a matrix are a phase, and phases do not join: so it is with stores.
  const bool joins = loads && !request.is_matrix;
  const SharedCost cost = rows && joins == loads
                              ? cost_of(*rows, request.address, request.kind)
                              : count_wavefronts(request.address, request.lanes, request.size,
                                                 joins ? SharedAccess::load : SharedAccess::store);
  (loads ? add_load : add_store)(counts, cost, count_lanes(request.lanes));
}

void Counter::count_shared_atomic(const Request& request, Counts& counts) {
  uint32_t lanes = request.lanes;
  if (request.unit[std::countr_zero(lanes)] != SharedUnit::increment) lanes = atomic_lanes(request);
  const SharedUnit unit = request.unit[std::countr_zero(lanes)];
  if (unit == SharedUnit::spin) {
    for (uint32_t left = lanes; left;) {
      const SpinRound round = count_spin_round(request.address, left, request.size);
      const auto trying = count_lanes(left);
      add_load(counts, round.load, trying);
      add_atomic(counts, round.wavefronts, round.wavefronts, trying);
      left &= ~round.done;
    }
    return;
  }
  const SharedCost cost =
      count_wavefronts(request.address, lanes, request.size,
                       unit == SharedUnit::compare_exchange ? SharedAccess::compare_exchange
                       : unit == SharedUnit::increment      ? SharedAccess::increment
                                                            : SharedAccess::atomic);
  add_atomic(counts, cost.wavefronts, cost.ideal, count_lanes(lanes));
}

}  // namespace simt::engine
