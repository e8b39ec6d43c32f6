// Program counters to source lines and kernel names, by the program's own debug information.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simt::symbols {

struct Location {
  std::string file;  // as the compiler saw it; empty if unknown
  int line = 0;
  int column = 0;  // 0: unknown

  std::string text() const;        // dir/file.cu:31
  std::string short_text() const;  // file.cu:31
};

// The source line that was being executed before the call that returns to `return_address`. Code
// inlined from the simulator's headers or from the system's counts for the line that uses it.
const Location& locate(uint64_t return_address);

// Where the kernel, or whatever function is compiled on its own, calls what has this line by way of functions that are inlined into
// it; no line where the line is its own.
Location call_around(uint64_t return_address);

// Not the reader's code: the simulator's headers and the system's.
bool is_library_file(std::string_view file);

// The function that holds `address`, without its return type and parameters: "reduce<float, 256>".
std::string function_name(uint64_t address);
// With them: "void reduce<float, 256>(float const*, float*, int)".
std::string signature(uint64_t address);

// A __shared__ variable with static size, which is a thread-local one of the program.
struct SharedVariable {
  uint64_t begin = 0, end = 0;  // offsets from the start of the thread-local segment
  std::string name;             // "tile"
  std::string owner;            // the function it stands in, "transpose(float const*, float*, int)"
  std::string symbol;           // as the linker knows it
};

// All of them in the order of their offsets; none where the program was stripped of its symbols.
const std::vector<SharedVariable>& shared_variables();

// The extents of such an array as it is declared, the outermost first. None where it has no debug information, or elements that
// may have arrays of their own.
const std::vector<uint64_t>& extents_of(const SharedVariable& variable);

// Where g++ notes whether it has run the constructor of one of them: an offset as above, and the variable's symbol.
struct Guard {
  uint64_t at = 0;
  std::string symbol;
};
const std::vector<Guard>& guards_of_shared_variables();

// The bytes of those that stand in the function at `address`, in whole words.
size_t shared_bytes_of(uint64_t address);

// A variable of the program with an address of its own, __device__ and __constant__ ones among them.
struct Variable {
  uint64_t begin = 0, end = 0;
  std::string name;
};

// The one that holds `address`, or nullptr.
const Variable* find_variable(uint64_t address);
// The one that begins at `address` or last before it, or nullptr.
const Variable* find_variable_below(uint64_t address);

// A variable of a function's frame: its place from the canonical frame address on, and the line of its declaration.
struct Local {
  uint64_t begin = 0, end = 0;
  std::string name;
  int line = 0;
};

// Those whose names begin with `prefix` and that have been declared where `return_address` leads to. (Needs more
// stack than a lane has.)
std::vector<Local> locals_at(uint64_t return_address, std::string_view prefix);

}  // namespace simt::symbols
