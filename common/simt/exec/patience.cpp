#include "exec/patience.h"

#include <ctime>

namespace simt::engine {

Patience::Verdict Patience::look(uint64_t clock, uint64_t times, bool crowded) {
  constexpr uint64_t kSecond = 1'000'000'000;
  look_at = clock + kEvery;
  timespec time{};
  clock_gettime(crowded ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, &time);
  const uint64_t now =
      static_cast<uint64_t>(time.tv_sec) * kSecond + static_cast<uint64_t>(time.tv_nsec) + 1;
  is_watched_ = true;
  const uint64_t moves = moves_.load(std::memory_order_relaxed);
  if (is_over_) return Verdict::give_up;
  if (!since_ || moves != seen_) {
    seen_ = moves;
    since_ = now;
    return Verdict::go_on;
  }
  constexpr uint64_t kShare = 8;  // many share a few CPUs
  const uint64_t waited = (now - since_) / (crowded ? kShare : 1);
  if (waited / times > kGiveUp * kSecond) {
    is_over_ = true;
    return Verdict::give_up;
  }
  if (waited > kTell * kSecond && begins_to_tell()) return Verdict::tell;
  return Verdict::go_on;
}

}  // namespace simt::engine
