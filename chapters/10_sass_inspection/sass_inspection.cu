// # Chapter 10: SASS inspection
//
// Question: You wrote CUDA C++, and the GPU runs something else. What did the compiler make of it?
// Builds on: 05_bank_conflicts, 06_transpose
// Minutes: 30
// Afterwards: read SASS: registers, spills, wide loads and what fills a loop
// Kind: map
// Size gpu: 268435459
// Size simulator: 20011
// Run: ./learn run 10
//   ./learn run 10 --rung copy_scalar      a float per thread
//   ./learn run 10 --rung copy_float2      two floats with one access
//   ./learn run 10 --rung copy_float4      four floats with one access
//   ./learn run 10 --rung copy_struct      a struct of four floats, with and without alignas
//   ./learn run 10 --rung copy_misaligned  a float4 at an address that is no multiple of 16 [raises misaligned-access]
//   ./learn run 10 --rung copy_refused     the host refuses such an address before the launch
//   ./learn run 10 --rung copy_batch       several float4 in flight per thread
//   ./learn run 10 --rung copy_async       copied to shared memory without passing through registers
//   ./learn run 10 --rung copy_bulk        one thread starts the block's whole copy [needs sm_90a, cuda 12.9]
//   ./learn run 10 --rung window_aliased   adds four neighbours, through pointers that may alias
//   ./learn run 10 --rung window_restrict  the same kernel with __restrict__
//   ./learn run 10 --rung store_order      a loop that fills shared memory, rolled up and unrolled
//   ./learn run 10 --rung warps_or_loads   fewer and fewer warps on an SM, with one load or four each
//   ./learn run 10 --rung literal          a literal with and without its f
//   ./learn run 10 --rung indexed          an array in registers, with an index that nvcc knows or does not know
//   ./learn run 10 --rung quotient         a division by an argument and by a constant
//   ./learn run 10 --rung branch           lanes, or whole warps, that part at a branch
//   ./learn run 10 --rung hide_latency     one to eight warps per scheduler, with one to four chains of FMAs [needs gpu]
//   ./learn run 10 --rung register_banks   FMAs that read two or three registers, from one bank or two [needs gpu]
//   ./learn run 10 --rung clock_under_load how fast the clock is while the units idle or work [needs gpu]
//   ./learn run 10 --rung stall_reasons    a kernel for each reason to wait [needs gpu]

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lab/lab.h"

// Earlier chapters predicted speed from the source: bytes, sectors, wavefronts, FMAs. Sometimes the prediction was
// wrong, because the source is not what runs. nvcc drops, merges and reorders loads, and adds instructions that no
// line of the source shows. This chapter reads its output.
//
// The machine code of an NVIDIA GPU is called {term}`SASS`. The listings are nvcc 13.0's for sm_90a, the H200's
// architecture. Times are those of an H200 that copies 1 GiB; counts are for 20,011 floats.

constexpr unsigned BLOCK = 256;  ///< threads of a block

// ## 1. From source to machine code
//
// The shortest kernel that does anything:

/// out[i] = in[i].
///
/// Launch: one thread per element, in blocks of one dimension.
__global__ void copy_scalar(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// nvcc translates it in two steps. Its front end emits {term}`PTX`, the assembly language of a virtual GPU that has any
// number of registers. `ptxas` turns PTX into SASS for one real architecture: it allocates registers, picks
// instructions, and orders them. This is the middle of the PTX:
//
// ```{ptx} copy_scalar from=mov.u32 lines=14
// mov.u32  %r3, %ctaid.x;
// mov.u32  %r4, %ntid.x;
// mov.u32  %r5, %tid.x;
// mad.lo.s32  %r1, %r3, %r4, %r5;
// setp.ge.u32  %p1, %r1, %r2;
// @%p1 bra  $L__BB0_2;
// cvta.to.global.u64  %rd3, %rd2;
// mul.wide.u32  %rd4, %r1, 4;
// add.s64  %rd5, %rd3, %rd4;
// ld.global.f32  %f1, [%rd5];
// cvta.to.global.u64  %rd6, %rd1;
// add.s64  %rd7, %rd6, %rd4;
// st.global.f32  [%rd7], %f1;
// $L__BB0_2:
// ```
//
// PTX is [documented](https://docs.nvidia.com/cuda/parallel-thread-execution/) and stable, and a driver can compile
// it for a GPU that did not exist when the program was built (unless the target has an `a`, as this page's `sm_90a`). But registers, order and many instructions are decided
// later: to judge performance, read SASS. All of `copy_scalar`:
//
// ```{sass} copy_scalar lines=16
// 0000       LDC                R1, c[0x0][0x28]
// 0010       S2R                R0, SR_TID.X
// 0020       S2UR               UR4, SR_CTAID.X
// 0030       LDC                R7, c[0x0][RZ]
// 0040       IMAD               R7, R7, UR4, R0
// 0050       ULDC               UR4, c[0x0][0x220]
// 0060       ISETP.GE.U32.AND   P0, PT, R7, UR4, PT
// 0070   @P0 EXIT
// 0080       LDC.64             R2, c[0x0][0x218]
// 0090       ULDC.64            UR4, c[0x0][0x208]
// 00a0       LDC.64             R4, c[0x0][0x210]
// 00b0       IMAD.WIDE.U32      R2, R7, 0x4, R2
// 00c0       LDG.E              R3, desc[UR4][R2.64]
// 00d0       IMAD.WIDE.U32      R4, R7, 0x4, R4
// 00e0       STG.E              desc[UR4][R4.64], R3
// 00f0       EXIT
// ```
//
// ```{drawing} beside
// ```
//
// `./learn sass 10 --rung copy_scalar` prints it from your own compiler, with the source line above each instruction,
// and `./learn sass my.cu` does so for any file, by `cuobjdump -sass` and `nvdisasm`. `./learn setup --sass` brings
// an nvcc, without root. The link below a listing opens its kernel in Compiler Explorer, whose `Device Viewer` shows
// PTX and SASS. Another release of nvcc may choose other registers.
//
// ## 2. How to read an instruction
//
// From left to right, the line that loads the element has the address of the instruction, a predicate (here none),
// the operation with its modifiers, and the operands, the destination first:
//
// ```{sass} copy_scalar only=LDG
// 00c0       LDG.E              R3, desc[UR4][R2.64]
// ```
//
// - `LDG` loads from global memory. `.E` says that the address has 64 bits. Without a further modifier the width is 32
//   bits; `.64` and `.128` are wider, `.U8` or `.S16` narrower.
// - `R3` is the destination. `R0` to `R254` are 32-bit registers, one for each thread; `RZ` reads as zero. That 32
//   threads run it at once stands nowhere in the instruction.
// - `[R2.64]` is a 64-bit address in the pair `R2`, `R3`, read before the result overwrites half of it.
// - `desc[UR4]` is a memory descriptor from a pair of **uniform registers**. Such a register (`UR0` to `UR62` on this
//   architecture) has one value for the whole warp. What is the same for all threads, such as the size of a block, is
//   computed once per warp, by instructions that begin with U: `ULDC`, `UIADD3`, `USHF`.
//
// A predicate stands before the operation. `@P0 EXIT` ends the threads whose predicate `P0` is true: the guard `i < n`,
// inverted. `@!P0` runs an instruction where `P0` is false. There are seven, `P0` to `P6`, and `PT`, which is always
// true. A short `if` becomes predicated instructions, without a jump.
//
// Constants and arguments do not come from registers. `c[0x0][0x28]` is a word of constant bank 0, at byte 0x28. The
// launch places the block's extents there from byte 0 on (`c[0x0][RZ]` is the first), and, on this architecture, the
// kernel's arguments from byte 0x210 on. Reading them goes through the constant cache.
//
//? argument: `copy_scalar(out, in, n)` has two pointers of 8 bytes, then `n`. At which byte of `c[0x0]` is `n`?
//? choices: 0x210 | 0x214 | 0x218 | 0x220
//? answer: "0x220"
//
// The pointers are at 0x210 and 0x218, and `n` follows at 0x220: the `ULDC` before the comparison reads it. Then
// `IMAD.WIDE.U32` multiplies two 32-bit numbers, the index and 4, and adds a 64-bit number, the pointer in the register
// pair. That is a whole address computation. So a 32-bit unsigned index is cheap and a `size_t` is not: a 64-bit
// product takes several `IMAD`, and a 64-bit sum an `IADD3` and an `IADD3.X`, which adds the carry. (`__mul24` in old
// code was written for GPUs that multiplied 24 bits faster than 32.) In `copy` of chapter 06, whose index is a
// `size_t`, each half of the index is shifted by itself, and the carry is the predicate `P0`:
//
// ```{sass} 06:copy only=IMAD,SHF,IADD3 from=IMAD.SHL lines=4
// 00a0       IMAD.SHL.U32       R4, R2.reuse, 0x4, RZ
// 00c0       SHF.L.U64.HI       R0, R2, 0x2, R3
// 00e0       IADD3              R2, P0, R4, UR4, RZ
// 00f0       IADD3.X            R3, R0, UR5, RZ, P0, !PT
// ```
//
// (In listings for older GPUs the carry is a flag: `IADD.CC`, then `IADD.X`. `.HI` marks the upper half of a
// product.) All that matters where a loop is bound by the instructions that it issues, and not in a copy: that of
// chapter 06 takes 0.80 ms, `copy_scalar` takes 0.80 ms.
//= 0.80 ms, `copy_scalar` takes 0.80 ms: (ms("06:copy"), ms("copy_scalar"))
//
// Some of the 128 bits of an instruction (`nvdisasm -hex`) are control codes. NVIDIA does not document them.
// `./learn sass --json` decodes them as independent measurements agree: how many cycles to wait before the next
// instruction, and six **scoreboards**, the counters by which an instruction waits for a load. The hardware does not track the
// dependences of most arithmetic: `ptxas` knows that an `FFMA` takes four cycles (from Volta on) and writes the wait down.
//
// ### The instructions that you will meet
//
// | instruction | what it does |
// |---|---|
// | `S2R`, `S2UR` | reads a special register: `SR_TID.X`, `SR_CTAID.X`, the lane |
// | `LDC`, `ULDC` | loads from a constant bank: arguments, extents of the block, `__constant__` variables |
// | `IMAD`, `IMAD.WIDE` | integer multiply-add, also a plain product or a move |
// | `IADD3`, `LEA`, `LOP3`, `SHF` | sum of three, shifted sum, any logic function of three inputs, shift |
// | `ISETP`, `FSETP`, `BRA`, `EXIT` | compares and sets a predicate, jumps, ends |
// | `FFMA`, `FADD`, `FMUL`, `MUFU` | FP32: multiply-add, sum, product, reciprocals and roots |
// | `LDG`, `STG`, `LDS`, `STS` | load and store, of global and of shared memory |
// | `LDL`, `STL` | load and store of local memory: spills, and arrays with an unknown index |
// | `LDGSTS`, `UBLKCP` | asynchronous copies from global to shared memory: by each thread, in bulk |
// | `BAR.SYNC`, `SHFL`, `ATOMG`, `RED` | barrier, shuffle, atomics with and without a result |
// | `HMMA`, `HGMMA` | matrix products of the tensor cores, by a warp and by a warpgroup |
//
// ## 3. Wider accesses
//
// Of the 16 instructions of `copy_scalar`, one loads and one stores. The others test the guard and compute
// addresses. A thread that moves more bytes spreads their cost.
//= 16 instructions: sass("copy_scalar", "instructions")

/// Copies what is left of `n` elements behind the first `whole`: fewer than BLOCK.
__device__ void copy_tail(float* out, const float* in, unsigned n, unsigned whole) {
  const unsigned i = whole + threadIdx.x;
  if (blockIdx.x == 0 && i < n) out[i] = in[i];
}

/// out[i] = in[i], two elements per thread.
///
/// Launch: one thread per two elements, at least one block, in one dimension.
/// Requires: in and out are aligned to 8 bytes.
__global__ void copy_float2(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) reinterpret_cast<float2*>(out)[i] = reinterpret_cast<const float2*>(in)[i];
  copy_tail(out, in, n, n / 2 * 2);
}

