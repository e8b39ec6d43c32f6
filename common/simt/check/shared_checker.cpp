#include "check/shared_checker.h"

#include "base/values.h"
#include "check/polls.h"
#include "program/program_image.h"

namespace simt::engine {

// Has the block written to it?
bool SharedChecker::is_in_use(const symbols::SharedVariable& variable) const {
  for (uint64_t word = variable.begin / 4; word * 4 < variable.end; ++word) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      if (races.is_written(word, static_cast<uint8_t>(1u << byte))) return true;
    }
  }
  return false;
}

// Do all of these addresses lie in one array, and is each aligned?
bool SharedChecker::is_sound(const Request& request) const {
  const Span& span = request.span;
  if ((request.lanes & request.warp->has_misaligned) || !are_aligned(span.bits, request.size)) {
    return false;
  }
  if (shared_.is_dynamic(span.low)) {
    return span.high + request.size <=
           reinterpret_cast<uint64_t>(shared_.dynamic) + block_.dynamic_shared;
  }
  if (span.high + request.size > shared_.tls_base + shared_.tls_size) return false;
  if (shared_.variables.empty()) return true;
  const symbols::SharedVariable* const hit =
      shared_.variable(span.low - shared_.tls_base, request.size);
  return hit && span.high - shared_.tls_base + request.size <= hit->end;
}

Fault SharedChecker::fault_at(Fault::Kind kind, const Request& request, int lane,
                              uint64_t address) const {
  Fault fault = fault_of(kind, block_, request, lane);
  name_place(fault, address);
  return fault;
}

void SharedChecker::name_place(Fault& fault, uint64_t address) const {
  fault.address = address - shared_.begin_of(address);
  if (shared_.is_dynamic(address)) {
    fault.limit = block_.dynamic_shared;
  } else {
    fault.variable = shared_.variable(fault.address, 1);
  }
}

SharedChecker::Verdict SharedChecker::check(const Request& request) {
  WarpChecks& warp = *request.warp;
  const uint32_t lanes = request.lanes;
  const unsigned thread = warp.first_thread();
  const uint32_t pc = short_pc(request.pc);
  const bool is_sound = this->is_sound(request);

  // Most requests are of a whole warp and in regular steps.
  Verdict verdict;
  const uint64_t step = request.address[1] - request.address[0];
  verdict.are_rows = is_sound && lanes == ~0u && request.size >= 4 && !request.is_atomic() &&
                     (request.span.is_regular || are_in_two_rows(request.address, step));
  bool is_listed = false;
  const bool is_in_cluster = cluster_.is_on();
  if (verdict.are_rows) {
    verdict.rows = {{static_cast<uint32_t>(shared_.word_of(request.address[0])),
                     static_cast<uint32_t>(shared_.word_of(request.address[kLanes / 2]))},
                    static_cast<uint32_t>(static_cast<int64_t>(step) / 4),
                    request.size / 4};
    is_listed = is_in_cluster ? false
                : request.writes()
                    ? !warp.doubtful && races.list_store(verdict.rows, thread, pc, warp.order)
                    : races.list_load(verdict.rows, thread, pc, warp.order);
  }
  if (!is_listed) races.begin_each();
  if (request.is_atomic() || request.is_volatile()) {
    thread_order_.pass(request, thread);
    if (is_in_cluster) cluster_.pass(request, thread);
  }

  const symbols::SharedVariable* array = nullptr;  // that the first lane meant
  for (const int lane : lanes_of(is_listed ? 0 : lanes)) {
    if (!is_sound && !check_place(request, lane, array)) {
      verdict.goes_on = false;
      return verdict;
    }
    check_words(request, lane);
  }
  ++warp.order.now;
  // What they have read has gone to memory.
  if (request.kind == Access::store) warp.doubtful &= ~lanes;
  return verdict;
}

// Is the lane's address one that it may use? `array` is the one of the first lane.
bool SharedChecker::check_place(const Request& request, int lane,
                                const symbols::SharedVariable*& array) {
  const uint64_t address = request.address[lane];
  const unsigned size = request.size;
  if (shared_.is_dynamic(address)) {
    if (address + size > reinterpret_cast<uint64_t>(shared_.dynamic) + block_.dynamic_shared) {
      faults_.add(fault_at(Fault::Kind::shared_out_of_bounds, request, lane, address));
      return false;
    }
  } else if (!shared_.variables.empty()) {
    // One instruction means one array. Where a lane falls into an array of another function that the
    // block does not use, and which happens to lie beside it here, hardware would have none there.
    const symbols::SharedVariable* const hit = shared_.variable(address - shared_.tls_base, size);
    if (!hit || (array && hit != array && hit->owner != array->owner && !is_in_use(*hit))) {
      Fault fault = fault_of(Fault::Kind::shared_out_of_bounds, block_, request, lane);
      fault.address = address - shared_.tls_base;
      fault.text = "static";
      fault.variable = array;
      faults_.add(fault);
      return false;
    }
    if (!array) array = hit;
  }
  if (!are_aligned(address, size) || request.warp->is_misaligned(lane, address)) {
    faults_.add(fault_of(Fault::Kind::misaligned, block_, request, lane));
    return false;
  }
  return true;
}

