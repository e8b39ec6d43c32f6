// simtcc itself: programs of several files, dependency files, messages and exit statuses.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status;
  std::string output;  // stdout and stderr together
};

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "simtcc-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool exists(const std::string& name) const { return fs::exists(folder_ / name); }

  // Runs a shell command in the folder.
  Outcome shell(const std::string& command) const {
    const std::string line =
        "cd '" + folder_.string() + "' && export LC_ALL=C; { " + command + "; } 2>&1";
    FILE* pipe = popen(line.c_str(), "r");
    if (!pipe) return {-1, "cannot start a shell"};
    Outcome outcome{0, ""};
    std::array<char, 4096> buffer;
    while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
      outcome.output.append(buffer.data(), n);
    const int status = pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }
  Outcome simtcc(const std::string& arguments) const { return shell("'" SIMTCC "' " + arguments); }

  // The command fails and prints exactly this line.
  void expect_line(const std::string& arguments, int status, const std::string& line) const {
    const Outcome outcome = simtcc(arguments);
    EXPECT_EQ(outcome.status, status) << arguments;
    EXPECT_EQ(outcome.output, line + "\n") << arguments;
  }

  // The command succeeds and prints nothing.
  void expect_silent(const std::string& arguments) const {
    const Outcome outcome = simtcc(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments;
    EXPECT_EQ(outcome.output, "") << arguments;
  }

  fs::path folder_;
};

TEST_F(DriverTest, BadCommandLinesGetOneLineAndStatus2) {
  write("a.cu", "int main() {}\n");
  expect_line("--nonsense a.cu", 2,
              "simtcc: error: unknown option '--nonsense' (simtcc --help lists the options)");
  expect_line("missing.cu", 2, "simtcc: error: no such file: 'missing.cu'");
  expect_line("", 2, "simtcc: error: no input file (usage: simtcc [options] FILE.cu...)");
  EXPECT_FALSE(exists("a.out"));
}

TEST_F(DriverTest, HelpAndVersion) {
  EXPECT_EQ(simtcc("--help").status, 0);
  const std::string help = simtcc("--help").output;
  EXPECT_NE(help.find("--fast"), std::string::npos);
  EXPECT_NE(
      help.find("\n  SIMT_THREADS=n     how many CPU threads run blocks; all cores by default\n"),
      std::string::npos);
  EXPECT_NE(help.find("\n                     The trace says how many were counted. all: all "
                      "blocks of each launch\n"),
            std::string::npos)
      << help;
  EXPECT_EQ(simtcc("--version").status, 0);
}

TEST_F(DriverTest, NoCompilerIsNamed) {
  write("a.cu", "int main() {}\n");
  const Outcome outcome = simtcc("-ccbin no-such-compiler a.cu");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output,
            "simtcc: error: cannot run 'no-such-compiler': No such file or directory\n");
}

TEST_F(DriverTest, WhatIsNotSimulatedIsNamedWithItsLine) {
  write("a.cu",
        "#include <cudnn.h>\n"
        "#define LANE(x) asm volatile(\"mov.u32 %0, %%pm0;\" : \"=r\"(x))\n"
        "__global__ void k(int* p) {\n"
        "  unsigned lane;\n"
        "  LANE(lane);\n"
        "  *p = lane;\n"
        "}\n"
        "__global__ void parent(int* p) {\n"
        "  k<<<1,\n"
        "      1>>>(p);\n"
        "}\n"
        "cudaResourceViewDesc view;\n"
        "int main() {\n"
        "  cuInit(0);\n"
        "  curandGenerateLongLong(0, nullptr, 1);\n"
        "}\n");
  expect_line(
      "-c a.cu", 1,
      "a.cu:1: error: simt: the library cuDNN (cudnn.h) is not simulated\n"
      "a.cu:5:3: error: simt: inline PTX: 'mov.u32' names %pm0, which is no register declared "
      "here and no "
      "special register that is simulated\n"
      "a.cu:9:4: error: simt: launches by kernels (dynamic parallelism) are not simulated: "
      "launch the kernel from the host, after this one\n"
      "a.cu:12:1: error: simt: views of texture resources (cudaResourceViewDesc) are not "
      "simulated\n"
      "a.cu:14:3: error: simt: functions of the driver (cuInit) are not simulated\n"
      "a.cu:15:3: error: simt: quasi-random generators of the library cuRAND "
      "(curandGenerateLongLong) "
      "are not simulated");
  EXPECT_FALSE(exists("a.o"));
}

