#include "exec/worker.h"

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

extern "C" {
__thread uint3 simt_thread_index asm("threadIdx") = {};
__thread uint3 simt_block_index asm("blockIdx") = {};
__thread uint3 simt_block_extent asm("blockDim") = {};
__thread uint3 simt_grid_extent asm("gridDim") = {};
}

namespace simt::engine {
namespace {

constexpr size_t kSignalStack = 64 * 1024;

}  // namespace

__thread Worker* running = nullptr;
// Aligned, so that all thread-local memory begins at a multiple of 64. A program's __shared__ arrays stand there first, and
// where their sizes are multiples of 16, float4 may go to each, as on hardware.
__attribute__((aligned(64))) __thread unsigned uncounted = 0;

Worker::Worker() : guards_(symbols::guards_of_shared_variables()) { attach(); }

void Worker::attach() {
  static thread_local bool is_attached = false;
  if (std::exchange(is_attached, true)) return;
  monitor.shared.attach();
  // A fault inside a lane is handled on a stack of its own.
  if (!signal_stack_) signal_stack_ = std::malloc(kSignalStack);
  stack_t stack{};
  stack.ss_size = kSignalStack;
  stack.ss_sp = signal_stack_;
  sigaltstack(&stack, nullptr);
}

bool Worker::is_guard(uint64_t address, StopReason what) {
  for (const symbols::Guard& guard : guards_) {
    if (guard.at != address - monitor.shared.tls_base) continue;
    if (!traced_) return true;
    // What the lane does until it has noted that it has run the constructor is nothing that the program says.
    const uint32_t self = 1u << lane_;
    const bool is_first = *reinterpret_cast<const char*>(address) == 0;
    if (what == StopReason::load) {
      if (is_first) warp_->constructing |= self;
      return true;
    }
    warp_->constructing &= ~self;
    for (const symbols::SharedVariable& variable : monitor.shared.variables) {
      if (!is_first || variable.symbol != guard.symbol) continue;
      // Nobody has used the memory before. At most it has been set to zero.
      const auto* const begin =
          reinterpret_cast<const char*>(monitor.shared.tls_base + variable.begin);
      const auto* const end = reinterpret_cast<const char*>(monitor.shared.tls_base + variable.end);
      if (std::all_of(begin, end, [](char byte) { return byte == 0; })) break;
      std::fprintf(
          stderr,
          "simt: the constructor of %s, in shared memory, stores something, and a GPU does "
          "not run it: nvcc refuses it, or leaves it out. Give the class one that does "
          "nothing, and let the first thread set the members, with a __syncthreads() "
          "after it.\n",
          variable.name.c_str());
      std::_Exit(1);
    }
    return true;
  }
  return false;
}

Fault Worker::fault_at(Fault::Kind kind, const Warp& warp, int lane) const {
  Fault fault;
  fault.kind = kind;
  fault.pc = key_pc(warp.key[lane] == kNotWaiting ? warp.parked_key[lane] : warp.key[lane]);
  fault.address = warp.address[lane];
  fault.size = warp.size[lane];
  fault.store = warp.stop[lane] == StopReason::store || warp.stop[lane] == StopReason::atomic;
  fault.atomic = warp.stop[lane] == StopReason::atomic;
  fault.block = monitor.block.index;
  fault.thread = warp.thread[lane];
  fault.grid = grid_->grid;
  fault.device = grid_->device;
  return fault;
}

void Worker::fail(const Fault& fault) {
  monitor.faults.add(fault);
  end_block();
}

void Worker::end_block() {
  aborted_ = true;
  leave_to_main();
  __builtin_unreachable();  // nobody returns to an abandoned lane
}

}  // namespace simt::engine
