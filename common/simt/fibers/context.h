// Switching between stacks. It leaves the floating-point control registers alone and is small: lanes switch at nearly every
// access to memory.
//
// Whoever goes on with a context hands it a value, which simt_switch_context() returns there.
//
// A function that runs on a context made here need not return: leave_context() goes on elsewhere for good. Then the
// context can begin anew: what make_context() returned is good again.
#pragma once

#include <cstdint>
#include <type_traits>

#ifndef __x86_64__
#error "the simulator runs on x86-64 alone"
#endif

namespace simt::engine {

// A stack pointer. On the stack lie the registers that a function keeps, then where to go on.
using Context = void*;

[[gnu::always_inline]] inline uint64_t stack_pointer() {
  uint64_t pointer;
  asm("movq %%rsp, %0" : "=r"(pointer));
  return pointer;
}

// A context that calls `entry`, which never returns, on a stack that ends at `top`. What it begins with stays where it
// is, above the frames of all that runs there.
extern "C" void simt_begin_context();
inline Context make_context(char* top, void (*entry)()) {
  auto* slots = reinterpret_cast<uint64_t*>(reinterpret_cast<uint64_t>(top) & ~uint64_t{15});
  --slots;
  *--slots = reinterpret_cast<uint64_t>(&simt_begin_context);
  *--slots = 0;                                       // rbp
  *--slots = reinterpret_cast<uint64_t>(entry);       // rbx
  for (int kept = 0; kept < 4; ++kept) *--slots = 0;  // r12 to r15
  return slots;
}

// Goes on with `to`; the caller goes on when somebody switches to what `from` then holds.
//
// It goes on with a jump instead of a return. The CPU predicts a return from the last call, and the
// last call was that of the other lane, one access further on: the prediction would always fail. A
// function that ends with this call jumps here, so that this jump leads straight into the kernel.
extern "C" uint64_t simt_switch_context(Context* from, Context to, uint64_t value);
extern "C" int simt_switch_context_int(Context*, Context, uint64_t) asm("simt_switch_context");
extern "C" void simt_switch_context_void(Context*, Context, uint64_t) asm("simt_switch_context");
// The same for a caller who never goes on.
extern "C" void simt_leave_context(Context to, uint64_t value);
asm(R"(
  .text
  .p2align 5
  .weak simt_switch_context
  .hidden simt_switch_context
  .type simt_switch_context, @function
simt_switch_context:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  movq %rdx, %rax
  jmp *%rcx
  .size simt_switch_context, . - simt_switch_context

  .p2align 5
  .weak simt_leave_context
  .hidden simt_leave_context
  .type simt_leave_context, @function
simt_leave_context:
  movq %rdi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  movq %rsi, %rax
  jmp *%rcx
  .size simt_leave_context, . - simt_leave_context

  .p2align 4
  .weak simt_begin_context
  .hidden simt_begin_context
  .type simt_begin_context, @function
simt_begin_context:
  subq $64, %rsp
  movq $0, (%rsp)  # a return address, where a debugger's backtrace ends
  jmp *%rbx
  .size simt_begin_context, . - simt_begin_context
)");

// Returns what the caller does, or the compiler would not end the caller with it.
template <class Result>
[[gnu::always_inline]] inline Result switch_context_and_return(Context& from, Context to,
                                                               uint64_t value) {
  if constexpr (std::is_void_v<Result>) {
    return simt_switch_context_void(&from, to, value);
  } else if constexpr (std::is_same_v<Result, int>) {
    return simt_switch_context_int(&from, to, value);
  } else {
    return simt_switch_context(&from, to, value);
  }
}

[[gnu::always_inline]] inline void leave_context(Context to, uint64_t value) {
  simt_leave_context(to, value);
}

// The same without a call, for functions that have more to do: a call that nobody returns from would
// put the predictions of their own return, and of those after it, one off.
[[gnu::always_inline]] inline void switch_context(Context& from, Context to, uint64_t value) {
  // The compiler must not use the red zone: see CMakeLists.txt.
  Context* save = &from;
  asm volatile(
      "leaq 1f(%%rip), %%rcx\n\t"
      "pushq %%rcx\n\t"
      "pushq %%rbp\n\t"
      "pushq %%rbx\n\t"
      "pushq %%r12\n\t"
      "pushq %%r13\n\t"
      "pushq %%r14\n\t"
      "pushq %%r15\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %1, %%rsp\n\t"
      "popq %%r15\n\t"
      "popq %%r14\n\t"
      "popq %%r13\n\t"
      "popq %%r12\n\t"
      "popq %%rbx\n\t"
      "popq %%rbp\n\t"
      "popq %%rcx\n\t"
      "jmp *%%rcx\n"
      "1:\n\t"
      : "+D"(save), "+S"(to), "+a"(value)
      :
      : "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15");
}

}  // namespace simt::engine