// What is declared with the name comes to nothing either, and of that nothing is said.
TEST_F(DriverTest, WhatCubAndThrustLackIsNamed) {
  write("a.cu",
        "#include <cub/cub.cuh>\n"
        "__global__ void k(unsigned char* p) {\n"
        "  using Histogram = cub::BlockHistogram<unsigned char, 32, 4, 256>;\n"
        "  __shared__ typename Histogram::TempStorage memory;\n"
        "  unsigned char data[4] = {*p};\n"
        "  Histogram(memory).Histogram(data, p);\n"
        "}\n"
        "int main() { thrust::absent(1); }\n");
  const Outcome outcome = simtcc("-c a.cu");
  EXPECT_EQ(outcome.status, 1);
  std::string errors;
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos) errors += line + '\n';
  }
  EXPECT_EQ(errors,
            "a.cu:3:26: error: simt: cub::BlockHistogram is not simulated: do its work without the "
            "library, or run the program on a GPU\n"
            "a.cu:8:22: error: simt: thrust::absent is not simulated: do its work without the "
            "library, or run the program on a GPU\n");
}

// Many programs include these two for the runtime and for curand_kernel.h, which they come with.
TEST_F(DriverTest, HeadersOfTheDriverAndOfCurandMayBeIncluded) {
  write("a.cu",
        "#include <cuda.h>\n"
        "#include <curand.h>\n"
        "#include <curand_kernel.h>\n"
        "struct cuComplex { float r, i; };\n"
        "__device__ float cuNorm(cuComplex a) { return a.r * a.r + a.i * a.i; }\n"
        "__global__ void cuMemorize(float* p) { *p = cuNorm({1, 2}); }\n"
        "static_assert(CUDA_VERSION >= 12000 && CUDA_SUCCESS == 0 && CURAND_STATUS_SUCCESS == 0);\n"
        "static_assert(sizeof(CUdeviceptr) == 8 && sizeof(CUdevice) == 4);\n"
        "int main() { cuMemorize<<<1, 1>>>(nullptr); }\n");
  expect_silent("-c a.cu");
}

TEST_F(DriverTest, SeparateCompilationInTheStepsOfNvcc) {
  write("device.cu",
        "__device__ int scale = 3;\n"
        "__device__ int times(int x) { return x * scale; }\n");
  write("main.cu",
        "#include <cstdio>\n"
        "extern __device__ int scale;\n"
        "__device__ int times(int x);\n"
        "__global__ void k(int* p) { *p = times(4) + scale; }\n"
        "int main() {\n"
        "  int *p, h;\n"
        "  cudaMalloc(&p, 4);\n"
        "  k<<<1, 1>>>(p);\n"
        "  cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost);\n"
        "  cudaFree(p);\n"
        "  printf(\"%d\\n\", h);\n"
        "}\n");
  for (const std::string step :
       {"-arch=sm_70 -dc device.cu -o device.o", "-arch=sm_70 -lib device.o -o libdevice.a",
        "-arch=sm_70 -keep -src-in-ptx -dc main.cu -o main.o",
        "-arch=sm_70 -dlink main.o device.o -o link.o",
        "main.o link.o libdevice.a -lcudadevrt -lcudart -o main"}) {
    expect_silent(step);
  }
  EXPECT_EQ(shell("./main").output, "15\n");
}

TEST_F(DriverTest, LibrariesAreNamedWhereTheirHeadersAreMissing) {
  write("a.cu", "#include \"a.h\"\nint main() {}\n");
  write("a.h", "\n#include <thrust/async/sort.h>\n");
  expect_line("-c a.cu", 1,
              "a.h:2: error: simt: this part of the library Thrust (thrust/async/sort.h) is not "
              "simulated");
  write("b.cu", "#include <no_such_header.h>\n");
  const Outcome outcome = simtcc("-c b.cu");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output.find("simt:"), std::string::npos);
  EXPECT_NE(outcome.output.find("b.cu:1:10: fatal error: no_such_header.h"), std::string::npos);
}

