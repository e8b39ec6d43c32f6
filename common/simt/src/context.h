// Switching between stacks: Boost.Context's, and on x86-64 our own, which leaves the floating-point
// control registers alone and is inlined where it is called. The
// simulator switches at every memory access of every lane.
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef __x86_64__
#include <boost/context/detail/fcontext.hpp>
#endif

namespace simt::engine {

#ifdef __x86_64__

// A stack pointer; below it the address to go on at, rbx and rbp.
using Context = void*;

// A context that calls `entry`, which never returns, on a stack that ends at `top`.
inline Context make_context(char* top, std::size_t, void (*entry)()) {
  auto* slots = reinterpret_cast<uint64_t*>(reinterpret_cast<uint64_t>(top) & ~uint64_t{15});
  *--slots = 0;  // a return address, where a debugger's backtrace ends
  *--slots = 0;  // rbp
  *--slots = 0;  // rbx
  *--slots = reinterpret_cast<uint64_t>(entry);
  return slots;
}

// Goes on with `to`; the caller goes on when somebody switches to what `from` then holds.
[[gnu::always_inline]] inline void switch_context(Context& from, Context to) {
  // The compiler saves what it needs of the other registers. It must not use the red zone: see CMakeLists.txt.
  Context* save = &from;
  asm volatile(
      "pushq %%rbp\n\t"
      "pushq %%rbx\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %1, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmp *%%rax\n"
      "1:\n\t"
      "popq %%rbx\n\t"
      "popq %%rbp\n\t"
      : "+D"(save), "+S"(to)
      :
      : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc", "memory",
        "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
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

#endif

}  // namespace simt::engine
