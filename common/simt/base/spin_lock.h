// Locks that are held for a few instructions.
#pragma once

#include <sched.h>

#include <atomic>

namespace simt::engine {

// Tries again and again to take a lock. Its owner may not be running: after a while the core is left to it.
template <class Try, class IsFree>
void take(Try try_it, IsFree is_free) {
  while (!try_it()) {
    for (unsigned tries = 0; !is_free(); ++tries) {
      if (tries >= 64) sched_yield();
    }
  }
}

class SpinLock {
 public:
  void lock() {
    take([this] { return !held_.test_and_set(std::memory_order_acquire); },
         [this] { return !held_.test(std::memory_order_relaxed); });
  }
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_;
};

class Guard {
 public:
  explicit Guard(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace simt::engine