/// out[i] = in[i], four elements per thread.
///
/// Launch: one thread per four elements, at least one block, in one dimension.
/// Requires: in and out are aligned to 16 bytes.
__global__ void copy_float4(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
  copy_tail(out, in, n, n / 4 * 4);
}

// A wide access needs an aligned address and a whole vector. So the first threads of block 0 copy the tail, at most
// one or three floats.
//
//? cost_of_four: `copy_scalar` has 16 instructions for 4 bytes per thread. How many instructions for each 4 bytes does
//?   `copy_float4` have, its tail included?
//? answer: sass("copy_float4", "instructions") / 4
//? unit: instructions
//? near: 25 %
//
// ```{sass} copy_float4 only=LDG,STG
// 00d0  @!P1 LDG.E.128          R4, desc[UR6][R4.64]
// 0120  @!P1 STG.E.128          desc[UR6][R2.64], R4
// 0170       LDG.E              R3, desc[UR6][R2.64]
// 0190       STG.E              desc[UR6][R4.64], R3
// ```
//
// The kernel has 27 instructions for 16 bytes, under 7 for each float instead of 16. Six belong to the tail, among
// them the second `LDG` and `STG`: most threads exit before them. `copy_float2` looks the same with `.64`.
//= 27 instructions for 16: (sass("copy_float4", "instructions"), 16)
//= under 7: sass("copy_float4", "instructions") / 4
//
// The cost is registers. The load writes `R4` to `R7`, four consecutive registers, of which the first has to be a
// multiple of four. `copy_scalar` takes 10 registers and `copy_float4` 14.
//= 10 registers: sass("copy_scalar", "registers")
//= 14: sass("copy_float4", "registers")
//
// The counters agree with the machine code: 626 load requests of the scalar kernel are 158 with `float4`, at about 16
// sectors each. The bytes are the same.
//= 626: count("copy_scalar", "global_load_requests")
//= 158: count("copy_float4", "global_load_requests")
//= 16: count("copy_float4", "global_load_sectors") / count("copy_float4", "global_load_requests")
//
// ### The type decides (second reading)
//
// What the compiler may assume about an address decides the width of the access, not the address at run time. Two
// structs have the same members:
//
//? plain_struct: With which loads does `copy_struct<PlainFloat4>` read its struct?
//? choices: one of 128 bits | two of 64 bits | four of 32 bits
//? answer: {"one of 128 bits": sass("copy_struct<PlainFloat4>", "LDG.128") == 1,
//?   "two of 64 bits": sass("copy_struct<PlainFloat4>", "LDG.64") == 2,
//?   "four of 32 bits": sass("copy_struct<PlainFloat4>", "LDG.32") == 4 + 1}

struct PlainFloat4 {  ///< four floats, aligned as one
  float x, y, z, w;
};
struct alignas(16) AlignedFloat4 {  ///< the same four floats, aligned to 16 bytes
  float x, y, z, w;
};

/// out[i] = in[i], one struct of four floats per thread.
///
/// @tparam Four  PlainFloat4 or AlignedFloat4
///
/// Launch: as copy_float4.
/// Requires: in and out are aligned as Four is.
template <class Four>
__global__ void copy_struct(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) reinterpret_cast<Four*>(out)[i] = reinterpret_cast<const Four*>(in)[i];
  copy_tail(out, in, n, n / 4 * 4);
}

// ```{sass} copy_struct<PlainFloat4> only=LDG
// 00d0  @!P1 LDG.E              R9, desc[UR6][R2.64]
// 00e0  @!P1 LDG.E              R11, desc[UR6][R2.64+0x4]
// 00f0  @!P1 LDG.E              R13, desc[UR6][R2.64+0x8]
// 0100  @!P1 LDG.E              R15, desc[UR6][R2.64+0xc]
// 01d0       LDG.E              R3, desc[UR6][R2.64]
// ```
//
// ```{sass} copy_struct<AlignedFloat4> only=LDG
// 00d0  @!P1 LDG.E.128          R4, desc[UR6][R4.64]
// 0170       LDG.E              R3, desc[UR6][R2.64]
// ```
//
// A `PlainFloat4` has the alignment of its members: its address may be any multiple of 4, and a 128-bit load from
// there would fail. So nvcc splits it. Neighbouring lanes are 16 bytes apart, and each of the four requests touches
// 16 sectors and uses a quarter of each. With `alignas(16)` it is one load. (The other `LDG` of both is the tail's.)
//
// ### What a misaligned pointer does (second reading)
//
//? misaligned: What happens if `copy_float4` is launched with `in + 1`?
//? choices: it is slower | it copies other elements | the launch fails
//? answer: "the launch fails"
//
// The hardware stops the kernel with `cudaErrorMisalignedAddress`, which is sticky: the process cannot use the GPU
// any more. The simulator names the line, the lane and the array:

/// Copies all elements but the first with copy_float4, from an address that is no multiple of 16 bytes.
void copy_misaligned(float* out, const float* in, unsigned n) {
  copy_float4<<<lab::tiles(n / 4 + 1, BLOCK), BLOCK>>>(out, in + 1, n - 1);
}

// `reinterpret_cast` promises what the compiler cannot check. Check it on the host, before the launch:

/// Throws std::invalid_argument, which names the array, unless `pointer` is a multiple of `alignment` bytes.
void require_aligned(const char* name, const void* pointer, std::size_t alignment) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(pointer) % alignment;
  if (past != 0) {
    throw std::invalid_argument(
        lab::format("%s is %zu bytes past a multiple of %zu, and the copy's accesses need one",
                    name, past, alignment));
  }
}

/// Copies with copy_float4 where it may, and with copy_scalar otherwise; returns why, "" if it could.
///
/// Launch: as many blocks of BLOCK threads as either needs.
std::string copy_refused(float* out, const float* in, unsigned n) {
  try {
    require_aligned("in", in, sizeof(float4));
    require_aligned("out", out, sizeof(float4));
  } catch (const std::invalid_argument& error) {
    copy_scalar<<<lab::tiles(n, BLOCK), BLOCK>>>(out, in, n);
    return error.what();
  }
  copy_float4<<<lab::tiles(n / 4 + 1, BLOCK), BLOCK>>>(out, in, n);
  return "";
}

/// Copies element 0 alone and the others with copy_refused, whose refusal it returns.
std::string copy_in_two(float* out, const float* in, unsigned n) {
  copy_scalar<<<1, 1>>>(out, in, n);
  return n == 1 ? "" : copy_refused(out + 1, in + 1, n - 1);
}

// The rung passes `in + 1`, and the scalar kernel copies. Every public function that takes a pointer and loads
// vectors needs such a check, or a prologue of single elements up to the first aligned one.
//
// ## 4. Several in flight
//
// Chapter 06 found two reasons for a slow copy: wasted sectors, and too few bytes in flight. A `float4` puts 16 bytes
// in flight per thread, and several loads before the first store put more.
//
//? batch_registers: `copy_batch<1>` takes 16 registers. How many does `copy_batch<8>` take?
//? answer: sass("copy_batch<8u>", "registers")
//? unit: registers
//? near: 25 %

/// out[i] = in[i], LOADS float4 per thread, all of them loaded before the first is stored.
///
/// Launch: blocks of BLOCK for every LOADS x BLOCK float4, at least one.
/// Requires: in and out are aligned to 16 bytes.
template <unsigned LOADS>
__global__ void __launch_bounds__(BLOCK) copy_batch(float* out, const float* in, unsigned n) {
  const auto* const from = reinterpret_cast<const float4*>(in);
  auto* const to = reinterpret_cast<float4*>(out);
  const unsigned first = blockIdx.x * LOADS * BLOCK + threadIdx.x, float4s = n / 4;
  float4 four[LOADS];
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k) {
    if (first + k * BLOCK < float4s) four[k] = from[first + k * BLOCK];
  }
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k) {
    if (first + k * BLOCK < float4s) to[first + k * BLOCK] = four[k];
  }
  copy_tail(out, in, n, float4s * 4);
}

