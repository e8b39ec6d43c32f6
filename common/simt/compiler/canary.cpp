#include "canary.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "assembly/assembly.h"
#include "assembly/conversions.h"
#include "assembly/layout.h"
#include "assembly/merged_accesses.h"
#include "flags.h"
#include "process.h"
#include "text/origins.h"
#include "text/pattern.h"
#include "trees/execution_spaces.h"
#include "trees/shared_memory.h"
#include "trees/struct_calls.h"
#include "trees/tree_dump.h"
#include "trees/whole_structs.h"
#include "words/compiler_messages.h"

namespace simtcc {
namespace {

using Text = std::string_view;
using Command = std::vector<std::string>;

// As the preprocessor leaves a program, with what the rewriter names of the simulator's headers.
constexpr const char* kFile = "/dev/null/canary.cu";  // there is no such file
constexpr Text kSource = R"(# 1 "/dev/null/canary.cu"
namespace simt {
struct Config {};
Config config(int, int);
template <class Probe, class Call>
auto launcher(const char*, Probe, Call call, Config) {
  return [=](auto... arguments) { call(arguments...); };
}
namespace detail {
template <class T> using Parameter = T;
template <auto> struct KernelEntry { static bool registered; };
template <class> constexpr bool fits_shared_memory = true;
template <class> constexpr bool can_be_shared = true;
}
}
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct __attribute__((aligned(16))) Body { float4 place, speed; };
struct __attribute__((aligned(8))) Pair { float a, b; };
struct Vector { float x, y, z; };
__constant__ int table[20000];
int host_number = 1;
int on_host(int x) {
  int unset;
  return x + unset;
}
void launches() { on_host<<<1, 32>>>(1); }
__global__ void strays(int* p) {
  *p = on_host(*p);
  *p += host_number;
}
__device__ float length(Vector v, int n) {
  float s = 0;
  while (n-- > 0) s += v.x * v.y - s * v.z;
  return s;
}
__global__ void shares(float* p, int i) {
  __shared__ float4 tile[2000];
  __shared__ float row[6000];
  __shared__ Vector own;
  tile[i].x = row[i] = own.x = *p;
  *p = tile[i + 1].x + tile[i + 1].y;
  p[1] = row[i + 1] + length(own, i);
}
__global__ void accesses(float* out, const float4* in, int i) {
  const float4& v = in[i];
  out[i] = v.x + v.y + v.z + v.w;
}
__global__ void copies(Body* to, const Body* from, Pair* out, const Pair* in) {
  *to = *from;
  out->a = in->a;
  out->b = in->b;
}
__global__ void changes(float4* p) {
  float4 v = *p;
  v.x *= 2;
  *p = v;
}
__device__ Vector sum(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__global__ void moves(Vector* out, const Vector* in) { *out = sum(in[0], in[1]); }
__device__ inline __attribute__((always_inline)) unsigned char to_byte(float f) { return (unsigned char)f; }
__global__ void converts(int* p, unsigned* q, float f, double d) {
  *p = (int)f + to_byte(f);
  *q = (unsigned)d;
}
__global__ void finds(int* p, const int* a, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] == 7) {
      p[0] = i;
      return;
    }
    p[i] = 1;
  }
  p[1] = 2;
}
__global__ void leaves(int* p, int* q, int i, bool negate) {
  if (negate) {
    p[i] = -p[i];
    return;
  }
  q[i] = p[i];
  p[i] = q[63 - i];
}
__global__ void polls(volatile int* flag, int* p) {
  while (*flag == 0) {}
  *p = 1;
  for (;;) {}
}
)";

constexpr Text kWrite = " __tsan_write4 ", kExit = " __tsan_func_exit ";

// The line on which this stands first.
int line_of(Text text) {
  const Text ahead = kSource.substr(0, kSource.find(text));
  return static_cast<int>(std::count(ahead.begin(), ahead.end(), '\n'));
}

