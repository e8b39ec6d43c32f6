// What leaves a loop goes behind it, and what is not understood stays.

#include "assembly/layout.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace {

using simtcc::exits_behind_loops;

std::string function(const std::string& body) {
  return "\t.text\n\t.type\tf, @function\nf:\n" + body + "\t.size\tf, .-f\n\t.ident\t\"g++\"\n";
}

// The calls in the order of the code: "a b c" of call a, call b, call c.
std::string calls(const std::string& assembly) {
  std::istringstream in(assembly);
  std::string found;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("\tcall\t")) found += (found.empty() ? "" : " ") + line.substr(6);
  }
  return found;
}
std::string order(const std::string& body) { return calls(exits_behind_loops(function(body))); }

// for (...) { test; if (...) { found; return; } next; } behind; end
const std::string kLoop =
    ".L5:\n\tcall\ttest\n\tjne\t.L3\n\tcall\tfound\n\tjmp\t.L4\n"
    ".L3:\n\tcall\tnext\n\tjne\t.L5\n";
const std::string kRest = "\tcall\tbehind\n.L4:\n\tcall\tend\n\tret\n";

TEST(Layout, WhatLeavesALoopGoesBehindIt) {
  EXPECT_EQ(calls(kLoop + kRest), "test found next behind end");
  EXPECT_EQ(exits_behind_loops(function(kLoop + kRest)),
            function(".L5:\n\tcall\ttest\n\tjne\t.L3\n\tjmp\t.LSIMT0\n"
                     ".L3:\n\tcall\tnext\n\tjne\t.L5\n\tjmp\t.LSIMT1\n"
                     ".LSIMT0:\n\tcall\tfound\n\tjmp\t.L4\n"
                     ".LSIMT1:\n" +
                     kRest));
}

TEST(Layout, AJumpToItselfIsTraced) {
  const std::string loop = "\tjge\t.L2\n.L3:\n\t.loc 1 4 2\n", rest = "\tjmp\t.L3\n.L2:\n\tret\n";
  EXPECT_EQ(exits_behind_loops(function(loop + rest)),
            function(loop + "\tandq\t$-16, %rsp\n\tcall\t__sanitizer_cov_trace_pc@PLT\n" + rest));
  const std::string no_loop = ".L3:\n\tcall\tnext\n\tjmp\t.L3\n";
  EXPECT_EQ(exits_behind_loops(function(no_loop)), function(no_loop));
}

TEST(Layout, AnExitAheadOfAnAccessIsNamed) {
  const std::string leave = "\tcall\t__tsan_func_exit@PLT\n",
                    later = "\tcall\tsimt_leave_after_accesses@PLT\n",
                    store = "\tcall\t__tsan_write4@PLT\n";
  const auto two_ways = [&](const std::string& exit, const std::string& rest) {
    return function("\tje\t.L2\n" + exit + "\tjmp\t.L3\n.L2:\n" + store + exit + ".L3:\n" + rest +
                    "\tret\n");
  };
  EXPECT_EQ(exits_behind_loops(two_ways(leave, store)), two_ways(later, store));
  EXPECT_EQ(exits_behind_loops(two_ways(leave, "\tpopq\t%rbx\n")),
            two_ways(leave, "\tpopq\t%rbx\n"));
  // The store is on another way.
  const std::string apart =
      function("\tje\t.L2\n" + leave + "\tret\n.L2:\n" + store + leave + "\tret\n");
  EXPECT_EQ(exits_behind_loops(apart), apart);
}

TEST(Layout, ALoopThatOnlyPollsIsNamed) {
  const auto loop = [](const std::string& read, const std::string& more) {
    return function(".L3:\n\tcall\t__sanitizer_cov_trace_pc@PLT\n\tcall\t" + read + "@PLT\n" +
                    more + "\tje\t.L3\n\tret\n");
  };
  const std::string volatile_read = "__tsan_volatile_read4";
  for (const char* const waits :
       {"", "\tcall\t_ZN4simt6detail5yieldEv@PLT\n", "\tjs\t.L4\n",
        "\tje\t.L4\n\tcall\t__ubsan_handle_type_mismatch_v1@PLT\n.L4:\n"}) {
    EXPECT_EQ(exits_behind_loops(loop(volatile_read, waits)).find(loop("simt_poll_read4", waits)),
              0u);
  }
  for (const char* const works : {"\tcall\t__tsan_write4@PLT\n", "\tcall\twork\n"}) {
    EXPECT_EQ(exits_behind_loops(loop(volatile_read, works)), loop(volatile_read, works));
  }
  EXPECT_EQ(exits_behind_loops(loop("__tsan_read4", "")), loop("__tsan_read4", ""));
  const std::string once = function("\tcall\t" + volatile_read + "@PLT\n\tje\t.L3\n.L3:\n\tret\n");
  EXPECT_EQ(exits_behind_loops(once), once);
}

