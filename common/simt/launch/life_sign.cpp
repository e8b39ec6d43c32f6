#include "launch/life_sign.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "exec/patience.h"
#include "exec/standstill.h"

namespace simt::engine::life_sign {
namespace {

constexpr std::chrono::milliseconds kEvery(250);
constexpr double kTell = Patience::kTell;  // seconds of each thread that runs blocks
constexpr double kGiveUp = Patience::kGiveUp;

struct Running {
  std::mutex mutex;
  std::string kernel;  // empty: none
  double workers = 0, times = 0;
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

void tell() {
  const std::string place = standstill::place();
  const std::lock_guard lock(running().mutex);
  if (running().kernel.empty()) return;  // it has ended meanwhile
  std::fprintf(
      stderr,
      "simt: %s: for %.0f s no block has ended; it is at %s. A run without --fast tells whether "
      "that ends.\n",
      running().kernel.c_str(), kTell, place.empty() ? "no line that is known" : place.c_str());
}

void watch() {
  uint64_t seen = 0;
  double since = 0;
  bool told = false;
  for (;; std::this_thread::sleep_for(kEvery)) {
    const uint64_t now = moves.load(std::memory_order_relaxed);
    const double time = cpu_seconds();
    double waited = 0, times = 0;
    {
      const std::lock_guard lock(running().mutex);
      if (running().kernel.empty() || now != seen) {
        if (told) standstill::forget();
        seen = now;
        since = time;
        told = false;
        continue;
      }
      waited = (time - since) / running().workers;
      times = running().times;
    }
    if (waited <= kTell) continue;
    const bool stands_still = standstill::look();
    if (!std::exchange(told, true) && Patience::begins_to_tell()) tell();
    if (stands_still && waited > kGiveUp * times) standstill::end_blocks();
  }
}

}  // namespace

void begin(const char* kernel, uint64_t workers, uint64_t times) {
  static std::once_flag started;
  std::call_once(started, [] { std::thread(watch).detach(); });
  const std::lock_guard lock(running().mutex);
  running().kernel = kernel;
  running().workers = static_cast<double>(workers);
  running().times = static_cast<double>(times);
  moves.fetch_add(1, std::memory_order_relaxed);
}

void block_ended() { moves.fetch_add(1, std::memory_order_relaxed); }

void end() {
  const std::lock_guard lock(running().mutex);
  running().kernel.clear();
}

}  // namespace simt::engine::life_sign
