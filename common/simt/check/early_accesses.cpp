// Accesses to the target of an asynchronous copy, from its issue to its arrival.
#include "base/values.h"
#include "check/shared_checker.h"

namespace simt::engine {
namespace {

// How many groups a wait may leave, so that the copy is not among them; and where the wait is that left it, if any has been.
void name_cure(Fault& fault, const ThreadCopies& copies, const AsyncCopy& copy) {
  const CopyWait& wait = copies.last_wait();
  const bool is_left = wait.pc && copy.group < wait.committed;
  if (is_left) fault.wait_pc = wait.pc;
  const uint64_t committed = is_left ? wait.committed : copies.committed();
  fault.text = copy.group < committed ? "wait" : "commit";
  fault.may_leave = static_cast<unsigned>(committed - copy.group - (copy.group < committed));
}

const AsyncCopy* find_copy(const ThreadCopies& copies, uint64_t address) {
  for (const AsyncCopy& copy : copies.pending()) {
    if (copy.holds(address)) return &copy;
  }
  return nullptr;
}

// Of the copies that the thread has begun at this place, and that are under way.
const AsyncCopy* find_like(const ThreadCopies& copies, uint64_t pc) {
  for (const AsyncCopy& copy : copies.pending()) {
    if (copy.pc == pc) return &copy;
  }
  return nullptr;
}

}  // namespace

// True if the access is a fault.
bool SharedChecker::touches_copy(const Request& request, int lane, size_t word,
                                 RaceCheck::Copy state) {
  if (state == RaceCheck::Copy::under_way && touches_bulk_copy(request, lane, word)) return true;
  if (request.is_copy) return false;  // copy_begins() knows what it brings
  const unsigned self = request.warp->first_thread() + static_cast<unsigned>(lane);
  const Write& copy = races.last_write(word);
  const bool is_ordered = races.is_ordered(copy, self, request.warp->order) ||
                          thread_order_.is_ordered(copy.thread, copy.time, self);
  if (state == RaceCheck::Copy::arrived && is_ordered) return false;
  const bool reads = request.kind != Access::store;
  // Whether its issue or its arrival is meant, it is a race like any other.
  if (!is_ordered && (state == RaceCheck::Copy::under_way || !reads)) return false;

  const auto kind = reads ? Fault::Kind::shared_uninitialized : Fault::Kind::shared_race;
  Fault fault = fault_at(kind, request, lane, request.address[lane]);
  fault.other_pc = full_pc(copy.pc);
  fault.other_thread = block_.thread(copy.thread);
  fault.other_store = true;
  fault.text = "barrier";  // unless the wait is wrong
  fault.wait_pc = copies_.of(self).last_wait().pc;
  const ThreadCopies& own = copies_.of(self);
  const ThreadCopies& others = copies_.of(copy.thread);
  if (state == RaceCheck::Copy::arrived) {
    fault.wait_pc = others.last_wait().pc;
  } else if (const AsyncCopy* like = find_like(own, fault.other_pc)) {
    name_cure(fault, own, *like);
  } else if (const AsyncCopy* under_way =
                 find_copy(others, shared_.word_zero(request.address[lane]) + word * 4)) {
    if (!fault.wait_pc) name_cure(fault, others, *under_way);
  }
  if (const BulkCopies::Wait& wait = bulk_.wait_of(self); wait.is_over) {
    const AsyncCopy* under_way = find_like(own, fault.other_pc);
    if (!under_way)
      under_way = find_copy(others, shared_.word_zero(request.address[lane]) + word * 4);
    if (under_way && under_way->told_barrier == wait.word) {
      fault.text = "mbarrier";
      fault.wait_pc = under_way->told_pc;
    }
  }
  faults_.add(fault);
  return true;
}

void SharedChecker::copies_are_told(uint64_t barrier, unsigned thread, const WarpChecks& warp,
                                    uint64_t pc) {
  copies_.for_each([&](AsyncCopy& copy, unsigned by) {
    const auto to = reinterpret_cast<uint64_t>(copy.to);
    if (copy.told_barrier || !shared_.holds(to)) return;
    const Write& begun = races.last_write(shared_.word_of(to));
    if (by / 32 == thread / 32 || races.is_ordered(begun, thread, warp.order) ||
        thread_order_.is_ordered(begun.thread, begun.time, thread)) {
      copy.told_barrier = barrier;
      copy.told_pc = pc;
    }
  });
}

void SharedChecker::copy_begins(const AsyncCopy& copy, unsigned thread, const WarpChecks& warp) {
  const auto begin = reinterpret_cast<uint64_t>(copy.to);
  const size_t first = shared_.word_of(begin);
  bool is_second = false;
  for (unsigned i = 0; i < copy.size; i += 4) {
    is_second |= races.copy(first + i / 4) == RaceCheck::Copy::under_way;
    races.begin_copy(first + i / 4, thread, short_pc(copy.pc), warp.order.now - 1);
  }
  if (!is_second) [[likely]]
    return;
  copies_.for_each([&](const AsyncCopy& other, unsigned other_thread) {
    if (&other == &copy || copy.agrees_with(other)) return;
    Fault fault;
    fault.kind = Fault::Kind::shared_race;
    fault.pc = copy.pc;
    fault.size = copy.size;
    fault.store = fault.other_store = true;
    fault.block = block_.index;
    fault.thread = block_.thread(thread);
    fault.grid = block_.grid;
    fault.other_pc = other.pc;
    fault.other_thread = block_.thread(other_thread);
    fault.text = "copy";
    name_place(fault, begin);
    faults_.add(fault);
  });
}

void SharedChecker::copy_arrives(const AsyncCopy& copy, unsigned thread, const WarpChecks& warp) {
  const size_t first = shared_.word_of(reinterpret_cast<uint64_t>(copy.to));
  for (unsigned i = 0; i < copy.size; i += 4)
    races.end_copy(first + i / 4, thread, short_pc(copy.pc), warp.order.now - 1);
  if (!copy.is_outdated()) [[likely]]
    return;
  Fault fault;
  fault.kind = Fault::Kind::global_race;
  fault.pc = copy.pc - 1;  // that of its load
  fault.address = reinterpret_cast<uint64_t>(copy.from);
  fault.size = copy.bytes;
  fault.block = block_.index;
  fault.thread = block_.thread(thread);
  fault.grid = block_.grid;
  fault.text = "copy";
  fault.wait_pc = copies_.of(thread).last_wait().pc;
  faults_.add(fault);
}

}  // namespace simt::engine
