#include "check/global_checker.h"

#include <algorithm>
#include <bit>

#include "base/devices.h"
#include "base/values.h"
#include "memory/allocations.h"
#include "program/program_image.h"

namespace simt::engine {

uint64_t bytes_in_line(uint64_t address, unsigned size, uint64_t line) {
  uint64_t bytes = 0;
  for (uint64_t at = address; at < address + size; ++at) {
    if (at - line < 64) bytes |= uint64_t{1} << (at - line);
  }
  return bytes;
}

GlobalChecker::Place GlobalChecker::check_place(const Request& request) {
  WarpChecks& warp = *request.warp;
  const unsigned size = request.size;
  if (request.writes() && (warp.doubtful & request.lanes)) [[unlikely]]
    values_.settle(warp, request.lanes, faults_);
  const Range* range = ranges_.find(request.span.low, size);
  Place place;
  if (range && request.span.high + size <= range->end) [[likely]]
    place.range = range;
  if (place.range && !place.range->is_closed && are_aligned(request.span.bits, size) &&
      !(request.lanes & warp.has_misaligned)) [[likely]] {
    footprint.note(range->begin, request.writes(), request.span.low, request.span.high + size);
    if (!range->written) place.maybe_unwritten = request.lanes;
    return place;
  }
  Fault fault;
  for (const int lane : lanes_of(request.lanes)) {
    const uint64_t address = request.address[lane];
    Fault::Kind kind = Fault::Kind::none;
    if (!range || address < range->begin || address + size > range->end) {
      range = ranges_.find(address, size);
      if (!range) kind = Fault::Kind::out_of_bounds;
    }
    // A struct of two 8-byte members may be copied by one 16-byte access at an odd multiple of 8; whether
    // the type allows that, the compiler's check knows.
    if (kind == Fault::Kind::none &&
        (!are_aligned(address, size) || warp.is_misaligned(lane, address))) {
      kind = Fault::Kind::misaligned;
    }
    if (kind == Fault::Kind::none && range->is_closed) kind = Fault::Kind::closed_memory;
    if (kind == Fault::Kind::none) {
      footprint.note(range->begin, request.writes(), address, address + size);
      if (!range->written) place.maybe_unwritten |= 1u << lane;
      continue;
    }
    if (fault.kind == Fault::Kind::none) fault = fault_of(kind, block_, request, lane);
    ++fault.lanes;
  }
  if (fault.kind == Fault::Kind::none) return place;
  faults_.add(fault);
  place.goes_on = false;
  return place;
}

// Memory that nobody has written, and what is written now.
void GlobalChecker::check_written(const Request& request, uint32_t lanes) {
  const unsigned size = request.size;
  for_each_chunk<kLine, 1>(
      request.address, lanes, size, lanes == request.lanes && request.span.is_row(size),
      [&](uint64_t line, uint64_t bytes, uint32_t here) {
        if (request.kind == Access::store) return shadow::note_written(line, bytes);
        const uint64_t missing = shadow::unwritten(line, bytes);
        if (request.is_atomic()) shadow::note_written(line, bytes);
        if (!missing) [[likely]]
          return;
        for (const int lane : lanes_of(here & ~request.padded_lanes)) {
          // Padding within a struct is read along with its members: only what is all unwritten counts.
          const uint64_t mine = bytes_in_line(request.address[lane], size, line);
          if (mine == 0 || (mine & ~missing) ||
              static_cast<unsigned>(std::popcount(mine)) != size) {
            continue;
          }
          Fault fault = fault_of(Fault::Kind::global_uninitialized, block_, request, lane);
          fault.lanes = 1;
          faults_.add(fault);
        }
      });
}

bool GlobalChecker::check_blocks(const Request& request, uint32_t maybe_unwritten) {
  const unsigned size = request.size;
  const bool is_volatile = !request.is_atomic() && request.is_volatile();
  // To other blocks it is a plain access.
  const bool is_within_block = request.within_block;
  const bool reads_flag =
      !is_within_block && (request.is_atomic() || (is_volatile && !request.writes()));
  const AccessKind kind = !is_within_block   ? access_kind_of(request)
                          : request.writes() ? AccessKind::write
                                             : AccessKind::read;
  const uint32_t pc = short_pc(request.pc);
  const bool is_under_way = request.is_bulk && request.writes();
  // In one sector, then, since check_place() has passed them.
  const bool are_words = size == 4 || size == 8 || (size == 16 && request.span.bits % 16 == 0);
  uint32_t lanes = request.lanes;
  bool again = true;
  if (request.writes()) stores.begin();
  if (are_words && !request.is_atomic() && !is_volatile && !is_under_way) [[likely]] {
    uint32_t unwritten = maybe_unwritten;
    lanes = blocks.record_words(request.address, lanes, size, request.span.is_row(size), kind, pc,
                                unwritten, again);
    if (unwritten) check_written(request, unwritten);
    if (!lanes) [[likely]]
      return again;
  } else if (maybe_unwritten) {
    check_written(request, maybe_unwritten);
  }
  for_each_chunk<kLine, 1>(
      request.address, lanes, size, lanes == request.lanes && request.span.is_row(size),
      [&](uint64_t line, uint64_t bytes, uint32_t here) {
        if (reads_flag) flags_.push_back({line, bytes});
        if (is_volatile && !request.writes() && !is_within_block) return;
        AccessRecord clash[2];
        const unsigned clashes =
            is_under_way ? blocks.record(line, bytes, kind, pc, AccessRecord::kUnderWay, clash)
                         : blocks.record(line, bytes, kind, pc, clash);
        if (!clashes) [[likely]]
          return;
        for (const unsigned half : {0u, 1u}) {
          if (clashes >> half & 1)
            report_clash(request, here, kind, clash[half], line + kSector * half);
        }
      });
  return again;
}

// What these lanes do to the sector clashes with what another block did to it.
void GlobalChecker::report_clash(const Request& request, uint32_t lanes, AccessKind kind,
                                 const AccessRecord& clash, uint64_t sector) {
  for (const int lane : lanes_of(lanes)) {
    const uint64_t address = request.address[lane];
    const unsigned size = request.size;
    const auto both = static_cast<uint32_t>(bytes_in_line(address, size, sector)) & clash.bytes;
    if (!both) continue;
    Fault fault = fault_of(Fault::Kind::global_race, block_, request, lane);
    fault.other_pc = full_pc(clash.pc);
    fault.other_store = clash.kind != AccessKind::read;
    blocks.name_other(fault, clash.block);
    if (request.warp->locking >> lane & 1) fault.cause = Fault::Cause::lock;
    if (request.within_block) fault.cause = Fault::Cause::scope;
    if (clash.is_under_way())
      fault.cause = clash.epoch == AccessRecord::kRead ? Fault::Cause::store_read
                                                       : Fault::Cause::store_under_way;
    if (kind == AccessKind::write && !request.is_atomic()) {
      // As long as nothing has changed here, the other block's store may be still to come.
      const bool may_come =
          clash.kind == AccessKind::write && BlockRaceCheck::is_unchanged(sector, both);
      const bool is_sure = !may_come || stores.await_others();
      conflicts_.add(request, lane, fault, StoreConflicts::kNoLane, is_sure);
    } else if (request.is_atomic() || kind == AccessKind::atomic ||
               !BlockRaceCheck::is_unchanged(sector, both)) {
      races_.add({.fault = fault, .value = value_at(address, size)});
    }
    return;
  }
}

void GlobalChecker::bulk_write_goes_on(uint64_t address, uint64_t bytes, uint64_t pc, bool reads) {
  if (!block_.checks_blocks) return;
  AccessRecord known[2];  // is told by who came there meanwhile
  const uint64_t end = address + bytes;
  for (uint64_t line = address - address % kLine; line < end; line += kLine) {
    const uint64_t first = std::max(line, address), last = std::min(line + kLine, end) - 1;
    const uint64_t mask = ~uint64_t{0} >> (kLine - 1 - (last - first)) << (first - line);
    if (reads) {
      blocks.record(line, mask, AccessKind::write, short_pc(pc), AccessRecord::kRead, known);
    } else {
      blocks.record(line, mask, AccessKind::write, short_pc(pc), known);
    }
  }
}

void GlobalChecker::acquire_flags() {
  if (devices::any_open) {
    for (const Flag& flag : flags_) {
      for (const unsigned half : {0u, 32u}) {
        const auto bytes = static_cast<uint32_t>(flag.bytes >> half);
        if (bytes) footprint.note_polled(flag.line + half, bytes);
      }
    }
  }
  // Asked after the reads: a block may have executed the first fence just before.
  if (!BlockRaceCheck::has_fences()) flags_.clear();
  for (const Flag& flag : flags_) {
    for (unsigned half = 0; half < 64; half += 32) {
      const auto bytes = static_cast<uint32_t>(flag.bytes >> half);
      if (bytes) blocks.acquire(flag.line + half, bytes);
    }
  }
  flags_.clear();
}

}  // namespace simt::engine