// ```{sass} copy_batch<4u> only=LDG,STG
// 0120  @!P4 LDG.E.128          R16, desc[UR6][R28.64]
// 0140  @!P3 LDG.E.128          R12, desc[UR6][R22.64]
// 0170  @!P1 LDG.E.128          R4, desc[UR6][R24.64]
// 01b0  @!P2 LDG.E.128          R8, desc[UR6][R28.64]
// 0260  @!P4 STG.E.128          desc[UR6][R26.64], R16
// 0270  @!P3 STG.E.128          desc[UR6][R24.64], R12
// 0280  @!P2 STG.E.128          desc[UR6][R22.64], R8
// 0290  @!P1 STG.E.128          desc[UR6][R20.64], R4
// 02e0       LDG.E              R5, desc[UR6][R4.64]
// 0300       STG.E              desc[UR6][R2.64], R5
// ```
//
// No instruction between the four loads needs what they load. That is what "in flight" looks like in SASS: *look for
// the first instruction that reads the destination of a load, and count the loads before it.* All are predicated,
// each by its own guard. The first store reads the registers of the first load: there a warp waits.
//
// Eight loads hold 32 registers until they are stored, and guards and addresses live as long: 48 registers in all. Of
// an SM's 65,536 that leaves room for five blocks of 256 threads instead of eight. **Wide loads can reduce
// parallelism:** each thread has more in flight, and there are fewer threads. Here the product still grows: 40 warps
// of 128 bytes per lane have more in flight than 64 of 16.
//= 48 registers: sass("copy_batch<8u>", "registers")
//= five: 65536 // (256 * sass("copy_batch<8u>", "registers"))
//= 40: 8 * (65536 // (256 * sass("copy_batch<8u>", "registers")))
//
//? best_batch: Which of the copies is the fastest on an H200?
//? choices: copy_scalar | copy_float4 | copy_batch with 4 loads | copy_async with 4 loads
//? answer: {"copy_scalar": ms("copy_scalar") < min(ms("copy_float4"), ms("copy_batch/loads=4"),
//?   ms("copy_async/loads=4")),
//?   "copy_float4": ms("copy_float4") < min(ms("copy_scalar"), ms("copy_batch/loads=4"), ms("copy_async/loads=4")),
//?   "copy_batch with 4 loads": ms("copy_batch/loads=4") < min(ms("copy_scalar"), ms("copy_float4"),
//?   ms("copy_async/loads=4")),
//?   "copy_async with 4 loads": ms("copy_async/loads=4") < min(ms("copy_scalar"), ms("copy_float4"),
//?   ms("copy_batch/loads=4"))}
//
// **Timed.** `copy_scalar` has 8 KiB in flight. By Little's law that allows 0.78 of the rate of `cudaMemcpy`; it reaches 0.63,
// `copy_float2` 0.92 and `copy_float4` 1.01. The plain struct has the same bytes in flight in four instructions, and
// reaches 0.99. More bytes than needed gain nothing: two, four and eight loads per thread reach 0.98, 0.96 and 0.97.
// Why it is even a little less was not measured; on an H100 two and eight loads reach 1.00 and 0.99. One `float4` per
// thread is all that a copy needs. (A sum, which only reads, gains another 2 % from four of them: chapter 07.)
//= 1.00 and 0.99: (ratio("copy_batch/loads=2", gpu="h100"), ratio("copy_batch/loads=8", gpu="h100"))
//= another 2 %: 100 * (ms("07:vectors/loads=1") / ms("07:vectors/loads=4") - 1)
//= 8 KiB: 64 * 32 * 4 / 1024
//= 0.78: 64 * 32 * 4 / 1e3 / (2 * ms("02:memory_latency/global memory") * 2.1 / 132)
//= 0.63: ratio("copy_scalar")
//= 0.92 and: ratio("copy_float2")
//= and `copy_float4` 1.01: ratio("copy_float4")
//= 0.99: ratio("copy_struct/plain")
//= 0.98, 0.96: (ratio("copy_batch/loads=2"), ratio("copy_batch/loads=4"))
//= and 0.97: ratio("copy_batch/loads=8")
//
// ### Copies that pass no registers (second reading)
//
// An asynchronous copy goes from global to shared memory past the registers.

/// out[i] = in[i], LOADS float4 per thread, through shared memory and not through registers.
///
/// Launch, Requires: as copy_batch.
template <unsigned LOADS>
__global__ void __launch_bounds__(BLOCK) copy_async(float* out, const float* in, unsigned n) {
  __shared__ float4 staged[LOADS][BLOCK];
  const auto* const from = reinterpret_cast<const float4*>(in);
  const unsigned t = threadIdx.x, first = blockIdx.x * LOADS * BLOCK + t, float4s = n / 4;
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k) {
    if (first + k * BLOCK < float4s)
      __pipeline_memcpy_async(&staged[k][t], &from[first + k * BLOCK], 16);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);  // a thread reads only what it copied itself: no barrier
#pragma unroll
  for (unsigned k = 0; k < LOADS; ++k) {
    if (first + k * BLOCK < float4s)
      reinterpret_cast<float4*>(out)[first + k * BLOCK] = staged[k][t];
  }
  copy_tail(out, in, n, float4s * 4);
}

// ```{sass} copy_async<4u> only=LDGSTS,LDGDEPBAR,DEPBAR,LDS,STG
// 01e0  @!PT LDS                RZ, [RZ]
// 01f0  @!PT LDS                RZ, [RZ]
// 0200  @!PT LDS                RZ, [RZ]
// 0210  @!P4 LDGSTS.E.BYPASS.128 [R26], desc[UR6][R6.64]
// 02d0  @!P3 LDGSTS.E.BYPASS.128 [R17+0x1000], desc[UR6][R8.64]
// 02f0  @!P2 LDGSTS.E.BYPASS.128 [R19+0x2000], desc[UR6][R10.64]
// 0310  @!P1 LDGSTS.E.BYPASS.128 [R29+0x3000], desc[UR6][R14.64]
// 0340       LDGDEPBAR
// 0390       DEPBAR.LE          SB0, 0x0
// 03a0  @!P4 LDS.128            R4, [R26]
// 03b0  @!P3 LDS.128            R8, [R26+0x1000]
// 03d0  @!P2 LDS.128            R12, [R26+0x2000]
// ```
//
// The three `LDS` at the top never run: `!PT` is never true. NVIDIA does not document what they are for.
//
// `LDGSTS` is the load and the store to shared memory in one. `.BYPASS` says that no copy of the data stays in L1.
// `LDGDEPBAR` closes the group and `DEPBAR` waits for it. A copy gains nothing, since `copy_float4` is already as fast
// as `cudaMemcpy`. Chapter 11 uses it where the data is needed in shared memory anyway.
//
// On Hopper one thread starts a copy of 16 KiB with a single instruction (`copy_bulk`, in `sass_inspection_hopper.cu`):
//
// ```{sass} copy_bulk only=UBLKCP,SYNCS
// 0190       SYNCS.EXCH.64      URZ, [UR9], UR4
// 01d0       SYNCS.ARRIVE.TRANS64 RZ, [R5+URZ], R2
// 0220       UBLKCP.S.G         [UR8], [UR4], UR7
// 0270       SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+URZ], R4
// 02e0       UBLKCP.G.S         [UR4], [UR7], UR8
// 0400       SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+URZ], R4
// ```
//
// The number of bytes is an operand of `UBLKCP`. `SYNCS` works on the {term}`mbarrier` that counts the bytes as they
// arrive. `copy_bulk` reaches 0.96 of `cudaMemcpy`, as `copy_async` does with four loads.
//= 0.96: ratio("copy_bulk")
//= 0.96 of `cudaMemcpy`, as `copy_async`: ratio("copy_async/loads=4")
//
// ## 5. Loads that wait for stores
//
// Does a store through one pointer change what the next load finds through another? Unless the compiler can rule it
// out, it keeps the order of the source.
//
//? stores: `window_aliased` adds four elements. How many stores does its machine code have?
//? answer: sass("window_aliased", "STG")
//? unit: stores
//? near: exact

/// out[i] = in[i] + in[i + 1] + in[i + 2] + in[i + 3], the last element standing for those behind it.
///
/// Launch: as copy_scalar.
__global__ void window_aliased(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i];
#pragma unroll
  for (unsigned k = 1; k < 4; ++k) {
    out[i] += in[min(i + k, n - 1)];
  }
}

/// The same; nothing that is read is written.
///
/// Launch: as copy_scalar.
/// Requires: out and in do not overlap.
__global__ void window_restrict(float* __restrict__ out, const float* __restrict__ in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i];
#pragma unroll
  for (unsigned k = 1; k < 4; ++k) {
    out[i] += in[min(i + k, n - 1)];
  }
}

/// What both have to leave at place i.
struct WindowSum {
  lab::View<float> in;
  __host__ __device__ float operator()(std::size_t i) const {
    float sum = in[i];
    for (std::size_t k = 1; k < 4; ++k) sum += in[i + k < in.size() ? i + k : in.size() - 1];
    return sum;
  }
};

// ```{sass} window_aliased only=LDG,FADD,STG
// 00c0       LDG.E              R7, desc[UR4][R6.64]
// 0110       STG.E              desc[UR4][R4.64], R7
// 0120       LDG.E              R8, desc[UR4][R8.64]
// 0150       FADD               R15, R7, R8
// 0160       STG.E              desc[UR4][R4.64], R15
// 0170       LDG.E              R10, desc[UR4][R10.64]
// 01a0       FADD               R13, R15, R10
// 01b0       STG.E              desc[UR4][R4.64], R13
// 01c0       LDG.E              R2, desc[UR4][R2.64]
// 01d0       FADD               R7, R13, R2
// 01e0       STG.E              desc[UR4][R4.64], R7
// ```
//
// Each partial sum is stored, because the next load might read it, and each load waits behind the store before it.
// With `__restrict__` the signature says that the arrays do not overlap.
//
// ```{sass} window_restrict only=LDG,FADD,STG
// 0100       LDG.E.CONSTANT     R3, desc[UR4][R2.64]
// 0120       LDG.E.CONSTANT     R6, desc[UR4][R6.64]
// 0140       LDG.E.CONSTANT     R9, desc[UR4][R8.64]
// 0160       LDG.E.CONSTANT     R11, desc[UR4][R10.64]
// 0180       FADD               R0, R6, R3
// 0190       FADD               R0, R0, R9
// 01a0       FADD               R3, R0, R11
// 01b0       STG.E              desc[UR4][R4.64], R3
// ```
//
// Four loads in a row, three sums, one store. `LDG.E.CONSTANT` loads data that is not written while the kernel runs,
// and needs no order against stores. If the arrays overlap after all, the results are wrong, and no message tells
// you.
//
// **Timed.** 0.83 ms instead of 1.14.
//= 0.83 ms instead of 1.14: (ms("window_restrict"), ms("window_aliased"))
//
// `./learn sass 10 --diff window_aliased window_restrict` puts the two side by side. The simulator counts what the
// source says, four stores per element in both; `./learn explain` notes where nvcc made fewer. A sum in a local
// variable, stored once, gives the same code without the promise, and is better style.
//
// ## 6. The order of a loop's loads and stores (second reading)
//
// Every kernel since chapter 03 fills a tile of shared memory in a loop: load an element, store it to the tile, eight
// times. How often does it wait?
//
//? order: With `#pragma unroll 8`, how many of the eight loads stand before the first store to shared memory?
//? choices: one | two | four | eight
//? answer: sass("store_order<8>", "LDG")

/// Reverses every run of 8 x BLOCK elements, through shared memory.
///
/// @tparam UNROLL  how many steps of the two loops are written out
///
/// Launch: a block of BLOCK for every 8 x BLOCK elements.
template <int UNROLL>
__global__ void __launch_bounds__(BLOCK) store_order(float* out, const float* in, unsigned n) {
  constexpr unsigned RUN = 8 * BLOCK;
  __shared__ float run[RUN];
  const unsigned t = threadIdx.x, first = blockIdx.x * RUN, count = min(RUN, n - first);
#pragma unroll UNROLL
  for (unsigned k = 0; k < 8; ++k) {
    if (t + k * BLOCK < count) run[t + k * BLOCK] = in[first + t + k * BLOCK];
  }
  __syncthreads();  // the run is here
#pragma unroll UNROLL
  for (unsigned k = 0; k < 8; ++k) {
    if (t + k * BLOCK < count) out[first + t + k * BLOCK] = run[count - 1 - t - k * BLOCK];
  }
}

