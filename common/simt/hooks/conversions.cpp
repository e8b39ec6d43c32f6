// Conversions of floating-point numbers to integers as PTX has them: to the nearest integer that there is. NaN becomes 0
// if it is a float's and the integer has 32 bits, else the integer that only its highest bit makes.
//
// simtcc calls them where the CPU's instruction will not do (compiler/assembly/conversions.h), in the midst of a function's registers
// and flags: they change none, and have no branch that changes one. The number lies on the stack, and the integer takes its
// place. (A load of 16 bytes would wait for a store of 4 just before, so one number and four have a function each.)
//
// An unsigned 64-bit integer is what g++ makes of two conversions: of the number if it is less than 2^63, else of the
// number less 2^63. So the function for it has 2^63 - 1 as its highest. Likewise u31, of four floats or two doubles.

asm(R"(
  .section .rodata
  .p2align 4
  .globl simt_int_end, simt_int_last, simt_unsigned_last   # for code that simtcc puts in
  .hidden simt_int_end, simt_int_last, simt_unsigned_last
simt_int_end:
  .long 0x4f000000, 0x4f000000, 0x4f000000, 0x4f000000  # 2^31 as float
simt_int_last:
  .quad 0x41dfffffffc00000, 0x41dfffffffc00000          # 2^31 - 1 as double
.Lunsigned_last:
  .quad 0x41efffffffe00000                              # 2^32 - 1
.Llong_end:
  .quad 0x43e0000000000000                              # 2^63
simt_unsigned_last:
  .quad 0xffffffff

  .macro conversion name
  .text
  .p2align 4
  .globl \name
  .hidden \name
  .type \name, @function
\name:
  leaq -64(%rsp), %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movq %rax, 48(%rsp)
  .endm
  .macro end_conversion name
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movq 48(%rsp), %rax
  leaq 64(%rsp), %rsp
  ret
  .size \name, .-\name
  .endm

  .macro floats_to_int            # xmm0
  cvttps2dq %xmm0, %xmm1          # 0x80000000 if it is out of range or NaN
  movaps simt_int_end(%rip), %xmm2
  cmpleps %xmm0, %xmm2
  pxor %xmm2, %xmm1               # 0x7fffffff from 2^31 on
  cmpordps %xmm0, %xmm0
  pand %xmm0, %xmm1               # 0 if it is NaN
  movups %xmm1, 72(%rsp)
  .endm
  .macro doubles_to_int           # xmm0
  movaps simt_int_last(%rip), %xmm1
  minpd %xmm0, %xmm1              # NaN stays
  cvttpd2dq %xmm1, %xmm1
  movups %xmm1, 72(%rsp)
  .endm

  conversion simt_f32_to_s32
  movss 72(%rsp), %xmm0
  floats_to_int
  end_conversion simt_f32_to_s32

  conversion simt_f64_to_s32
  movsd 72(%rsp), %xmm0
  doubles_to_int
  end_conversion simt_f64_to_s32

  conversion simt_f32x4_to_s32
  movups 72(%rsp), %xmm0
  floats_to_int
  end_conversion simt_f32x4_to_s32

  conversion simt_f64x2_to_s32
  movups 72(%rsp), %xmm0
  doubles_to_int
  end_conversion simt_f64x2_to_s32

  conversion simt_f32x4_to_u31
  movups 72(%rsp), %xmm0
  xorps %xmm1, %xmm1
  maxps %xmm1, %xmm0              # NaN becomes 0
  floats_to_int
  end_conversion simt_f32x4_to_u31

  conversion simt_f64x2_to_u31
  movups 72(%rsp), %xmm1
  xorps %xmm0, %xmm0
  maxpd %xmm1, %xmm0              # NaN stays
  doubles_to_int
  end_conversion simt_f64x2_to_u31

  conversion simt_f32_to_u32
  cvtss2sd 72(%rsp), %xmm0
  xorps %xmm1, %xmm1
  maxsd %xmm1, %xmm0              # NaN becomes 0
  minsd .Lunsigned_last(%rip), %xmm0
  cvttsd2siq %xmm0, %rax
  movq %rax, 72(%rsp)
  end_conversion simt_f32_to_u32

  conversion simt_f64_to_u32
  movsd 72(%rsp), %xmm0
  xorps %xmm1, %xmm1
  maxsd %xmm0, %xmm1              # NaN stays
  movsd .Lunsigned_last(%rip), %xmm2
  minsd %xmm1, %xmm2
  cvttsd2siq %xmm2, %rax
  movq %rax, %xmm0
  pshufd $1, %xmm0, %xmm1         # the upper half, 0 unless it is NaN
  por %xmm1, %xmm0
  movq %xmm0, 72(%rsp)
  end_conversion simt_f64_to_u32

  .macro to_long                  # xmm0
  cvttsd2siq %xmm0, %rax
  movsd .Llong_end(%rip), %xmm1
  cmplesd %xmm0, %xmm1
  movq %rax, %xmm2
  pxor %xmm1, %xmm2
  movq %xmm2, 72(%rsp)
  .endm
  .macro at_least_0               # xmm0, and NaN stays
  xorps %xmm1, %xmm1
  maxsd %xmm0, %xmm1
  movaps %xmm1, %xmm0
  .endm

  conversion simt_f32_to_s64
  cvtss2sd 72(%rsp), %xmm0
  to_long
  end_conversion simt_f32_to_s64

  conversion simt_f64_to_s64
  movsd 72(%rsp), %xmm0
  to_long
  end_conversion simt_f64_to_s64

  conversion simt_f32_to_u64
  cvtss2sd 72(%rsp), %xmm0
  at_least_0
  to_long
  end_conversion simt_f32_to_u64

  conversion simt_f64_to_u64
  movsd 72(%rsp), %xmm0
  at_least_0
  to_long
  end_conversion simt_f64_to_u64
)");
