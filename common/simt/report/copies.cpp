#include "report/copies.h"

#include <string_view>

#include "base/text.h"
#include "program/symbols.h"
#include "report/places.h"

namespace simt::device {
namespace {

std::string line_of(uint64_t pc) { return symbols::locate(pc).text(); }

std::string cure_of(const engine::Fault& fault) {
  const std::string_view missing = fault.text;
  if (missing == "commit") {
    return "It belongs to no group yet, and waits are for groups: __pipeline_commit() "
           "(cp.async.commit_group) closes one, then comes the wait.";
  }
  if (missing == "mbarrier") {
    return "The arrival at " + place_and_call(fault.wait_pc) +
           " does not wait for it. Let each thread that copies arrive with "
           "cp.async.mbarrier.arrive.noinc, which counts once its copies so far have landed, or "
           "wait for them (cp.async.wait_all) ahead of the arrival.";
  }
  if (missing == "barrier") {
    return "Each thread waits for its own copies alone" +
           (fault.wait_pc ? ", at " + line_of(fault.wait_pc) : std::string()) +
           ": put a __syncthreads() between the wait and this read.";
  }
  const std::string count = std::to_string(fault.may_leave);
  const std::string wait = "__pipeline_wait_prior(" + count + ") (cp.async.wait_group " + count +
                           ", or the wait() or consumer_wait() of its group or pipeline)";
  if (fault.wait_pc) {
    return "The wait at " + line_of(fault.wait_pc) + " leaves this copy under way: it has to be " +
           wait + ", with a __syncthreads() after it.";
  }
  return "No wait comes before this read: put " + wait +
         " ahead of it, and then a __syncthreads(), since each thread waits for its own copies "
         "alone.";
}

std::string copy_at(const engine::Fault& fault) {
  return ": the asynchronous copy at " + line_of(fault.other_pc) + " by thread " +
         text(fault.other_thread);
}

}  // namespace

bool is_at_engine(const engine::Fault& fault) {
  using Kind = engine::Fault::Kind;
  using Cause = engine::Fault::Cause;
  return fault.cause == Cause::stage_in_use || fault.cause == Cause::source_in_use ||
         fault.cause == Cause::store_under_way || fault.cause == Cause::store_read ||
         fault.kind == Kind::proxy_fence || fault.kind == Kind::pending_register ||
         fault.kind == Kind::other_swizzle || fault.kind == Kind::trap ||
         (fault.text && std::string_view(fault.text) == "bulk");
}

std::string cause_at_engine(engine::Fault::Cause cause) {
  if (cause == engine::Fault::Cause::barrier)
    return "a barrier to which threads come that do not know yet that it is initialized. Put a "
           "__syncthreads() between the initialization, by one thread, and the first arrival or "
           "wait.";
  return cause == engine::Fault::Cause::stage_in_use
             ? "a bulk copy to a stage that threads still read or write. Let each of them arrive "
               "at an mbarrier, or come to a __syncthreads(), after its last access, and let the "
               "thread that asks for the copy wait for that first. (What wgmma reads, it reads "
               "until wgmma.wait_group.)"
             : "memory that the copy engine or wgmma still reads. Let the thread that has asked "
               "for the store wait for it (cp.async.bulk.wait_group.read), or the warps for their "
               "wgmma (wgmma.wait_group), and put a barrier between that wait and the next write.";
}

std::string early_bulk_access(const engine::Fault& fault, const std::string& place) {
  const std::string copy = ": the bulk copy at " + place_and_call(fault.other_pc) + " by thread " +
                           text(fault.other_thread) + " to " + place + ", has not arrived. ";
  const std::string wait =
      fault.wait_pc ? "The wait at " + place_and_call(fault.wait_pc) : "A wait";
  switch (fault.cause) {
    case engine::Fault::Cause::no_bytes:
      return copy +
             "Its mbarrier's phase does not wait for its bytes, because nobody has announced them: "
             "let "
             "the thread that asks for the copy arrive with mbarrier.arrive.expect_tx and the "
             "number of bytes.";
    case engine::Fault::Cause::parity:
      return copy + wait +
             " let the thread pass, since the phase with that parity was over before: the phase "
             "that the copy belongs to, number " +
             std::to_string(fault.may_leave) +
             ", has the other parity. A fresh barrier is waited for with parity 0, and a ring's "
             "parity changes each time that it begins anew." +
             (fault.may_leave
                  ? " Or the copy was asked for too early, while this thread had still to "
                    "read what was there: it has to wait until all have read."
                  : "");
    default:
      return copy +
             "Each thread that uses it has to wait for the phase of its mbarrier first, with "
             "mbarrier.try_wait.parity in a loop.";
  }
}

std::string store_under_way(const engine::Fault& fault, const std::string& block,
                            const std::string& allocation) {
  const std::string bytes = " to the same bytes of " + allocation;
  return " races with a bulk store by block " + block +
         (fault.cause == engine::Fault::Cause::store_read
              ? bytes + ": the wait for it at " + place_and_call(fault.other_pc) +
                    " (cp.async.bulk.wait_group.read) tells only that its source in shared memory "
                    "has been read, not that the bytes have been written. Let it be "
                    "cp.async.bulk.wait_group 0, without .read"
              : ", at " + place_and_call(fault.other_pc) + "," + bytes +
                    ", for which no wait has come. Let the thread that asks for the store wait for "
                    "it with cp.async.bulk.wait_group 0 (without .read)") +
         ", ahead of the fence and the flag that tell the other block of it.";
}

std::string pending_register(const engine::Fault& fault) {
  const std::string wgmma = "of the wgmma at " + place_and_call(fault.other_pc);
  const std::string cure =
      "close the group with wgmma.commit_group and wait for it with wgmma.wait_group before this";
  return fault.text
             ? ": it changes a register of A " + wgmma +
                   ", which is still under way and may read it only now. Either " + cure +
                   ", or give each step registers of its own."
             : ": it touches an accumulator " + wgmma +
                   ", which is still under way. wgmma writes its sums some time later: " + cure +
                   ".";
}

std::string early_read(const engine::Fault& fault, const std::string& place) {
  return copy_at(fault) + " to " + place + ", has not arrived. " + cure_of(fault);
}

std::string early_write(const engine::Fault& fault, const std::string& place) {
  return copy_at(fault) + " to " + place +
         ", is still under way, and either of the two may come last. Usual cause: no wait for it "
         "(__pipeline_wait_prior(0), cp.async.wait_group 0) with a __syncthreads() after it, or "
         "two threads with one index.";
}

std::string outdated_source(const engine::Fault& fault, const std::string& allocation) {
  return ": what it reads, in " + allocation + ", is overwritten before the wait for it at " +
         line_of(fault.wait_pc) +
         ", so it may bring either. Write there after the wait, or somewhere else.";
}

}  // namespace simt::device
