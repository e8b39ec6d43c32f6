#include "device.h"

#include <execinfo.h>
#include <signal.h>
#include <simt/simt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "api_errors.h"
#include "grid.h"
#include "lab/json_writer.h"
#include "memory.h"
#include "symbols.h"

namespace simt::engine {
extern bool traced_program;
}

namespace simt {
namespace {

using lab::JsonWriter;

constexpr int kFindingsExitCode = 86;

struct Record {
  Launch launch;
  std::map<uint64_t, Counts> by_pc;
  std::map<uint64_t, engine::Example> examples;
  bool resolved = false;
};

struct State {
  std::recursive_mutex mutex;
  std::deque<Record> records;
  std::vector<Finding> host_findings;  // all of them
  std::vector<Finding> pending;        // not taken: the errors among them fail the process
  // Kind, kernel and place of what was found in kernels -> the launch in which it was told. What comes again in
  // later launches is on record, and told no more.
  std::map<std::tuple<std::string, std::string, std::string, int>, int> told;
  size_t asserted = 0;          // those of them that are failed assertions
  bool assertion_told = false;  // the program has been given cudaErrorAssert
  bool recording = true;
  cudaError_t sticky = cudaSuccess;
  std::map<const void*, size_t>
      dynamic_shared;  // by kernel: what it has been allowed beyond 48 KiB
};

thread_local cudaError_t last_error = cudaSuccess;  // as in CUDA, each host thread has its own

State& state() {
  static State* s = new State;
  return *s;
}

void resolve(Record& record) {
  if (record.resolved) return;
  record.resolved = true;
  std::map<std::pair<std::string, int>, Counts> by_line;
  for (const auto& [pc, counts] : record.by_pc) {
    if (counts == Counts{}) continue;
    const symbols::Location& at = symbols::locate(pc);
    by_line[{at.file, at.line}] += counts;
  }
  for (auto& [at, counts] : by_line) record.launch.lines.push_back({at.first, at.second, counts});
}

void write(JsonWriter& json, const Counts& counts) {
  json.begin_object("counts");
  for_each_count(counts, [&](const char* name, uint64_t value) { json.value(name, value); });
  json.end_object();
}

template <typename Vector>  // uint3, dim3
void write(JsonWriter& json, const char* key, const Vector& v) {
  json.begin_array(key);
  for (const unsigned length : {v.x, v.y, v.z}) json.value("", length);
  json.end_array();
}

void write(JsonWriter& json, const std::vector<Finding>& findings) {
  json.begin_array("findings");
  for (const Finding& finding : findings) {
    char address[32];
    std::snprintf(address, sizeof(address), "0x%llx",
                  static_cast<unsigned long long>(finding.address));
    json.begin_object();
    json.value("kind", finding.kind);
    json.value("severity", finding.severity == Severity::error ? "error" : "warning");
    json.value("message", finding.message);
    json.value("file", finding.file);
    json.value("line", finding.line);
    write(json, "block", finding.block);
    write(json, "thread", finding.thread);
    json.value("address", address);
    json.value("allocation", finding.allocation);
    json.end_object();
  }
  json.end_array();
}

// What the lanes of one request asked for, from the start of the 128-byte line of the lowest address:
// that leaves sectors and banks as they are. null stands for a lane that did not take part.
void write(JsonWriter& json, const engine::Example& example) {
  uint64_t base = ~uint64_t{0};
  for (uint32_t rest = example.lanes; rest; rest &= rest - 1) {
    base = std::min(base, example.address[std::countr_zero(rest)]);
  }
  base -= base % 128;
  json.begin_object();
  json.value("access", example.access);
  json.value("space", example.shared ? "shared" : "global");
  json.value("size", example.size);
  json.begin_array("addresses");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (example.lanes >> lane & 1) {
      json.value("", example.address[lane] - base);
    } else {
      json.value("", std::numeric_limits<double>::quiet_NaN());
    }
  }
  json.end_array();
  const std::string_view access = example.access;
  if (example.shared && access != "atomic") {
    const SharedCost cost =
        count_wavefronts(example.address.data(), example.lanes, example.size,
                         access == "load" ? SharedAccess::load : SharedAccess::store);
    json.value("wavefronts", cost.wavefronts);
    json.value("phase_lanes", cost.phase_lanes);
  }
  json.end_object();
}

void write(JsonWriter& json, const Record& record) {
  const Launch& launch = record.launch;
  std::map<std::pair<std::string_view, int>, std::vector<const engine::Example*>> examples;
  for (const auto& [pc, example] : record.examples) {
    const symbols::Location& at = symbols::locate(pc);
    examples[{at.file, at.line}].push_back(&example);
  }
  json.begin_object();
  json.value("index", launch.index);
  json.value("kernel", launch.kernel);
  write(json, "grid", launch.grid);
  write(json, "block", launch.block);
  json.value("traced_blocks", launch.traced_blocks);
  write(json, launch.counts);
  json.begin_array("lines");
  for (const LineCounts& line : launch.lines) {
    json.begin_object();
    json.value("file", line.file);
    json.value("line", line.line);
    write(json, line.counts);
    json.begin_array("examples");
    for (const engine::Example* example : examples[{line.file, line.line}]) write(json, *example);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  write(json, launch.findings);
  json.end_object();
}

// The kernels in the order of their first launches, each with the sum of its counts.
template <class Records>
void write_kernels(JsonWriter& json, const Records& records) {
  struct Kernel {
    std::string_view name;
    std::vector<int> launches;
    Counts counts;
  };
  std::vector<Kernel> kernels;
  std::map<std::string_view, size_t> position;
  for (const Record& record : records) {
    const Launch& launch = record.launch;
    const auto [at, is_new] = position.try_emplace(launch.kernel, kernels.size());
    if (is_new) kernels.push_back({launch.kernel, {}, {}});
    kernels[at->second].launches.push_back(launch.index);
    kernels[at->second].counts += launch.counts;
  }
  json.begin_array("kernels");
  for (const Kernel& kernel : kernels) {
    json.begin_object();
    json.value("kernel", std::string(kernel.name));
    json.begin_array("launches");
    for (const int launch : kernel.launches) json.value("", launch);
    json.end_array();
    write(json, kernel.counts);
    json.end_object();
  }
  json.end_array();
}

std::string text(uint3 v) {
  return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

std::string plural(uint64_t n, const char* thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

// Where an address lies that a kernel may not touch, seen from the allocations, and what usually causes that.
struct Place {
  std::string text, allocation, cause;
};

std::string into(const memory::Allocation& allocation, uint64_t address) {
  const uint64_t offset = address - allocation.base;
  return (offset ? plural(offset, "byte") + " into " : "at the start of ") +
         memory::describe(allocation);
}

Place place_of(uint64_t address) {
  static constexpr uint64_t kFar = uint64_t{1} << 31;
  static constexpr const char* kWrapped =
      "an index that has wrapped around: an unsigned one that went below 0, or an int that "
      "overflowed";
  if (address < 4096) {
    return {"address " + std::to_string(address) + ", a null pointer",
            {},
            "a pointer that was never set, or a cudaMalloc that failed"};
  }
  if (!memory::in_arena(address)) {
    return {
        "host memory that the device cannot reach", "host memory",
        "the address of a variable, what malloc() or new returned, or the data() of a std::vector "
        "was handed to the kernel, perhaps within a struct. A kernel may use what cudaMalloc "
        "returned, or pinned and managed memory; copy the data with cudaMemcpy first"};
  }
  const memory::Allocation* below = memory::find_below(address);
  const memory::Allocation* above = memory::find_above(address);
  if (below && below->freed && address < below->end()) {
    return {into(*below, address), memory::describe(*below),
            "it is freed before the last kernel that uses it, or a copy of the pointer lives on"};
  }
  if (below && address < below->end()) {
    const std::string allocation = memory::describe(*below);
    return {"across the end of " + allocation, allocation,
            "a size that is no multiple of what is read or written at once"};
  }
  if (below && (!above || address - below->end() <= above->base - address)) {
    const std::string allocation = memory::describe(*below);
    const uint64_t past = address - below->end();
    return {
        (past ? plural(past, "byte") + " past the end" : std::string("just past the end")) +
            " of " + allocation,
        allocation,
        past >= kFar ? kWrapped : "a guard such as `if (i < n)` is missing or tests another bound"};
  }
  if (above) {
    const std::string allocation = memory::describe(*above);
    const uint64_t before = above->base - address;
    return {plural(before, "byte") + " before the start of " + allocation, allocation,
            before >= kFar ? kWrapped : "an index below 0, such as that of in[i - 1] where i is 0"};
  }
  return {"device memory that nothing has allocated", {}, kWrapped};
}

// "tile in shared memory, byte 64". Addresses in shared memory say nothing to the reader.
std::string shared_place(const engine::Fault& fault) {
  if (!fault.variable) {
    return "byte " + std::to_string(fault.address) + " of the " + (fault.limit ? "dynamic " : "") +
           "shared memory";
  }
  return fault.variable->name + " in shared memory, byte " +
         std::to_string(fault.address - fault.variable->begin);
}

std::string mask_text(uint64_t mask) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08x", static_cast<unsigned>(mask));
  return text;
}

// What holds an address in global memory.
std::string holder_of(uint64_t address) {
  if (const memory::Allocation* found = memory::find(address)) return memory::describe(*found);
  const symbols::Variable* variable = symbols::find_variable(address);
  return variable ? "the __device__ variable " + variable->name : "a __device__ variable";
}

}  // namespace

// ---- Errors -------------------------------------------------------------------------------------

namespace device {

cudaError_t result(cudaError_t error) {
  State& s = state();
  if (s.sticky == cudaErrorAssert) s.assertion_told = true;
  if (s.sticky != cudaSuccess) return s.sticky;
  if (error != cudaSuccess) {
    last_error = error;
    note_api_error(error);
  }
  return error;
}

cudaError_t sticky_error() { return state().sticky; }

void set_sticky_error(cudaError_t error) {
  State& s = state();
  if (s.sticky == cudaSuccess) s.sticky = last_error = error;
}

void clear_errors() { state().sticky = last_error = cudaSuccess; }

cudaError_t exchange_last_error(cudaError_t error) { return std::exchange(last_error, error); }

int resident_blocks(int block_size, size_t shared) {
  if (block_size < 1 || block_size > 1024 || shared > kSharedPerBlockOptin) return 0;
  const int whole_warps = (block_size + 31) / 32 * 32;
  const size_t taken = (shared + kSharedReserved + 127) / 128 * 128;
  return std::min({kThreadsPerMultiprocessor / whole_warps, kBlocksPerMultiprocessor,
                   static_cast<int>(kSharedPerMultiprocessor / taken)});
}

void allow_dynamic_shared(const void* kernel, size_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.dynamic_shared[kernel] = bytes;
}
size_t allowed_dynamic_shared(const void* kernel) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto& allowed = s.dynamic_shared;
  // A launch by overload resolution does not tell which kernel it is.
  if (!kernel) {
    size_t most = kSharedPerBlock;
    for (const auto& [named, bytes] : allowed) most = std::max(most, bytes);
    return most;
  }
  const auto found = allowed.find(kernel);
  return found == allowed.end() ? kSharedPerBlock : std::max(kSharedPerBlock, found->second);
}

// ---- Findings -----------------------------------------------------------------------------------

void report(Finding finding) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto first =
      finding.launch < 0
          ? finding.launch
          : s.told
                .try_emplace({finding.kind, finding.kernel, finding.file, finding.line},
                             finding.launch)
                .first->second;
  if (first == finding.launch) {
    std::fflush(stdout);
    std::fprintf(stderr, "simt: %s%s: %s\n",
                 finding.severity == Severity::warning ? "warning: " : "", finding.kind.c_str(),
                 finding.message.c_str());
    s.pending.push_back(finding);
  }
  if (finding.launch < 0) {
    s.host_findings.push_back(std::move(finding));
  } else if (static_cast<size_t>(finding.launch) < s.records.size()) {
    s.records[static_cast<size_t>(finding.launch)].launch.findings.push_back(std::move(finding));
  }
}

Finding describe(const engine::Fault& fault, const std::string& kernel, int launch) {
  using Kind = engine::Fault::Kind;
  const symbols::Location& at = symbols::locate(fault.pc);
  const symbols::Location& other = symbols::locate(fault.other_pc);
  Finding f;
  f.kernel = kernel;
  f.file = at.file;
  f.line = at.line;
  f.block = fault.block;
  f.thread = fault.thread;
  f.launch = launch;
  f.address = fault.address;
  const std::string access = (fault.atomic  ? "atomic operation on "
                              : fault.store ? "write of "
                                            : "read of ") +
                             plural(fault.size, "byte");
  const std::string where = " at " + at.text() + " in " + kernel + ", block " + text(fault.block) +
                            ", thread " + text(fault.thread);
  const std::string others = fault.lanes <= 1 ? ""
                             : fault.lanes <= engine::kLanes
                                 ? " (and " + plural(fault.lanes - 1, "more lane") + " of its warp)"
                                 : " (and " + std::to_string(fault.lanes - 1) + " times more)";
  switch (fault.kind) {
    case Kind::none:
      break;
    case Kind::out_of_bounds: {
      const Place place = place_of(fault.address);
      const memory::Allocation* found = memory::find(fault.address);
      const bool is_host = fault.address >= 4096 && !memory::in_arena(fault.address);
      f.kind = is_host                 ? "device-access"
               : found && found->freed ? "use-after-free"
                                       : "out-of-bounds";
      f.allocation = place.allocation;
      f.message = access + where + others + ": " + (is_host ? "the address is " : "") + place.text +
                  ". Usual cause: " + place.cause + ".";
      break;
    }
    case Kind::shared_out_of_bounds:
      f.kind = "out-of-bounds";
      if (fault.text) {
        // The array that it missed: the one before it, or else the one behind.
        const symbols::SharedVariable* missed = fault.variable;
        for (const symbols::SharedVariable& variable : symbols::shared_variables()) {
          if (fault.variable) break;
          if (variable.begin <= fault.address || !missed) missed = &variable;
        }
        f.allocation = "the " + plural(missed->end - missed->begin, "byte") + " of " +
                       missed->name + " in shared memory";
        const bool behind = fault.address >= missed->begin;
        f.message =
            access + where + others + ": " +
            (behind ? plural(fault.address + fault.size - missed->end, "byte") + " past the end of "
                    : plural(missed->begin - fault.address, "byte") + " before the start of ") +
            f.allocation +
            ". Usual cause: an index that is one too large, or a tile with a border.";
        break;
      }
      f.allocation = "dynamic shared memory";
      f.message = access + where + others + ": byte " + std::to_string(fault.address) +
                  " of the block's dynamic shared memory, which has " +
                  plural(fault.limit, "byte") +
                  ". The third argument of <<<>>> says how many there are: it counts bytes, not "
                  "elements, and of all arrays together.";
      break;
    case Kind::array_out_of_bounds: {
      const auto index = static_cast<int64_t>(fault.address);
      f.kind = "out-of-bounds";
      f.address = 0;
      f.allocation = "an array of type " + std::string(fault.text);
      f.message = "index " + std::to_string(index) + " of " + f.allocation + where +
                  ": it has the " + plural(fault.size, "element") + " from 0 to " +
                  std::to_string(fault.size - 1) +
                  ". Usual cause: an index that is one too large, or data that is no valid index.";
      break;
    }
    case Kind::constant_write:
      f.kind = "constant-write";
      f.message =
          access + where +
          ": a __constant__ variable cannot be written by a kernel. The host sets it with "
          "cudaMemcpyToSymbol() before the launch; what kernels write is a __device__ variable.";
      break;
    case Kind::shared_uninitialized:
      f.kind = "uninitialized-shared";
      if (fault.text) {
        f.message =
            "asynchronous copy of " + plural(fault.size, "byte") + where + ": " +
            shared_place(fault) +
            ", is read before the copy has arrived. Usual cause: no wait for it "
            "(__pipeline_wait_prior(), wait()), or one that leaves too many copies under way. Each "
            "thread waits for its own copies, and then all need a __syncthreads().";
        f.address = 0;
        break;
      }
      f.message = access + where + others + ": no thread of the block has written there, " +
                  shared_place(fault) +
                  ". Shared memory holds what an earlier block left. Usual cause: a tile that is "
                  "not filled up to its edge, because the threads there have no element to load, "
                  "or a missing initialisation.";
      f.address = 0;
      break;
    case Kind::global_uninitialized: {
      const memory::Allocation* found = memory::find(fault.address);
      if (found) f.allocation = memory::describe(*found);
      f.kind = "uninitialized-global";
      f.severity = Severity::warning;
      f.message = access + where + others + ": nothing has been written there yet, " +
                  (found ? into(*found, fault.address) : std::string("in device memory")) +
                  ". cudaMalloc does not clear memory. Usual cause: a cudaMemcpy or cudaMemset "
                  "that is missing, or that counts elements where it should count bytes.";
      break;
    }
    case Kind::global_race: {
      f.allocation = holder_of(fault.address);
      const dim3 extent = fault.grid;
      const uint3 other_block{static_cast<unsigned>(fault.other_block % extent.x),
                              static_cast<unsigned>(fault.other_block / extent.x % extent.y),
                              static_cast<unsigned>(fault.other_block / extent.x / extent.y)};
      f.kind = "global-race";
      if (fault.same_block) {
        f.message =
            access + where + " races with the " + (fault.other_store ? "write" : "read") + " at " +
            other.text() + " by thread " + text(fault.other_thread) +
            " of the same block: both touch the same bytes of " + f.allocation +
            ", and nothing orders the two. Usual cause: threads that share an element which "
            "each was to have for itself: give each its own index (blockIdx.x * blockDim.x "
            "+ threadIdx.x), add with atomicAdd(), or part the phases by a __syncthreads().";
        break;
      }
      f.message = access + where + " races with the " + (fault.other_store ? "write" : "read") +
                  " at " + other.text() + " by block " + text(other_block) +
                  ": both touch the same bytes of " + f.allocation +
                  ", and blocks run in any order. Usual cause: a result that several blocks add to "
                  "without an atomic operation, an array that is read and overwritten in one "
                  "launch, or a __threadfence() that is missing before the flag is set.";
      break;
    }
    case Kind::misaligned: {
      const memory::Allocation* found = memory::find(fault.address);
      if (found) f.allocation = memory::describe(*found);
      f.kind = "misaligned-access";
      f.message = access + where + others + ": the address is not a multiple of " +
                  plural(fault.size, "byte") + (found ? ", " + into(*found, fault.address) : "") +
                  ". A type such as double or float4 needs an address that is a multiple of its "
                  "size. Usual cause: a pointer to smaller elements, cast after it was moved by "
                  "some of them, or rows whose length is no multiple of the larger type.";
      break;
    }
    case Kind::shared_race:
      f.kind = "shared-race";
      f.message = std::string(fault.atomic  ? "atomic operation"
                              : fault.store ? "write"
                                            : "read") +
                  where + " races with the " + (fault.other_store ? "write" : "read") + " at " +
                  other.text() + " by thread " + text(fault.other_thread) +
                  " of the same block: both touch " + shared_place(fault) +
                  ", and nothing orders the two. Usual cause: a missing __syncthreads(), or within "
                  "a warp __syncwarp().";
      f.address = 0;
      break;
    case Kind::barrier_divergence:
      f.kind = "barrier-divergence";
      if (fault.text) {
        f.message = "thread " + text(fault.thread) + " of block " + text(fault.block) +
                    " calls a warp function at " + at.text() + " in " + kernel + " with the mask " +
                    mask_text(fault.address) + ", while thread " + text(fault.other_thread) +
                    " of the same block waits at the barrier at " + other.text() +
                    ", and neither can go on. Every lane in the mask must make the call: let the "
                    "mask name those that do, or take the call out of the condition.";
        f.address = 0;
        break;
      }
      f.message =
          "thread " + text(fault.thread) + " of block " + text(fault.block) + " waits at " +
          at.text() + " in " + kernel + ", while thread " + text(fault.other_thread) +
          " of the same block waits at the barrier at " + other.text() +
          ". All threads of a block that have not exited must reach the same __syncthreads(): take "
          "it out of the condition, or out of the loop that some threads leave earlier.";
      break;
    case Kind::grid_barrier:
      f.kind = "barrier-divergence";
      f.message = "block " + text(fault.block) + " waits at the barrier of the grid at " +
                  at.text() + " in " + kernel +
                  ", which another block has left without reaching it. All blocks must reach every "
                  "grid.sync(): take it out of the condition.";
      break;
    case Kind::invalid_mask: {
      const std::string mask = mask_text(fault.address);
      f.kind = "invalid-mask";
      if (fault.text && std::string_view(fault.text) == "width") {
        f.message = std::string("shuffle") + where + ": the width must be 1, 2, 4, 8, 16 or 32.";
      } else if (fault.text) {
        f.message = std::string("warp function") + where + ": the mask " + mask +
                    " does not name the calling lane.";
      } else {
        f.message = std::string("warp function") + where + others + ": the mask " + mask +
                    " names lanes that never come here. Every lane in the mask must make the call.";
      }
      f.address = 0;
      break;
    }
    case Kind::exited_lane:
      f.kind = "invalid-mask";
      f.message =
          "warp function" + where + ": the mask " + mask_text(fault.address) + " names thread " +
          text(fault.other_thread) +
          (fault.text ? ", whose value it asks for and which has exited"
                      : ", which goes on without making the call, and exits") +
          ". Usual cause: a full mask inside of `if (i < n)`, or behind an early return. Let all "
          "lanes make the call, those without an element with a value that does not matter, "
          "or take the mask from __ballot_sync() ahead of the condition.";
      f.address = 0;
      break;
    case Kind::hang:
      f.kind = "hang";
      f.message = "block " + text(fault.block) + " of " + kernel;
      if (fault.text) {
        f.message += " does not end: thread " + text(fault.thread) + " is still at " + at.text() +
                     ", and in " + std::to_string(fault.limit) +
                     " s of a CPU's time no block has ended or come to new memory. Usual cause: a "
                     "loop whose condition stays true. (SIMT_STEPS=n, beyond 2^24, allows more.)";
      } else if (fault.limit) {
        f.message += " does not end: thread " + text(fault.thread) + " is still at " + at.text() +
                     " after " + std::to_string(fault.limit) +
                     " steps of its warp. Usual cause: a loop whose condition stays true. "
                     "(SIMT_STEPS=n allows more steps.)";
      } else {
        f.message +=
            " will never end: its threads do the same again and again, thread " +
            text(fault.thread) + " at " + at.text() +
            ", and no block changes what they wait for. Usual cause: a loop that waits for a flag "
            "or a lock, while the thread that would set or free it waits at a barrier, has exited, "
            "comes after this one in the same warp, or is in a block that has not begun. (Only the "
            "blocks of a cooperative launch all run at the same time.)";
      }
      break;
    case Kind::trap:
      f.kind = "trap";
      f.message = std::string(fault.text ? fault.text : "trap") + where + ".";
      break;
    case Kind::assertion:
      f.kind = "trap";
      f.message = "the assertion `" + std::string(fault.text) + "` failed" + where + ".";
      break;
    case Kind::crash:
      f.kind = fault.address >= 4096 && !memory::in_arena(fault.address) ? "device-access"
                                                                         : "out-of-bounds";
      f.allocation = place_of(fault.address).allocation;
      f.message = "access" + where + ": " + place_of(fault.address).text +
                  ". Usual cause: " + place_of(fault.address).cause + ".";
      break;
    case Kind::stack_overflow:
      f.kind = "stack-overflow";
      f.message =
          "thread " + text(fault.thread) + where.substr(0, where.rfind(", thread")) +
          " has used up its stack. Usual cause: a recursion that does not end, or arrays of "
          "a thread's own that are too large: CUDA allows 512 KiB of them. (SIMT_STACK=n "
          "sets the bytes of a thread's stack.)";
      break;
    case Kind::division_by_zero:
      f.kind = "division-by-zero";
      f.severity = Severity::warning;
      f.message = "integer division by zero" + where +
                  ". A GPU does not trap: the quotient, or the remainder, has all bits set, as -1 "
                  "has. Usual cause: a size or a count that is 0, or a divisor that was never set.";
      break;
  }
  return f;
}

void finish_launch(engine::LaunchRecord record, const std::vector<engine::Fault>& faults) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.recording && faults.empty()) return;
  const int index = static_cast<int>(s.records.size());
  Record& kept = s.records.emplace_back();
  kept.launch.index = index;
  kept.launch.kernel = std::move(record.kernel);
  kept.launch.grid = record.grid;
  kept.launch.block = record.block;
  kept.launch.traced_blocks = record.traced_blocks;
  kept.by_pc = std::move(record.by_pc);
  kept.examples = std::move(record.examples);
  for (const auto& [pc, counts] : kept.by_pc) kept.launch.counts += counts;

  using Kind = engine::Fault::Kind;
  std::set<std::string> told;  // one line may be several instructions
  for (const engine::Fault& fault : faults) {
    Finding finding = describe(fault, kept.launch.kernel, index);
    if (told.insert(finding.message).second) report(std::move(finding));
    switch (fault.kind) {
      case Kind::shared_race:
      case Kind::shared_uninitialized:
      case Kind::global_race:
      case Kind::global_uninitialized:
      case Kind::division_by_zero:
      case Kind::exited_lane:
        break;
      case Kind::misaligned:
        set_sticky_error(cudaErrorMisalignedAddress);
        break;
      case Kind::constant_write:
      case Kind::array_out_of_bounds:
      case Kind::out_of_bounds:
        set_sticky_error(cudaErrorIllegalAddress);
        break;
      case Kind::shared_out_of_bounds:
      case Kind::crash:
      case Kind::stack_overflow:
        set_sticky_error(cudaErrorIllegalAddress);
        break;
      case Kind::assertion:
        ++s.asserted;
        set_sticky_error(cudaErrorAssert);
        break;
      case Kind::hang:
        set_sticky_error(cudaErrorLaunchTimeout);
        break;
      default:
        set_sticky_error(cudaErrorLaunchFailure);
    }
  }
}

