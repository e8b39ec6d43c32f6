// The command line of simtcc: what it accepts, what it ignores, what it refuses.

#include "options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using simtcc::InputKind;
using simtcc::Options;
using simtcc::parse_options;
using simtcc::UsageError;
using Strings = std::vector<std::string>;

// A folder with files to name on the command line.
class OptionsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "simtcc-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* file : {"a.cu", "b.cu", "h.cpp", "o.o", "l.a", "t.txt", "p.c"}) touch(file);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string touch(const std::string& name) {
    const std::filesystem::path path = std::filesystem::path(folder_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "";
    return path.string();
  }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }

  // Parses the arguments ahead of one source file.
  Options parse(Strings arguments) {
    arguments.push_back(file("a.cu"));
    return parse_options(arguments);
  }
  std::string refused(const Strings& arguments) {
    try {
      parse_options(arguments);
    } catch (const UsageError& error) {
      EXPECT_EQ(error.message.find('\n'), std::string::npos);
      return error.message;
    }
    ADD_FAILURE() << "accepted";
    return "";
  }

  std::string folder_;
};

TEST_F(OptionsTest, InputsByExtension) {
  const Options o =
      parse_options({file("a.cu"), file("h.cpp"), file("o.o"), file("l.a"), file("p.c")});
  ASSERT_EQ(o.inputs.size(), 5u);
  EXPECT_EQ(o.inputs[0].kind, InputKind::cuda);
  EXPECT_EQ(o.inputs[1].kind, InputKind::cpp);
  EXPECT_EQ(o.inputs[2].kind, InputKind::link);
  EXPECT_EQ(o.inputs[3].kind, InputKind::link);
  EXPECT_EQ(o.inputs[4].kind, InputKind::c);
}

TEST_F(OptionsTest, TheLanguageCanBeSaid) {
  const Options o = parse_options(
      {"-x", "cu", file("h.cpp"), "-x", "none", file("h.cpp"), "-xc++", file("t.txt")});
  EXPECT_EQ(o.inputs[0].kind, InputKind::cuda);
  EXPECT_EQ(o.inputs[1].kind, InputKind::cpp);
  EXPECT_EQ(o.inputs[2].kind, InputKind::cpp);
  EXPECT_EQ(refused({"-x", "rust", file("a.cu")}), "-x rust: the language is cu, c++, c or none");
}

TEST_F(OptionsTest, OptionsOfTheHostCompilerGoWhereTheyBelong) {
  const Options o = parse({"-Wall",
                           "-std=c++20",
                           "-Iinc",
                           "-I",
                           "inc2",
                           "-DA=1",
                           "-D",
                           "B",
                           "-UC",
                           "-g3",
                           "-fno-exceptions",
                           "-march=native",
                           "-lm",
                           "-L",
                           "lib",
                           "-Wl,--as-needed",
                           "-O3",
                           "-isystem",
                           "sys",
                           "-pthread"});
  EXPECT_EQ(o.common, (Strings{"-Wall", "-std=c++20", "-g3", "-fno-exceptions", "-march=native",
                               "-pthread"}));
  EXPECT_EQ(o.preprocess, (Strings{"-Iinc", "-Iinc2", "-DA=1", "-DB", "-UC", "-isystem", "sys"}));
  EXPECT_EQ(o.link, (Strings{"-lm", "-Llib", "-Wl,--as-needed", "-pthread"}));
  EXPECT_EQ(o.optimisation, (Strings{"-O3"}));
}

TEST_F(OptionsTest, DeviceLambdasHaveAnOption) {
  EXPECT_FALSE(parse({file("a.cu")}).extended_lambda);
  for (const char* const option :
       {"--extended-lambda", "-extended-lambda", "--expt-extended-lambda"})
    EXPECT_TRUE(parse({option, file("a.cu")}).extended_lambda) << option;
}

TEST_F(OptionsTest, OptionsForTheGpuAreIgnored) {
  const Options o = parse({"-arch=sm_90",
                           "-arch",
                           "sm_90a",
                           "--gpu-architecture=sm_80",
                           "-gencode",
                           "arch=compute_90,code=sm_90",
                           "-gencode=arch=compute_80,code=sm_80",
                           "--generate-code",
                           "arch=compute_90,code=sm_90",
                           "--expt-relaxed-constexpr",
                           "-lineinfo",
                           "-G",
                           "-rdc=true",
                           "--relocatable-device-code=true",
                           "--use_fast_math",
                           "-use_fast_math",
                           "-maxrregcount=64",
                           "-maxrregcount",
                           "64",
                           "-Xptxas",
                           "-v",
                           "-Xptxas=-v",
                           "--ptxas-options=-v",
                           "-diag-suppress",
                           "177",
                           "--diag-suppress=177,20054",
                           "-cudart=static",
                           "--default-stream",
                           "per-thread",
                           "-ftz=true",
                           "-fmad=false",
                           "-prec-div=false",
                           "-t",
                           "4",
                           "-lcudart",
                           "-lcuda",
                           "--threads=2",
                           "-Wno-deprecated-gpu-targets"});
  EXPECT_TRUE(o.common.empty()) << o.common[0];
  EXPECT_TRUE(o.preprocess.empty());
  EXPECT_TRUE(o.link.empty());
  ASSERT_EQ(o.inputs.size(), 1u);
}