TEST(Layout, AFileThatPollsSaysSo) {
  const auto says_so = [](const std::string& calls) {
    const std::string loop =
        ".L3:\n\tcall\t__sanitizer_cov_trace_pc@PLT\n" + calls + "\tje\t.L3\n\tret\n";
    return exits_behind_loops(function(loop)).find("simt_program_polls:") != std::string::npos;
  };
  const std::string atomic = "\tcall\t__tsan_atomic32_load@PLT\n";
  EXPECT_TRUE(says_so("\tcall\t__tsan_volatile_read4@PLT\n"));
  EXPECT_TRUE(says_so(atomic));
  EXPECT_TRUE(says_so("\tcall\t_ZN4simt6detail6atomicENS0_8AtomicOpE@PLT\n"));
  EXPECT_TRUE(says_so("\tcall\t_ZN4simt6detail17mark_same_addressEi@PLT\n" + atomic));
  EXPECT_FALSE(says_so(""));
  EXPECT_FALSE(says_so("\tcall\t__tsan_read4@PLT\n"));
  EXPECT_FALSE(says_so(atomic + "\tcall\twork\n"));
}

TEST(Layout, WhatComesBackStays) {
  const std::string if_else =
      ".L5:\n\tcall\ttest\n\tjne\t.L3\n\tcall\tyes\n\tjmp\t.L4\n"
      ".L3:\n\tcall\tno\n.L4:\n\tcall\tnext\n\tjne\t.L5\n\tret\n";
  EXPECT_EQ(exits_behind_loops(function(if_else)), function(if_else));
  const std::string no_loop = "\tjne\t.L1\n\tcall\tyes\n\tret\n.L1:\n\tcall\tno\n\tret\n";
  EXPECT_EQ(exits_behind_loops(function(no_loop)), function(no_loop));
}

TEST(Layout, AnInnerLoopIsLeftForTheOuterOne) {
  const std::string outer =
      ".L1:\n\tcall\tagain\n" + kLoop + "\tcall\tbehind\n.L4:\n\tcall\tend\n\tjne\t.L1\n\tret\n";
  EXPECT_EQ(order(outer), "again test next found behind end");
}

TEST(Layout, WhatAFirstTestSharesWithTheLoopGoesBehindItToo) {
  EXPECT_EQ(order("\tcall\ttest\n\tjne\t.L2\n.L3:\n\tcall\tfound\n\tret\n"
                  ".L2:\n\tcall\tnext\n\tjne\t.L2\n\tjmp\t.L3\n"),
            "test next found");
}

TEST(Layout, LinesAndScopesGoAlong) {
  const std::string moved = exits_behind_loops(function(
      "\t.loc 1 4 2 view .LVU1\n.L5:\n\tcall\ttest\n\tjne\t.L3\n.LBB7:\n\tcall\tfound\n\tjmp\t.L4\n"
      ".L3:\n.LBE7:\n\t.loc 1 9 2\n\tcall\tnext\n\tjne\t.L5\n" +
      kRest));
  EXPECT_NE(moved.find(".LSIMT0:\n\t.loc 1 4 2\n.LBB7:\n\tcall\tfound\n\tjmp\t.L4\n.LBE7:\n"),
            std::string::npos)
      << moved;
}

// g++ numbers a source file where it first needs it. A block that goes elsewhere must not take the number along.
TEST(Layout, AFileHasItsNumberAheadOfAllCode) {
  const std::string moved = exits_behind_loops(
      function(".L5:\n\tcall\ttest\n\tjne\t.L3\n\t.file 2 \"half.h\"\n\t.loc 2 1 "
               "1\n\tcall\tfound\n\tjmp\t.L4\n"
               ".L3:\n\t.loc 2 1 1\n\tcall\tnext\n\tjne\t.L5\n" +
               kRest));
  EXPECT_LT(moved.find(".file 2"), moved.find(".loc 2")) << moved;
  EXPECT_EQ(moved.find(".file 2"), moved.rfind(".file 2")) << moved;
  EXPECT_EQ(calls(moved), "test next found behind end");
}

TEST(Layout, TheStackIsDescribedAsBefore) {
  const std::string returns =
      ".L5:\n\tcall\ttest\n\tjne\t.L3\n\tcall\tfound\n\t.cfi_remember_state\n\t.cfi_def_cfa 7, "
      "8\n\tret\n"
      ".L3:\n\t.cfi_restore_state\n\tcall\tnext\n\tjne\t.L5\n\tcall\tend\n\tret\n";
  const std::string moved = exits_behind_loops(function(returns));
  EXPECT_EQ(calls(moved), "test next found end");
  EXPECT_NE(moved.find("\t.cfi_def_cfa 7, 8\n\tret\n\t.cfi_restore_state\n"), std::string::npos)
      << moved;
  // Said once for all that follows: nothing may go past it.
  const std::string pushes =
      ".L5:\n\tcall\ttest\n\tjne\t.L3\n\t.cfi_def_cfa_offset 16\n\tcall\tfound\n\tjmp\t.L4\n"
      ".L3:\n\tcall\tnext\n\tjne\t.L5\n" +
      kRest;
  EXPECT_EQ(exits_behind_loops(function(pushes)), function(pushes));
}

TEST(Layout, WhatIsNotUnderstoodStays) {
  for (const char* line :
       {"\tjmp\t*%rax\n", "\tnotrack jmp\t*.L9(,%rax,8)\n", "#APP\n", "\t.cfi_lsda 0x1b,.LLSDA1\n",
        "\t.section\t.rodata\n", "\tjmp\t.Lelsewhere\n"}) {
    const std::string body = line + kLoop + kRest;
    EXPECT_EQ(exits_behind_loops(function(body)), function(body)) << line;
  }
}

}  // namespace
