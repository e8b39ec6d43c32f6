#include "report/hangs.h"

#include <cstdint>
#include <string_view>

#include "base/text.h"
#include "memory/allocations.h"
#include "program/symbols.h"
#include "report/places.h"

namespace simt::device {
namespace {

// What a loop waits for that has not ended in so much time.
std::string cause_of(const engine::Fault& fault) {
  const memory::Allocation* const found = fault.address ? memory::find(fault.address) : nullptr;
  const symbols::Variable* const variable =
      fault.address && !found ? symbols::find_variable(fault.address) : nullptr;
  if (!found && !variable) return "a loop whose condition stays true. ";
  return "it waits for what the host writes after the launch, " +
         (found ? into(*found, fault.address) : "in " + variable->name) +
         (fault.host_waits
              ? ", and the host waits for the kernel, in cudaDeviceSynchronize() or at its end: "
                "write it before. "
              : ". Here the host goes on beside a kernel only if its address is an argument of the "
                "launch; on a GPU it goes on at once. ");
}

// Of a launch that comes to the same again and again.
std::string of_circles(const engine::Fault& fault, const std::string& at) {
  if (fault.text && std::string_view(fault.text) == "arrivals") {
    return " will never end: thread " + text(fault.thread) + " waits at " + at +
           " for a phase of a barrier to end, and nobody will arrive there. Usual cause: the "
           "barrier was initialized for more arrivals than come, a thread returned without its "
           "arrival, or it is waited for the wrong parity.";
  }
  if (fault.text) {
    return " will never end: its threads do the same again and again, thread " +
           text(fault.thread) + " at " + at +
           ", and in between they read nothing that another thread could change. Usual cause: a "
           "loop whose condition stays true, or one that waits for a variable which is not "
           "volatile, so that the compiler reads it once, ahead of the loop.";
  }
  if (fault.not_begun) {
    const uint64_t blocks = uint64_t{fault.grid.x} * fault.grid.y * fault.grid.z;
    return " will never end: thread " + text(fault.thread) + " waits at " + at +
           " for what no block that runs will change, and " + std::to_string(fault.not_begun) +
           " of the " + std::to_string(blocks) +
           " blocks have not begun: a GPU has no room for them before others end. Usual cause: a "
           "barrier of all blocks that is made of atomic operations. Make two kernels of this one, "
           "or a cooperative launch of as many blocks as there is room for "
           "(cudaLaunchCooperativeKernel and grid.sync()). Else a flag or a lock that nobody sets "
           "or frees.";
  }
  return " will never end: its threads do the same again and again, thread " + text(fault.thread) +
         " at " + at +
         ", and no block changes what they wait for. Usual cause: a loop that waits for a flag or "
         "a lock, while the thread that would set or free it waits at a barrier, has exited, or "
         "comes after this one in the same warp. (Where blocks wait for each other: a GPU runs as "
         "many side by side as it has room for; that it is all of them only a cooperative launch "
         "makes sure.)";
}

std::string number(uint64_t n) { return std::to_string(n); }

// Others that wait at another mbarrier, or for the other parity.
std::string of_others(const engine::Fault& fault) {
  std::string text;
  for (const engine::Fault::Waiting& waiting : fault.waiting) {
    if (!waiting.pc) continue;
    text += " Thread " + simt::text(waiting.thread) + " waits, too: at " +
            place_and_call(waiting.pc) + " for the parity " + number(waiting.parity) +
            " of the mbarrier at byte " + number(waiting.address) + ", whose phase " +
            number(waiting.phase) + " has " + number(waiting.expected - waiting.missing) + " of " +
            plural(waiting.expected, "arrival") + " and " + number(waiting.arrived) + " of " +
            plural(waiting.announced, "announced byte") + ".";
  }
  return text;
}

// Of setmaxnreg, at which a thread waits for registers.
std::string of_registers(const engine::Fault& fault, const std::string& at) {
  std::string of_groups;
  for (unsigned group = 0; group * 128 < fault.lanes; ++group)
    of_groups += (group ? " + " : "") + number(fault.registers[group]);
  return " will never end: thread " + text(fault.thread) + " waits at " + at + " for the " +
         number(fault.size) +
         " registers of setmaxnreg.inc. With them the block's warpgroups have " + of_groups +
         " registers a thread, " + number(fault.not_begun) +
         " in all. From the launch on the block has at most " + number(fault.limit) +
         " for each of its " + number(fault.lanes) + " threads, " +
         number(fault.limit * fault.lanes) +
         " in all, and no other warpgroup will give any back. Choose numbers for setmaxnreg whose "
         "sum over the warpgroups is no larger than that. (ptxas ignores setmaxnreg, and says so, "
         "where it does not know how many registers a thread begins with: that takes "
         "__launch_bounds__ with the number of blocks, or __maxnreg__.)";
}

// Of a wait at an mbarrier.
std::string of_mbarrier(const engine::Fault& fault, const std::string& at) {
  const uint64_t announced = fault.not_begun, arrived = fault.other_block, phase = fault.may_leave;
  const std::string place =
      fault.variable
          ? fault.variable->name + " (byte " + number(fault.address - fault.variable->begin) + ")"
          : "at byte " + number(fault.address) + " of the shared memory";
  std::string text =
      " will never end: thread " + simt::text(fault.thread) + " waits at " + at +
      (fault.other_store ? " for the parity " + number(fault.store) + " of" : " for a phase of") +
      " the mbarrier " + place + ". Its phase " + number(phase) + " (parity " + number(phase % 2) +
      ") goes on: " + number(fault.size - fault.lanes) + " of " + plural(fault.size, "arrival") +
      " and " + number(arrived) + " of " + plural(announced, "announced byte") +
      " have come, and nobody else will come. Usual cause: ";
  if (!fault.lanes) {
    return text +
           (arrived < announced
                ? "expect_tx announces more bytes than the copies bring (it counts bytes, of the "
                  "whole box, what lies outside of the tensor too), or a copy that is missing."
                : "expect_tx announces fewer bytes than the copies bring: it counts bytes, of "
                  "all copies that report to this barrier in this phase.") +
           (fault.arrival_pc ? " The last arrival was at " + place_and_call(fault.arrival_pc) + "."
                             : "") +
           of_others(fault);
  }
  return text +
         "it was initialized for more arrivals than come, a thread that should arrive waits "
         "itself, or "
         "the parity is one off: phase n has the parity n % 2, and a ring's parity changes each "
         "time "
         "that it begins anew. (A thread that fills stages which are empty at first begins with "
         "the parity 1.)" +
         (phase < 2
              ? ""
              : " Or the barrier has gone on by two phases before this thread looked, because a "
                "stage is filled again before all have read it.") +
         of_others(fault);
}

}  // namespace

void describe_hang(const engine::Fault& fault, const std::string& kernel, Finding& f) {
  const std::string_view what = fault.text ? fault.text : "";
  const symbols::Location& place = symbols::locate(fault.pc);
  const std::string at =
      what == "mbarrier" || what == "named barrier" ? place_and_call(fault.pc) : place.text();
  f.kind = "hang";
  f.message = "block " + text(fault.block) + " of " + kernel;
  if (what == "time") {
    f.message += " does not end: thread " + text(fault.thread) + " is still at " + at +
                 ", and in " + std::to_string(fault.limit) +
                 " s of a CPU's time no block has ended or come to new memory. Usual cause: " +
                 cause_of(fault) + "(SIMT_STEPS=n, beyond 2^24, allows more.)";
  } else if (what == "mbarrier") {
    f.message += of_mbarrier(fault, at);
  } else if (what == "registers") {
    f.message += of_registers(fault, at);
  } else if (what == "named barrier") {
    f.message += " will never end: thread " + text(fault.thread) + " waits at barrier " +
                 std::to_string(fault.size) + " at " + at + " for " + std::to_string(fault.limit) +
                 " threads, of which " + std::to_string(fault.lanes) +
                 " have come. Usual cause: the number does not count all threads of the warps that "
                 "wait or arrive there, or a branch keeps some of them away." +
                 of_others(fault);
  } else if (fault.limit) {
    f.message += " does not end: thread " + text(fault.thread) + " is still at " + at + " after " +
                 std::to_string(fault.limit) +
                 " steps of its warp. Usual cause: " + cause_of(fault) +
                 "(SIMT_STEPS=n allows more steps.)";
  } else if (fault.other_pc && !fault.not_begun) {
    f.kind = "barrier-divergence";
    f.message =
        "thread " + text(fault.other_thread) + " of block " + text(fault.block) +
        " waits at the barrier at " + symbols::locate(fault.other_pc).text() + " in " + kernel +
        ", while thread " + text(fault.thread) + " of the same block waits at " + at +
        " for something that nobody will change, and never comes. All threads of a block must "
        "reach a __syncthreads(): take it out of the condition or the loop that only some of them "
        "run, and let no thread wait for what another does after it.";
  } else {
    f.message += of_circles(fault, at);
  }
}

}  // namespace simt::device
