// Inline PTX to C++, statement by statement, and what is said of wrong PTX.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ptx/translator.h"

namespace {

using simtcc::ptx::Error;
using simtcc::ptx::Slot;
using simtcc::ptx::Translation;

// %0 and %1 of 32 bits, %2 of 64, %3 a float, %4 a number, %5 a double, %6 of 16 bits.
const std::vector<Slot> kSlots = {{{'b', 32}},       {{'b', 32}}, {{'b', 64}}, {{'f', 32}},
                                  {{'s', 64}, true}, {{'f', 64}}, {{'b', 16}}};

std::string shortened(std::string text) {
  for (std::size_t at; (at = text.find("::simt::ptx::")) != std::string::npos;) text.erase(at, 13);
  return text;
}

std::string translated(const std::string& text) {
  std::string all;
  for (const auto& piece : simtcc::ptx::translate(text, kSlots, false, false).pieces)
    all += (all.empty() ? "" : " ") + piece.code;
  return shortened(all);
}

std::string what_is_wrong_with(const std::string& text) {
  try {
    simtcc::ptx::translate(text, kSlots, false, false);
  } catch (const Error& error) {
    return error.message;
  }
  return "";
}

TEST(Ptx, Statements) {
  EXPECT_EQ(translated("add.u32 %0, %1, 5;"), "add<u32>(o0, o1, u32(5ull));");
  EXPECT_EQ(translated(" // nothing\n { /* or ; */ } "), "");
  const Translation translation = simtcc::ptx::translate(
      "{ .reg .pred p; .reg .f32 %r<2>; @!p mov.f32 %r1, 1.0; }", {}, false, false);
  EXPECT_EQ(
      shortened(translation.declarations),
      "[[maybe_unused]] bool r0 = 0; [[maybe_unused]] u32 r1 = 0; [[maybe_unused]] u32 r2 = 0; ");
  ASSERT_EQ(translation.pieces.size(), 1u);
  EXPECT_EQ(translation.pieces[0].offset, 33u);
  EXPECT_EQ(shortened(translation.pieces[0].code),
            "if (!r0) { mov<f32>(r2, u32(1065353216ull)); }");
}

TEST(Ptx, BlocksHaveNamesOfTheirOwn) {
  EXPECT_EQ(translated(".reg .u32 a; { .reg .u32 a; mov.u32 a, 1; } mov.u32 a, 2;"),
            "mov<u32>(r1, u32(1ull)); mov<u32>(r0, u32(2ull));");
  EXPECT_EQ(translated("{ L: bra L; } { bra.uni L; L: }"),
            "l0: __attribute__((unused)); goto l0; goto l1; l1: __attribute__((unused));");
}

TEST(Ptx, Memory) {
  EXPECT_EQ(translated("ld.global.nc.L1::no_allocate.v2.u32 {%0, _}, [%2+-8];"),
            "load<Space::global, u32, Order::weak, false>(o2, -8ll, o0, Sink{});");
  EXPECT_EQ(translated("st.release.gpu.shared::cta.f32 [%0], %3;"),
            "::__threadfence(); store<Space::shared, f32, Order::atomic, false>(o0, 0ll, o3);");
  EXPECT_EQ(translated("cp.async.ca.shared.global [%0+%4], [%2], %4, %1;"),
            "copy_async<decltype(o4)::number, false>(o0, get<s64>(o4), o2, 0ll, o1);");
  EXPECT_TRUE(
      simtcc::ptx::translate("ld.v4.u32 {%0, %0, %0, %0}, [%2];", kSlots, false, false).wide);
  EXPECT_FALSE(simtcc::ptx::translate("ld.u32 %0, [%2];", kSlots, false, false).wide);
}

TEST(Ptx, WrongText) {
  EXPECT_EQ(what_is_wrong_with("add.u32 %0, %1, 5"), "a ';' is missing at the end");
  EXPECT_EQ(what_is_wrong_with("add.u32 %0, %1 5;"), "a ';' is missing in front of '5'");
  EXPECT_EQ(what_is_wrong_with("{ add.u32 %0, %1, 5;"), "a '}' is missing");
  EXPECT_EQ(what_is_wrong_with("}"), "'}' closes nothing");
  EXPECT_EQ(what_is_wrong_with("add.u32 %0, %1, 0f12;"), "'0f12' is no number");
  EXPECT_EQ(what_is_wrong_with("add.u32 %0, %1, 12z;"), "'12z' is no number");
  EXPECT_EQ(what_is_wrong_with("add.u32 %0, [%2;"), "a ']' is missing in front of ';'");
  EXPECT_EQ(what_is_wrong_with(".reg .u33 a;"), "no register has the type '.u33'");
  EXPECT_EQ(what_is_wrong_with(".reg .u32 a, a;"), "the register 'a' is declared twice");
  EXPECT_EQ(what_is_wrong_with(".shared .u32 a;"), ".shared is not simulated");
  EXPECT_EQ(what_is_wrong_with("L: L: trap;"), "the label 'L' is there twice");
}

TEST(Ptx, WrongInstructions) {
  EXPECT_EQ(what_is_wrong_with("foo.u32 %0;"), "'foo' is no instruction of PTX");
  EXPECT_EQ(what_is_wrong_with("add.u32 %0, %1;"), "'add.u32' takes 3 operands, not 2");
  EXPECT_EQ(what_is_wrong_with("add.u33 %0, %1, 5;"),
            "'add.u33' has .u33 where its type stands: .u16, .u32, .u64, .s16, .s32, .s64");
  EXPECT_EQ(what_is_wrong_with("add %0, %1, 5;"),
            "'add' needs a type: .u16, .u32, .u64, .s16, .s32, .s64");
  EXPECT_EQ(what_is_wrong_with("add.u32.foo %0, %1, 5;"), "'add.u32.foo' does not take .foo there");
  EXPECT_EQ(what_is_wrong_with("add.s32 %0, %3, 5;"),
            "'add.s32' cannot take its operands: operand 2 is of type .f32");
  EXPECT_EQ(what_is_wrong_with("mbarrier.arrive.shared.b64 _, [%0], 0;"),
            "'mbarrier.arrive.shared.b64' needs a count above 0");
  EXPECT_EQ(what_is_wrong_with("mul.wide.u32 %0, %1, %1;"),
            "'mul.wide.u32' cannot take its operands: operand 1 is of type .b32");
  EXPECT_EQ(what_is_wrong_with("add.f32 %3, %3, 1;"),
            "'add.f32' cannot take its operands: operand 3 is a whole number");
  EXPECT_EQ(what_is_wrong_with("add.u32 %0, %1, 1.5;"),
            "'add.u32' cannot take its operands: operand 3 is a real number");
  EXPECT_EQ(what_is_wrong_with("fma.f32 %3, %3, %3, %3;"),
            "'fma.f32' needs a rounding modifier: .rn");
  EXPECT_EQ(what_is_wrong_with("cvt.u32.f32 %0, %3;"), "cvt.u32.f32 is not simulated");
  EXPECT_EQ(what_is_wrong_with("mov.u32 5, %1;"),
            "'mov.u32' has no register to write to: operand 1");
  EXPECT_EQ(what_is_wrong_with("mov.u32 %0, %9;"),
            "'mov.u32' names %9, which is no operand of this asm");
  EXPECT_EQ(what_is_wrong_with("mov.u32 %0, x;"),
            "'mov.u32' names 'x', which is no register declared here");
  EXPECT_EQ(what_is_wrong_with("mov.u32 %0, %clock64;"),
            "'mov.u32' cannot take its operands: operand 2 is of type .b64");
  EXPECT_EQ(what_is_wrong_with("add.u32 %0, %0, %laneid;"),
            "'add.u32' cannot take the special register %laneid: mov can");
  EXPECT_EQ(what_is_wrong_with("@%1 trap;"),
            "'trap' cannot take its operands: the guard is of type .b32");
  EXPECT_EQ(what_is_wrong_with("bra L;"), "'bra' names the label 'L', which is not there");
  EXPECT_EQ(what_is_wrong_with("addc.u32 %0, %0, 0;"), "addc.u32 is not simulated");
}

TEST(Ptx, WrongAccesses) {
  EXPECT_EQ(what_is_wrong_with("ld.global.u32 %0, [%1];"),
            "'ld.global.u32' needs an address of 64 bits as operand 2");
  EXPECT_EQ(what_is_wrong_with("ld.global.u32 %3, [%2];"),
            "'ld.global.u32' cannot take its operands: operand 1 is of type .f32");
  EXPECT_EQ(what_is_wrong_with("ld.global.v2.u32 %0, [%2];"),
            "'ld.global.v2.u32' takes {...} with 2 elements as operand 1");
  EXPECT_EQ(what_is_wrong_with("ld.volatile.global.ca.u32 %0, [%2];"),
            "'ld.volatile.global.ca.u32' cannot have .volatile and .ca");
  EXPECT_EQ(what_is_wrong_with("ld.relaxed.global.u32 %0, [%2];"),
            "'ld.relaxed.global.u32' needs a scope: .cta, .cluster, .gpu, .sys");
  EXPECT_EQ(what_is_wrong_with("ld.shared.nc.u32 %0, [%1];"),
            "'ld.shared.nc.u32' takes .nc only with .global");
  EXPECT_EQ(what_is_wrong_with("cp.async.cg.shared.global [%0], [%2], 8;"),
            "'cp.async.cg.shared.global' copies 16 bytes");
  EXPECT_EQ(what_is_wrong_with("cp.async.ca.shared.global [%0], [%2], %1;"),
            "'cp.async.ca.shared.global' takes a number, known when it is compiled, as operand 3");
  EXPECT_EQ(what_is_wrong_with("atom.global.or.u32 %0, [%2], 1;"),
            "'atom.global.or.u32' has .u32 where its type stands: .b32, .b64");
  EXPECT_EQ(what_is_wrong_with("shfl.idx.b32 %0, %1, 0, 31;"),
            "'shfl.idx.b32' needs .sync, as all warp instructions since sm_70");
}

TEST(Ptx, EndsOfThreads) {
  EXPECT_EQ(translated("exit;"), "::simt::detail::exit_thread();");
  EXPECT_EQ(what_is_wrong_with("ret;"),
            "'ret' returns from a function that the compiler may have inlined: write 'return;' in "
            "C++, or exit to end the thread");
  EXPECT_EQ(simtcc::ptx::translate("ret;", kSlots, false, true).pieces[0].code,
            "::simt::detail::exit_thread();");
}

TEST(Ptx, BarriersWithANumber) {
  EXPECT_EQ(translated("bar.sync 0;"), "::__syncthreads();");
  EXPECT_EQ(translated("barrier.cta.sync.aligned 3;"), "named_barrier<true>(u32(3ull));");
  EXPECT_EQ(translated("bar.arrive %0, 64;"), "named_barrier<false>(o0, u32(64ull));");
  EXPECT_EQ(what_is_wrong_with("bar.arrive 1;"), "'bar.arrive' takes 2 operands, not 1");
}

TEST(Ptx, WhatThereIsInstead) {
  EXPECT_EQ(what_is_wrong_with("cp.async.commit;"),
            "'cp.async.commit' is spelled cp.async.commit_group");
  EXPECT_EQ(what_is_wrong_with("ld.global.v8.f31 %0, [%2];"),
            "'ld.global.v8.f31' has .f31 where its type stands");
  EXPECT_EQ(what_is_wrong_with("ld.global.v8.f32 %0, [%2];"), "ld.global.v8.f32 is not simulated");
  EXPECT_EQ(what_is_wrong_with("add.f16 %6, %6, %6;"),
            "add.f16 is not simulated: call __hadd(), __hfma() and their like, of <cuda_fp16.h> "
            "and <cuda_bf16.h>");
}

TEST(Ptx, Clusters) {
  EXPECT_EQ(what_is_wrong_with("barrier.cluster.sync;"),
            "'barrier.cluster.sync' needs one of: .arrive, .wait");
  EXPECT_EQ(what_is_wrong_with("mbarrier.test_wait.shared::cluster.b64 p, [%2], %4;").substr(0, 58),
            "mbarrier.test_wait.shared::cluster.b64 is not simulated: o");
}

TEST(Ptx, NotSimulated) {
  for (const char* text :
       {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
        "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64",
        "tcgen05.alloc.cta_group::1.sync.aligned.b32",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", "getctarank.shared::cluster.u32",
        "mbarrier.try_wait.shared::cluster.b64",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32",
        "fence.proxy.tensormap::generic.release.gpu", "add.f16x2", "fma.rn.bf16x2",
        "tex.2d.v4.f32.f32", "ld.param.u32", "red.async.u32"}) {
    EXPECT_TRUE(what_is_wrong_with(std::string(text) + " %0;")
                    .starts_with(std::string(text) + " is not simulated"))
        << text;
  }
}

}  // namespace