// As nvcc 13 has it.
TEST_F(DriverTest, TheStandardIsCpp17AndTheHeadersOfTheCLibraryAreThere) {
  write("a.cu",
        "static_assert(__cplusplus == 201703L);\n"
        "__global__ void k(int* p) {\n"
        "  volatile int* s = p;\n"
        "  s[threadIdx.x] += s[threadIdx.x + 1];\n"
        "}\n"
        "int main() { return INT_MAX - INT_MAX + atoi(\"0\") + isalpha('0') + strcmp(\"\", \"\"); "
        "}\n");
  expect_silent("-Wall -Wextra -c a.cu");
}

TEST_F(DriverTest, HeadersWithOtherNamesForTheSame) {
  std::string source;
  for (const std::string header :
       {"driver_functions.h", "cuda_stdint.h", "channel_descriptor.h", "texture_types.h",
        "surface_types.h", "sm_35_atomic_functions.h", "crt/host_config.h", "crt/sm_70_rt.h",
        "curand_normal.h", "curand_uniform.h", "curand_globals.h", "cuda_fp16.hpp"}) {
    source += "#include <" + header + ">\n";
  }
  write("a.cu", source + "__global__ void k(curandState* s, half* h) { *h = curand_normal(s); }\n");
  expect_silent("-c a.cu");
}

TEST_F(DriverTest, HeadersOfOtherNamesHaveNoTwin) {
  // Such a name would be dead: include/ is searched first.
  const fs::path include = SIMT_INCLUDE_DIR, libraries = SIMT_LIBRARIES_DIR,
                 others = SIMT_HEADERS_DIR;
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(others)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const fs::path name = fs::relative(entry.path(), others);
    EXPECT_FALSE(fs::exists(include / name) || fs::exists(libraries / name)) << entry.path();
  }
  EXPECT_GT(files, 100);
}

TEST_F(DriverTest, HeadersOfAToolkitInTheEnvironmentAreLeftOut) {
  fs::create_directories(folder_ / "toolkit" / "crt");
  fs::create_directory(folder_ / "own");
  write("toolkit/crt/host_config.h", "");
  write("toolkit/cuda_runtime.h", "#error the toolkit's\n");
  write("own/own.h", "constexpr int answer = 0;\n");
  write("a.cu", "#include <cuda_runtime.h>\n#include <own.h>\nint main() { return answer; }\n");
  for (const std::string name : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    const Outcome outcome = shell(name + "=toolkit:own '" SIMTCC "' -c a.cu");
    EXPECT_EQ(outcome.output, "") << name;
  }
}

TEST_F(DriverTest, CompilersThatNameTheirOwnFolders) {
  // Wrappers of g++ in clusters and package managers put the C++ library's folder ahead of all others.
  write("wrapper",
        "#!/bin/sh\n"
        "header=$(echo '#include <cmath>' | " HOST_CXX
        " -x c++ -M - | tr ' ' '\\n' | grep -m 1 '/cmath$')\n"
        "exec " HOST_CXX " -isystem \"${header%/cmath}\" \"$@\"\n");
  write("a.cu",
        "#include <math.h>\n"
        "#include <cmath>\n"
        "__global__ void k(float* p) { *p = floorf(*p) + std::ceil(*p); }\n");
  shell("chmod +x wrapper");
  for (const std::string standard : {"17", "20"}) {
    expect_silent("-std=c++" + standard + " -ccbin ./wrapper -c a.cu");
  }
}

TEST_F(DriverTest, HostCodeTakesTheHeadersWithCheckedFunctions) {
  // Ubuntu's g++ defines _FORTIFY_SOURCE by itself.
  write(
      "a.cpp",
      "#include <cstring>\n"
      "#include <cuda_runtime.h>\n"
      "int main(int, char** words) { char to[64]; memcpy(to, words[0], 1); return to[0] == 0; }\n");
  const Outcome outcome =
      shell(HOST_CXX
            " -std=c++20 -O2 -Wall -Wextra -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -c -I "
            "'" SIMT_INCLUDE_DIR "' a.cpp");
  EXPECT_EQ(outcome.output, "");
}

