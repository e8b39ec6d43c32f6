// A launch that comes to nothing new: no block ends, and no warp comes to new addresses.
//
// Time is that of the CPU which runs the block, so that neither a busy machine nor a debugger makes a kernel seem slow.
#pragma once

#include <atomic>
#include <cstdint>

namespace simt::engine {

class Patience {
 public:
  enum class Verdict : uint8_t { go_on, tell, give_up };

  // The launch begins, or has come to something new.
  static void move() {
    if (is_watched_.load(std::memory_order_relaxed)) moves_.fetch_add(1, std::memory_order_relaxed);
  }
  static void begin_launch() { told_ = is_over_ = is_watched_ = false; }

  // True once a launch: who comes first says that it is still at work.
  static bool begins_to_tell() { return !told_.exchange(true); }

  // One worker's: its block begins.
  void begin(uint64_t clock) {
    look_at = clock + kEvery;
    since_ = 0;
  }
  // Called when the worker's clock has come to look_at. `times` the usual patience. Says `tell` once a launch, and
  // `give_up` to all workers once it has said so to one. `crowded`: so many workers share the CPU that the time is a part of
  // what all of them take.
  Verdict look(uint64_t clock, uint64_t times, bool crowded);

  static constexpr uint64_t kTell = 2, kGiveUp = 6;  // seconds
  uint64_t look_at = 0;

 private:
  static constexpr uint64_t kEvery = uint64_t{1} << 16;
  static inline std::atomic<uint64_t> moves_{0};
  static inline std::atomic<bool> told_{false}, is_over_{false};
  static inline std::atomic<bool> is_watched_{false};  // some worker has looked at this launch
  uint64_t seen_ = 0, since_ = 0;                      // nanoseconds
};

}  // namespace simt::engine
