#include "launch/child_launches.h"

#include <simt/runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/host_memory.h"
#include "base/lasting.h"
#include "base/symbols.h"
#include "exec/worker.h"
#include "hooks/hooks.h"
#include "launch/configuration.h"
#include "report/errors.h"
#include "report/log.h"

namespace simt::engine::child_launches {
namespace {

// What the kernel's arguments lie in. They may ask for any alignment that a vector type has.
struct alignas(64) Line {
  unsigned char bytes[64];
};

struct ChildLaunch {
  uint64_t block = 0;
  unsigned thread = 0;
  bool is_tail = false;
  unsigned depth = 0;
  cudaStream_t stream = nullptr;  // of the grid
  void (*run)(void* closure, cudaStream_t stream) = nullptr;
  std::unique_ptr<Line[]> closure;
  // Why there is no launch.
  cudaError_t error = cudaSuccess;
  bool asked = false;  // the kernel knows
  std::string why;
  std::string kernel;
  uint64_t pc = 0;
};

struct Asked {
  std::mutex mutex;
  std::vector<ChildLaunch> launches;  // by the grid that runs
  unsigned depth = 0;                 // of that grid: launches by kernels that led to it
  unsigned deepest = 0;
};
Asked& asked() { return lasting<Asked>(); }

// What is to be done, the next at the end.
thread_local std::vector<ChildLaunch> pending;
thread_local bool is_running = false;
thread_local unsigned depth = 0;  // of what this thread launches

// Each waits for the one that it has launched, and the device has room for so many that wait. (Seen on an H100 with CUDA 13.0;
// that there were 24 levels at most is from when a kernel could wait for its launches.)
unsigned deepest() {
  std::size_t waiting = 0;
  cudaDeviceGetLimit(&waiting, cudaLimitDevRuntimePendingLaunchCount);
  return static_cast<unsigned>(waiting);
}

// The launches that one of the host's has led to.
struct Tree {
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kTell{2}, kGiveUp{9};
  static constexpr uint64_t kMany = 100;
  Clock::time_point begun = Clock::now();
  uint64_t launches = 0;
  bool told = false;
  uint64_t too_deep = 0;  // where a launch was too deep

