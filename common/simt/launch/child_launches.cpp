#include "launch/child_launches.h"

#include <simt/runtime.h>

#include <algorithm>
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
};
Asked& asked() { return lasting<Asked>(); }

// What is to be done, the next at the end.
thread_local std::vector<ChildLaunch> pending;
thread_local bool is_running = false;

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

// What keeps the kernel from being launched with these arguments, or nothing.
const char* wrong_argument(const detail::Argument* arguments, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    void* pointer = nullptr;
    if (arguments[i].size != sizeof pointer) continue;
    std::memcpy(&pointer, arguments[i].data, sizeof pointer);
    switch (detail::memory_of(pointer)) {
      case detail::MemoryKind::local:
        return "a kernel was launched with the address of a variable of the thread that launched "
               "it, which no other thread can reach: pass its value, or use global memory";
      case detail::MemoryKind::shared:
        return "a kernel was launched with an address of the shared memory of the block that "
               "launched it, which no other block can reach: use global memory";
      default:
        break;
    }
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
  while (!pending.empty()) {
    ChildLaunch launch = std::move(pending.back());
    pending.pop_back();
    if (device::sticky_error()) continue;
    if (launch.error) {
      if (!launch.asked) tell(launch);
      continue;
    }
    launch.run(launch.closure.get(), launch.stream);
  }
  is_running = false;
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
  if (const char* const wrong = engine::child_launches::wrong_argument(arguments, count))
    engine::Hooks::trap(wrong, config.place);
  engine::Hooks::catch_up(config.place);
  engine::Hooks::show_effect();
  const HostMemory bookkeeping;
  ChildLaunch launch;
  launch.block = worker->monitor.block.linear();
  launch.thread = worker->thread_rank();
  launch.is_tail = config.stream == cudaStreamTailLaunch;
  launch.pc = reinterpret_cast<uint64_t>(config.place);
  Config checked = config;
  if (launch.is_tail || config.stream == cudaStreamFireAndForget) checked.stream = nullptr;
  launch.error = engine::check_configuration(checked, launch.why);
  if (launch.error) {
    launch.kernel = kernel_text;
  } else {
    launch.run = run;
    launch.closure = std::make_unique<engine::child_launches::Line[]>((size + 63) / 64);
    std::memcpy(launch.closure.get(), closure, size);
  }
  const std::lock_guard lock(asked().mutex);
  asked().launches.push_back(std::move(launch));
  return true;
}

}  // namespace simt