TEST_F(OptionsTest, LongNamesOfNvcc) {
  const Options o =
      parse({"--compile", "--output-file", "x.o", "--include-path=inc", "--define-macro", "A",
             "--std=c++17", "--compiler-options=-Wall,-Wextra", "--library=m", "--optimize=3"});
  EXPECT_TRUE(o.compile_only);
  EXPECT_EQ(o.output, "x.o");
  EXPECT_EQ(o.preprocess, (Strings{"-Iinc", "-DA"}));
  EXPECT_EQ(o.common, (Strings{"-std=c++17", "-Wall", "-Wextra"}));
  EXPECT_EQ(o.link, (Strings{"-lm"}));
  EXPECT_EQ(o.optimisation, (Strings{"-O3"}));
  EXPECT_TRUE(parse({"-dc"}).compile_only);
}

TEST_F(OptionsTest, XcompilerAndXlinker) {
  const Options o = parse(
      {"-Xcompiler", "-Wall,-fno-exceptions", "-Xcompiler=-DX", "-Xlinker", "--as-needed,-s"});
  EXPECT_EQ(o.common, (Strings{"-Wall", "-fno-exceptions"}));
  EXPECT_EQ(o.preprocess, (Strings{"-DX"}));
  EXPECT_EQ(o.link, (Strings{"-Xlinker", "--as-needed", "-Xlinker", "-s"}));
  EXPECT_EQ(refused({"-Xcompiler", "-Wall,--nonsense"}), "-Xcompiler --nonsense: unknown option");
}

TEST_F(OptionsTest, WerrorOfNvcc) {
  EXPECT_EQ(parse({"-Werror", "all-warnings"}).common, (Strings{"-Werror"}));
  EXPECT_EQ(parse({"-Werror"}).common, (Strings{"-Werror"}));
}

TEST_F(OptionsTest, Dependencies) {
  const Options o = parse({"-MD", "-MP", "-MF", "x.d", "-MT", "x.o", "-MQy.o"});
  EXPECT_TRUE(o.dependencies);
  EXPECT_TRUE(o.phony_dependencies);
  EXPECT_FALSE(o.user_dependencies_only);
  EXPECT_EQ(o.dependency_file, "x.d");
  EXPECT_EQ(o.dependency_targets, (Strings{"-MT", "x.o", "-MQ", "y.o"}));
  EXPECT_TRUE(parse({"-MMD"}).user_dependencies_only);
}

TEST_F(OptionsTest, HeadersOfTheToolkitWouldHideTheSimulators) {
  touch("cuda/crt/host_config.h");
  EXPECT_TRUE(parse({"-I" + file("cuda"), "-isystem", file("cuda")}).preprocess.empty());
}

TEST_F(OptionsTest, Refusals) {
  EXPECT_EQ(refused({}), "no input file (usage: simtcc [options] FILE.cu...)");
  EXPECT_EQ(refused({"--nonsense", file("a.cu")}),
            "unknown option '--nonsense' (simtcc --help lists the options)");
  EXPECT_EQ(refused({file("missing.cu")}), "no such file: '" + file("missing.cu") + "'");
  EXPECT_EQ(refused({folder_}), "'" + folder_ + "' is a folder, not a file");
  EXPECT_NE(refused({file("t.txt")}).find("simtcc takes .cu, .cpp"), std::string::npos);
  EXPECT_EQ(refused({file("a.cu"), "-o"}), "option -o needs a value");
  EXPECT_EQ(refused({"-c", "-o", "x.o", file("a.cu"), file("b.cu")}),
            "-c with -o takes one source file, not 2");
  EXPECT_EQ(refused({"-MD", "-MF", "x.d", file("a.cu"), file("b.cu")}),
            "-MF takes one source file, not 2");
  EXPECT_EQ(refused({"-c", file("o.o")}), "-c: nothing to compile");
  EXPECT_EQ(refused({file("a.cu"), "-o", file("a.cu")}),
            "-o " + file("a.cu") + " would overwrite an input file");
  EXPECT_EQ(refused({"-ptx", file("a.cu")}),
            "-ptx: simtcc makes programs and objects for the CPU, no GPU code");
  EXPECT_EQ(refused({"-lcufft", file("a.cu")}), "-lcufft: this library is not simulated");
  EXPECT_EQ(refused({"-std=c99", file("a.cu")}),
            "-std=c99: the standard is c++17, c++20, c++23 or gnu++...");
  EXPECT_NE(refused({"-fsanitize=address", file("a.cu")}).find("leave -fsanitize out"),
            std::string::npos);
}

TEST_F(OptionsTest, OlderStandardsBecomeCpp17) {
  for (const std::string old :
       {"c++98", "c++03", "c++11", "c++0x", "c++14", "gnu++14", "gnu++1y"}) {
    const Options o = parse({"-std=" + old, file("a.cu")});
    const std::string instead = old.starts_with("gnu") ? "gnu++17" : "c++17";
    EXPECT_EQ(o.common, Strings{"-std=" + instead});
    const bool is_ancient = old == "c++98" || old == "c++03";  // nvcc does not take these any more
    EXPECT_EQ(o.notes, is_ancient ? Strings{"-std=" + old + ": compiled as " + instead +
                                            ", the oldest that the simulator's headers know"}
                                  : Strings{});
  }
  EXPECT_EQ(parse({"-std=c++17", file("a.cu")}).notes, Strings{});
  EXPECT_EQ(parse({"--std", "c++11", file("a.cu")}).common, Strings{"-std=c++17"});
}

TEST_F(OptionsTest, HelpAndVersionNeedNoFile) {
  EXPECT_TRUE(parse_options({"--help"}).help);
  EXPECT_TRUE(parse_options({"--version"}).version);
  EXPECT_NE(simtcc::help_text().find("--fast"), std::string::npos);
}

}  // namespace
