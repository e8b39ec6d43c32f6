#include "check/thread_checker.h"

#include "base/values.h"
#include "check/global_checker.h"
#include "program/program_image.h"

namespace simt::engine {

void ThreadChecker::check(const Request& request, const Range* range, bool again) {
  WarpChecks& warp = *request.warp;
  const unsigned thread = warp.first_thread();
  if (request.is_atomic() || request.is_volatile()) {
    order_.pass(request, thread);
    if (!request.writes()) return;
  }
  if (!range || (!request.is_atomic() && request.is_padded(request.first()))) return;
  const GlobalRequest listed{.address = request.address,
                             .lanes = request.lanes,
                             .kind = access_kind_of(request),
                             .size = request.size,
                             .pc = short_pc(request.pc),
                             .thread = thread,
                             .span = request.span,
                             .again = again};
  if (races.note(range->begin, listed, warp.order)) [[unlikely]]
    check_words(request, listed);
  ++warp.order.now;
}

// Word by word.
void ThreadChecker::check_words(const Request& request, const GlobalRequest& listed) {
  const bool is_store = listed.kind == AccessKind::write;
  const unsigned size = request.size;
  for (const int lane : lanes_of(request.lanes)) {
    const unsigned self = listed.thread + static_cast<unsigned>(lane);
    const uint64_t address = request.address[lane];
    const uint8_t bytes = bytes_in_word(address, size);
    bool told = false;
    for (unsigned done = 0; done < size; done += 4) {
      Race race;
      const bool raced = races.access(address + done, bytes, self, listed.kind, listed.pc,
                                      request.warp->order, race);
      if (!raced || told || order_.is_ordered(race.other_thread, race.other_time, self)) [[likely]]
        continue;
      told = true;
      BlockRace found;
      found.fault = fault_of(Fault::Kind::global_race, block_, request, lane);
      found.fault.other_pc = full_pc(race.other_pc);
      found.fault.other_store = race.other_wrote;
      found.fault.same_block = true;
      found.fault.cause = cause_of(race, request, lane);
      found.fault.other_thread = block_.thread(race.other_thread);
      if (is_store) {
        conflicts_.add(request, lane, found.fault, race.lane_of_instruction());
      } else {
        found.value = value_at(address, size);
        const uint64_t sector = address - address % 32;
        const auto mine = static_cast<uint32_t>(bytes_in_line(address, size, sector));
        if (listed.kind == AccessKind::atomic || !BlockRaceCheck::is_unchanged(sector, mine))
          log_.add(found);
      }
    }
  }
}

}  // namespace simt::engine
