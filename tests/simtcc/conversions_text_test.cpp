// Which conversions in g++'s assembly become calls, and of what.

#include <gtest/gtest.h>

#include <string>

#include "conversions.h"

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
  EXPECT_EQ(called("cvttps2dq\t%xmm0, %xmm1", kToInt), "f32x4_to_s32");
  EXPECT_EQ(called("cvttpd2dq\t%xmm0, %xmm1", kToUnsigned), "f64x2_to_u31");
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
  const std::string packed = "\tcall\tsimt_f32x4_to_s32@PLT\n";
  EXPECT_EQ(code("cvttps2dq\t(%rbx), %xmm7"),
            "\tmovups\t(%rbx), %xmm7\n\tleaq\t-144(%rsp), %rsp\n\tmovups\t%xmm7, (%rsp)\n" +
                packed + "\tmovups\t(%rsp), %xmm7\n" + back);
}

}  // namespace
