#include "launch/life_sign.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>

namespace simt::engine::life_sign {
namespace {

constexpr std::chrono::milliseconds kEvery(250);
constexpr double kTell = 2;  // seconds of each thread that runs blocks

struct Running {
  std::mutex mutex;
  std::string kernel;  // empty: none
  double patience = 0;
};

std::atomic<uint64_t> moves{0};  // launches that began, and blocks that ended

Running& running() {
  static Running* const the_one = new Running;  // watched as long as the process lives
  return *the_one;
}

// Time is that of the CPU, so that neither a busy machine nor a debugger makes a kernel seem slow.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void watch() {
  uint64_t seen = 0;
  double since = 0;
  bool told = false;
  for (;; std::this_thread::sleep_for(kEvery)) {
    const uint64_t now = moves.load(std::memory_order_relaxed);
    const double time = cpu_seconds();
    const std::lock_guard lock(running().mutex);
    if (running().kernel.empty() || now != seen) {
      seen = now;
      since = time;
      told = false;
    } else if (!told && time - since > running().patience) {
      told = true;
      std::fprintf(stderr,
                   "simt: %s: for %.0f s no block has ended. Without --fast a run says where it "
                   "is, and stops if it comes to nothing new.\n",
                   running().kernel.c_str(), kTell);
    }
  }
}

}  // namespace

void begin(const char* kernel, uint64_t workers) {
  static std::once_flag started;
  std::call_once(started, [] { std::thread(watch).detach(); });
  const std::lock_guard lock(running().mutex);
  running().kernel = kernel;
  running().patience = kTell * static_cast<double>(workers);
  moves.fetch_add(1, std::memory_order_relaxed);
}

void block_ended() { moves.fetch_add(1, std::memory_order_relaxed); }

void end() {
  const std::lock_guard lock(running().mutex);
  running().kernel.clear();
}

}  // namespace simt::engine::life_sign
