#include "fibers/fiber_pool.h"

#include <sys/mman.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/host_memory.h"
#include "base/settings.h"
#include "base/stack_regions.h"

namespace simt::engine {
namespace {

constexpr StackSize stack_of(uint64_t bytes) {
  const uint64_t whole = (bytes + kPage - 1) / kPage * kPage;
  return {whole, std::bit_ceil(whole)};
}

uint64_t asked_stack_bytes() {
  const uint64_t asked = settings::stack_bytes();
  return asked >= 2 * kStackReserve ? asked : 0;
}

// Close together the stacks of a block cost the CPU fewer entries of its page tables.
constexpr uint64_t kSmallStack = 128 * 1024;
// A thread has up to 512 KiB of local memory; what the simulator does on its stack comes on top.
constexpr uint64_t kLargeStack = 576 * 1024;

// The frame of a function, as far as its first instructions tell: those of the subtraction from the stack pointer.
uint64_t frame_of(uint64_t function) {
  constexpr unsigned kNear = 64;
  const auto* code = reinterpret_cast<const unsigned char*>(function);
  for (unsigned at = 0; function && at < kNear; ++at) {
    if (code[at] == 0xc3) break;
    if (code[at] != 0x48 || code[at + 1] != 0x81 || code[at + 2] != 0xec) continue;
    uint32_t bytes;
    std::memcpy(&bytes, code + at + 3, sizeof(bytes));
    return bytes;
  }
  return 0;
}

}  // namespace

constinit StackSize stacks = stack_of(kSmallStack);
bool has_large_stacks = false;

void choose_stacks(uint64_t kernel, bool beside_others) {
  if (const uint64_t asked = asked_stack_bytes()) {
    stacks = stack_of(asked);
    return;
  }
  const uint64_t frame = frame_of(kernel);
  has_large_stacks = beside_others || (frame > kSmallStack / 2 && frame < kLargeStack);
  stacks = stack_of(has_large_stacks ? kLargeStack : kSmallStack);
}

Fiber* FiberPool::make(void (*entry)()) {
  const uint64_t span = stacks.span;
  if (!stacks_left_) {
    // One more than is asked for, so that they can begin at a multiple of their size: see Hooks::is_on_stack().
    constexpr uint64_t kStacks = 32;
    void* map = mmap(nullptr, (kStacks + 1) * span, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (map == MAP_FAILED) {
      std::perror("simt: cannot map the stacks of threads");
      std::_Exit(1);
    }
    const auto begin = reinterpret_cast<uint64_t>(map);
    const uint64_t before = (begin + span - 1) / span * span - begin;
    if (before) munmap(map, before);
    next_stack_ = static_cast<char*>(map) + before;
    munmap(next_stack_ + kStacks * span, span - before);
    stacks_left_ = kStacks;
    const auto first = reinterpret_cast<uint64_t>(next_stack_);
    const HostMemory bookkeeping;
    stack_regions::note(first, first + kStacks * span);
  }
  --stacks_left_;
  char* const stack = next_stack_ + span - stacks.bytes;
  mprotect(next_stack_, span - stacks.bytes + kPage, PROT_NONE);  // the guard
  next_stack_ += span;
  auto* fiber = ::new (std::malloc(sizeof(Fiber))) Fiber;  // here `new` would be the device's
  fiber->stack = stack;
  // Stack tops that differ in their low bits spread over the sets of the cache.
  const unsigned color = fiber_count_++ % 32 * 192 % kPage;
  fiber->first = make_context(stack + stacks.bytes - color, entry);
  return fiber;
}

}  // namespace simt::engine