TEST_F(DriverTest, ErrorsKeepTheReadersLines) {
  write("bad.cu",
        "__global__ void k(float* p) { p[0] = 1; }\n"  // 1
        "struct Runs { float x; ~Runs() { x = f(); } static float f(); };\n"
        "__global__ void big(float* p) {\n"
        "  __shared__ float a[20000];\n"  // 4
        "  __shared__ Runs r;\n"          // 5
        "  p[0] = a[0] + r.x;\n"
        "}\n"
        "__global__ void reference(int& i) { i = 1; }\n"  // 8
        "int main() {\n"
        "  int* q = nullptr;\n"
        "  k<<<1,\n"
        "      1>>>(q);\n"              // 11 or 12
        "  k<<<1, 1>>>(nullptr, 2);\n"  // 13
        "  k<<<1, 1>>>();\n"            // 14
        "  undeclared<<<1, 1>>>(3);\n"  // 15
        "  int i = 0;\n"
        "  reference<<<1, 1>>>(3);\n"  // 17
        "  return nothing;\n"          // 18
        "}\n");
  const Outcome outcome = simtcc("-c bad.cu");
  EXPECT_EQ(outcome.status, 1);
  const auto says = [&](const std::string& text) {
    EXPECT_NE(outcome.output.find(text), std::string::npos) << "no '" << text << "' in\n"
                                                            << outcome.output;
  };
  says("bad.cu:4:");
  says("simt: a block's static __shared__ memory holds at most 48 KiB (49152 bytes)");
  says("bad.cu:5:");
  says(
      "simt: a __shared__ variable must be of a type without a destructor, and with a "
      "constructor ");
  says("bad.cu:12:");
  says("bad.cu:13:");
  says("bad.cu:14:");
  says("the launch has 0 arguments, and the kernel 'k' takes 1: k(float*)");
  says("bad.cu:15:");
  says("'undeclared' was not declared");
  says("bad.cu:17:");
  says("bad.cu:18:");
  says("'nothing' was not declared");
  EXPECT_FALSE(exists("bad.o"));
}

// Parameters of the headers' templates have such names, too.
TEST_F(DriverTest, MacrosOfOneLetterAreTheProgramsOwn) {
  write("letters.cu",
        "#include <cuda_runtime.h>\n"
        "__global__ void k(int* p) { atomicAdd(p + threadIdx.x % (A + B + F + I + N + P + R + V), "
        "1); }\n"
        "int main() { k<<<1, N>>>(nullptr); }\n");
  const Outcome outcome = simtcc("-DA=1 -DB=2 -DF=3 -DI=4 -DN=5 -DP=6 -DR=7 -DV=8 -c letters.cu");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

// Several files: kernels declared in a header, launched from another file, called from plain C++.
class Program : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    fs::create_directory(folder_ / "my headers");
    write("my headers/add.h",
          "#pragma once\n"
          "#include <cuda_runtime.h>\n"
          "__global__ void add(int* p, int n);\n"
          "int total(int n);\n");
    write("kernel.cu",
          "#include \"add.h\"\n"
          "\n"
          "__global__ void add(int* p, int n) {\n"
          "  const int i = threadIdx.x;\n"
          "  if (i < n) atomicAdd(p, i);\n"
          "}\n");
    write("launch.cu",
          "#include \"add.h\"\n"
          "int total(int n) {\n"
          "  int* p;\n"
          "  cudaMalloc(&p, sizeof(int));\n"
          "  cudaMemset(p, 0, sizeof(int));\n"
          "  add<<<1, 64>>>(p, n);\n"
          "  int sum = -1;\n"
          "  cudaMemcpy(&sum, p, sizeof(int), cudaMemcpyDeviceToHost);\n"
          "  cudaFree(p);\n"
          "  return sum;\n"
          "}\n");
    write("main.cpp",
          "#include \"add.h\"\n"
          "#include <cstdio>\n"
          "#ifdef __CUDACC__\n"
          "#error a .cpp file is no CUDA source\n"
          "#endif\n"
          "int main() { std::printf(\"%d\\n\", total(10)); }\n");
  }
};

