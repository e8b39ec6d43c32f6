/// \file
/// What a program can ask the simulator: the counts of its launches and the findings.
///
/// Only a program compiled by simtcc has this header; lab's backend header and the tests use it.
#pragma once

#include <simt/counts.h>
#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

/// What a finding means for the process: an error fails it, a warning leaves its exit code alone.
enum class Severity { error, warning };

/// A fault that the simulator found. An error fails the process, unless take_findings() hands it over.
struct Finding {
  std::string kind;  ///< out-of-bounds, misaligned-access, shared-race, barrier-divergence, ...
  Severity severity = Severity::error;
  std::string message;           ///< What happened and where, what it missed, and the usual cause.
  std::string kernel;            ///< The kernel, with its template arguments; empty for the host.
  std::string file;              ///< Source file, as the compiler saw it.
  int line = 0;                  ///< Source line.
  uint3 block{};                 ///< blockIdx of the first thread at fault.
  uint3 thread{};                ///< threadIdx of the first thread at fault.
  int launch = -1;               ///< Index of the launch; -1 for the host.
  uint64_t address = 0;          ///< The address at fault, if there is one.
  std::string allocation;        ///< The allocation that the access missed or hit, in words.
  bool follows_failure = false;  ///< A call that failed is the cause, and is told before.
};

/// The counts of one source line in one launch.
struct LineCounts {
  std::string file;
  int line = 0;
  Counts counts;
};

/// What a launch has touched of the device's memory, each sector counted once: what DRAM has to move at least if no cache holds
/// any of it before. Memory of the host's, constants and textures are not in it, nor are volatile loads.
struct TouchedSectors {
  uint64_t read = 0;     ///< Loaded, and not stored before in the same launch as far as is known.
  uint64_t written = 0;  ///< Stored, or an atomic operation's.
};

/// One kernel launch.
struct Launch {
  int index = 0;                          ///< In the order of launching, from 0.
  std::string kernel;                     ///< Demangled, with its template arguments.
  int device = 0;                         ///< It ran on.
  dim3 grid;                              ///< Blocks.
  dim3 block;                             ///< Threads of a block.
  unsigned dynamic_shared = 0;            ///< Bytes of a block that the launch has asked for.
  uint64_t traced_blocks = 0;             ///< Blocks that were counted: all, or a sample.
  bool reads_textures = false;            ///< Which is not counted.
  bool is_sized_by_device = false;        ///< The program knows how many multiprocessors there are.
  Counts counts;                          ///< Sum over the launch.
  std::optional<TouchedSectors> touched;  ///< None of a sample, nor of accesses too far apart.
  uint64_t atomics_on_one_word = 0;       ///< Of lanes, on a word of global memory, at least.
  std::vector<LineCounts> lines;          ///< By file and line; they sum to `counts`.
  std::vector<Finding> findings;          ///< What was found in it, taken or not.
};

/// True in a traced program, false in one that was compiled with --fast, where nothing is counted.
bool tracing();

/// From here on there are as many devices as that, from 1 to 16, where SIMT_DEVICES says nothing.
void simulate_devices(int count);

/// Launches recorded so far.
std::size_t launch_count();

/// A recorded launch. \pre i < launch_count()
const Launch& launch(std::size_t i);

/// The sum of the counts of launches [first, launch_count()).
Counts counts_since(std::size_t first);

/// Hands over the findings so far, warnings too: they no longer fail the process. An error of the runtime that
/// the program has asked for is none as long as it runs. Clears the sticky error that a finding left, as a
/// reset of the device would, but keeps the allocations.
std::vector<Finding> take_findings();

/// Whether findings are printed to stderr as they are made, which is so at first. They are handed over, and fail the
/// process, all the same.
void print_findings(bool on);

/// What findings shall call an allocation ("out" in "just past the end of the 4000 bytes of out").
/// Without it they name the call that made it. Whoever names it is an object that frees it, so that it is no leak
/// to warn of if exit() leaves the object alive. Does nothing where no allocation begins at `base`.
void name_allocation(const void* base, std::string_view name);

/// A thread that has written to watched memory.
struct Writer {
  uint3 block{};             ///< blockIdx
  uint3 thread{};            ///< threadIdx
  std::string file;          ///< Source file of the store.
  int line = 0;              ///< Source line of the store.
  std::uint64_t writes = 0;  ///< How many there have been since watch(), by all threads.
};

/// Watches these bytes of global memory from here on, and no others; 0 bytes end it.
void watch(const void* begin, std::size_t bytes);

/// The thread that has written to the watched bytes last, if one has: in a block that was traced.
std::optional<Writer> last_writer();

/// A copy between memory of the host's alone and memory of the device's.
struct Transfer {
  const void* device = nullptr;  ///< The first byte there.
  std::size_t bytes = 0;         ///< From there to the last one.
  bool to_device = false;
};

/// Keeps the transfers from here on, or no further ones; on, those before are forgotten.
void watch_transfers(bool on);

/// Those that were kept.
const std::vector<Transfer>& transfers();

}  // namespace simt