std::set<int> lines_of(const std::vector<Diagnostic>& diagnostics) {
  std::set<int> lines;
  for (const Diagnostic& one : diagnostics) lines.insert(one.line);
  return lines;
}

// What a function calls, in order: " __tsan_read4 __tsan_func_exit "
std::string calls_of(Text assembly, Text function) {
  std::string calls;
  bool is_inside = false;
  while (!assembly.empty()) {
    const Text line = next_line(assembly);
    if (is_inside && ends_function(line, function)) break;
    if (is_inside && is_instruction(line) && word(line) == "call") {
      const Text callee = line.substr(line.rfind('\t') + 1);
      calls += ' ' + std::string(callee.substr(0, callee.find('@')));
    }
    is_inside |= function_begun(line) == function;
  }
  return calls + ' ';
}

bool has(Text text, Text part) { return text.find(part) != Text::npos; }

std::size_t times(Text text, Text part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != Text::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// What is not found as expected: "calls and launches, messages".
std::string missed_by(Command command, const std::filesystem::path& folder, const Dialect& dialect,
                      bool traced) {
  const auto file = [&](const char* name) { return (folder / name).string(); };
  const auto add = [&](const Command& more) {
    command.insert(command.end(), more.begin(), more.end());
  };
  constexpr auto kChanges = "_Z7changesP6float4", kConverts = "_Z8convertsPiPjfd";
  const Rewritten result = rewrite(kSource, kFile, traced, {}, dialect);
  std::ofstream(file("canary.ii")) << result.text;
  if (traced) add({flags::kWide.begin(), flags::kWide.end()});
  add({flags::kDump + file("canary.functions"), flags::kOperations + file("canary.operations")});
  add(flags::apart({kConverts}));
  add(flags::whole({kChanges}));
  add({"-x", "c++-cpp-output", "-S", file("canary.ii"), "-o", file("canary.s")});
  const bool is_compiled = run_process(command, file("canary.errors")) == 0;
  const std::string errors = read_file(file("canary.errors"));
  if (!is_compiled) return "a test source (" + errors.substr(0, errors.find('\n')) + ")";

  Origins origins(kSource, kFile, result.edits);
  const std::string functions = read_file(file("canary.functions"));
  const TreeDump dump(functions);
  const Names& names = result.names;
  const std::string code = read_file(file("canary.s"));
  std::string missed;
  const auto expect = [&](bool is_found, const char* what) {
    if (!is_found) missed += (missed.empty() ? "" : ", ") + std::string(what);
  };
  const std::set<int> spaces = lines_of(check_execution_spaces(dump, names, origins, false));
  expect(spaces == std::set{line_of("on_host<<<"), line_of("*p = on_host"), line_of("*p += host")},
         "calls and launches");
  const std::string said = readable(errors, origins, false);
  expect(has(said, "warning: 'unset'") && has(said, "used uninitialized"), "messages");
  expect(lines_of(check_shared_memory(code, dump, names, origins)) ==
                 std::set{line_of("__global__ void shares")} &&
             lines_of(check_constant_memory(code, names, origins)) ==
                 std::set{line_of("__constant__")},
         "sizes of variables");
  const std::vector<std::string> converts = functions_with_merged_conversions(
      code, dump, read_file(file("canary.operations")), result.text);
  const std::string converted = with_saturating_conversions(code, dump, result.text);
  expect(converts == std::vector<std::string>{kConverts} &&
             times(converted, "\tcall\tsimt_f32_to_s32@") == 1 &&
             times(converted, "\tcall\tsimt_f32_to_u32@") == 1 &&
             times(converted, "\tcall\tsimt_f64_to_u32@") == 1,
         "conversions to integers");
  if (!traced) return missed;

  expect(find_struct_calls(dump, code, origins).to_inline == std::set<std::string>{"length", "sum"},
         "calls with structs");
  expect(functions_that_change_structs(dump, result.aligned_classes) ==
                 std::vector<std::string>{kChanges} &&
             times(calls_of(code, kChanges), " __tsan_read16 ") == 1,
         "structs that are changed");
  const std::string merged = with_merged_accesses(code, result.array_classes);
  const std::string copies = calls_of(merged, "_Z6copiesP4BodyPKS_P4PairPKS3_");
  expect(times(merged, "\t.byte\t16, 0, 0, 0\n") == 1 &&  // of four members, and of two
             times(merged, "\t.byte\t8, 0, 0, 0\n") == 3 &&
             times(merged, "\t.byte\t0, 0, 0, 0\n") == 3 + 3 &&
             has(copies, " simt_write_pieces ") && has(copies, " simt_read_pieces "),
         "accesses to members");
  const std::string moved = exits_behind_loops(merged);
  const std::string finds = calls_of(moved, "_Z5findsPiPKii");
  const std::size_t in_loop = finds.find(kWrite), behind = finds.find(kWrite, in_loop + 1);
  expect(finds.find(kExit) != Text::npos && behind < finds.find(kExit), "exits from loops");
  // Where g++ makes one store of two, behind both ways out.
  const std::string leaves = calls_of(merged, "_Z6leavesPiS_ib");
  const bool is_left_early = leaves.rfind(kWrite) > leaves.rfind(kExit);
  expect(has(leaves, kExit) && is_left_early == has(calls_of(moved, "_Z6leavesPiS_ib"),
                                                    " simt_leave_after_accesses "),
         "exits from kernels");
  expect(has(calls_of(moved, "_Z5pollsPViPi"), " simt_poll_read4 ") &&
             has(moved, "\tandq\t$-16, %rsp\n") && has(moved, "\nsimt_program_polls:\n"),
         "loops that wait");
  return missed;
}

// Where the program is that such a command runs.
std::string path_of(const std::string& program) {
  if (has(program, "/")) return program;
  const char* const folders = std::getenv("PATH");
  std::istringstream in(folders ? folders : "");
  for (std::string folder; std::getline(in, folder, ':');) {
    const std::filesystem::path path = std::filesystem::path(folder) / program;
    if (access(path.c_str(), X_OK) == 0) return path.string();
  }
  return program;
}

std::string version_of(const std::string& program, const std::filesystem::path& folder) {
  const std::string said = (folder / "canary.version").string();
  run_process({program, "-v"}, said);
  static const Pattern version(R"(gcc version (\S+))");
  const std::string text = read_file(said);
  Match match;
  return version.is_in(text, match) ? match[1] : "of an unknown version";
}

}  // namespace

