// Switching between stacks: Boost.Context's, and on x86-64 our own, which leaves the floating-point
// control registers alone and is small: lanes switch at nearly every access to memory.
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef __x86_64__
#include <boost/context/detail/fcontext.hpp>
#endif

namespace simt::engine {

#ifdef __x86_64__

// A stack pointer. On the stack lie the registers that a function keeps, then where to go on.
using Context = void*;

// A context that calls `entry`, which never returns, on a stack that ends at `top`.
inline Context make_context(char* top, std::size_t, void (*entry)()) {
  auto* slots = reinterpret_cast<uint64_t*>(reinterpret_cast<uint64_t>(top) & ~uint64_t{15});
  *--slots = 0;  // a return address, where a debugger's backtrace ends
  *--slots = reinterpret_cast<uint64_t>(entry);
  for (int kept = 0; kept < 6; ++kept) *--slots = 0;  // rbp, rbx, r12 to r15
  return slots;
}

// Goes on with `to`; the caller goes on when somebody switches to what `from` then holds.
//
// It goes on with a jump instead of a return. The CPU predicts a return from the last call, and the
// last call was that of the other lane, one access further on: the prediction would always fail. A
// function that ends with this call jumps here, so that this jump leads straight into the kernel.
extern "C" void simt_switch_context(Context* from, Context to);
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
  jmp *%rcx
  .size simt_switch_context, . - simt_switch_context
)");

[[gnu::always_inline]] inline void switch_context_and_return(Context& from, Context to) {
  simt_switch_context(&from, to);
}

// The same without a call, for functions that have more to do: a call that nobody returns from would
// put the predictions of their own return, and of those after it, one off.
[[gnu::always_inline]] inline void switch_context(Context& from, Context to) {
  // The compiler must not use the red zone: see CMakeLists.txt.
  Context* save = &from;
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
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
      : "+D"(save), "+S"(to)
      :
      : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
        "xmm14", "xmm15");
}

#else

using Context = boost::context::detail::fcontext_t;

namespace context_detail {
inline thread_local void (*entry_of_new)() = nullptr;

inline void arrive(boost::context::detail::transfer_t transfer) {
  *static_cast<Context*>(transfer.data) = transfer.fctx;
}
}  // namespace context_detail

inline Context make_context(char* top, std::size_t size, void (*entry)()) {
  context_detail::entry_of_new = entry;
  return boost::context::detail::make_fcontext(top, size, [](boost::context::detail::transfer_t t) {
    context_detail::arrive(t);
    context_detail::entry_of_new();
  });
}

inline void switch_context(Context& from, Context to) {
  context_detail::arrive(boost::context::detail::jump_fcontext(to, &from));
}
inline void switch_context_and_return(Context& from, Context to) { switch_context(from, to); }

#endif

}  // namespace simt::engine
