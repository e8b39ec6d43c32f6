// A g++ that prints what simtcc cannot read compiles nothing.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// A g++ with what it prints changed by sed: its assembly, the two dumps, its messages, or the arguments that it gets.
struct Change {
  const char* text;  ///< assembly, lower, eh, messages or arguments
  const char* sed;
  const char* missed;
};

class Canary : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "simtcc-canary-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    // Each reader has nothing to find in this one.
    write("plain.cu",
          "__global__ void k(int* p) { *p = 1; }\nint main() { k<<<1, 32>>>(nullptr); }\n");
    write("host.cu",
          "#include <vector>\n"
          "int half(int x) { return x / 2; }\n"
          "__global__ void k(int* p) { std::vector<int> v(3); *p = half(*p) + v[0]; }\n"
          "int main() { k<<<1, 32>>>(nullptr); }\n");
    write("members.cu",
          "__global__ void k(float* out, const float4* in) {\n"
          "  const float4& v = in[threadIdx.x];\n"
          "  out[threadIdx.x] = v.x + v.y + v.z + v.w;\n"
          "}\n"
          "int main() {\n"
          "  float* out;\n"
          "  float4* in;\n"
          "  cudaMalloc(&out, 128);\n"
          "  cudaMalloc(&in, 512);\n"
          "  cudaMemset(in, 0, 512);\n"
          "  k<<<1, 32>>>(out, in);\n"
          "  cudaDeviceSynchronize();\n"
          "}\n");
    version_ = shell(HOST_CXX " -dumpfullversion");
    version_.pop_back();
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }

  void write_compiler(const Change& change) {
    const std::string text = change.text, sed = std::string("sed -i '") + change.sed + "' ";
    std::string script =
        "#!/bin/bash\nold=; assembly=; lower=; eh=; arguments=()\nfor a in \"$@\"; do\n";
    if (text == "arguments") script += std::string("  a=$(sed '") + change.sed + "' <<< \"$a\")\n";
    script +=
        "  arguments+=(\"$a\")\n"
        "  case $a in\n"
        "    *.s) [ \"$old\" = -o ] && assembly=$a;;\n"
        "    -fdump-tree-lower-*) lower=${a#*=};;\n"
        "    -fdump-tree-eh-*) eh=${a#*=};;\n"
        "  esac\n"
        "  old=$a\n"
        "done\n" HOST_CXX " \"${arguments[@]}\" 2> messages; status=$?\n";
    if (text == "messages") script += sed + "messages\n";
    script += "cat messages >&2\n";
    if (text == "assembly" || text == "lower" || text == "eh")
      script += "[ -f \"$" + text + "\" ] && " + sed + "\"$" + text + "\"\n";
    write("g++", script + "exit $status\n");
    fs::permissions(folder_ / "g++", fs::perms::owner_all);
  }

  int status_ = 0;
  // What a command prints in the folder, on both ways.
  std::string shell(const std::string& command) {
    FILE* pipe = popen(("cd '" + folder_.string() + "' && { " + command + "; } 2>&1").c_str(), "r");
    if (!pipe) return "cannot start a shell";
    std::string output;
    std::array<char, 4096> buffer;
    while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
      output.append(buffer.data(), n);
    const int status = pclose(pipe);
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return output;
  }
  std::string simtcc(const std::string& arguments) { return shell("'" SIMTCC "' " + arguments); }
  std::string with_own(const std::string& arguments) {
    return simtcc("-ccbin '" + (folder_ / "g++").string() + "' " + arguments);
  }

  void expect_refused(const std::string& source, const std::string& missed) {
    EXPECT_EQ(with_own(source),
              "simtcc: error: cannot read what '" + (folder_ / "g++").string() + "' (" + version_ +
                  ") prints of " + missed +
                  ": install one of g++-12 to g++-16, and name it with -ccbin, or by CXX where a "
                  "build is configured\n");
    EXPECT_EQ(status_, 1);
    EXPECT_FALSE(fs::exists(folder_ / "a.out"));
  }

  // Four members of one struct are one load to a GPU.
  void expect_one_request(const std::string& program) {
    shell("SIMT_JSON=trace.json ./" + program);
    const std::string counts = shell("grep -o '\"global_load_[a-z]*\": [0-9]*,' trace.json");
    EXPECT_NE(counts.find("\"global_load_requests\": 1,"), std::string::npos) << counts;
    EXPECT_NE(counts.find("\"global_load_sectors\": 16,"), std::string::npos) << counts;
  }

  fs::path folder_;
  std::string version_;
};

const std::string kAllOfDump =
    "calls and launches, sizes of variables, conversions to integers, calls with structs, structs "
    "that are changed";

