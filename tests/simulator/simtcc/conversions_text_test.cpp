// Which conversions in g++'s assembly become calls, and of what.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "assembly/conversions.h"

namespace {

using simtcc::TreeDump;
using simtcc::with_saturating_conversions;

// What the dump says of a kernel k, of a function `inlined` that it calls, and of one of the host.
std::string dump_of(const std::string& conversions, const std::string& inlined = "") {
  return ";; Function k (_Z1kPif, funcdef_no=1, decl_uid=10, cgraph_uid=1, symbol_order=1)\n"
         "__attribute__((tainted_args, no_instrument_function))\n"
         "voidD.48 kD.10 (intD.9 * oD.11, floatD.41 fD.12)\n{\n" +
         conversions + "  [f.cu:9:1] inlinedD.20 (1);\n}\n\n" +
         ";; Function inlined (_Z7inlinedi, funcdef_no=2, decl_uid=20, cgraph_uid=2, "
         "symbol_order=2)\n"
         "__attribute__((no_instrument_function))\nvoidD.48 inlinedD.20 ()\n{\n" +
         inlined + "}\n\n" +
         ";; Function host (_Z4hosti, funcdef_no=3, decl_uid=30, cgraph_uid=3, symbol_order=3)\n"
         "voidD.48 hostD.30 ()\n{\n" +
         conversions + "}\n";
}

std::string assembly_of(const std::string& function, const std::string& line) {
  return "\t.file 1 \"folder/f.cu\"\n\t.type\t" + function +
         ", @function\n\t.loc 1 4 7 is_stmt 1\n\t" + line + "\n";
}

// The library's function that is called in place of the instruction, or nothing.
std::string called(const std::string& line, const std::string& conversions,
                   const std::string& function = "_Z1kPif", const std::string& inlined = "",
                   const std::string& source = "") {
  const std::string dump = dump_of(conversions, inlined);
  const std::string code =
      with_saturating_conversions(assembly_of(function, line), TreeDump(dump), source);
  const std::size_t call = code.find("call\tsimt_");
  if (call == std::string::npos) return code == assembly_of(function, line) ? "" : "changed";
  return code.substr(call + 10, code.find('@', call) - call - 10);
}

const std::string kToInt = "  [f.cu:4:7] _1 = (intD.9) fD.12;\n";
const std::string kToUnsigned = "  [f.cu:4:7] _1 = (unsigned intD.14) fD.12;\n";

TEST(ConversionsText, TheDumpSaysOfWhichType) {
  EXPECT_EQ(called("cvttss2sil\t%xmm0, %eax", kToInt), "f32_to_s32");
  EXPECT_EQ(called("cvttsd2siq\t%xmm9, %r9", kToUnsigned), "f64_to_u32");
  EXPECT_EQ(called("cvttss2siq\t%xmm0, %rax", "  [f.cu:4:7] _1 = (long long intD.14) fD.12;\n"),
            "f32_to_s64");
  EXPECT_EQ(
      called("vcvttss2siq\t%xmm0, %rax", "  [f.cu:4:7] _1 = (long unsigned intD.14) fD.12;\n"),
      "f32_to_u64");
  EXPECT_EQ(called("cvttss2sil\t%xmm0, %eax", "  [f.cu:4:7] _1 = (unsigned charD.14) fD.12;\n"),
            "f32_to_u32");
}

TEST(ConversionsText, TheTypeMayHaveANameOfTheSource) {
  const std::string to_byte = "  [f.cu:4:7] xD.13 = (byteD.70) fD.12;\n",
                    line = "cvttss2sil\t%xmm0, %eax";
  EXPECT_EQ(called(line, to_byte, "_Z1kPif", "", "typedef unsigned char u8;\nusing byte = u8;\n"),
            "f32_to_u32");
  EXPECT_EQ(called(line, to_byte, "_Z1kPif", "", "typedef const short int byte;\nint byte;\n"),
            "f32_to_s32");
  const std::string wide = "  [f.cu:4:7] xD.13 = (wideD.70) fD.12;\n",
                    long_line = "cvttss2siq\t%xmm0, %rax";
  EXPECT_EQ(called(long_line, wide, "_Z1kPif", "",
                   "using wide = std::uint64_t;\ntypedef unsigned long uint64_t;\n"),
            "f32_to_u64");
  EXPECT_EQ(called(long_line, wide, "_Z1kPif", "", "using wide = long; using wide = unsigned;"),
            "");
  EXPECT_EQ(called(long_line, wide, "_Z1kPif", "", "using wide = wide;"), "");
}

TEST(ConversionsText, OfTwoTypesThatOfTheInstruction) {
  const std::string both = kToUnsigned + "  [f.cu:4:7] _2 = (intD.9) gD.13;\n";
  EXPECT_EQ(called("cvttss2sil\t%xmm0, %eax", both), "f32_to_s32");
  EXPECT_EQ(called("cvttss2siq\t%xmm0, %rax", both), "f32_to_u32");
  EXPECT_EQ(called("cvttss2siq\t%xmm0, %rax", both + "  [f.cu:4:7] _3 = (long intD.9) gD.13;\n"),
            "");
  // out[(unsigned)f]: the second converts an integer
  EXPECT_EQ(called("cvttss2siq\t%xmm0, %rax",
                   kToUnsigned + "  [f.cu:4:7] _2 = (long unsigned intD.16) _1;\n"),
            "f32_to_u32");
}

TEST(ConversionsText, OfInlinedFunctionsToo) {
  EXPECT_EQ(called("cvttss2sil\t%xmm0, %eax", "", "_Z1kPif", kToInt), "f32_to_s32");
  EXPECT_EQ(called("cvttss2sil\t%xmm0, %eax", "", "_Z1kPif.isra.0", kToInt), "f32_to_s32");
}

TEST(ConversionsText, TheHostsCodeAndWhatIsNotUnderstoodStay) {
  EXPECT_EQ(called("cvttss2sil\t%xmm0, %eax", kToInt, "_Z4hosti"), "");
  EXPECT_EQ(called("cvttss2sil\t%xmm0, %eax", kToInt, "_Z7unknowni"), "");
  EXPECT_EQ(called("cvttss2sil\t%xmm0, %eax", "  [f.cu:4:8] _1 = (intD.9) fD.12;\n"), "");
  EXPECT_EQ(called("cvttps2dq\t%ymm0, %ymm1", kToInt), "");
  EXPECT_EQ(called("cvtsi2ssl\t%eax, %xmm0", kToInt), "");
}

// The number is read before the stack pointer moves, and by a register that the instruction overwrites anyway.
TEST(ConversionsText, ANumberInMemory) {
  const std::string dump = dump_of(kToInt);
  const auto code = [&](const std::string& line) {
    const std::string text =
        with_saturating_conversions(assembly_of("_Z1kPif", line), TreeDump(dump), "");
    return text.substr(text.find('\n', text.find(".loc")) + 1);
  };
  const std::string call = "\tcall\tsimt_f32_to_s32@PLT\n", back = "\tleaq\t144(%rsp), %rsp\n";
  EXPECT_EQ(code("cvttss2sil\t8(%rsp,%rax,4), %eax"),
            "\tmovl\t8(%rsp,%rax,4), %eax\n\tleaq\t-144(%rsp), %rsp\n\tmovl\t%eax, (%rsp)\n" +
                call + "\tmovl\t(%rsp), %eax\n" + back);
  EXPECT_EQ(
      code("cvttss2sil\t%fs:12+_ZZ1kPiE1f@tpoff, %r10d"),
      "\tmovl\t%fs:12+_ZZ1kPiE1f@tpoff, %r10d\n\tleaq\t-144(%rsp), %rsp\n\tmovl\t%r10d, (%rsp)\n" +
          call + "\tmovl\t(%rsp), %r10d\n" + back);
}

const std::string kEightRegisters =
    "\n\tmovaps\t%xmm8, %xmm9\n\tmovaps\t%xmm10, %xmm11\n\tmovaps\t%xmm12, "
    "%xmm13\n\tmovaps\t%xmm14, ";

// What becomes of an instruction with `behind` after it.
std::string becomes(const std::string& line, const std::string& behind,
                    const std::string& conversions = kToInt) {
  const std::string dump = dump_of(conversions);
  const std::string text =
      with_saturating_conversions(assembly_of("_Z1kPif", line) + behind + "\n", TreeDump(dump), "");
  return text.substr(text.find('\n', text.find(".loc")) + 1);
}

TEST(ConversionsText, OnlyWhatIsOutOfRangeIsCalledFor) {
  const std::string convert = "\tcvttss2sil\t%xmm0, %eax\n",
                    ask = "\tcmpl\t$1, %eax\n\tjo\t.LSIMTout0\n.LSIMTin0:\n",
                    begin = "\t.subsection\t1\n.LSIMTout0:\n",
                    call = "@PLT\n\tmovl\t(%rsp), %eax\n",
                    end = "\tjmp\t.LSIMTin0\n\t.subsection\t0\n";
  const std::string code = becomes("cvttss2sil\t%xmm0, %eax", "\taddl\t$1, %eax");
  EXPECT_TRUE(code.starts_with(convert + ask + begin)) << code;
  EXPECT_NE(code.find(call), std::string::npos) << code;
  EXPECT_TRUE(code.ends_with(end + "\taddl\t$1, %eax\n")) << code;
  const auto question = [&](const std::string& line, const std::string& type) {
    const std::string text = becomes(line, "\tret", "  [f.cu:4:7] _1 = (" + type + ") fD.12;\n");
    const std::size_t begin_of_it = text.find('\n') + 1;
    return text.substr(begin_of_it, text.find("\t.LSIMT") - begin_of_it);
  };
  EXPECT_EQ(question("cvttsd2siq\t%xmm9, %r9", "unsigned intD.14"),
            "\tcmpq\tsimt_unsigned_last(%rip), %r9\n\tja");
  EXPECT_EQ(question("cvttss2sil\t%xmm9, %r9d", "unsigned charD.14"), "\ttestl\t%r9d, %r9d\n\tjs");
  EXPECT_EQ(question("cvttss2siq\t%xmm9, %rdx", "long long intD.14"), "\tcmpq\t$1, %rdx\n\tjo");
  EXPECT_EQ(question("cvttss2siq\t%xmm9, %rdx", "long unsigned intD.14"),
            "\ttestq\t%rdx, %rdx\n\tjs");
}

TEST(ConversionsText, FlagsThatAreInUseStay) {
  const auto keeps_flags = [&](const std::string& behind) {
    return becomes("cvttss2sil\t%xmm0, %eax", behind).find("\tcmpl\t$1") == std::string::npos;
  };
  for (const char* const behind :
       {"\tsetg\t%al", "\tmovl\t%eax, %ebx\n\tjne\t.L3", "\tadcl\t$0, %ecx",
        "\taddss\t%xmm1, %xmm2\n\tcmovb\t%eax, %ebx", "\tjmp\t.L4\n\tret\n.L4:\n\tsbbl\t%ecx, %ecx",
        "\tshrl\t%cl, %edx\n\tja\t.L3", "\tjmp\t*%rcx", "\tjmp\t.L9", "#APP\n\tcmpl\t$2, %eax"})
    EXPECT_TRUE(keeps_flags(behind)) << behind;
  for (const char* const behind : {"\tcmpl\t$3, %eax\n\tjg\t.L3", "\tmovl\t%eax, (%rbx)\n\tcall\tf",
                                   "\tjmp\t.L4\n\tsetg\t%al\n.L4:\n\tret",
                                   "\tcvtsi2ssl\t%eax, %xmm0\n\tcomiss\t%xmm0, %xmm1\n\tja\t.L3"})
    EXPECT_FALSE(keeps_flags(behind)) << behind;
}

// Where the integer goes to the register that says where the number is, the number is read ahead by a register that is not in use.
TEST(ConversionsText, ANumberWhosePlaceIsLost) {
  EXPECT_TRUE(becomes("cvttss2sil\t(%rax,%rcx,4), %eax", "\tret")
                  .starts_with("\tmovss\t(%rax,%rcx,4), %xmm15\n\tcvttss2sil\t%xmm15, %eax\n"));
  EXPECT_TRUE(
      becomes("cvttss2sil\t(%rcx), %eax", "\tret").starts_with("\tcvttss2sil\t(%rcx), %eax\n"));
  const std::string all = becomes("cvttss2sil\t(%rax), %eax", kEightRegisters + "%xmm15\n\tret");
  EXPECT_TRUE(all.starts_with("\tmovl\t(%rax), %eax\n\tleaq\t-144(%rsp), %rsp\n")) << all;
}

TEST(ConversionsText, SeveralNumbersAtOnce) {
  EXPECT_EQ(
      becomes("cvttps2dq\t(%rbx), %xmm7", ""),
      "\tmovups\t(%rbx), %xmm15\n\tmovaps\tsimt_int_end(%rip), %xmm14\n\tcmpleps\t%xmm15, %xmm14\n"
      "\tcvttps2dq\t%xmm15, %xmm7\n\tpxor\t%xmm14, %xmm7\n\tcmpordps\t%xmm15, "
      "%xmm15\n\tpand\t%xmm15, %xmm7\n\n");
  const auto of_doubles =
      becomes("cvttpd2dq\t%xmm0, %xmm1", kEightRegisters + "%xmm1", kToUnsigned);
  EXPECT_NE(of_doubles.find("\tcall\tsimt_f64x2_to_u31@PLT\n"), std::string::npos) << of_doubles;
}

// One instruction serves an int and an unsigned char, and only one of them has its place in the code.
TEST(ConversionsText, WhatMayHaveBeenMerged) {
  const auto merged = [&](const std::string& conversions, const std::string& line,
                          const std::string& operations, const std::string& inlined = "") {
    const std::string dump = dump_of(conversions, inlined);
    return simtcc::functions_with_merged_conversions(assembly_of("_Z1kPif", line), TreeDump(dump),
                                                     operations, "");
  };
  const std::string to_byte = "  [f.cu:5:7] _2 = (unsigned charD.14) fD.12;\n",
                    line = "cvttss2sil\t%xmm0, %eax";
  const std::string
      both =
          "  [folder/f.cu:4:7] gimple_assign <fix_trunc_expr, _1, f, NULL, NULL>\n"
          "  [folder/f.cu:5:7 discrim 2] gimple_assign <fix_trunc_expr, _2, f, NULL, NULL>\n",
      first = both.substr(0, both.find('\n') + 1) +
              "  [f.cu:5:7] gimple_assign <nop_expr, _2, f, NULL, NULL>\n";
  const std::vector<std::string> none, k = {"_Z1kPif"};
  EXPECT_EQ(merged(kToInt + to_byte, line, both), k);
  EXPECT_EQ(merged(kToInt, line, both, to_byte), k);
  EXPECT_EQ(merged(kToInt + to_byte, line, first), none);
  EXPECT_EQ(merged(kToInt + to_byte, line, ""), none);
  EXPECT_EQ(merged(kToInt + to_byte, line + "\n\t.loc 1 5 7 is_stmt 1\n\t" + line, both), none);
  EXPECT_EQ(merged(kToInt + "  [f.cu:5:7] _2 = (short intD.14) fD.12;\n", line, both), none);
}

}  // namespace