// ---- The end of the process ---------------------------------------------------------------------

void write_trace() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const char* path = std::getenv("SIMT_JSON");
  if (!path || !*path) return;
  JsonWriter json;
  json.begin_object();
  json.begin_array("launches");
  for (Record& record : s.records) {
    resolve(record);
    write(json, record);
  }
  json.end_array();
  write_kernels(json, s.records);
  write(json, s.host_findings);
  json.end_object();
  std::ofstream out(path);
  out << json.text() << "\n";
  out.close();
  if (!out) {
    std::fprintf(stderr, "simt: cannot write the trace to %s\n", path);
    _exit(1);
  }
}

bool leaks_are_errors() {
  const char* wanted = std::getenv("SIMT_LEAKS");
  return wanted && *wanted && std::string_view(wanted) != "0";
}

// One finding for each source line that allocated, and of warnings no more than a handful. Once a kernel has
// failed nothing can be freed any more, and nothing counts as leaked.
void report_leaks() {
  if (sticky_error()) return;
  std::map<std::tuple<std::string, int, memory::Kind>, std::vector<memory::Allocation>> by_call;
  const Severity severity = leaks_are_errors() ? Severity::error : Severity::warning;
  for (memory::Allocation& allocation : memory::live()) {
    if (allocation.named && severity == Severity::warning) continue;
    const symbols::Location& at = symbols::locate(allocation.allocated_at);
    by_call[{at.file, at.line, allocation.kind}].push_back(std::move(allocation));
  }
  constexpr size_t kMostWarnings = 4;
  size_t told = 0, others = 0;
  for (const auto& [call, allocations] : by_call) {
    if (severity == Severity::warning && told == kMostWarnings) {
      others += allocations.size();
      continue;
    }
    ++told;
    const memory::Allocation& first = allocations.front();
    Finding f;
    f.kind = "leak";
    f.severity = severity;
    f.file = std::get<0>(call);
    f.line = std::get<1>(call);
    f.address = first.base;
    f.allocation = memory::describe(allocations);
    f.message = f.allocation + (allocations.size() > 1 || !first.name.empty() ? " were" : " was") +
                " never freed. Every " + memory::call_of(first.kind) + " needs its " +
                memory::freeing_call_of(first.kind) + ".";
    report(std::move(f));
  }
  if (others == 0) return;
  Finding f;
  f.kind = "leak";
  f.severity = severity;
  f.message = plural(others, "more allocation") + " made elsewhere " +
              (others > 1 ? "were" : "was") + " never freed. (SIMT_LEAKS=1 lists all of them.)";
  report(std::move(f));
}