/// What it has to leave at place i.
struct ReversedRuns {
  lab::View<float> in;
  __host__ __device__ float operator()(std::size_t i) const {
    const std::size_t run = 8 * BLOCK, first = i / run * run, left = in.size() - first;
    return in[first + (left < run ? left : run) - 1 - (i - first)];
  }
};

// Rolled up, each iteration waits for its own load before it stores.
//
// ```{sass} store_order<1> in=loop
// 00d0       ISETP.GE.U32.AND   P0, PT, R5, R8, PT
// 00e0  @!P0 LDC.64             R2, c[0x0][0x218]
// 00f0  @!P0 IMAD.WIDE.U32      R2, R7, 0x4, R2
// 0100  @!P0 LDG.E              R3, desc[UR6][R2.64]
// 0110       VIADD              R6, R6, 0x1
// 0120       IADD3              R7, R7, 0x100, RZ
// 0130       VIADD              R5, R5, 0x100
// 0140  @!P0 STS                [R4], R3
// 0150       ISETP.NE.AND       P0, PT, R6, 0x8, PT
// 0160       VIADD              R4, R4, 0x400
// 0170   @P0 BRA                0xd0
// ```
//
// *Where* does it wait? The control codes (section 2) say what each instruction waits for, which scoreboard (`SB0` to
// `SB5`) it holds until its result is written or its operands are read, and how many cycles pass before the next one
// may issue:
//
// ```{sass} store_order<1> in=loop control=yes
// 00d0       ISETP.GE.U32.AND   P0, PT, R5, R8, PT      13 cycles
// 00e0  @!P0 LDC.64             R2, c[0x0][0x218]       SB0 until written; 2 cycles
// 00f0  @!P0 IMAD.WIDE.U32      R2, R7, 0x4, R2         waits for SB0; 6 cycles
// 0100  @!P0 LDG.E              R3, desc[UR6][R2.64]    SB2 until written; 1 cycle
// 0110       VIADD              R6, R6, 0x1             1 cycle
// 0120       IADD3              R7, R7, 0x100, RZ       1 cycle
// 0130       VIADD              R5, R5, 0x100           1 cycle
// 0140  @!P0 STS                [R4], R3                waits for SB2; SB0 until read; 2 cycles
// 0150       ISETP.NE.AND       P0, PT, R6, 0x8, PT     1 cycle
// 0160       VIADD              R4, R4, 0x400           waits for SB0; 12 cycles
// 0170   @P0 BRA                0xd0                    5 cycles
// ```
//
// `LDG` holds `SB2` until `R3` is written, and `STS`, four instructions further on, waits for it. `IMAD.WIDE` waits
// for the pointer in the same way, `VIADD` until `STS` has read the address that it is about to change. The rest are
// cycles that `ptxas` counted: 45 in one iteration, where a load takes 650 from global memory. So an iteration is
// mostly that one wait.
//= 45 in one: 13 + 2 + 6 + 1 + 1 + 1 + 1 + 2 + 1 + 12 + 5
//= 650 from: round(1.98 * ms("02:memory_latency/global memory"), -1)
//
// With two steps per iteration `ptxas` moves the second load above the first store, since global and shared memory
// never alias. Eight waits become four.
//
// ```{sass} store_order<2> in=loop only=LDG,STS,BRA
// 0160  @!P1 LDG.E              R5, desc[UR6][R4.64]
// 0180  @!P0 LDG.E              R3, desc[UR6][R2.64]
// 01d0  @!P0 STS                [R8+-0x400], R3
// 01f0  @!P1 STS                [R8], R5
// 0210   @P0 BRA                0x100
// ```
//
// Unrolled eight times, one wait is left:
//
// ```{sass} store_order<8> only=LDG,STS,BAR lines=17
// 0240  @!P4 LDG.E              R16, desc[UR6][R16.64]
// 0270  @!P5 LDG.E              R8, desc[UR6][R20.64]
// 02f0  @!P3 LDG.E              R18, desc[UR6][R18.64]
// 0330  @!P2 LDG.E              R14, desc[UR6][R14.64]
// 0350  @!P1 LDG.E              R10, desc[UR6][R10.64]
// 0370  @!P0 LDG.E              R6, desc[UR6][R6.64]
// 0390  @!P6 LDG.E              R4, desc[UR6][R4.64]
// 03a0  @!P5 LDG.E              R22, desc[UR6][R2.64]
// 0470  @!P5 STS                [R13+0x400], R8
// 0490  @!P4 STS                [R13+0x800], R16
// 04a0  @!P3 STS                [R13+0xc00], R18
// 04b0  @!P2 STS                [R13+0x1000], R14
// 04c0  @!P1 STS                [R13+0x1400], R10
// 04d0  @!P0 STS                [R13+0x1800], R6
// 04e0  @!P6 STS                [R13], R4
// 0500  @!P5 STS                [R13+0x1c00], R22
// 0510       BAR.SYNC.DEFER_BLOCKING 0x0
// ```
//
// The order of independent accesses is free. What counts is that the compiler *can* unroll: the number of iterations
// must be known, and no store may be in the way.
//
// **Timed.** 0.69 ms with one step, 0.57 with two, 0.52 with eight.
//= 0.69 ms with one step, 0.57: (ms("store_order/unroll=1"), ms("store_order/unroll=2"))
//= 0.52 with eight: ms("store_order/unroll=8")
//
// The price is registers, from 13 to 32, and code.
//= 13 to 32: (sass("store_order<1>", "registers"), sass("store_order<8>", "registers"))
//
// ## 7. The inner loops of chapters 02 to 05
//
// A product's time is spent in one loop. An SM of the H200 issues four instructions per cycle and can start as many
// FMAs, so each other instruction takes the place of one. (So do Ada and Blackwell. Volta, Turing and the A100 start
// two FMAs per cycle.) The share of `FFMA` in the loop is a ceiling:
//
//     132 SMs * 4 FMAs of a warp * 64 operations * 1.98 GHz = 66.9 TFLOP/s, times the share
//= 66.9 TFLOP/s: 132 * 4 * 64 * 1.98 / 1000
//
//? naive_share: Each step of `naive_flat` along K has two loads and one FMA. Which part of its unrolled loop are FMAs?
//? answer: 100 * sass("02:naive_flat", "FFMA", "loop") / sass("02:naive_flat", "instructions", "loop")
//? unit: %
//? near: 25 %
//
// 13 %, not a third: four FMAs, eight loads, and 19 instructions for addresses and the loop itself.
//= 13 %: 100 * sass("02:naive_flat", "FFMA", "loop") / sass("02:naive_flat", "instructions", "loop")
//= 19 instructions: sass("02:naive_flat", "instructions", "loop") - sass("02:naive_flat", "FFMA", "loop") -
//=   sass("02:naive_flat", "LDG", "loop")
//
//? tile_share: And of `thread_tile_2d` of chapter 04, where a thread computes 8 x 8 elements?
//? answer: 100 * sass("04:thread_tile_2d", "FFMA", "loop") / sass("04:thread_tile_2d", "instructions", "loop")
//? unit: %
//? near: 10 %
//
// ```{drawing} mix
// ```
//
// | kernel | registers | ceiling, TFLOP/s | measured at 4096 |
// |---|--:|--:|--:|
// | `naive_flat` | 32 | 8.6 | 5.3 |
// | `shared_tiles`, tile=32 | 31 | 21.6 | 8.2 |
// | `thread_tile_1d` | 49 | 38.6 | 16.6 |
// | `thread_tile_2d` | 128 | 56.2 | 30.9 |
// | `thread_tile_float4` | 128 | 57.8 | 34.5 |
// | `warp_tile`, BK=8 | 119 | 57.6 | 42.5 |
//= | 32 | 8.6 | 5.3 |: sass("02:naive_flat", "registers"),
//=   66.9 * sass("02:naive_flat", "FFMA", "loop") /
//=   sass("02:naive_flat", "instructions", "loop"), rate("02:naive_flat") / 1000
//= | 31 | 21.6 | 8.2 |: sass("03:shared_tiles<32>", "registers"),
//=   66.9 * sass("03:shared_tiles<32>", "FFMA", "loop") /
//=   sass("03:shared_tiles<32>", "instructions", "loop"), rate("03:shared_tiles/tile=32") / 1000
//= | 49 | 38.6 | 16.6 |: sass("04:thread_tile_1d", "registers"),
//=   66.9 * sass("04:thread_tile_1d", "FFMA", "loop") /
//=   sass("04:thread_tile_1d", "instructions", "loop"), rate("04:thread_tile_1d") / 1000
//= | 128 | 56.2 | 30.9 |: sass("04:thread_tile_2d", "registers"),
//=   66.9 * sass("04:thread_tile_2d", "FFMA", "loop") /
//=   sass("04:thread_tile_2d", "instructions", "loop"), rate("04:thread_tile_2d") / 1000
//= | 128 | 57.8 | 34.5 |: sass("04:thread_tile_float4<8, 2>", "registers"),
//=   66.9 * sass("04:thread_tile_float4<8, 2>", "FFMA", "loop") /
//=   sass("04:thread_tile_float4<8, 2>", "instructions", "loop"), rate("04:thread_tile_float4") / 1000
//= | 119 | 57.6 | 42.5 |: sass("05:product<Transposed<8, 4>, InPairs<4>, true>", "registers"),
//=   66.9 * sass("05:product<Transposed<8, 4>, InPairs<4>, true>", "FFMA", "loop") /
//=   sass("05:product<Transposed<8, 4>, InPairs<4>, true>", "instructions", "loop"), rate("05:warp_tile/BK=8") / 1000
//
// **A ceiling is not a prediction.** No kernel reaches its own, which assumes that some warp can issue in every
// cycle. The rest is lost to waiting: for loads from global memory in `naive_flat`, where 0.61 of a warp's time goes
// to `long_scoreboard`, and for the queue of shared memory in `shared_tiles`, 0.46 for `mio_throttle` (section 12; counted at
// about 1.5 GHz, where memory is fewer cycles away).
// The loop of the latter has 32 `LDS` of 32 bits and 8 of 128 bits, one wavefront each, since a warp reads a row of
// one tile and a single float of the other. 40 wavefronts for 32 FMAs, one per cycle: a ceiling of 13.4 TFLOP/s.
// Compute both and take the lower.
//= where 0.61 of: ncu("02:naive_flat", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio") /
//=   ncu("02:naive_flat", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.46 for `mio_throttle`: ncu("03:shared_tiles/tile=32",
//=   "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio") /
//=   ncu("03:shared_tiles/tile=32", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 32 `LDS` of 32 bits and 8 of 128: (sass("03:shared_tiles<32>", "LDS.32", "loop"), 32, sass("03:shared_tiles<32>",
//=   "LDS.128", "loop"), 128)
//= 40 wavefronts for 32: (sass("03:shared_tiles<32>", "LDS", "loop"), sass("03:shared_tiles<32>", "FFMA", "loop"))
//= 13.4 TFLOP/s: 132 * 64 * 1.98 / 1000 * 32 / 40
//
// **The width of an `LDS` is found, not written.** The source of `shared_tiles` reads one float at a time; nvcc
// merged four reads of a row into one `LDS.128`. There the bound of chapter 03 went wrong.
//
// **Equal code, different speed.** `thread_tile_float4` and `warp_tile` have nearly the same loop. They differ in the
// addresses that the lanes read: bank conflicts show in the simulator's counters, not in SASS.
//
// ### Register banks and `.reuse` (second reading)
//
// A piece of the loop of `thread_tile_2d`:
//
// ```{sass} 04:thread_tile_2d in=loop from=FFMA lines=8
// 0b80       FFMA               R52, R20.reuse, R25, R49
// 0b90       FFMA               R53, R20.reuse, R26, R50
// 0ba0       FFMA               R122, R20.reuse, R24, R48
// 0bb0       FFMA               R55, R20.reuse, R28, R105
// 0bc0       FFMA               R54, R20.reuse, R29, R106
// 0bd0       FFMA               R124, R20, R31, R108
// 0be0       LDS.128            R48, [R11+0x60]
// 0bf0       FFMA               R114, R32, R27.reuse, R99
// ```
//
// An FMA reads three registers. NVIDIA does not document how they are stored. On Volta, microbenchmarks found two banks, for even
// and odd numbers, and one more cycle where all three operands lie in one (Z. Jia and others, 2018); on Turing, Ampere and Blackwell two
// banks that give one register a cycle, with a cache of one entry for each bank and operand (R. Huerta and others, "Dissecting and
// Modeling the Architecture of Modern GPU Cores", MICRO 2025). `register_banks` (in `sass_inspection_gpu.cu`) has loops of 256 FMAs.
// The source suggests their registers by 16-byte loads, and ptxas keeps even and odd; the order it changes, so that FMAs of both kinds
// alternate in places. What the loops take on an H200 follows, nearly, from three rules:
//
// - **A bank gives one register in a cycle.** There are two, for even and odd numbers. Two operands from one bank take two
//   cycles, three take three.
// - **`.reuse` keeps a register** in a cache with a place for each of the three operands and each bank. The next instruction
//   with that register as the same operand does not read it.
// - **Two FMAs in a row overlap.** While one waits for the even bank, the next may read from the odd one, but the one after that
//   may not.
//
// The table has, for each FMA, the registers that are read, the cycles by these rules and the cycles measured, with one, two
// and four warps for each scheduler:
//
// | what an FMA reads | registers | by the rules | 1 warp | 2 warps | 4 warps |
// |---|--:|--:|--:|--:|--:|
// | one even, one odd | 2.11 | 1.07 | 1.14 | 1.11 | 1.11 |
// | both even or odd, not equal modulo 4 | 2.11 | 1.80 | 1.94 | 1.90 | 1.90 |
// | both even or odd, most equal modulo 4 | 2.11 | 1.80 | 1.94 | 1.91 | 1.90 |
// | three, two even or two odd in turn | 3.00 | 1.50 | 1.55 | 1.51 | 1.51 |
// | three, two of them even or odd | 3.00 | 1.83 | 1.93 | 1.90 | 1.90 |
// | all three even or odd | 3.00 | 2.68 | 2.82 | 2.79 | 2.78 |
//= | 2.11 | 1.07 | 1.14 | 1.11 | 1.11 |: (sass("register_banks<(Reads)0>", "register reads", "FFMA") / 256,
//=   sass("register_banks<(Reads)0>", "cycles", "FFMA") / 256,
//=   1.98e6 / 8192 / 256 / 1 * ms("register_banks/reads=two, 1 apart, warps=1"),
//=   1.98e6 / 8192 / 256 / 2 * ms("register_banks/reads=two, 1 apart, warps=2"),
//=   1.98e6 / 8192 / 256 / 4 * ms("register_banks/reads=two, 1 apart, warps=4"))
//= | 2.11 | 1.80 | 1.94 | 1.90 | 1.90 |: (sass("register_banks<(Reads)1>", "register reads", "FFMA") / 256,
//=   sass("register_banks<(Reads)1>", "cycles", "FFMA") / 256,
//=   1.98e6 / 8192 / 256 / 1 * ms("register_banks/reads=two, 2 apart, warps=1"),
//=   1.98e6 / 8192 / 256 / 2 * ms("register_banks/reads=two, 2 apart, warps=2"),
//=   1.98e6 / 8192 / 256 / 4 * ms("register_banks/reads=two, 2 apart, warps=4"))
//= | 2.11 | 1.80 | 1.94 | 1.91 | 1.90 |: (sass("register_banks<(Reads)2>", "register reads", "FFMA") / 256,
//=   sass("register_banks<(Reads)2>", "cycles", "FFMA") / 256,
//=   1.98e6 / 8192 / 256 / 1 * ms("register_banks/reads=two, 4 apart, warps=1"),
//=   1.98e6 / 8192 / 256 / 2 * ms("register_banks/reads=two, 4 apart, warps=2"),
//=   1.98e6 / 8192 / 256 / 4 * ms("register_banks/reads=two, 4 apart, warps=4"))
//= | 3.00 | 1.50 | 1.55 | 1.51 | 1.51 |: (sass("register_banks<(Reads)4>", "register reads", "FFMA") / 256,
//=   sass("register_banks<(Reads)4>", "cycles", "FFMA") / 256,
//=   1.98e6 / 8192 / 256 / 1 * ms("register_banks/reads=three, in turn, warps=1"),
//=   1.98e6 / 8192 / 256 / 2 * ms("register_banks/reads=three, in turn, warps=2"),
//=   1.98e6 / 8192 / 256 / 4 * ms("register_banks/reads=three, in turn, warps=4"))
//= | 3.00 | 1.83 | 1.93 | 1.90 | 1.90 |: (sass("register_banks<(Reads)3>", "register reads", "FFMA") / 256,
//=   sass("register_banks<(Reads)3>", "cycles", "FFMA") / 256,
//=   1.98e6 / 8192 / 256 / 1 * ms("register_banks/reads=three, warps=1"),
//=   1.98e6 / 8192 / 256 / 2 * ms("register_banks/reads=three, warps=2"),
//=   1.98e6 / 8192 / 256 / 4 * ms("register_banks/reads=three, warps=4"))
//= | 3.00 | 2.68 | 2.82 | 2.79 | 2.78 |: (sass("register_banks<(Reads)5>", "register reads", "FFMA") / 256,
//=   sass("register_banks<(Reads)5>", "cycles", "FFMA") / 256,
//=   1.98e6 / 8192 / 256 / 1 * ms("register_banks/reads=three alike, warps=1"),
//=   1.98e6 / 8192 / 256 / 2 * ms("register_banks/reads=three alike, warps=2"),
//=   1.98e6 / 8192 / 256 / 4 * ms("register_banks/reads=three alike, warps=4"))
//
// With four warps for a scheduler the loops take 1 to 6 % more than by the rules, with one up to 8. By Volta's rule all lines but the
// last would be at 1. With four banks the second would be faster than the third. Without the overlap, the fourth would take as
// long as the fifth. There the third rule is exact; elsewhere a part of the overlap that it promises is missing, and why is not
// known. Nsight Compute calls the wait a *dispatch stall*: with
// four warps for a scheduler it takes 0.63 of a warp's time where all three are even or odd, and 0.08 where one is even and one odd.
//= 1 to 6 % more: (100 * (1.98e6 / 8192 / 4 * ms("register_banks/reads=three, in turn, warps=4") /
//=   sass("register_banks<(Reads)4>", "cycles", "FFMA") - 1),
//=   100 * (1.98e6 / 8192 / 4 * ms("register_banks/reads=two, 4 apart, warps=4") /
//=   sass("register_banks<(Reads)2>", "cycles", "FFMA") - 1))
//= up to 8: 100 * (1.98e6 / 8192 * ms("register_banks/reads=two, 2 apart, warps=1") /
//=   sass("register_banks<(Reads)1>", "cycles", "FFMA") - 1)
//= because second would be faster: abs(ms("register_banks/reads=two, 2 apart, warps=4") / ms("register_banks/reads=two, 4 apart, warps=4") - 1) < 0.01
//= because the fourth would take: ms("register_banks/reads=three, in turn, warps=4") < 0.85 * ms("register_banks/reads=three, warps=4")
//= takes 0.63 of: ncu("register_banks/reads=three alike, warps=4", "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio") /
//=   ncu("register_banks/reads=three alike, warps=4", "smsp__average_warp_latency_per_inst_issued.ratio")
//= and 0.08 where: ncu("register_banks/reads=two, 1 apart, warps=4", "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio") /
//=   ncu("register_banks/reads=two, 1 apart, warps=4", "smsp__average_warp_latency_per_inst_issued.ratio")
//
// In an outer product each element of a row meets eight columns, and 382 instructions of the loop above carry the flag. You cannot set
// it in CUDA C++, nor choose a register; ptxas does both. Little reuse hints that the tile
// of a thread is too small.
//= 382 instructions: sass("04:thread_tile_2d", "reuse", "loop")
//
// ## 8. Registers, shared memory, occupancy
//
// The compiler's report, `nvcc -Xptxas -v`, says what a launch needs, `cuobjdump -res-usage` the same of a binary. An
// SM of the H200 holds as many blocks as the least of:
//
// - threads: 2048 over the threads of a block;
// - registers: 65,536 over registers times threads, where a warp's registers are rounded up to a multiple of 256;
// - shared memory: 228 KiB over what a block asks for, 1 KiB more for each block;
// - 32 blocks.
//
// For `store_order<8>`, in blocks of 256 threads, the report is:
//
// ```text
// ptxas info    : Function properties for _Z11store_orderILi8EEvPfPKfj
//     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// ptxas info    : Used 32 registers, used 1 barriers, 8192 bytes smem
// ```
//
// 256 threads of 32 registers are 8,192 of 65,536: 8 blocks, as by threads; shared memory would allow 25. One
// register more would be rounded up to 40, and leave room for 6.
//= 32 registers are 8,192 of 65,536: (sass("store_order<8>", "registers"), 256 * sass("store_order<8>", "registers"), 65536)
//
// {term}`Occupancy <occupancy>` is the number of warps that fit, divided by the 64 that an SM has room for.
// `cudaOccupancyMaxActiveBlocksPerMultiprocessor` computes it at run time, and `./learn sass` prints it.
//
//? squeezed: `__launch_bounds__(256, 3)` asks for three blocks of 256 threads on an SM. How many registers may a thread
//?   of `thread_tile_float4` then use?
//? answer: sass("04:thread_tile_float4<8, 3>", "registers")
//? unit: registers
//? near: 10 %
//
// 65,536 / 768 is 85, and registers come in steps of 8: 80. The kernel takes 128 when it may. What does not fit goes
// to local memory, with 1,836 bytes of spill stores and loads in the code:
//= 85: 65536 / 768
//= 80: sass("04:thread_tile_float4<8, 3>", "registers")
//= 128: sass("04:thread_tile_float4<8, 2>", "registers")
//= 1,836 bytes: sass("04:thread_tile_float4<8, 3>", "spills")
//
// ```{sass} "04:thread_tile_float4<8, 3>" in=loop only=LDL,STL lines=6
// 06e0       LDL.64             R20, [R1+0xd8]
// 06f0       LDL.LU             R11, [R1+0x7c]
// 0700       LDL.LU             R10, [R1+0x80]
// 0710       LDL                R29, [R1+0xb8]
// 0880       LDL.64             R26, [R1+0xd0]
// 0a40       LDL                R29, [R1+0xe0]
// ```
//
// In a slow kernel look for `LDL` and `STL` in the inner loop first. This one has 365 of them beside 512 `FFMA`, and
// runs at a sixth of the speed. To end spills: ask for fewer blocks, give a thread a smaller tile, unroll less, and
// never index a thread's own array by a value that the compiler does not know.
//= 365 of them: sass("04:thread_tile_float4<8, 3>", "LDL", "loop") + sass("04:thread_tile_float4<8, 3>", "STL", "loop")
//= 512 `FFMA`: sass("04:thread_tile_float4<8, 3>", "FFMA", "loop")
//= a sixth: rate("04:launch_bounds/blocks=3") / rate("04:launch_bounds/blocks=2")
//
// ### More warps, or more work for each (second reading)
//
// Latency is hidden by other warps, which is what occupancy is for, or by independent instructions of the same warp.
// `warps_or_loads` varies both: it launches `copy_batch` with 1 or 4 loads per thread, and limits the warps of an SM
// to 8, 16, 32 or 64 by asking for shared memory that it does not use.
//
//? tradeoff: 8 warps on an SM with 4 loads in flight per thread, or 32 warps with one: which is faster?
//? choices: 8 warps with 4 loads | 32 warps with one load | they differ by less than 10 %
//? answer: {"8 warps with 4 loads": ms("warps_or_loads/warps=8, loads=4") / ms("warps_or_loads/warps=32, loads=1")
//?   < 0.9,
//?   "32 warps with one load": ms("warps_or_loads/warps=8, loads=4") / ms("warps_or_loads/warps=32, loads=1") > 1.11,
//?   "they differ by less than 10 %": 0.9 < ms("warps_or_loads/warps=8, loads=4") /
//?   ms("warps_or_loads/warps=32, loads=1") < 1.11}

