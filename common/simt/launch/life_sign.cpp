#include "launch/life_sign.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/devices.h"
#include "base/settings.h"
#include "exec/patience.h"
#include "launch/worker_pool.h"
#include "streams/beside_host.h"

namespace simt::engine::life_sign {
namespace {

constexpr std::chrono::milliseconds kEvery(250);
constexpr double kTell = Patience::kTell;  // seconds of each thread that runs blocks

using Clock = std::chrono::steady_clock;
constexpr double kLong = 15;  // seconds: a launch that takes more is told of

struct Running {
  std::string kernel;  // empty: none
  Watched launch;
  Clock::time_point begun;
  bool pace_told = false;
};

struct All {
  std::mutex mutex;
  std::array<Running, devices::kMost> of;  // each device
  Clock::time_point first;                 // launch of all
  uint64_t launches = 0;                   // so far
  double launches_told = 0;                // seconds after the first one
};

std::atomic<uint64_t> moves{0};  // launches that began, and blocks that ended

All& all() {
  static All* const the_one = new All;  // watched as long as the process lives
  return *the_one;
}
Running& running_on(int device) { return all().of[static_cast<size_t>(device)]; }

// Time is that of the CPU, so that neither a busy machine nor a debugger makes a kernel seem slow.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void tell() {
  const std::lock_guard lock(all().mutex);
  const auto stays = std::find_if(all().of.begin(), all().of.end(), [](const Running& running) {
    return !running.kernel.empty() && !running.launch.traced;
  });
  if (stays == all().of.end()) return;  // it has ended meanwhile
  std::fprintf(
      stderr,
      "simt: %s: for %.0f s no block has ended. A run without --fast tells whether that ends, and "
      "where it is.\n",
      stays->kernel.c_str(), kTell);
}

// "25 minutes"
std::string in_words(double seconds) {
  constexpr double kMinute = 60, kHour = 60 * kMinute;
  const bool hours = seconds > 2 * kHour, minutes = seconds > 2 * kMinute;
  const double unit = hours ? kHour : minutes ? kMinute : 1;
  return std::to_string(std::llround(seconds / unit)) + (hours     ? " hours"
                                                         : minutes ? " minutes"
                                                                   : " seconds");
}

// Once a launch, when it has run for long enough to be judged.
void tell_pace(Running& now) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - now.begun).count();
  const auto blocks = static_cast<double>(now.launch.blocks);
  const auto begun = static_cast<double>(now.launch.next->load(std::memory_order_relaxed));
  const double ended = begun - static_cast<double>(now.launch.workers);
  if (now.pace_told || elapsed < kTell || ended < 1 || begun >= blocks) return;
  now.pace_told = true;
  const double whole = elapsed * blocks / ended;
  if (whole < kLong) return;
  constexpr double kSample = 100;
  const bool offers = now.launch.traced && !settings::has_blocks() && blocks >= 2 * kSample;
  std::fprintf(
      stderr,
      "simt: after %.0f s %.2g %% of the %.0f blocks of %s have run; all will take about "
      "%s.%s\n",
      elapsed, 100 * ended / blocks, blocks, now.kernel.c_str(), in_words(whole).c_str(),
      offers ? " With SIMT_BLOCKS=100 (./learn explain --blocks 100) about 100 are counted, and "
               "the others run several times faster."
             : "");
}

// Of a program with many launches: after kLong, and each time that as much again has gone by.
void tell_launches(All& now) {
  constexpr uint64_t kMany = 100;
  const double elapsed = std::chrono::duration<double>(Clock::now() - now.first).count();
  if (now.launches < kMany || elapsed < std::max(kLong, 2 * now.launches_told)) return;
  const bool offers = now.launches_told == 0 && now.of[0].launch.traced && !settings::has_blocks();
  now.launches_told = elapsed;
  std::fprintf(stderr, "simt: %llu launches so far, in %s, and the program goes on.%s\n",
               static_cast<unsigned long long>(now.launches), in_words(elapsed).c_str(),
               offers
                   ? " With SIMT_BLOCKS=4 (./learn explain --blocks 4) about 4 blocks of each are "
                     "counted, and the others run several times faster; fewer steps tell as much."
                   : "");
}

bool start_more() {
  bool any = false;
  for (int device = 0; device < devices::kMost; ++device) {
    bool runs = false;
    {
      const std::lock_guard lock(all().mutex);
      runs = !running_on(device).kernel.empty();
    }
    if (runs) any |= Pool::of(device).start_more();
  }
  return any;
}

void watch() {
  uint64_t seen = 0;
  double since = 0;
  bool told = false;
  for (;; std::this_thread::sleep_for(kEvery)) {
    const uint64_t now = moves.load(std::memory_order_relaxed);
    const double time = cpu_seconds();
    double waited = 0;
    {
      const std::lock_guard lock(all().mutex);
      bool stays = false, host_is_at_work = false;
      uint64_t workers = 0;
      for (Running& running : all().of) {
        if (running.kernel.empty()) continue;
        tell_pace(running);
        if (running.launch.traced || now != seen) continue;
        stays = true;
        workers += running.launch.workers;
        // It may wait for the host, if it has memory of the host's.
        host_is_at_work |= beside_host::let_go(running.launch.beside, beside_host::For::host);
      }
      if (all().launches) tell_launches(all());
      if (!stays || host_is_at_work) {
        seen = now;
        since = time;
        told = false;
        continue;
      }
      const uint64_t cpus = std::max(1u, std::thread::hardware_concurrency());
      waited = (time - since) / static_cast<double>(std::min(workers, cpus));
    }
    if (waited <= kTell) continue;
    // They may wait for blocks that have not begun.
    if (start_more()) {
      since = cpu_seconds();
      continue;
    }
    if (!std::exchange(told, true) && Patience::begins_to_tell()) tell();
  }
}

}  // namespace

void begin(const Watched& launch) {
  static std::once_flag started;
  std::call_once(started, [] { std::thread(watch).detach(); });
  const std::lock_guard lock(all().mutex);
  Running& running = running_on(launch.device);
  running = {launch.kernel, launch, Clock::now(), false};
  if (all().launches++ == 0) all().first = running.begun;
  moves.fetch_add(1, std::memory_order_relaxed);
}

void note_workers(int device, uint64_t workers) {
  const std::lock_guard lock(all().mutex);
  running_on(device).launch.workers = workers;
}

void block_ended() { moves.fetch_add(1, std::memory_order_relaxed); }

void end(int device) {
  const std::lock_guard lock(all().mutex);
  running_on(device).kernel.clear();
}

}  // namespace simt::engine::life_sign