namespace {

size_t pending_errors() {
  const std::vector<Finding>& pending = state().pending;
  return static_cast<size_t>(std::count_if(pending.begin(), pending.end(), [](const Finding& f) {
    return f.severity == Severity::error;
  }));
}

// What the process says at its end; true if it fails. Once.
bool tell_all(int status) {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return false;
  for (Finding& finding : take_api_errors(status)) report(std::move(finding));
  // What ends early frees nothing, and has worse to tell.
  const bool ended_well = engine::traced_program && status == 0 && pending_errors() == 0;
  if (leaks_are_errors() || ended_well) report_leaks();
  write_trace();
  const size_t errors = pending_errors();
  const size_t warnings = state().pending.size() - errors;
  if (!errors && !warnings) return false;
  // Whoever asserts in a kernel and asks for the error knows: the exit code is the program's own.
  const bool fails = errors && !(errors == state().asserted && state().assertion_told);
  std::fflush(nullptr);
  if (fails || warnings) {
    std::fprintf(stderr, "simt: %s%s%s\n", fails ? plural(errors, "finding").c_str() : "",
                 fails && warnings ? ", " : "",
                 warnings ? plural(warnings, "warning").c_str() : "");
  }
  return fails;
}

[[noreturn]] void leave(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

const pid_t process = getpid();

// Has something been found that the process must not leave without? A child of fork() has its parent's findings.
bool has_news() { return getpid() == process && pending_errors() != 0; }

void at_exit(int status, void*) {
  if (tell_all(status)) leave(kFindingsExitCode);
}
void at_quick_exit() {
  if (has_news() && tell_all(0)) leave(kFindingsExitCode);
}
// abort(), an assertion of the host's, an exception that nobody caught: the signal stays what the process dies of.
void at_abort(int signal_number) {
  signal(signal_number, SIG_DFL);
  if (has_news()) tell_all(128 + signal_number);
  raise(signal_number);
}

[[gnu::constructor(102)]] void install() {
  on_exit(at_exit, nullptr);
  std::at_quick_exit(at_quick_exit);
  signal(SIGABRT, at_abort);
}

}  // namespace
}  // namespace device