/// Dynamic shared memory that leaves room for `blocks` blocks on an SM.
std::size_t shared_for(unsigned blocks) {
  const int share = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) /
                        static_cast<int>(blocks) -
                    lab::device_attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  return static_cast<std::size_t>(
      std::min(share, lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
}

/// Launches copy_batch with at most `blocks` blocks on an SM.
///
/// Launch: blocks of BLOCK, each with an SM's shared memory over `blocks`; with none for 8, which fit anyway.
template <unsigned LOADS>
void warps_or_loads(float* out, const float* in, unsigned n, unsigned blocks) {
  const std::size_t shared = blocks == 8 ? 0 : shared_for(blocks);
  CUDA_CHECK(cudaFuncSetAttribute(copy_batch<LOADS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared)));
  copy_batch<LOADS><<<lab::tiles(n / 4 + 1, LOADS * BLOCK), BLOCK, shared>>>(out, in, n);
}

// Both have 16 KiB in flight per SM when all threads have issued their loads, and Little's law sees no other difference:
// 0.63 and 0.58 ms, 8 % apart.
//= 16 KiB: 8 * 32 * 4 * 16 / 1024
//= 0.63 and 0.58 ms, 8 % apart: (ms("warps_or_loads/warps=8, loads=4"), ms("warps_or_loads/warps=32, loads=1"),
//=   100 * (ms("warps_or_loads/warps=8, loads=4") / ms("warps_or_loads/warps=32, loads=1") - 1))
//
//     bytes in flight = warps * 32 * loads * 16
//
// Chapter 06 found that 11 KB have to be in flight at any time. 8 warps with one load have 4 KiB and can reach 0.39
// of the rate. They reach 0.33. Whether the difference is the gap between two blocks was not measured.
//= 11 KB: 2 * ms("02:memory_latency/global memory") * 2.1 / 132
//= 4 KiB: 8 * 32 * 16 / 1024
//= 0.39: 8 * 32 * 16 / 1e3 / (2 * ms("02:memory_latency/global memory") * 2.1 / 132)
//= reach 0.33: ratio("warps_or_loads/warps=8, loads=1")
//
// **Timed.** In milliseconds:
//
// | warps of an SM | 8 | 16 | 32 | 64 |
// |---|--:|--:|--:|--:|
// | one load | 1.54 | 0.89 | 0.58 | 0.50 |
// | four loads | 0.63 | 0.54 | 0.52 | 0.52 |
//= | one load | 1.54 | 0.89 | 0.58 | 0.50 |: (ms("warps_or_loads/warps=8, loads=1"),
//=   ms("warps_or_loads/warps=16, loads=1"), ms("warps_or_loads/warps=32, loads=1"),
//=   ms("warps_or_loads/warps=64, loads=1"))
//= | four loads | 0.63 | 0.54 | 0.52 | 0.52 |: (ms("warps_or_loads/warps=8, loads=4"),
//=   ms("warps_or_loads/warps=16, loads=4"), ms("warps_or_loads/warps=32, loads=4"),
//=   ms("warps_or_loads/warps=64, loads=4"))
//
// The same holds for arithmetic. An FMA takes four cycles, and a scheduler can start one in each, so it needs four
// independent FMAs: of four warps, or of one warp with four chains. `hide_latency` (in `sass_inspection_gpu.cu`)
// measures warps times chains.
//
//? two_by_two: 1 warp per scheduler with 4 chains of FMAs, 2 warps with 2, or 4 warps with 1: which is the fastest?
//? choices: 1 warp with 4 chains | 2 warps with 2 chains | 4 warps with 1 chain | they differ by less than 10 %
//? answer: {"1 warp with 4 chains": 1.1 * ms("hide_latency/warps=1, chains=4") <
//?   min(ms("hide_latency/warps=2, chains=2"), ms("hide_latency/warps=4, chains=1")),
//?   "2 warps with 2 chains": 1.1 * ms("hide_latency/warps=2, chains=2") < min(ms("hide_latency/warps=1, chains=4"),
//?   ms("hide_latency/warps=4, chains=1")),
//?   "4 warps with 1 chain": 1.1 * ms("hide_latency/warps=4, chains=1") < min(ms("hide_latency/warps=1, chains=4"),
//?   ms("hide_latency/warps=2, chains=2")),
//?   "they differ by less than 10 %": max(ms("hide_latency/warps=1, chains=4"), ms("hide_latency/warps=2, chains=2"),
//?   ms("hide_latency/warps=4, chains=1")) < 1.1 * min(ms("hide_latency/warps=1, chains=4"),
//?   ms("hide_latency/warps=2, chains=2"), ms("hide_latency/warps=4, chains=1"))}
//
// Each has four independent FMAs per scheduler and the same number in all. With one warp and one chain three of four
// cycles are lost, and 0.22 of the rate is left that `lab` measures for FMAs. The three ways to four reach 0.85, 0.84
// and 0.77. The loop has other instructions, too, more of them for each FMA with fewer chains: with eight warps the same loops
// reach 0.96, 0.92 and 0.84. What costs the rest, 8 to 10 cycles an iteration, was not measured. The threads of chapter 04 have 64 chains each, which is why four warps per scheduler suffice there.
//= 0.22 of: rate("hide_latency/warps=1, chains=1") / limit("fma")
//= 0.85, 0.84 and 0.77: (rate("hide_latency/warps=1, chains=4") / limit("fma"),
//=   rate("hide_latency/warps=2, chains=2") / limit("fma"), rate("hide_latency/warps=4, chains=1") / limit("fma"))
//= 0.96, 0.92 and 0.84: (rate("hide_latency/warps=8, chains=4") / limit("fma"),
//=   rate("hide_latency/warps=8, chains=2") / limit("fma"), rate("hide_latency/warps=8, chains=1") / limit("fma"))
//
// So high occupancy is one way to hide latency, never an end in itself. The products of chapter 05 run at 25 % of it.
// A kernel with few independent instructions, such as a search in a tree, needs all the warps that it can get.
//= because one way to hide latency: rate("hide_latency/warps=4, chains=1") > 3 * rate("hide_latency/warps=1, chains=1")
//
// ## 9. The accidents of your own code
//
// Each rung of this section has one accident and the same code without it.
//
// ### A literal without its f
//
//? literal: How many times as many instructions does `literal` have with `0.1` in place of `0.1f`?
//? answer: sass("literal<true>", "instructions") / sass("literal<false>", "instructions")
//? unit: times
//? near: 30 %

