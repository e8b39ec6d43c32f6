// Accesses to the target of a bulk copy before it has arrived, and of the copy engine to what threads have just written.
#include "check/shared_checker.h"

namespace simt::engine {

// True if the access is a fault.
bool SharedChecker::touches_bulk_copy(const Request& request, int lane, size_t word) {
  const BulkLoad* const load =
      bulk_.load_of(shared_.word_zero(request.address[lane]) + uint64_t{word} * 4);
  if (!load) return false;
  const bool reads = request.kind == Access::load;
  Fault fault = fault_at(reads ? Fault::Kind::shared_uninitialized : Fault::Kind::shared_race,
                         request, lane, request.address[lane]);
  fault.text = "bulk";
  fault.other_pc = load->pc;
  fault.other_thread = block_.thread(load->thread);
  fault.other_store = true;
  if (const Mbarrier* const barrier = bulk_.find(load->barrier)) {
    const unsigned self = request.warp->first_thread() + static_cast<unsigned>(lane);
    const BulkCopies::Wait& wait = bulk_.wait_of(self);
    const bool has_passed = wait.is_over && wait.word == load->barrier;
    if (has_passed && !races.is_of_this_block(races.last_write(word))) {
      // Another block has filled the stage too early.
      check_in_cluster(request, lane, word, cluster_.rank(), request.address[lane]);
      return true;
    }
    const bool is_announced = barrier->announced || barrier->bytes > 0;
    if (has_passed) fault.wait_pc = wait.pc;
    fault.may_leave = static_cast<unsigned>(load->phase);
    fault.cause = barrier->phase() != load->phase || !is_announced ? Fault::Cause::no_bytes
                  : has_passed                                     ? Fault::Cause::parity
                                                                   : Fault::Cause::unknown;
  }
  faults_.add(fault);
  return true;
}

// True if the engine reads what a thread has written and has not handed over: that is a fault.
bool SharedChecker::is_unseen_by_engine(const Request& request, int lane, size_t word) {
  const Write& write = races.last_write(word);
  const unsigned self = request.warp->first_thread() + static_cast<unsigned>(lane);
  if (!races.is_of_this_block(write) || bulk_.has_issued_at(write.pc) ||
      proxies_.is_seen(write, self))
    return false;
  Fault fault = fault_at(Fault::Kind::proxy_fence, request, lane, request.address[lane]);
  fault.other_pc = full_pc(write.pc);
  fault.other_thread = block_.thread(write.thread);
  faults_.add(fault);
  return true;
}

void SharedChecker::bulk_begins(const BulkLoad& load, const WarpChecks& warp, bool is_foreign) {
  bulk_.note_issue(short_pc(load.pc));
  const size_t first = shared_.word_of(load.to);
  for (size_t i = 0; i < load.data.size() / 4; ++i)
    races.begin_copy(first + i, load.thread, short_pc(load.pc), warp.order.now - 1, is_foreign);
}

void SharedChecker::bulk_arrives(const BulkLoad& load) {
  const size_t first = shared_.word_of(load.to);
  for (size_t i = 0; i < load.data.size() / 4; ++i) races.set_doubt(first + i, 0);
}

void SharedChecker::bulk_read_ends(const PendingRead& read, unsigned thread,
                                   const WarpChecks& warp) {
  // Who writes from now on has to know of this moment, and not of the issue.
  const size_t first = shared_.word_of(read.at);
  Race race;
  for (size_t word = first; word < first + read.bytes / 4; ++word)
    races.note(word, 0xf, thread, false, false, short_pc(read.pc), warp.order, race);

  const Write& now = races.last_write(first);
  if (now.interval == read.before.interval && now.time == read.before.time &&
      now.thread == read.before.thread)
    return;
  Fault fault;
  fault.kind = Fault::Kind::shared_race;
  fault.pc = full_pc(now.pc);
  fault.size = 4;
  fault.store = true;
  fault.block = block_.index;
  fault.grid = block_.grid;
  fault.thread = block_.thread(now.thread);
  fault.other_pc = read.pc;
  fault.other_thread = block_.thread(thread);
  fault.cause =
      bulk_.has_issued_at(now.pc) ? Fault::Cause::stage_in_use : Fault::Cause::source_in_use;
  name_place(fault, read.at);
  faults_.add(fault);
}

}  // namespace simt::engine