namespace device {

void end_after_crash() {
  if (!has_news()) return;
  std::fprintf(stderr,
               "simt: the host has followed a pointer to nowhere, after what was found before\n");
  tell_all(128);
  leave(kFindingsExitCode);
}

[[noreturn]] static void end_now(int status) {
  leave(has_news() && tell_all(status) ? kFindingsExitCode : status);
}

}  // namespace device

namespace engine {

// The call in the program's own code that led to `pc`, a return address that may lie in a library.
static uint64_t program_call(uint64_t pc) {
  if (!symbols::is_library_file(symbols::locate(pc).file)) return pc;
  void* frames[64];
  const int count = backtrace(frames, 64);
  bool above = false;  // the frames of the simulator
  for (int i = 0; i < count; ++i) {
    const auto frame = reinterpret_cast<uint64_t>(frames[i]);
    above |= frame == pc;
    if (above && !symbols::is_library_file(symbols::locate(frame).file)) return frame;
  }
  return pc;
}

// Host code at `pc` touched device memory; told once for each line.
void host_access(uint64_t address, unsigned size, bool store, uint64_t pc) {
  static std::mutex mutex;
  // Destructors of the program may come late.
  static auto& known = *new std::set<uint64_t>;
  static auto& known_lines = *new std::set<std::pair<std::string, int>>;
  if (store) memory::mark_written(address, std::max(size, 1u));
  const std::lock_guard lock(mutex);
  if (!known.insert(pc).second) return;
  const symbols::Location& at = symbols::locate(program_call(pc));
  if (!known_lines.insert({at.file, at.line}).second) return;
  Finding f;
  f.kind = "host-access";
  f.file = at.file;
  f.line = at.line;
  f.address = address;
  const memory::Allocation* found = memory::find(address);
  f.allocation = found ? memory::describe(*found) : "device memory";
  f.message = "the host " + std::string(store ? "writes" : "reads") + " " +
              (size ? plural(size, "byte") + " of " : std::string()) + "device memory at " +
              at.text() + ", in " + f.allocation +
              ". Only kernels may follow a device pointer; the host copies with cudaMemcpy.";
  device::report(std::move(f));
}

}  // namespace engine