constexpr int STEPS = 32;  ///< operations for each element

/// out[i] = STEPS times x = 0.1 x + 0.5, of x = in[i].
///
/// @tparam DOUBLE  the literals lack their f
///
/// Launch: as copy_scalar.
template <bool DOUBLE>
__global__ void literal(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    if constexpr (DOUBLE) {
      x = x * 0.1 + 0.5;
    } else {
      x = x * 0.1f + 0.5f;
    }
  }
  out[i] = x;
}

// ```{sass} literal<true> only=F2F,DFMA,FFMA lines=3
// 00e0       F2F.F64.F32        R6, R12
// 00f0       DFMA               R6, R6, R2, 0.5
// 0100       F2F.F32.F64        R6, R6
// ```
//
// `0.1` is a `double`, so `x` becomes one, and the result a float again: three instructions in place of one `FFMA`.
// An SM of the H200 starts 64 double FMAs per cycle, half as many as FP32 ones, but only 16 conversions to or from 64
// bits; on a GeForce it starts 2 of either (CUDA C++ Programming Guide, throughput of arithmetic instructions). 64
// conversions for each element take the SMs 4.1 ms at least, when a copy of as many elements takes half a
// millisecond. `./learn explain` names such a line.
//= 64 conversions for each element take the SMs 4.1 ms: (2 * 32, 2 * 32 * 268435459 / (132 * 16 * 1.98e9) * 1000)
//
// ### An array with an index that nvcc does not know
//
// Registers have no addresses. An array whose elements are chosen at run time lies in local memory, behind the same
// L1 as global memory.
//
//? indexed: `indexed` adds the 16 elements of an array in registers, starting at an index that is an argument
//?   of the kernel. How many `STL` and `LDL` instructions does that take in all?
//? answer: sass("indexed<false>", "STL") + sass("indexed<false>", "LDL")
//? unit: instructions
//? near: 100 %

/// out[i] = x_0 + ... + x_15, of x_k = in[i] + k, added from element `start` on and around.
///
/// @tparam KNOWN  `start` is 0, as nvcc sees
///
/// Launch: as copy_scalar.
template <bool KNOWN>
__global__ void indexed(float* out, const float* in, unsigned n, unsigned start) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x[16];
  x[0] = in[i];
