// Accesses that nvcc makes one of: which registers hold the same value, how wide the pieces are, what parts them.

#include "assembly/merged_accesses.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "assembly/register_values.h"

namespace {

using simtcc::RegisterValue;
using simtcc::RegisterValues;
using simtcc::widths_of_pieces;
using simtcc::with_merged_accesses;
using Widths = std::vector<unsigned>;

constexpr bool kLoads = false, kStores = true;

// What nvcc 13.0 makes for sm_90 of neighbouring members of structs that are aligned to 8 or 16 bytes.
TEST(Pieces, AreAsWideAsTheAlignmentAllows) {
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 16, 0, 2), Widths{8});
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 16, 0, 4), Widths{16});
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 16, 4, 2), (Widths{4, 4}));
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 16, 4, 3), (Widths{4, 8}));
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 16, 8, 4), (Widths{8, 8}));
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 16, 0, 8), (Widths{16, 16}));
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 16, 0, 6), (Widths{16, 8}));
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 8, 0, 4), (Widths{8, 8}));
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 4, 0, 4), (Widths{4, 4, 4, 4}));
  EXPECT_EQ(widths_of_pieces(kLoads, 8, 16, 0, 2), Widths{16});
  EXPECT_EQ(widths_of_pieces(kLoads, 2, 16, 6, 2), (Widths{2, 2}));
}

TEST(Pieces, LoadsTakeWhatIsMissing) {
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 16, 0, 3), Widths{16});
  EXPECT_EQ(widths_of_pieces(kLoads, 2, 16, 0, 5), Widths{16});
  EXPECT_EQ(widths_of_pieces(kLoads, 2, 16, 0, 7), Widths{16});
  EXPECT_EQ(widths_of_pieces(kLoads, 2, 16, 0, 6), (Widths{8, 4}));
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 16, 0, 5), (Widths{16, 4}));
  EXPECT_EQ(widths_of_pieces(kLoads, 4, 8, 0, 3), (Widths{8, 4}));
}

TEST(Pieces, StoresDoNot) {
  EXPECT_EQ(widths_of_pieces(kStores, 4, 16, 0, 3), (Widths{8, 4}));
  EXPECT_EQ(widths_of_pieces(kStores, 4, 16, 0, 7), (Widths{16, 8, 4}));
  EXPECT_EQ(widths_of_pieces(kStores, 4, 16, 4, 3), (Widths{4, 4, 4}));
  EXPECT_EQ(widths_of_pieces(kStores, 4, 16, 4, 6), (Widths{4, 8, 8, 4}));
  EXPECT_EQ(widths_of_pieces(kStores, 4, 16, 0, 4), Widths{16});
}

bool same(RegisterValue a, RegisterValue b) { return a.number == b.number && a.offset == b.offset; }

TEST(Values, WhatIsComputedAlikeIsTheSame) {
  RegisterValues values;
  for (const char* line : {"\tmovslq\t%ebx, %rcx", "\tsalq\t$4, %rcx", "\tleaq\t8(%r12,%rcx), %r13",
                           "\tmovslq\t%ebx, %rax", "\tsalq\t$4, %rax", "\tleaq\t(%r12,%rax), %r14"})
    values.step(line);
  EXPECT_EQ(values.of("%r13").number, values.of("%r14").number);
  EXPECT_EQ(values.of("%r13").offset, values.of("%r14").offset + 8);
  values.step("\tmovq\t%r13, -40(%rbp)");
  values.step("\tmovq\t-40(%rbp), %rdi");
  EXPECT_TRUE(same(values.of("%r13"), values.of("%rdi")));
  values.step("\taddq\t$4, %rdi");
  EXPECT_EQ(values.of("%rdi").offset, values.of("%r13").offset + 4);
}

TEST(Values, WhatMayHaveChangedIsAnother) {
  RegisterValues values;
  for (const char* line :
       {"\tcall\tf", "\tmovq\t(%rbx), %rdi", "\tidivl\t%ecx", "\tcmovl\t%ebx, %edi"}) {
    const RegisterValue before = values.of("%rdi");
    values.step(line);
    EXPECT_FALSE(same(before, values.of("%rdi"))) << line;
  }
  const RegisterValue kept = values.of("%rbx");
  values.step("\tcall\tf");
  EXPECT_TRUE(same(kept, values.of("%rbx")));
  values.step("\tmovb\t$1, %bl");
  EXPECT_FALSE(same(kept, values.of("%rbx")));
}

