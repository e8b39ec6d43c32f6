// What becomes of the two texts that #if on __CUDA_ARCH__ makes, on strings.
#include "host_branches.h"

#include <gtest/gtest.h>

#include <string>

using simtcc::Merged;
using simtcc::with_host_branches;

namespace {

Merged merge(const std::string& device, const std::string& host) {
  return with_host_branches(device, host, "a.cu", false);
}

TEST(HostBranches, EqualTextsStay) {
  const std::string text = "__host__ __device__ int f() { return 1; }\n";
  const Merged merged = merge(text, text);
  EXPECT_EQ(merged.text, text);
  EXPECT_TRUE(merged.warnings.empty());
}

TEST(HostBranches, FunctionForBothAsks) {
  const Merged merged = merge("__host__ __device__ int f() {\n return 1;\n\n}\nint a;\n",
                              "__host__ __device__ int f() {\n\n return 2;\n}\nint a;\n");
  EXPECT_EQ(merged.text,
            "__host__ __device__ int f() { if (::simt::detail::on_device())\n"
            "#pragma simt branch device\n"
            "# 1 \"a.cu\"\n" +
                std::string(28, ' ') +
                "{\n return 1;\n\n} else\n"
                "#pragma simt branch host\n"
                "# 1 \"a.cu\"\n" +
                std::string(28, ' ') +
                "{\n\n return 2;\n}\n"
                "#pragma simt branch none\n"
                "# 4 \"a.cu\"\n"
                "}\nint a;\n");
  EXPECT_TRUE(merged.warnings.empty());
}

TEST(HostBranches, OneSideKeepsItsOwn) {
  const Merged host = merge("int f() { return 1; } int a;\n", "int f() { return 2; } int a;\n");
  EXPECT_EQ(host.text, "int f() \n# 1 \"a.cu\"\n" + std::string(8, ' ') +
                           "{ return 2; }\n# 1 \"a.cu\"\n" + std::string(21, ' ') + " int a;\n");
  const std::string device = "__device__ int f() { return 1; }\n";
  EXPECT_EQ(merge(device, "__device__ int f() { return 2; }\n").text, device);
}

TEST(HostBranches, DeclarationsOfTheHostAreAdded) {
  const Merged merged = merge("int a;\n\nint b;\n", "int a;\nint f() { return 1; }\nint b;\n");
  EXPECT_EQ(merged.text, "int a;\n\n\n# 2 \"a.cu\"\nint f() { return 1; }\n# 3 \"a.cu\"\nint b;\n");
  // One of the device is not.
  const std::string device = "int a;\n\nint b;\n";
  EXPECT_EQ(merge(device, "int a;\n__device__ int f() { return 1; }\nint b;\n").text, device);
}

TEST(HostBranches, WarnsOutsideOfFunctions) {
  const std::string device = "int a;\nconst int n = 4;\n\nint b;\n";
  const Merged merged = merge(device, "int a;\n\nconst int n = 2;\nint b;\n");
  EXPECT_EQ(merged.text, device);
  ASSERT_EQ(merged.warnings.size(), 1u);
  EXPECT_EQ(merged.warnings[0].line, 2);
  EXPECT_TRUE(merged.warnings[0].warning);
}

}  // namespace