std::string why_unreadable(const Command& command, const Command& asked,
                           const std::filesystem::path& folder, const Dialect& dialect,
                           bool traced) {
  const auto is_of_warnings = [](const std::string& flag) {
    return flag.starts_with("-W") || flag == "-w" || flag.starts_with("-pedantic");
  };
  Command plain = command;
  std::erase_if(plain, is_of_warnings);
  plain.push_back("-Wuninitialized");
  const std::string missed = missed_by(plain, folder, dialect, traced);
  if (missed.empty()) return {};
  const std::string compiler =
      "'" + path_of(command[0]) + "' (" + version_of(command[0], folder) + ")";
  std::string options;
  for (const std::string& flag : asked) {
    const auto at = std::find(plain.begin(), plain.end(), flag);
    if (at == plain.end() || flag.starts_with("-std=")) continue;
    options += ' ' + flag;
    plain.erase(at);
  }
  const std::string cannot = "cannot read what " + compiler + " prints";
  if (!options.empty() && missed_by(plain, folder, dialect, traced).empty())
    return cannot + " with" + options + " of " + missed + ": leave such options out";
  return cannot + " of " + missed +
         ": install one of g++-12 to g++-16, and name it with -ccbin, or by CXX where a build is "
         "configured";
}

}  // namespace simtcc
