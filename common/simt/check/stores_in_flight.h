// Stores that a worker has noted for the others and not yet carried out: the lanes store when they run on.
#pragma once

#include <atomic>
#include <cstdint>

namespace simt::engine {

class StoresInFlight {
 public:
  StoresInFlight();
  StoresInFlight(const StoresInFlight&) = delete;
  StoresInFlight& operator=(const StoresInFlight&) = delete;

  void begin() {
    const uint64_t now = storing_.load(std::memory_order_relaxed);
    if (!(now & 1)) storing_.store(now + 1, std::memory_order_release);
  }
  void end() {
    const uint64_t now = storing_.load(std::memory_order_relaxed);
    if (now & 1) storing_.store(now + 1, std::memory_order_release);
  }
  // Waits until the stores that other workers have noted so far are carried out. False if it does not know: the other
  // one waits for this one, and will store later, or is not on a CPU at all.
  bool await_others();

 private:
  std::atomic<uint64_t> storing_{0};  // odd while there are some
  std::atomic<bool> awaits_{false};
  StoresInFlight* next_ = nullptr;  // of all workers there are, the newest first
};

}  // namespace simt::engine