TEST_F(Program, OfSeveralFilesCompiledApart) {
  expect_silent(
      "-dc -arch=sm_90 -I'my headers' -Wall -MD -MF kernel.d -MT kernel.o kernel.cu -o kernel.o");
  expect_silent("-c -I'my headers' launch.cu");
  expect_silent("-c -I'my headers' -MMD main.cpp");
  const std::string dependencies = read("kernel.d");
  EXPECT_EQ(dependencies.find("kernel.o: kernel.cu"), 0u) << dependencies;
  EXPECT_NE(dependencies.find("my\\ headers/add.h"), std::string::npos) << dependencies;
  EXPECT_NE(dependencies.find("simt/launch.h"), std::string::npos) << dependencies;
  EXPECT_EQ(read("main.d"), "main.o: main.cpp my\\ headers/add.h\n");
  expect_silent("kernel.o launch.o main.o -o program");
  EXPECT_EQ(shell("./program").output, "45\n");

  // The debugger's line table speaks of the reader's file.
  const Outcome lines = shell("nm -lC kernel.o | grep ' add(int'");
  EXPECT_NE(lines.output.find("kernel.cu:3"), std::string::npos) << lines.output;
  const Outcome symbols = shell("nm kernel.o");
  EXPECT_NE(symbols.output.find("__sanitizer_cov_trace_pc"), std::string::npos) << symbols.output;
}

TEST_F(Program, OfSeveralFilesInOneGoUninstrumented) {
  expect_silent(
      "--fast -std=c++17 -O3 -I'my headers' kernel.cu launch.cu main.cpp -o 'my program'");
  EXPECT_EQ(shell("'./my program'").output, "45\n");
  EXPECT_EQ(shell("nm -C 'my program' | grep -c 'U __tsan'").output, "0\n");
  EXPECT_FALSE(exists("kernel.o"));
}

// What would be initialised at run time is written by the kernel's own threads, and found to race.
TEST_F(DriverTest, SharedVectorsNeedNoInitialisationInAnyStandard) {
  write("a.cu",
        "#include <cuda_bf16.h>\n"
        "#include <cuda_fp16.h>\n"
        "template <class T>\n"
        "__global__ void mirror(T* out) {\n"
        "  __shared__ T tile[2][64];\n"
        "  T* mine = out + 64 * blockIdx.x;\n"
        "  tile[0][threadIdx.x] = mine[threadIdx.x];\n"
        "  __syncthreads();\n"
        "  mine[threadIdx.x] = tile[0][63 - threadIdx.x];\n"
        "}\n"
        "template <class T>\n"
        "void run() {\n"
        "  T* out;\n"
        "  cudaMalloc(&out, 128 * sizeof(T));\n"
        "  cudaMemset(out, 0, 128 * sizeof(T));\n"
        "  mirror<T><<<2, 64>>>(out);\n"
        "  cudaFree(out);\n"
        "}\n"
        "int main() {\n"
        "  run<float2>();\n"
        "  run<float3>();\n"
        "  run<float4>();\n"
        "  run<double2>();\n"
        "  run<uchar4>();\n"
        "  run<__half2>();\n"
        "  run<__nv_bfloat162>();\n"
        "}\n");
  for (const std::string standard : {"c++17", "c++20"}) {
    EXPECT_EQ(simtcc("-Wall -Wextra -std=" + standard + " a.cu -o a").output, "");
    const Outcome outcome = shell("./a");
    EXPECT_EQ(outcome.status, 0) << standard;
    EXPECT_EQ(outcome.output, "") << standard;
  }
}

// The runtime's own headers say no more of std than nvcc's do: what they declared besides would be ambiguous here.
// g++ would load and store such structs where it expands the calls, unseen.
TEST_F(DriverTest, StructsThatCallsMoveAreCounted) {
  const std::string head =
      "#include <cuda_runtime.h>\n"
      "struct V { float x, y, z; };\n"
      "__device__ V operator+(V a, V b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }\n"
      "template <class T> __device__ T twice(T a) { return a + a; }\n"
      "struct Sum { V v; __device__ V add(V w) const { return v + w; } };\n"
      "__global__ void k(V* out, V* in) { const int t = threadIdx.x;\n";
  const std::string main =
      "int main() { V* p; cudaMallocManaged(&p, 384 * sizeof(V));\n"
      "  for (int i = 0; i < 384; ++i) p[i] = {1, 2, 3};\n"
      "  k<<<1, 32>>>(p, p + 128); cudaDeviceSynchronize(); cudaFree(p); }\n";
  write("calls.cu", head +
                        "  out[t] = in[t] + in[t + 32];\n"
                        "  out[t + 32] = twice(in[t + 64]);\n"
                        "  out[t + 64] = Sum{in[t + 96]}.add(in[t + 128]);\n"
                        "  auto last = [](V a, V b) { return a + b; };\n"
                        "  out[t + 96] = last(in[t + 160], in[t + 192]); }\n" +
                        main);
  write("copies.cu", head +
                         "  V a = in[t], b = in[t + 32], c = a + b; out[t] = c;\n"
                         "  V d = in[t + 64], e = twice(d); out[t + 32] = e;\n"
                         "  V f = in[t + 96], g = in[t + 128], h = f + g; out[t + 64] = h;\n"
                         "  V i = in[t + 160], j = in[t + 192], l = i + j; out[t + 96] = l; }\n" +
                         main);
  expect_silent("calls.cu -o calls");
  expect_silent("copies.cu -o copies");
  expect_silent("--fast calls.cu -o fast");
  const auto counts = [this](const std::string& program) {
    EXPECT_EQ(shell("SIMT_JSON=" + program + ".json ./" + program).status, 0);
    const std::string trace = read(program + ".json");
    const std::size_t begin = trace.find("\"counts\"");
    return trace.substr(begin, trace.find('}', begin) - begin);
  };
  EXPECT_EQ(counts("calls"), counts("copies"));
  const std::string seen = counts("calls");
  EXPECT_NE(seen.find("\"global_load_requests\": 21,"), std::string::npos) << seen;
  EXPECT_NE(seen.find("\"global_store_requests\": 12,"), std::string::npos) << seen;
}