// ---- What a program can ask ---------------------------------------------------------------------

bool tracing() { return engine::traced_program; }

std::size_t launch_count() { return state().records.size(); }

const Launch& launch(std::size_t i) {
  const std::lock_guard lock(state().mutex);
  Record& record = state().records.at(i);
  resolve(record);
  return record.launch;
}

Counts counts_since(std::size_t first) {
  Counts sum;
  const std::lock_guard lock(state().mutex);
  for (std::size_t i = first; i < state().records.size(); ++i)
    sum += state().records[i].launch.counts;
  return sum;
}

std::vector<Finding> take_findings() {
  const std::lock_guard lock(state().mutex);
  for (Finding& finding : device::take_api_errors({})) device::report(std::move(finding));
  device::clear_errors();
  state().asserted = 0;
  state().told.clear();
  return std::exchange(state().pending, {});
}

void name_allocation(const void* base, std::string_view name) {
  memory::name(reinterpret_cast<uint64_t>(base), name);
}

bool set_recording(bool on) { return std::exchange(state().recording, on); }

}  // namespace simt

cudaError_t cudaGetLastError() {
  simt::State& s = simt::state();
  if (s.sticky != cudaSuccess) return s.sticky;
  simt::device::api_error_told(simt::last_error, true);
  return std::exchange(simt::last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  simt::State& s = simt::state();
  if (s.sticky != cudaSuccess) return s.sticky;
  simt::device::api_error_told(simt::last_error, false);
  return simt::last_error;
}

// Whoever leaves without running what runs at the end leaves no finding behind.
extern "C" [[noreturn]] void _exit(int status) { simt::device::end_now(status); }