TEST_F(Canary, AnotherHeaderOfTheDumpLetsNoHostCallPass) {
  write_compiler({"lower", "s/^;; Function /;; Func /", ""});
  expect_refused("host.cu", kAllOfDump);
}

TEST_F(Canary, AnotherLabelOfTheAssemblyCountsNoMembersApart) {
  write_compiler({"assembly", "s/[.]Lubsan_/.LUbsan_/g", ""});
  expect_refused("members.cu", "accesses to members");
}

TEST_F(Canary, EachReaderNoticesAnotherSpelling) {
  const std::vector<Change> changes = {
      {"lower", "s/simt_arguments/arguments/", "calls and launches"},
      {"lower", "s/tainted_args/tainted/", "sizes of variables"},
      {"lower", "s/ = (unsigned int/ = (uint/", "conversions to integers"},
      {"lower", "s/^  static /  local static /", "calls with structs"},
      {"lower", "s/struct /class /", "structs that are changed"},
      {"eh", "s/fix_trunc_expr/fix_expr/", "conversions to integers"},
      {"messages", "s/warning:/Warning:/", "messages"},
      {"messages", "s/used uninitialized/used unset/", "messages"},
      {"assembly", "s/[.]section\\t[.]tbss/.section .tbss/", "sizes of variables"},
      {"assembly", "s/[.]section\\tsimt_constant/.section simt_constant/", "sizes of variables"},
      {"assembly", "s/^\\t[.]loc /\\t.loc\\t/", "conversions to integers"},
      {"assembly", "s/cvttss2si/cvtTss2si/", "conversions to integers"},
      {"assembly", "s/@tpoff/@TPOFF/", "accesses to members"},
      {"assembly", "s/leaq\\t/lea\\t/", "accesses to members"},
      {"assembly", "s/\\tjmp\\t/\\tjmp /", "exits from loops, loops that wait"},
      {"assembly", "s/\\tcall\\t__tsan_volatile/\\tcallq\\t__tsan_volatile/", "loops that wait"},
      {"assembly", "s/\\tcall\\t__tsan_func_exit/\\tcallq\\t__tsan_func_exit/",
       "exits from loops, exits from kernels"},
      {"assembly", "s/\\tcall\\t_Z/\\tcallq\\t_Z/", "calls with structs"},
      {"arguments", "s/^-fdisable-rtl-.*/-g/", "conversions to integers"},
      {"arguments", "s/^-fdisable-tree-.*/-g/", "structs that are changed"},
      {"arguments", "s/^-fsanitize=alignment/-g/", "accesses to members"},
  };
  for (const Change& change : changes) {
    SCOPED_TRACE(std::string(change.text) + ": " + change.sed);
    write_compiler(change);
    expect_refused("plain.cu", change.missed);
  }
}

TEST_F(Canary, WithoutCountingTheReadersOfTheAssemblyAreNotAsked) {
  write_compiler({"assembly", "s/[.]Lubsan_/.LUbsan_/g", ""});
  EXPECT_EQ(with_own("--fast plain.cu -o plain"), "");
  write_compiler({"lower", "s/^;; Function /;; Func /", ""});
  expect_refused("--fast host.cu",
                 "calls and launches, sizes of variables, conversions to integers");
}

// No verdict is kept: not where the program that is called has the size and the time that it had.
TEST_F(Canary, AnUnchangedCompilerIsTakenUntilItChanges) {
  write_compiler({"assembly", "s/[.]Lubsan_/.Lubsan_/g", ""});
  EXPECT_EQ(with_own("members.cu -o members"), "");
  expect_one_request("members");
  shell("touch -r g++ before");
  write_compiler({"assembly", "s/[.]Lubsan_/.LUbsan_/g", ""});
  shell("touch -r before g++");
  expect_refused("members.cu", "accesses to members");
}

TEST_F(Canary, AnOptionThatChangesTheOutputIsNamed) {
  const std::string compiler =
      "simtcc: error: cannot read what '" HOST_CXX "' (" + version_ + ") prints with ";
  EXPECT_EQ(simtcc("-Wall -std=c++20 -Xcompiler -fPIC,-masm=intel members.cu"),
            compiler +
                "-fPIC -masm=intel of conversions to integers, accesses to members: leave "
                "such options out\n");
  EXPECT_EQ(status_, 1);
  EXPECT_FALSE(fs::exists(folder_ / "a.out"));
  // Not every g++ takes addresses as -fPIE does, and -w is about messages of the program's own.
  EXPECT_EQ(simtcc("-w -Xcompiler -fno-pie,-march=native members.cu -o members"), "");
  expect_one_request("members");
}

}  // namespace