#pragma unroll
  for (unsigned k = 1; k < 16; ++k) x[k] = x[0] + static_cast<float>(k);
  float sum = 0;
#pragma unroll
  for (unsigned k = 0; k < 16; ++k) sum += x[(k + (KNOWN ? 0 : start)) % 16];
  out[i] = sum;
}

// ```{sass} indexed<false> only=STL,LDL lines=6
// 01d0       STL.128            [R1+0x10], R12
// 0250       STL.128            [R1+0x20], R16
// 0260       STL.128            [R1], R4
// 0280       STL.128            [R1+0x30], R8
// 02b0       LDL                R0, [R15]
// 0300       LDL                R2, [R13]
// ```
//
// Stores, 4 `STL.128`, write the array, and 16 `LDL` read it back. After
// unrolling, every index has to be a constant; `-Xptxas -v` reports a *stack frame* where one is not.
//= 4 `STL.128`: sass("indexed<false>", "STL")
//= 16 `LDL`: sass("indexed<false>", "LDL")
//
// ### A quotient by a variable (second reading)
//
// No NVIDIA GPU divides integers in one instruction.
//
//? quotient: How many instructions does `quotient` have in its loop, for one `/` and one `%` by an argument?
//? answer: sass("quotient<false>", "instructions", "loop")
//? unit: instructions
//? near: 50 %

/// out[i] = in[i] + h / 1024, where h is i after STEPS times h = 3 (h % divisor) + h / divisor.
///
/// @tparam KNOWN  the divisor is 1009, as nvcc sees
///
/// Launch: as copy_scalar.
/// Requires: divisor > 0.
template <bool KNOWN>
__global__ void quotient(float* out, const float* in, unsigned n, unsigned divisor) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned d = KNOWN ? 1009 : divisor;
  unsigned h = i;
#pragma unroll 1
  for (int step = 0; step < STEPS; ++step) h = 3 * (h % d) + h / d;
  out[i] = in[i] + static_cast<float>(h) / 1024;
}

// nvcc moves the reciprocal of the argument out of the loop: `I2F`, `MUFU.RCP` and eight more. What remains are 15
// instructions with the loop's own: a product with the reciprocal and two corrections, for `/` and for `%`. A divisor
// that nvcc knows becomes a product with a constant and a shift, 9 instructions with the loop's own. A known power of
// two takes a shift and a mask.
//= 15 instructions: sass("quotient<false>", "instructions", "loop")
//= 9 instructions: sass("quotient<true>", "instructions", "loop")
//
// ### A branch that parts a warp (second reading)
//
// Chapter 01 counted the cost of divergence. In SASS it looks like this:

/// out[i] = STEPS times x = x^2 - 0.5, or x = 0.5 - x^2 for every other one, of x = in[i].
///
/// @tparam BY_WARP  whole warps take turns, else neighbouring lanes
///
/// Launch: as copy_scalar.
template <bool BY_WARP>
__global__ void branch(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  if ((BY_WARP ? i / 32 : i) % 2 == 0) {
#pragma unroll 1
    for (int step = 0; step < STEPS; ++step) x = x * x - 0.5f;
  } else {
#pragma unroll 1
    for (int step = 0; step < STEPS; ++step) x = 0.5f - x * x;
  }
  out[i] = x;
}

// ```{sass} branch<false> only=BSSY,BRA,BSYNC,FFMA lines=9
// 00d0       BSSY               B0, 0x1d0
// 00f0   @P0 BRA                0x170
// 0100       FFMA               R7, -R7, R7, 0.5
// 0130       FFMA               R7, -R7, R7, 0.5
// 0150   @P0 BRA                0x120
// 0160       BRA                0x1c0
// 0190       FFMA               R7, R7, R7, -0.5
// 01b0   @P0 BRA                0x180
// 01c0       BSYNC              B0
// ```
//
// `BSSY B0` names the place where the warp comes together again, in a *convergence barrier* `B0`. The lanes whose
// predicate is true jump to the second loop, the others go through the first; at `BSYNC B0` each half waits for the
// other. So both loops run, one after the other. With `BY_WARP` each warp takes one of them only.
//
// ## 10. Inline PTX (second reading)
//
// `asm` puts a PTX instruction into a kernel ([manual](https://docs.nvidia.com/cuda/inline-ptx-assembly/)). Use it where CUDA
// C++ has no function:
//
//     unsigned lane;
//     asm("mov.u32 %0, %%laneid;" : "=r"(lane));                                   // which lane am I?
//     asm("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(pointer));                  // as __ldg(pointer)
//     asm("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(x) : "l"(pointer));      // not kept in L1
//     asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(pointer), "f"(x) : "memory"); // streaming: evict first
//
// `"r"` is a 32-bit register, `"l"` a 64-bit one, `"f"` a float. `volatile` forbids dropping or moving it among other
// volatile ones; `"memory"` says that it changes memory. `ptxas` schedules it like any other instruction. Prefer an
// intrinsic where there is one: `__ldg`, `__ldcs`, `__stcs`, `cuda::ptx`. The simulator runs these lines, too; what
// PTX it lacks it says at compile time.
//
// ## 11. How fast is the clock? (second reading)
//
// Ceilings in this course assume 1.98 GHz, the H200's highest clock. A GPU lowers it when it would draw more power
// than it may. `clock_under_load` lets 20 million cycles pass while the units idle, all FMA units work, or the memory
// is read; its time says how long a cycle was. Run it before you compare cycles with seconds. Our H200 held 1.97 GHz
// under all three, with the launch in the time; the driver says 1.98. `ncu` holds the clock at its base unless it is told
// `--clock-control none`.
//= held 1.97 GHz: 20e6 / ms("clock_under_load/load=none") / 1e6
//= driver says 1.98: clock("clock_under_load/load=fma") / 1000
//= because held 1.97 GHz: max(ms("clock_under_load/load=fma"), ms("clock_under_load/load=memory")) <
//=   1.002 * ms("clock_under_load/load=none")
//
// That says little about power: the loads run for 10 ms each, operands that do not change draw less power than random
// ones (H. He, "Strangely, matrix multiplications on GPUs run faster when given predictable data", 2024), and the
// tensor cores, under which an H200 does lower its clock, are not among the loads.
//= run for 10 ms: ms("clock_under_load/load=fma")
//
// ## 12. Why does a warp wait? (second reading)
//
// Nsight Compute samples what each warp waits for, `smsp__average_warps_issue_stalled_NAME`; `./learn profile` prints
// the three that matter most. `stall_reasons` has a small kernel for each of the first twelve.
//
// | stall reason | the warp waits for | the kernel | its part in another kernel |
// |---|---|---|---|
// | `long_scoreboard` | a load from global or local memory | each load needs the one before | 0.79 of `naive_along_columns`, chapter 02 |
// | `short_scoreboard` | shared memory, special functions | the same in shared memory | – |
// | `mio_throttle` | a full queue of shared-memory instructions | 16 `LDS` in a row, 64 warps | 0.46 of `wide_reads`, chapter 03 |
// | `lg_throttle` | a full queue of global and local accesses | 16 `LDG` of 32 sectors in a row | 0.62 of `naive_along_rows`, chapter 02 |
// | `barrier` | other warps at `__syncthreads` | 31 warps wait for one | 0.19 of `vectors`, chapter 06 |
// | `membar` | a fence | `__threadfence` after each store | – |
// | `wait` | the fixed latency that the control code states | one warp, one chain of `FFMA` | – |
// | `math_pipe_throttle` | a busy unit | `SHF` and `LOP3`, half as fast as a warp issues | 0.08 of `naive_flat`, chapter 02 |
// | `not_selected` | nothing: another warp was chosen | 16 warps with eight chains each | 0.49 of `async_copy`, chapter 11 |
// | `branch_resolving` | the target of a jump | calls of a function that does nothing | – |
// | `no_instruction` | the instruction cache | a loop of 192 KiB of `FFMA` | – |
// | `sleeping` | its own `__nanosleep` | `__nanosleep` in a loop | – |
// | `dispatch_stall` | a register that its bank has not given yet (section 7) | `register_banks` | 0.10 of `async_copy`, chapter 11 |
// | `drain` | its last stores, before it ends | – | 0.05 of `vectors`, chapter 06 |
//= 192 KiB: 12288 * 16 / 1024
//= 0.79 of `naive_along_columns`: ncu("02:naive_along_columns/block=32x32",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio") /
//=   ncu("02:naive_along_columns/block=32x32", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.46 of `wide_reads`: ncu("03:wide_reads",
//=   "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio") /
//=   ncu("03:wide_reads", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.62 of `naive_along_rows`: ncu("02:naive_along_rows",
//=   "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio") /
//=   ncu("02:naive_along_rows", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.19 of `vectors`: ncu("06:vectors/along=out",
//=   "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio") /
//=   ncu("06:vectors/along=out", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.08 of `naive_flat`: ncu("02:naive_flat",
//=   "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio") /
//=   ncu("02:naive_flat", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.49 of `async_copy`: ncu("11:async_copy",
//=   "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio") /
//=   ncu("11:async_copy", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.10 of `async_copy`: ncu("11:async_copy",
//=   "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio") /
//=   ncu("11:async_copy", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.05 of `vectors`: ncu("06:vectors/along=out",
//=   "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio") /
//=   ncu("06:vectors/along=out", "smsp__average_warp_latency_per_inst_issued.ratio")
//
// **Measured.** The part of a warp's time that goes to the reason of its kernel: 0.94 for `barrier`, 0.91 for `mio_throttle`,
// 0.87 for `lg_throttle`, 0.88 for `not_selected`, 0.85 for `long_scoreboard`, 0.84 for `membar`, 0.81 for `no_instruction`,
// 0.79 for `sleeping`, 0.70 for `short_scoreboard`, 0.66 for `wait`, 0.57 for `branch_resolving`. With
// `math_pipe_throttle` it is 0.41, and the same again for `not_selected`: the warps that could issue wait for each
// other. Between two jumps, 0.30 of a warp's time goes to `wait`.
//= 0.94 for `barrier`: ncu("stall_reasons/barrier",
//=   "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio") /
//=   ncu("stall_reasons/barrier", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.91 for `mio_throttle`: ncu("stall_reasons/mio_throttle",
//=   "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio") /
//=   ncu("stall_reasons/mio_throttle", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.87 for `lg_throttle`: ncu("stall_reasons/lg_throttle",
//=   "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio") /
//=   ncu("stall_reasons/lg_throttle", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.88 for `not_selected`: ncu("stall_reasons/not_selected",
//=   "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio") /
//=   ncu("stall_reasons/not_selected", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.85 for `long_scoreboard`: ncu("stall_reasons/long_scoreboard",
//=   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio") /
//=   ncu("stall_reasons/long_scoreboard", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.84 for `membar`: ncu("stall_reasons/membar",
//=   "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio") /
//=   ncu("stall_reasons/membar", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.81 for `no_instruction`: ncu("stall_reasons/no_instruction",
//=   "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio") /
//=   ncu("stall_reasons/no_instruction", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.79 for `sleeping`: ncu("stall_reasons/sleeping",
//=   "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio") /
//=   ncu("stall_reasons/sleeping", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.70 for `short_scoreboard`: ncu("stall_reasons/short_scoreboard",
//=   "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio") /
//=   ncu("stall_reasons/short_scoreboard", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.66 for `wait`: ncu("stall_reasons/wait",
//=   "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio") /
//=   ncu("stall_reasons/wait", "smsp__average_warp_latency_per_inst_issued.ratio")
//= 0.57 for `branch_resolving`: ncu("stall_reasons/branch_resolving",
//=   "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio") /
//=   ncu("stall_reasons/branch_resolving", "smsp__average_warp_latency_per_inst_issued.ratio")
//= it is 0.41: ncu("stall_reasons/math_pipe_throttle",
//=   "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio") /
//=   ncu("stall_reasons/math_pipe_throttle", "smsp__average_warp_latency_per_inst_issued.ratio")
//= jumps, 0.30: ncu("stall_reasons/branch_resolving",
//=   "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio") /
//=   ncu("stall_reasons/branch_resolving", "smsp__average_warp_latency_per_inst_issued.ratio")
//
// A stall matters only if no other warp can issue. Ask first how many cycles issued nothing, then why.
//
//? latency_or_queue: 64 warps of an SM read floats, each lane from a sector of its own, 16 loads in a row without a dependence. What
//?   do they wait for: their loads, or a place in the queue?
//? choices: long_scoreboard | lg_throttle
//? answer: {"long_scoreboard": ncu("stall_reasons/lg_throttle",
//?   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio") >
//?   ncu("stall_reasons/lg_throttle",
//?   "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio"),
//?   "lg_throttle": ncu("stall_reasons/lg_throttle",
//?   "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio") > ncu("stall_reasons/lg_throttle",
//?   "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio")}
//
// `stall_reasons` with `lg_throttle` is this kernel. An SM finishes a load every 330 cycles, and the queue in front is
// short. That all SMs ask for the same 4 KiB may be why it takes so long; that was not measured.
//= 330 cycles: round(1.98e6 * ms("stall_reasons/lg_throttle") / 65536, -1)