// A function that has been told that %rbx points to a struct P, aligned to 16 bytes, and %r12 to another.
std::string assembly(const std::string& body) {
  const auto check = [](const std::string& pointer, const std::string& label) {
    return "\ttestb\t$15, %bl\n\tje\t" + label + "\n\tmovq\t" + pointer +
           ", %rsi\n\tleaq\t.Lubsan_data0(%rip), %rdi\n"
           "\tcall\t__ubsan_handle_type_mismatch_v1@PLT\n" +
           label + ":\n";
  };
  return "\t.text\n\t.type\tf, @function\nf:\n" + check("%rbx", ".L1") + check("%r12", ".L2") +
         body +
         "\tret\n\t.size\tf, .-f\n"
         ".Lubsan_data0:\n\t.quad\t.LC6\n\t.long\t3\n\t.long\t381\n\t.quad\t.Lubsan_type0\n\t."
         "byte\t4\n"
         ".Lubsan_type0:\n\t.value\t-1\n\t.value\t0\n\t.string\t\"'const struct P'\"\n";
}
std::string access(const std::string& hook, const std::string& address) {
  return "\tleaq\t" + address + ", %rdi\n\tcall\t" + hook + "@PLT\n";
}
// The widths that the table has, in the order of the code: "16 0" for a load that counts for two, and the other.
std::string merged(const std::string& body, const std::set<std::string>& array_classes = {}) {
  const std::string text = with_merged_accesses(assembly(body), array_classes);
  std::string found;
  for (std::size_t at = text.find("simt_merged");
       (at = text.find("\t.byte\t", at)) != std::string::npos;) {
    at += 7;
    found += (found.empty() ? "" : " ") + text.substr(at, text.find(',', at) - at);
  }
  return found;
}

const std::string kX = access("__tsan_read4", "(%rbx)"), kY = access("__tsan_read4", "4(%rbx)"),
                  kZ = access("__tsan_read4", "8(%rbx)"), kW = access("__tsan_read4", "12(%rbx)");

TEST(Merged, MembersOfOneStruct) {
  EXPECT_EQ(merged(kX + kY + kZ + kW), "16 0 0 0");
  EXPECT_EQ(merged(kY + kX), "8 0");
  EXPECT_EQ(merged(kY + kZ), "");
  EXPECT_EQ(merged(kX + kY + kW), "16 0 0");
  EXPECT_EQ(merged(kX + access("__tsan_read4", "4(%r13)")), "");
  EXPECT_EQ(merged(access("__tsan_volatile_read4", "(%rbx)") +
                   access("__tsan_volatile_read4", "4(%rbx)")),
            "");
}

TEST(Merged, NotAcrossWhatMayChangeThem) {
  EXPECT_EQ(merged(kX + access("__tsan_write4", "(%r13)") + kY), "");
  EXPECT_EQ(merged(kX + access("__tsan_write4", "(%r12)") + kY),
            "8 0");  // another member of such a struct
  EXPECT_EQ(merged(kX + access("__tsan_write4", "4(%r12)") + kY), "");  // perhaps the same one
  EXPECT_EQ(merged(kX + access("__tsan_write4", "(%r12)") + kY, {"P"}), "");
  EXPECT_EQ(merged(kX + access("__tsan_write4", "4(%rbx)") + kY), "");
  EXPECT_EQ(merged(kX + "\tcall\tf\n" + kY), "");
  EXPECT_EQ(merged(kX + "\tjne\t.L9\n" + kY + ".L9:\n"), "");
}

TEST(Merged, CopiesOfLargerStructsAreToldTheirAlignment) {
  const std::string text = with_merged_accesses(
      assembly("\tmovl\t$32, %esi\n\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read_range@PLT\n"), {});
  EXPECT_NE(text.find("\tmovl\t$16, %edx\n\tcall\tsimt_read_pieces@PLT\n"), std::string::npos);
}

TEST(Merged, ExtentsAreNoMemory) {
  const std::string text =
      with_merged_accesses(assembly(access("__tsan_read4", "blockDim@tpoff(%rax)") +
                                    access("__tsan_read4", "4+gridDim@tpoff(%rax)") +
                                    access("__tsan_read4", "tile@tpoff(%rax)")),
                           {});
  EXPECT_NE(
      text.find("blockDim@tpoff(%rax), %rdi\n\tleaq\t4+gridDim@tpoff(%rax), %rdi\n\tleaq\ttile"),
      std::string::npos);
  EXPECT_NE(text.find("tile@tpoff(%rax), %rdi\n\tcall\t__tsan_read4@PLT"), std::string::npos);
}

}  // namespace
