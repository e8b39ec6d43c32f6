// Launches that may wait for the host, or for another device, run in a thread of their own.
#include <simt/api/runtime.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/devices.h"
#include "base/lasting.h"
#include "launch/forked_child.h"
#include "launch/held_signals.h"
#include "memory/allocations.h"
#include "program/program.h"
#include "program/program_image.h"
#include "report/api_errors.h"
#include "report/errors.h"
#include "streams/beside_host.h"

// Where simtcc has found a loop that polls, it defines this.
extern "C" [[gnu::weak]] char simt_program_polls;

namespace simt::engine {
namespace {

// A device's thread, which lives as long as the process.
class OwnThread {
 public:
  // Runs it there. Returns when it is over, or has let the host go.
  void run(const detail::Work& work, int device) {
    const std::lock_guard one_at_a_time(asked_);
    beside_host::begin(device);
    {
      const std::lock_guard lock(mutex_);
      if (!begun_) {
        const SignalsForOthers here;
        std::thread([this, device] { work_for_ever(device); }).detach();
        begun_ = true;
        std::atexit([] { beside_host::wait(); });  // a child of fork() has forgotten it
      }
      work_ = &work;
      stack_ = device::call_stack();
      error_ = cudaSuccess;
    }
    wake_.notify_one();
    beside_host::wait_until_let_go(device);
    const std::lock_guard lock(mutex_);
    if (error_) device::exchange_last_error(error_);
  }

 private:
  [[noreturn]] void work_for_ever(int device) {
    beside_host::runs_here(device);
    devices::set_current(device);
    for (;;) {
      detail::Work work;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return work_; });
        work = *std::exchange(work_, nullptr);
        device::set_stack_behind(std::move(stack_));
      }
      work.run(work.closure);
      work.destroy(work.closure);
      {
        const std::lock_guard lock(mutex_);
        error_ = device::exchange_last_error(cudaSuccess);
      }
      beside_host::end();
    }
  }

  std::mutex asked_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool begun_ = false;
  const detail::Work* work_ = nullptr;
  std::vector<uint64_t> stack_;
  cudaError_t error_ = cudaSuccess;
};

struct OwnThreads {
  std::array<OwnThread, devices::kMost> of;
};

bool is_of_host(uint64_t address, bool polls) {
  if (!memory::in_shared_arena(address) && !polls) return false;
  const memory::Allocation* const found = memory::find(address);
  if (!found || found->freed) return false;
  return found->kind == memory::Kind::pinned ||
         (polls &&
          (found->kind == memory::Kind::managed || found->kind == memory::Kind::registered));
}

}  // namespace
}  // namespace simt::engine

// The traced program says where it polls. Of another one nothing is known. Nor is it where devices reach each other's memory:
// a kernel has the address of another device's also out of an array.
bool simt::detail::may_wait_for_host(const Argument* arguments, unsigned count) {
  const bool polls = &simt_program_polls || !engine::traced_program;
  if (engine::is_forked_child()) return false;
  if (devices::any_open) return true;
  if (polls && simt_managed_end - simt_managed_begin > 0) return true;
  for (unsigned i = 0; i < count; ++i) {
    for (size_t at = 0; at + sizeof(uint64_t) <= arguments[i].size; at += sizeof(uint64_t)) {
      uint64_t address;
      std::memcpy(&address, static_cast<const char*>(arguments[i].data) + at, sizeof(address));
      if (engine::is_of_host(address, polls)) return true;
    }
  }
  return false;
}

void simt::detail::run_beside_host(Work work) {
  const int device = devices::current();
  lasting<engine::OwnThreads>().of[static_cast<size_t>(device)].run(work, device);
}
