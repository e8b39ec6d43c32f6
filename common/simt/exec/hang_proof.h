// A launch that will never end, told from one that takes its time.
//
// A block whose lanes stand with the same registers and stacks where they stood before, and have changed no memory
// since, does the same for ever, unless another block changes what it reads. So a launch hangs when that holds
// for all blocks that run. A loop that counts is never taken for one, since its registers change; nor is one
// that reads the clock or memory that the host may write meanwhile. (Such a loop may run for SIMT_STEPS.)
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>

namespace simt::engine {

class GridBarrier;
struct Warp;

// Pinned memory and the like, which the host may write while the kernel runs.
bool host_may_write(uint64_t address);
// Memory of a device, where kernels of another one may access some.
bool peers_may_write(uint64_t address);

// What the workers of a launch tell each other.
class HangVote {
 public:
  explicit HangVote(uint64_t workers) : running_(workers) {}

  // Grows with whatever may have changed what blocks read, once a block watches.
  uint64_t epoch() const { return epoch_.load(); }
  void watch() { is_watched_ = true; }
  void move() {
    if (is_watched_.load(std::memory_order_relaxed)) epoch_.fetch_add(1);
  }

  // So many more workers run blocks beside the others.
  void join(uint64_t workers) {
    const std::lock_guard lock(mutex_);
    running_ += workers;
    hangs_ = false;
    joined_ += workers;
    epoch_.fetch_add(1);
  }
  uint64_t joined() const { return joined_.load(); }

  // So many workers begin anew, on the next cluster.
  void begin(uint64_t workers) {
    const std::lock_guard lock(mutex_);
    running_ = workers;
    epoch_.fetch_add(1);
  }

  // A worker has no more blocks to run.
  void leave() {
    const std::lock_guard lock(mutex_);
    --running_;
    move();
  }

  // The caller's block has gone in circles since `epoch` was read; told once an epoch. `waiting` blocks wait for
  // the grid's barrier.
  void vote(uint64_t epoch, uint64_t waiting) {
    const std::lock_guard lock(mutex_);
    if (epoch != epoch_) return;
    if (epoch != voted_in_) votes_ = 0;
    voted_in_ = epoch;
    ++votes_;
    decide(waiting);
  }
  // Is that all there is? Asked again and again by those who have voted.
  bool hangs(uint64_t waiting) {
    const std::lock_guard lock(mutex_);
    decide(waiting);
    return hangs_;
  }

 private:
  void decide(uint64_t waiting) {
    hangs_ |= voted_in_ == epoch() && votes_ > 0 && votes_ + waiting == running_;
  }

  std::mutex mutex_;
  std::atomic<bool> is_watched_{false};
  std::atomic<uint64_t> epoch_{0}, joined_{0};
  uint64_t running_, votes_ = 0, voted_in_ = 0;
  bool hangs_ = false;
};

// One block's side of it.
struct HangWatch {
  static constexpr uint64_t kPatience = uint64_t{1} << 16;  // steps of a block before anybody looks
  static constexpr uint64_t kEvery = uint64_t{1} << 13;     // steps from one look to the next

  struct Stored {
    uint64_t address, before;
    unsigned size;
  };
  static constexpr unsigned kMostStored = 256;

  uint64_t look_at = 0;  // the next look, on the worker's clock
  uint64_t every = kEvery;
  bool watching = false;
  bool changed = true;   // since the last look: memory, or anything else that nobody keeps
  bool is_kept = false;  // the state at some earlier look, with no change since
  bool voted = false;
  bool loaded = false;  // since the state was kept: the lanes wait for something in memory
  bool awaits = false;  // since then: for arrivals at a barrier in memory
  uint64_t epoch = 0, state = 0;  // kept
  unsigned looks = 0, power = 1;  // since then; until another state is kept
  Stored stored[kMostStored];     // since the last look: is it still what it was?
  unsigned stored_count = 0;

  // `soon`: the launch is under suspicion already.
  void begin(uint64_t now, bool soon) {
    every = soon ? kEvery / 8 : kEvery;
    look_at = now + (soon ? every : kPatience);
    watching = false;
    changed = true;
    is_kept = voted = loaded = awaits = false;
    stored_count = 0;
  }
  // These lanes are about to load or store.
  void note_access(const Warp& warp, uint32_t lanes);
  // They have stored: is it what was there before?
  void settle_stores();
  // True if the launch will never end: the lanes stand as they stood before, in all blocks that run.
  // `in_cluster`: the barrier is where the blocks of a cluster take turns.
  bool look(uint64_t now, HangVote& vote, std::span<Warp* const> warps, GridBarrier* barrier,
            bool in_cluster);
};

}  // namespace simt::engine
