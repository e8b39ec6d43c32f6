// Fibers: the stacks that lanes run on, and their sizes.
#pragma once

#include <array>
#include <cstdint>

#include "fibers/context.h"

namespace simt::engine {

inline constexpr unsigned kMaxBlockThreads = 1024;
inline constexpr uint64_t kPage = 4096;
// A thread that calls a function with less than this left has used up its stack: the rest is the simulator's.
inline constexpr uint64_t kStackReserve = 32 * 1024;

// The bytes of a stack, and of the addresses that it takes up: a power of two, and the stack begins at a multiple of it.
struct StackSize {
  uint64_t bytes, span;
};
extern StackSize stacks;       // those of this launch
extern bool has_large_stacks;  // which is one of two sizes

// Before a launch: stacks that are large enough for this kernel's own arrays.
void choose_stacks(uint64_t kernel, bool beside_others);

// A stack and what runs on it: one lane, and after it another.
struct Fiber {
  Context first = nullptr;  // before anything runs on it
  char* stack = nullptr;    // lowest address
};

// One worker's fibers of one size.
class FiberPool {
 public:
  // `entry` is what each fiber runs; it never returns.
  Fiber* take(void (*entry)()) { return free_count_ ? free_[--free_count_] : make(entry); }
  // Nobody needs any more what runs on the fiber: it begins anew.
  void give_back(Fiber& fiber) { free_[free_count_++] = &fiber; }

 private:
  Fiber* make(void (*entry)());

  std::array<Fiber*, kMaxBlockThreads + 1> free_;
  unsigned free_count_ = 0;
  char* next_stack_ = nullptr;  // of those that are mapped, but no fiber's yet
  uint64_t stacks_left_ = 0;
  unsigned fiber_count_ = 0;
};

}  // namespace simt::engine
