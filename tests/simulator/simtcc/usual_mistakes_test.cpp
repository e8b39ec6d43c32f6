// The tables of beginners' mistakes: each entry says something, and what is right says nothing.
#include "words/usual_mistakes.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite/rewriter.h"

namespace {

using simtcc::beginners_mistake;

std::string said_of(const std::string& message, const std::string& line = "",
                    const std::vector<std::string>& notes = {}) {
  return beginners_mistake(message, notes, line).value_or("");
}

constexpr std::array<std::string_view, 30> kNames = {"__syncthreads",
                                                     "__syncwarp",
                                                     "__threadfence",
                                                     "__shfl_sync",
                                                     "__shfl_down_sync",
                                                     "__shfl_up_sync",
                                                     "__shfl_xor_sync",
                                                     "__ballot_sync",
                                                     "atomicAdd",
                                                     "atomicSub",
                                                     "atomicMax",
                                                     "atomicMin",
                                                     "atomicCAS",
                                                     "atomicExch",
                                                     "cudaMalloc",
                                                     "cudaMallocManaged",
                                                     "cudaMemcpy",
                                                     "cudaMemset",
                                                     "cudaFree",
                                                     "cudaDeviceSynchronize",
                                                     "cudaMemcpyHostToDevice",
                                                     "cudaMemcpyDeviceToHost",
                                                     "cudaMemcpyToSymbol",
                                                     "cudaGetLastError",
                                                     "cudaGetErrorString",
                                                     "threadIdx",
                                                     "blockIdx",
                                                     "blockDim",
                                                     "gridDim",
                                                     "cudaEventElapsedTime"};

std::string undeclared(const std::string& name) {
  return said_of("'" + name + "' was not declared in this scope");
}

TEST(UsualMistakes, NamesWithOneLetterMore) {
  for (const std::string_view name : kNames)
    EXPECT_TRUE(undeclared(std::string(name) + "x").ends_with("called '" + std::string(name) + "'"))
        << name;
}

TEST(UsualMistakes, NamesInOtherLetters) {
  for (const std::string_view name : kNames) {
    std::string other(name);
    for (char& c : other) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (other == name) other.insert(other.begin(), '_');
    EXPECT_TRUE(undeclared(other).ends_with("called '" + std::string(name) + "'")) << other;
  }
}

TEST(UsualMistakes, OtherNames) {
  for (const char* name : {"sum", "cuda", "atomic", "blockSize", "threads", "cudaMallocator",
                           "syncthreadsAll", "index"})
    EXPECT_EQ(undeclared(name), "") << name;
  for (const std::string_view name : kNames) EXPECT_EQ(undeclared(std::string(name)), "") << name;
}

TEST(UsualMistakes, Qualifiers) {
  for (const std::string word : {"global", "device", "shared", "constant", "host"}) {
    const std::string right = "__" + word + "__";
    for (const std::string& wrong : {word, "_" + word + "_", right + "x", "__" + word})
      EXPECT_NE(said_of("'" + wrong + "' does not name a type").find("'" + right + "'"),
                std::string::npos)
          << wrong;
    EXPECT_EQ(said_of("'" + right + "' does not name a type"), "");
  }
  EXPECT_EQ(said_of("'flaot' does not name a type"), "");
}

struct Case {
  const char *message, *line, *note, *cure;
};

TEST(UsualMistakes, Messages) {
  const Case cases[] = {
      {"no matching function for call to 'cudaMalloc(float*&, int)'", "", "", "put '&' before"},
      {"no matching function for call to 'cudaHostAlloc(float*&, int, int)'", "", "", "put '&'"},
      {"storage size of 't' isn't constant", "__shared__ int t[n];", "", "extern __shared__"},
      {"the value of 'n' is not usable in a constant expression", "k<n><<<1, 2>>>(p);", "",
       "write 'constexpr'"},
      {"assignment of read-only location '*(p + 4)'", "", "", "points to values that are const"},
      {"increment of read-only variable 'n'", "", "", ""},
      {"no matching function for call to 'atomicMax(float*&, float)'", "", "", "__float_as_int()"},
      {"no matching function for call to 'atomicMin(double*, double)'", "", "",
       "__double_as_longlong()"},
      {"no matching function for call to 'atomicAdd(long unsigned int*&, int)'", "", "",
       "unsigned long long"},
      {"no matching function for call to 'atomicAdd(char*&, int)'", "", "", "smallest"},
      {"no matching function for call to 'atomicAdd(bool*&, int)'", "", "", "smallest"},
      {"no matching function for call to 'atomicAdd(S*&, int)'", "", "", ""},
      {"invalid conversion from 'int' to 'int*' [-fpermissive]", "atomicAdd(x, 1);", "", "put '&'"},
      {"invalid conversion from 'int' to 'int*' [-fpermissive]", "f(x, 1);", "", ""},
      {"invalid conversion from 'long int*' to 'int*' [-fpermissive]", "atomicAdd(x, 1);", "",
       "unsigned long long"},
      {"invalid conversion from 'cudaStream_t' {aka 'X*'} to 'size_t'", "k<<<1, 2, s>>>(p);", "",
       "<<<blocks, threads, 0, stream>>>"},
      {"invalid conversion from 'cudaStream_t' {aka 'X*'} to 'size_t'", "f(s);", "", ""},
      {"no matching function for call to 'k(int*&)'", "k<<<1, 2>>>(p);",
       "  couldn't deduce template parameter 'N'", "with a value for it"},
      {"no matching function for call to 'k(int*&)'", "k(p);",
       "  couldn't deduce template parameter 'N'", ""},
      {"no matching function for call to 'k(int*&, double)'", "k<<<1, 2>>>(p, 2.0);",
       "  deduced conflicting types for parameter 'T' ('int' and 'double')", "one type"},
  };
  for (const Case& c : cases) {
    const std::string said = said_of(c.message, c.line, {c.note});
    if (*c.cure)
      EXPECT_NE(said.find(c.cure), std::string::npos) << c.message << "\n" << said;
    else
      EXPECT_EQ(said, "") << c.message;
  }
}

std::vector<std::string> warnings_of(const std::string& statement) {
  std::vector<std::string> said;
  for (const auto& warning :
       simtcc::rewrite("__global__ void k(int* d) {}\nvoid f(int* d) { " + statement + " }\n",
                       "test.cu")
           .warnings)
    said.push_back(warning.text());
  return said;
}

TEST(UsualMistakes, CallsThatAreNone) {
  for (const std::string name : {"__syncthreads", "__syncwarp", "__threadfence"}) {
    const auto said = warnings_of(name + ";");
    ASSERT_EQ(said.size(), 1u) << name;
    EXPECT_NE(said[0].find("write '" + name + "();'"), std::string::npos) << said[0];
    EXPECT_TRUE(warnings_of(name + "();").empty()) << name;
  }
  EXPECT_TRUE(warnings_of("__ballot_sync;").empty());
}

TEST(UsualMistakes, BytesThatAreNoNumbers) {
  for (const std::string name : {"cudaMemset", "cudaMemsetAsync"}) {
    for (const char* value : {"1", "7", "10", "1.5", "2.0f"})
      EXPECT_EQ(warnings_of(name + "(d, " + value + ", 64);").size(), 1u) << name << value;
    for (const char* value : {"0", "0.0", "0xff", "11", "n"})
      EXPECT_TRUE(warnings_of(name + "(d, " + value + ", 64);").empty()) << name << value;
  }
}

}  // namespace
