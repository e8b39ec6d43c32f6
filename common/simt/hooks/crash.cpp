// What ends a kernel: a trap, an assertion, a fault of the CPU in a lane.
#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/host_memory.h"
#include "ending/at_exit.h"
#include "exec/pending_stops.h"
#include "hooks/division.h"
#include "hooks/hooks.h"
#include "watch/host_accesses.h"

namespace simt::engine {

namespace {

// The last fault of the CPU.
thread_local uint64_t crash_pc = 0, crash_address = 0;
thread_local bool crash_misaligned = false, crash_overflow = false;

}  // namespace

Fault Hooks::fault_here(Fault::Kind kind, const void* pc) {
  Worker* worker = running;
  Warp& warp = *worker->warp_;
  note(warp, worker->lane_, StopReason::resume, pc);
  if (worker->cursor_) worker->stop(warp, worker->lane_);  // see catch_up()
  return worker->fault_at(kind, warp, worker->lane_);
}

void Hooks::trap(const char* what, const void* pc, Fault::Kind kind, uint64_t address) {
  Worker* worker = fiber_worker();
  if (!worker) {
    std::fprintf(stderr, "simt: %s on the host\n", what);
    std::abort();
  }
  Fault fault = fault_here(kind, pc);
  fault.text = what;
  fault.address = address;
  worker->fail(fault);
}

// A fault of the CPU in a lane; see install_crash_handler().
void Hooks::crash() {
  Worker* worker = fiber_worker();
  Warp& warp = *worker->warp_;
  const int lane = worker->lane_;
  {
    const HostMemory bookkeeping;
    for (const DeferredEffect& effect : warp.deferred) {
      if (effect.lane == lane) engine::note(warp, effect);
    }
  }
  if (warp.checks.has_wrong_index >> lane & 1) {  // that is why
    const WrongIndex& wrong = warp.checks.wrong_index[lane].back();
    note(warp, lane, StopReason::resume, reinterpret_cast<const void*>(wrong.pc));
    worker->aborted_ = true;
    worker->leave_to_main();  // abandon_block() reports it
  }
  const void* const printing = std::exchange(worker->printing_pc_, nullptr);
  note(warp, lane, StopReason::resume,
       printing ? printing : reinterpret_cast<const void*>(crash_pc + 1));
  Fault fault =
      worker->fault_at(crash_misaligned ? Fault::Kind::misaligned : Fault::Kind::crash, warp, lane);
  if (!crash_misaligned) fault.address = crash_address;
  if (crash_overflow) fault.kind = Fault::Kind::stack_overflow;
  worker->fail(fault);
}

// The running lane has called a function, and has no room for it. `pc` is where it returns to.
void Hooks::overflow(const void* pc) {
  Worker* worker = running;
  Warp& warp = *worker->warp_;
  note(warp, worker->lane_, StopReason::resume, pc);
  Fault fault = worker->fault_at(Fault::Kind::stack_overflow, warp, worker->lane_);
  fault.address = 0;
  worker->fail(fault);
}

void Hooks::on_division(int signal_number, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  Worker* worker = running;
  const auto pc = static_cast<uint64_t>(registers[REG_RIP]) + 1;
  const bool is_lane = worker && worker->lane_ >= 0;
  const Division division = is_lane ? divide_as_gpu(registers) : Division::none;
  if (division == Division::none) {
    if (!is_lane) device::end_after_crash();
    signal(signal_number, SIG_DFL);
  } else if (division == Division::by_zero && worker->traced_) {
    Fault fault = worker->fault_at(Fault::Kind::division_by_zero, *worker->warp_, worker->lane_);
    fault.pc = pc;
    fault.address = 0;
    worker->monitor.faults.add(fault);
  }
}

void Hooks::on_signal(int signal_number, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  Worker* worker = running;
  if (!worker || worker->lane_ < 0) {
    if (memory::in_device_arena(address)) {
      host_access(address, 0, false, static_cast<uint64_t>(registers[REG_RIP]) + 1);
    }
    device::end_after_crash();
    signal(signal_number, SIG_DFL);  // the instruction runs again, and ends the process
    return;
  }
  const Fiber* fiber = worker->is_loop_ ? worker->loop_fiber_ : worker->warp_->fiber[worker->lane_];
  const auto stack = reinterpret_cast<uint64_t>(fiber->stack);
  const uint64_t top = stack + stacks.bytes;
  const auto is_below = [&](uint64_t at) {
    return at - (top - stacks.span) < stacks.span - stacks.bytes + 2 * kPage;
  };
  crash_pc = static_cast<uint64_t>(registers[REG_RIP]);
  crash_address = address;
  // A general protection fault without an address: an instruction that insists on alignment.
  crash_misaligned = info->si_code == SI_KERNEL && address == 0;
  crash_overflow = is_below(address) || is_below(static_cast<uint64_t>(registers[REG_RSP]));
  // Go on in crash(), at the top of the lane's stack, whose frames nobody needs any more.
  registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<uint64_t>(&Hooks::crash));
  registers[REG_RSP] = static_cast<greg_t>(((stack + stacks.bytes) & ~uint64_t{15}) - 4096 - 8);
}

[[gnu::constructor]] static void install_crash_handler() {
  struct sigaction action {};
  action.sa_sigaction = &Hooks::on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
  action.sa_sigaction = &Hooks::on_division;
  sigaction(SIGFPE, &action, nullptr);
}

}  // namespace simt::engine

void simt::detail::trap(const char* what) {
  engine::Hooks::trap(what, SIMT_PC);
  __builtin_unreachable();
}

// assert(): in place of the C library's, which would end the process.
extern "C" [[gnu::used]] void __assert_fail(const char* expression, const char* file, unsigned line,
                                            const char* function) noexcept {
  if (!simt::engine::running) {
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    std::abort();
  }
  // As CUDA says it. The text outlives the lane's stack: a fault keeps it.
  std::fflush(stdout);
  std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
               file, line, function, simt_block_index.x, simt_block_index.y, simt_block_index.z,
               simt_thread_index.x, simt_thread_index.y, simt_thread_index.z, expression);
  simt::engine::Hooks::trap(expression, SIMT_PC, simt::engine::Fault::Kind::assertion);
  __builtin_unreachable();
}