namespace {

/// Prints how many blocks of a kernel fit on an SM.
template <class Kernel>
void print_occupancy(const char* name, Kernel kernel, std::size_t shared) {
  int blocks = 0;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared)));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, BLOCK, shared));
  const int threads = lab::device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  std::printf("  %-14s %3zu KiB of dynamic shared memory: %d blocks, %d of %d warps\n", name,
              shared / 1024, blocks, blocks * static_cast<int>(BLOCK) / 32, threads / 32);
}

/// The limits that `warps_or_loads` sets by shared memory.
void print_occupancies() {
  for (const unsigned blocks : {1u, 2u, 4u, 8u}) {
    print_occupancy("copy_batch<4>", copy_batch<4>, blocks == 8 ? 0 : shared_for(blocks));
  }
}

/// The launch of a kernel each of whose threads copies so many elements.
auto each(unsigned floats, void (*kernel)(float*, const float*, unsigned), unsigned n) {
  return lab::launcher(kernel, lab::tiles(floats == 1 ? n : n / floats + 1, BLOCK), BLOCK, n);
}

/// That of `store_order`.
auto in_runs(void (*kernel)(float*, const float*, unsigned), unsigned n) {
  return lab::launcher(kernel, lab::tiles(n, 8 * BLOCK), BLOCK, n);
}

/// x after STEPS steps of `literal`, of `branch` for thread i, or h after those of `quotient`.
struct Steps {
  enum class Kind { literal, branch, quotient } kind;
  lab::View<float> in;
  std::size_t lanes = 1;  ///< neighbours that take the same branch
  __host__ __device__ float operator()(std::size_t i) const {
    float x = in[i];
    unsigned h = static_cast<unsigned>(i);
    for (int step = 0; step < STEPS; ++step) {
      if (kind == Kind::literal) x = x * 0.1f + 0.5f;
      if (kind == Kind::branch) x = i / lanes % 2 == 0 ? x * x - 0.5f : 0.5f - x * x;
      h = 3 * (h % 1009) + h / 1009;
    }
    return kind == Kind::quotient ? in[i] + static_cast<float>(h) / 1024 : x;
  }
};

/// Options of `warps_or_loads`: the last one prints occupancies.
lab::MapOptions shown(bool last) {
  lab::MapOptions options;
  if (last) options.show = print_occupancies;
  return options;
}

/// What `indexed` has to leave: x + (x + 1) + ... + (x + 15).
struct SumOf16 {
  lab::View<float> in;
  __host__ __device__ float operator()(std::size_t i) const { return 16 * in[i] + 120; }
};

/// The launch of a kernel of section 9.
template <class Kernel, class... Rest>
auto on_all(Kernel kernel, unsigned n, Rest... rest) {
  return lab::launcher(kernel, lab::tiles(n, BLOCK), BLOCK, n, rest...);
}

/// What `copy_refused` says.
struct Refused {
  float* const out;
  const float* const in;
  const unsigned n;
  const lab::Expectation right;
  std::string refusal = {};

  void launch() { refusal = copy_in_two(out, in, n); }
  std::vector<lab::Expectation> outputs() { return {right}; }
  void show() { std::printf("  refused: %s\n", refusal.c_str()); }
};

using CopyKernel = void (*)(float*, const float*, unsigned);
/// Kernels by how many elements a thread copies.
struct OfSize {
  unsigned floats;
  CopyKernel kernel;
};
using BoundedCopy = void (*)(float*, const float*, unsigned, unsigned);
constexpr std::pair<int, BoundedCopy> BOUNDED[] = {{1, warps_or_loads<1>}, {4, warps_or_loads<4>}};
constexpr OfSize BATCHES[] = {
    {4, copy_batch<1>}, {8, copy_batch<2>}, {16, copy_batch<4>}, {32, copy_batch<8>}};
constexpr std::pair<int, CopyKernel> ORDERS[] = {
    {1, store_order<1>}, {2, store_order<2>}, {8, store_order<8>}};

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::Ladder& ladder, std::size_t size) {
    ladder.require(size < std::size_t{1} << 31, "n: fewer than 2^31");
    ladder.skip_unless(size >= 5, {"copy_misaligned"}, "a float4 after the first element needs 5");
    lab::Map<float> map(ladder, size);
    const auto in = map.in;  // what a copy has to leave
    const auto n = static_cast<unsigned>(size);

    map.add("copy_scalar", in, each(1, copy_scalar, n));
    map.add("copy_float2", in, each(2, copy_float2, n));
    map.add("copy_float4", in, each(4, copy_float4, n));
    map.add("copy_struct", "plain", in, each(4, copy_struct<PlainFloat4>, n));
    map.add("copy_struct", "aligned", in, each(4, copy_struct<AlignedFloat4>, n));
    map.demonstrate("copy_misaligned", lab::bind_back(copy_misaligned, n));
    ladder.add("copy_refused",
               Refused{map.d_out.data(), map.d_in.data(), n, lab::expect(map.d_out, map.d_in)},
               {.timed = false});
    for (const auto& [floats, kernel] : BATCHES)
      map.add("copy_batch", lab::variant_name("loads", floats / 4), in, each(floats, kernel, n));
    map.add("copy_async", "loads=1", in, each(4, copy_async<1>, n));
    map.add("copy_async", "loads=4", in, each(16, copy_async<4>, n));
    lab::add_others(map);

    map.add("window_aliased", WindowSum{in}, each(1, window_aliased, n));
    map.add("window_restrict", WindowSum{in}, each(1, window_restrict, n));
    for (const auto& [unroll, kernel] : ORDERS)
      map.add("store_order", lab::variant_name("unroll", unroll), ReversedRuns{in},
              in_runs(kernel, n));
    const lab::MapOptions steps{.tolerance = lab::tolerance_for_roundings(2 * STEPS)};
    const Steps literals{Steps::Kind::literal, in}, quotients{Steps::Kind::quotient, in};
    const Steps lanes{Steps::Kind::branch, in, 1}, warps{Steps::Kind::branch, in, 32};
    map.add("literal", "double", literals, on_all(literal<true>, n), steps);
    map.add("literal", "float", literals, on_all(literal<false>, n), steps);
    map.add("indexed", "start=argument", SumOf16{in}, on_all(indexed<false>, n, 5), steps);
    map.add("indexed", "start=0", SumOf16{in}, on_all(indexed<true>, n, 0), steps);
    map.add("quotient", "divisor=argument", quotients, on_all(quotient<false>, n, 1009));
    map.add("quotient", "divisor=1009", quotients, on_all(quotient<true>, n, 1009));
    map.add("branch", "by=lane", lanes, on_all(branch<false>, n), steps);
    map.add("branch", "by=warp", warps, on_all(branch<true>, n), steps);
    for (const unsigned blocks : {1u, 2u, 4u, 8u})
      for (const auto& [loads, copy] : BOUNDED)
        map.add("warps_or_loads", lab::format("warps=%u, loads=%d", 8 * blocks, loads), in,
                lab::bind_back(copy, n, blocks), shown(loads == 4 && blocks == 8));
  });
}

// ## What to remember
//
// - Read SASS, not PTX, to judge speed. `./learn sass` needs nvcc and no GPU.
// - The type decides the width: `alignas(16)` and an address that keeps the promise. Check it on the host.
// - Loads in flight are the loads before the first instruction that reads one of them.
// - Sum in a local variable, or promise `__restrict__`. A store that may alias holds up every load behind it.
// - Give loops a constant number of iterations, so that nvcc can unroll them and put the loads first.
// - The share of `FFMA` in the inner loop is a ceiling, the wavefronts of its `LDS` another. Take the lower.
// - `LDL` or `STL` in a loop: end that first. Look for `F2F`, `DFMA` and `CALL`, too: few of them are meant.
// - Occupancy hides latency, and so does independent work. Bytes in flight count, not warps.
//= because Occupancy hides latency, and so does independent work: rate("hide_latency/warps=4, chains=1") >
//=   3 * rate("hide_latency/warps=1, chains=1") and rate("hide_latency/warps=1, chains=4") >
//=   3 * rate("hide_latency/warps=1, chains=1")
//
// ## Possibilities for extension
//
// 1. `./learn sass 05 --rung warp_tile --arch sm_75`: which instructions does an older GPU need more of?
// 2. Make the index of `copy_scalar` a `std::size_t`. How many instructions does that cost, and why?
// 3. Give `copy_batch` a path without guards for whole blocks. Which instructions vanish, and does the clock show it?
// 4. Compile `thread_tile_2d` with `-Xptxas -O1`. What becomes of the FFMA share, and of `.reuse`?
// 5. Open `copy_batch<4u>` in Compiler Explorer, by the link below its listing, and move the second load behind the
//    first store. What becomes of its SASS?