// Word by word: has it been written, and does the lane race with another one?
void SharedChecker::check_words(const Request& request, int lane) {
  WarpChecks& warp = *request.warp;
  const uint64_t address = request.address[lane];
  const unsigned size = request.size;
  const unsigned self = warp.first_thread() + static_cast<unsigned>(lane);
  const uint32_t pc = short_pc(request.pc);
  const bool write = request.writes(), atomic = request.is_atomic();
  size_t word = shared_.word_of(address);
  const uint8_t bytes = bytes_in_word(address, size);
  for (unsigned i = 0; i < size; i += 4, ++word) {
    if (const RaceCheck::Copy state = races.copy(word); state != RaceCheck::Copy::none)
        [[unlikely]] {
      if (touches_copy(request, lane, word, state)) return;
    }
    if (request.is_bulk && !write && is_unseen_by_engine(request, lane, word)) return;
    if (request.kind != Access::store) {
      if (!races.is_written(word, bytes)) [[unlikely]] {
        Fault fault = fault_at(Fault::Kind::shared_uninitialized, request, lane, address);
        if (request.is_barrier) fault.cause = Fault::Cause::barrier;
        if (!request.is_padded(lane)) {
          if (atomic)
            faults_.add(fault);
          else
            warp.doubt(lane, values_.number(fault));
        }
      } else if (const uint8_t number = races.doubt(word)) [[unlikely]] {
        if (RaceCheck::copy_of(number) == RaceCheck::Copy::none) warp.doubt(lane, number);
      }
    }
    if (cluster_.is_on()) [[unlikely]]
      check_in_cluster(request, lane, word, cluster_.rank(), address);
    Race race;
    const bool raced = races.access(word, bytes, self, write, atomic, pc, warp.order, race);
    if (write && !request.is_copy)
      races.set_doubt(word, warp.doubtful >> lane & 1 ? warp.doubt_number[lane] : 0);
    if (!raced || thread_order_.is_ordered(race.other_thread, race.other_time, self)) [[likely]]
      continue;
    // A flag: who polls it wants to see it change.
    if (write ? !race.other_wrote && polls::is_poll(full_pc(race.other_pc))
              : request.is_volatile() && polls::is_poll(request.pc))
      continue;
    Fault fault = fault_at(Fault::Kind::shared_race, request, lane, address);
    fault.other_pc = full_pc(race.other_pc);
    fault.other_thread = block_.thread(race.other_thread);
    fault.other_store = race.other_wrote;
    fault.cause = request.is_barrier         ? Fault::Cause::barrier
                  : request.is_bulk && write ? Fault::Cause::stage_in_use
                                             : cause_of(race, request, lane);
    if (bulk_.has_issued_at(race.other_pc)) fault.text = "bulk";
    if (race.both_write) {
      conflicts_.add(request, lane, fault, race.lane_of_instruction());
    } else {
      faults_.add(fault);
    }
    return;
  }
}

// Does the lane race with another block of the cluster, in a word of the memory of the block of this rank?
void SharedChecker::check_in_cluster(const Request& request, int lane, size_t word, unsigned rank,
                                     uint64_t address) {
  const unsigned self = request.warp->first_thread() + static_cast<unsigned>(lane);
  const bool writes = request.writes();
  const ClusterChecks::Access other =
      cluster_.blocks().of[rank]->access(word, cluster_, self, request);
  if (!other.time || request.is_barrier) [[likely]]
    return;
  if (writes ? !other.writes && polls::is_poll(full_pc(other.pc))
             : request.is_volatile() && polls::is_poll(request.pc))
    return;
  Fault fault = fault_at(Fault::Kind::shared_race, request, lane, request.address[lane]);
  fault.other_pc = full_pc(other.pc);
  fault.other_thread = block_.thread(other.thread);
  fault.other_store = other.writes;
  fault.other_rank = other.rank;
  if (writes ? request.is_bulk : bulk_.has_issued_at(other.pc))
    fault.cause = Fault::Cause::stage_in_use;
  if (rank != cluster_.rank()) fault.rank = static_cast<int>(rank);
  if (writes && other.writes && !request.is_atomic() && !other.is_atomic && !request.is_bulk) {
    conflicts_.add(request, lane, fault, StoreConflicts::kNoLane, true, address);
  } else {
    faults_.add(fault);
  }
}

bool SharedChecker::check_in_other(const Request& request, const Request& as_own, unsigned rank) {
  WarpChecks& warp = *request.warp;
  RaceCheck& races_there = cluster_.blocks().checker[rank]->races;
  const bool is_sound = this->is_sound(as_own);
  if (request.is_atomic() || request.is_volatile()) cluster_.pass(request, warp.first_thread());
  const symbols::SharedVariable* array = nullptr;
  for (const int lane : lanes_of(request.lanes)) {
    const unsigned self = warp.first_thread() + static_cast<unsigned>(lane);
    Fault fault = fault_at(Fault::Kind::absent_block, as_own, lane, as_own.address[lane]);
    fault.rank = static_cast<int>(rank);
    if (!cluster_.blocks().of[rank]->is_there(cluster_, self, request, fault.cause)) {
      faults_.add(fault);
      return false;
    }
    if (request.is_barrier) continue;
    if (!is_sound && !check_place(as_own, lane, array)) return false;
    size_t word = shared_.word_of(as_own.address[lane]);
    const uint8_t bytes = bytes_in_word(as_own.address[lane], request.size);
    for (unsigned i = 0; i < request.size; i += 4, ++word) {
      if (request.kind != Access::store && !races_there.is_written(word, bytes)) {
        fault.kind = Fault::Kind::shared_uninitialized;
        faults_.add(fault);
      }
      check_in_cluster(as_own, lane, word, rank, request.address[lane]);
      if (request.writes()) races_there.note_foreign(word, bytes, short_pc(request.pc));
    }
  }
  ++warp.order.now;
  return true;
}

bool SharedChecker::is_partly_written(uint64_t address, uint64_t size) const {
  const uint64_t first = address - shared_.word_zero(address);
  bool some = false, all = true;
  for (uint64_t byte = first; byte < first + size; ++byte) {
    const bool is_written = races.is_written(byte / 4, static_cast<uint8_t>(1u << byte % 4));
    some |= is_written;
    all &= is_written;
  }
  return some && !all;
}

}  // namespace simt::engine