TEST_F(DriverTest, StructsThatCallsMoveAndNothingCountsAreNamed) {
  write("a.cu",
        "#include <cuda_runtime.h>\n"
        "struct V { float x, y; };\n"
        "__device__ __noinline__ float sum(V a) { return a.x + a.y; }\n"
        "__device__ float depth(V a) { return a.x > 0 ? depth(V{a.x - 1, a.y}) : a.y; }\n"
        "__global__ void k(V* p) { p->x = sum(*p);\n"
        "  p->y = depth(p[1]);\n"
        "  V v = *p; p->x = sum(v); }\n"
        "int main() {}\n");
  const std::string rest = " loads or stores is neither counted nor checked, because ",
                    cure = ": copy it to or from a local variable in a line of its own\n";
  const Outcome outcome = simtcc("a.cu -o a");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "a.cu:5:34: warning: simt: the struct that this call of 'sum'" + rest +
                                "'sum' is __noinline__" + cure +
                                "a.cu:6:10: warning: simt: the struct that this call of 'depth'" +
                                rest + "'depth' calls itself" + cure);
}

// As nvcc has it. g++ notes in shared memory whether it has run such a constructor; that is no access of the program.
// What g++ suspects and cannot know: whether the branch that sets a variable is taken where it counts.
TEST_F(DriverTest, VariablesThatABranchSetsAreNoWarning) {
  write("a.cu", R"(__global__ void carried(float* out, const float* in, int n) {
  __shared__ float tile[32];
  const int k = static_cast<int>(blockIdx.x) - 1;
  float before;
  if (k >= 0 && k < n) {
    before = in[k];
  }
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int i = k + 1; i < k + 4; ++i) {
    if (i >= 1 && k >= 0 && k < n - 1) out[i] = tile[i] + before;
    __syncthreads();
    before = tile[threadIdx.x];
  }
}
)");
  EXPECT_EQ(simtcc("-c a.cu").output, "");
  write("b.cu", R"(__global__ void summed(int* out, int n) {
  int sum;
  for (int i = 0; i < n; ++i) {
    sum += out[i];
  }
  out[0] = sum;
}
)");
  EXPECT_NE(simtcc("-c b.cu").output.find("'sum' may be used uninitialized"), std::string::npos);
}