  // Says so once where it takes long.
  void tell(const std::string& kernel) {
    ++launches;
    if (told || launches < kMany || Clock::now() - begun < kTell) return;
    told = true;
    std::fprintf(stderr,
                 "simt: kernels launch kernels: after %d s %llu have run, the last %s, %u deep\n",
                 static_cast<int>(kTell.count()), static_cast<unsigned long long>(launches),
                 kernel.c_str(), depth);
  }
  // Each level has more launches than the last, and only the device's limit ends that.
  bool is_endless() const { return too_deep && Clock::now() - begun > kGiveUp; }
};

void tell_endless(const Tree& tree) {
  const symbols::Location& at = symbols::locate(tree.too_deep);
  Finding f = device::finding_at(at, "hang");
  f.message = "kernels launch kernels without end: " + std::to_string(tree.launches) +
              " of them in " + std::to_string(Tree::kGiveUp.count()) + " s, " +
              std::to_string(deepest()) + " deep at " + at.text() +
              ". Usual cause: all threads launch, where one of the block or of the grid should, "
              "and nothing ends the recursion.";
  device::report(std::move(f));
  device::set_sticky_error(cudaErrorLaunchTimeout);
}

// Once for each place.
struct Told {
  std::set<uint64_t> places;
};
void tell(const ChildLaunch& launch) {
  if (!lasting<Told>().places.insert(launch.pc).second) return;
  const symbols::Location& at = symbols::locate(launch.pc);
  Finding f = device::finding_at(at, "api-error");
  f.message = "the launch of " + launch.kernel + " by a kernel at " + at.text() +
              " failed and did nothing, as " + launch.why +
              ". Only cudaGetLastError() in the kernel would tell.";
  device::report(std::move(f));
}

constexpr const char* kLocalArgument =
    "a kernel was launched with the address of a variable of the thread that launched it, which no "
    "other thread can reach: pass its value, or use global memory";
constexpr const char* kSharedArgument =
    "a kernel was launched with an address of the shared memory of the block that launched it, "
    "which no other block can reach: use global memory";

detail::MemoryKind memory_at(const void* place) {
  void* pointer = nullptr;
  std::memcpy(&pointer, place, sizeof(pointer));
  return detail::memory_of(pointer);
}

// What keeps the kernel from being launched with these arguments, or nothing. The closure holds them as well, and what is in them:
// there a pointer to a variable of the thread may be one that nobody has set.
const char* wrong_argument(const detail::Argument* arguments, unsigned count, const void* closure,
                           std::size_t size) {
  for (unsigned i = 0; i < count; ++i) {
    if (arguments[i].size != sizeof(void*)) continue;
    if (memory_at(arguments[i].data) == detail::MemoryKind::local) return kLocalArgument;
  }
  for (std::size_t at = 0; at + sizeof(void*) <= size; at += sizeof(void*)) {
    if (memory_at(static_cast<const char*>(closure) + at) == detail::MemoryKind::shared)
      return kSharedArgument;
  }
  return nullptr;
}

}  // namespace

void take(cudaStream_t stream) {
  std::vector<ChildLaunch> launches;
  {
    const std::lock_guard lock(asked().mutex);
    launches.swap(asked().launches);
  }
  if (launches.empty()) return;
  std::stable_sort(launches.begin(), launches.end(), [](const auto& a, const auto& b) {
    return std::pair(a.is_tail, a.block) < std::pair(b.is_tail, b.block);
  });
  for (ChildLaunch& launch : launches) launch.stream = stream;
  pending.insert(pending.end(), std::make_move_iterator(launches.rbegin()),
                 std::make_move_iterator(launches.rend()));
}

void run() {
  if (is_running) return;
  is_running = true;
  Tree tree;
  while (!pending.empty()) {
    ChildLaunch launch = std::move(pending.back());
    pending.pop_back();
    if (device::has_failed()) continue;
    if (launch.error) {
      if (!launch.asked) tell(launch);
      if (launch.error == cudaErrorLaunchPendingCountExceeded) tree.too_deep = launch.pc;
      if (tree.is_endless()) tell_endless(tree);
      continue;
    }
    depth = launch.depth;
    tree.tell(launch.kernel);
    launch.run(launch.closure.get(), launch.stream);
  }
  depth = 0;
  is_running = false;
}

void begin_grid() {
  const std::lock_guard lock(asked().mutex);
  asked().depth = depth;
  asked().deepest = deepest();
}

bool in_kernel() { return running != nullptr; }

cudaError_t last_error(bool forget) {
  const Worker* const worker = running;
  const uint64_t block = worker->monitor.block.linear();
  const unsigned thread = worker->thread_rank();
  const HostMemory bookkeeping;
  const std::lock_guard lock(asked().mutex);
  for (ChildLaunch& launch : asked().launches) {
    if (!launch.error || launch.asked || launch.block != block || launch.thread != thread) continue;
    launch.asked = forget;
    return launch.error;
  }
  return cudaSuccess;
}

}  // namespace simt::engine::child_launches

namespace simt {

using engine::child_launches::asked;
using engine::child_launches::ChildLaunch;

const void* detail::here() { return SIMT_PC; }

bool detail::launch_child(const char* kernel_text, const Config& config,
                          void (*run)(void* closure, cudaStream_t stream), const void* closure,
                          std::size_t size, const Argument* arguments, unsigned count) {
  const engine::Worker* const worker = engine::running;
  if (!worker) return false;
  if (size == 0) {
    engine::Hooks::trap(
        "a kernel that a kernel launches takes plain data, which can be copied byte by byte",
        config.place);
  }
  if (const char* const wrong =
          engine::child_launches::wrong_argument(arguments, count, closure, size))
    engine::Hooks::trap(wrong, config.place);
  engine::Hooks::catch_up(config.place);
  const HostMemory bookkeeping;
  ChildLaunch launch;
  launch.block = worker->monitor.block.linear();
  launch.thread = worker->thread_rank();
  launch.is_tail = config.stream == cudaStreamTailLaunch;
  launch.pc = reinterpret_cast<uint64_t>(config.place);
  Config checked = config;
  if (launch.is_tail || config.stream == cudaStreamFireAndForget) checked.stream = nullptr;
  launch.error = engine::check_configuration(checked, launch.why);
  launch.kernel = kernel_text;
  const std::lock_guard lock(asked().mutex);
  // A tail launch takes the place of the grid that asks for it.
  launch.depth = asked().depth + (launch.is_tail ? 0 : 1);
  if (!launch.error && launch.depth > asked().deepest) {
    launch.error = cudaErrorLaunchPendingCountExceeded;
    launch.why = std::to_string(asked().deepest) +
                 " launches by kernels wait for their end (cudaLimitDevRuntimePendingLaunchCount), "
                 "each for the one that "
                 "it has launched, and nothing ends these before";
  }
  if (!launch.error) {
    launch.run = run;
    launch.closure = std::make_unique<engine::child_launches::Line[]>((size + 63) / 64);
    std::memcpy(launch.closure.get(), closure, size);
  }
  asked().launches.push_back(std::move(launch));
  return true;
}

}  // namespace simt