TEST_F(DriverTest, SharedVariablesMayHaveAConstructorThatDoesNothing) {
  write("a.cu",
        "struct Point {\n"
        "  float x, y;\n"
        "#ifdef STORES\n"
        "  __host__ __device__ Point() : x(1) {}\n"
        "#else\n"
        "  __host__ __device__ Point() {}\n"
        "#endif\n"
        "  __host__ __device__ Point(float a, float b) : x(a), y(b) {}\n"
        "};\n"
        "struct Pair { Point a, b; int k; };\n"
        "__global__ void mirror(float* out) {\n"
        "  __shared__ Point points[64];\n"
        "  __shared__ Pair pairs[2][32];\n"
        "  points[threadIdx.x] = Point(threadIdx.x, 1);\n"
        "  pairs[threadIdx.x / 32][threadIdx.x % 32].b = Point(2, 3);\n"
        "  __syncthreads();\n"
        "  out[threadIdx.x] = points[63 - threadIdx.x].x + pairs[0][threadIdx.x / 2].b.y;\n"
        "}\n"
        "int main() {\n"
        "  float *out, host[64];\n"
        "  cudaMalloc(&out, sizeof host);\n"
        "  mirror<<<3, 64>>>(out);\n"
        "  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);\n"
        "  cudaFree(out);\n"
        "  return host[1] != 65;\n"
        "}\n");
  for (const std::string options : {"-std=c++17", "-std=c++20", "--fast"}) {
    EXPECT_EQ(simtcc("-Wall -Wextra " + options + " a.cu -o a").output, "");
    const Outcome outcome = shell("./a");
    EXPECT_EQ(outcome.output, "") << options;
    EXPECT_EQ(outcome.status, 0) << options;
  }
  simtcc("-DSTORES a.cu -o a");
  const Outcome outcome = shell("./a");
  EXPECT_NE(outcome.output.find("simt: the constructor of points, in shared memory, stores"),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.status, 1);
}

TEST_F(DriverTest, NamesOfStdThatNvccLeavesFreeAreTheProgramsOwn) {
  write(
      "a.cu",
      "#include <stdio.h>\n"
      "using namespace std;\n"
      "int array[4], tie = 3, ignore, atomic, hash, string, greater, shared_ptr, ratio, optional;\n"
      "__global__ void multiplies(int* a, int n) { a[threadIdx.x] *= n; }\n"
      "__global__ void plus(int* a, float by, char sign) { a[threadIdx.x] += sign * (int)by; }\n"
      "int main() {\n"
      "  int* a;\n"
      "  for (int i = 0; i < 4; i++) array[i] = i;\n"
      "  ignore = atomic = hash = string = greater = shared_ptr = ratio = optional = 1;\n"
      "  cudaMalloc(&a, sizeof array);\n"
      "  cudaMemcpy(a, array, sizeof array, cudaMemcpyHostToDevice);\n"
      "  cudaStream_t stream;\n"
      "  cudaGraph_t graph;\n"
      "  cudaGraphExec_t exec;\n"
      "  cudaStreamCreate(&stream);\n"
      "  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
      "  multiplies<<<1, 4, 0, stream>>>(a, tie);\n"
      "  plus<<<1, 4, 0, stream>>>(a, 2.5f, -1);\n"
      "  cudaStreamEndCapture(stream, &graph);\n"
      "  cudaGraphInstantiate(&exec, graph, 0);\n"
      "  cudaGraphLaunch(exec, stream);\n"
      "  cudaGraphLaunch(exec, stream);\n"
      "  cudaMemcpy(array, a, sizeof array, cudaMemcpyDeviceToHost);\n"
      "  printf(\"%d %d %d %d\\n\", array[0], array[1], array[2], array[3]);\n"
      "  cudaGraphExecDestroy(exec);\n"
      "  cudaGraphDestroy(graph);\n"
      "  cudaStreamDestroy(stream);\n"
      "  cudaFree(a);\n"
      "}\n");
  for (const std::string standard : {"c++17", "c++20"}) {
    EXPECT_EQ(simtcc("-std=" + standard + " a.cu -o a").output, "") << standard;
    EXPECT_EQ(shell("./a").output, "-8 1 10 19\n") << standard;
  }
}

TEST_F(DriverTest, CommandsCanBeSeen) {
  write("a.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n");
  Outcome outcome = simtcc("--dryrun a.cu");
  EXPECT_EQ(outcome.status, 0);
#ifdef __x86_64__
  constexpr int kCommands = 4;  // preprocess, compile, assemble, link
#else
  constexpr int kCommands = 3;
#endif
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), kCommands)
      << outcome.output;
  EXPECT_FALSE(exists("a.out"));
  outcome = simtcc("--print-rewritten a.cu");
  EXPECT_NE(outcome.output.find("::simt::launcher(\"k\""), std::string::npos);
  EXPECT_FALSE(exists("a.out"));
}

TEST_F(DriverTest, TemporaryFilesGo) {
  write("a.cu", "int main() { return tex2D(1); }\n");
  fs::create_directory(folder_ / "tmp");
  shell("TMPDIR=tmp '" SIMTCC "' a.cu");
  EXPECT_TRUE(fs::is_empty(folder_ / "tmp"));
}

}  // namespace
