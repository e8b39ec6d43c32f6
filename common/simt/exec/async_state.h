// What a block has beside its memory: copies that are under way, and barriers of a part of the block, of groups and of PTX.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/host_memory.h"
#include "exec/fiber_pool.h"

namespace simt::engine {

// The asynchronous copies of one thread, in the order of their issue.
class ThreadCopies {
 public:
  // The bytes arrive when the thread waits for them. Until then they are garbage, as on hardware they may be. `bytes` of
  // `size` come from `from`, the rest is zero.
  void issue(void* to, const void* from, unsigned size, unsigned bytes) {
    Copy copy{to, open_group_, size, {}};
    std::memcpy(copy.bytes.data(), from, bytes);
    pending_.push_back(copy);
    std::memset(to, 0xff, size);
  }
  void commit() { ++open_group_; }
  // Completes all groups but the last `kept`, and calls arrived(to, size) for each copy. What was not committed stays
  // under way.
  template <class F>
  void wait(uint64_t kept, F&& arrived) {
    const uint64_t end = open_group_ > kept ? open_group_ - kept : 0;
    size_t done = 0;
    while (done < pending_.size() && pending_[done].group < end) {
      const Copy& copy = pending_[done++];
      std::memcpy(copy.to, copy.bytes.data(), copy.size);
      arrived(copy.to, copy.size);
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(done));
  }
  void clear() {
    pending_.clear();
    open_group_ = 0;
  }

 private:
  struct Copy {
    void* to;
    uint64_t group;
    unsigned size;
    std::array<unsigned char, 16> bytes;
  };
  std::vector<Copy, HostAllocator<Copy>> pending_;
  uint64_t open_group_ = 0;
};

// Used by one OS thread only, whose lanes take turns.
class AsyncState {
 public:
  void begin_block() {
    if (!used_) return;
    used_ = false;
    for (ThreadCopies& copies : copies_) copies.clear();
    parts_ = {};
    named_ = {};
  }
  ThreadCopies& copies(unsigned thread) {
    used_ = true;
    if (copies_.empty()) copies_.resize(kMaxBlockThreads);
    return copies_[thread];
  }

  // A barrier among `warps` neighbouring warps from `first` on.
  struct Part {
    unsigned arrived = 0;
    unsigned phase = 0;
  };
  Part& part(unsigned first, unsigned warps) {
    used_ = true;
    return parts_[first][static_cast<unsigned>(std::bit_width(warps)) - 1];
  }

  // One of the barriers that PTX numbers, which `threads` of the block come to.
  struct Named {
    unsigned arrived = 0;
    unsigned phase = 0;
    unsigned threads = 0;
    uint64_t waits_at = 0;  // program counter of the last thread that waits
  };
  static constexpr unsigned kNamed = 16;
  Named& named(unsigned number) {
    used_ = true;
    return named_[number];
  }

  // The number of the barrier at which threads wait there, or kNamed.
  unsigned named_at(uint64_t pc) const {
    unsigned number = 0;
    while (number < kNamed && !(named_[number].arrived && named_[number].waits_at == pc)) ++number;
    return number;
  }

  // 32 bytes for each thread, through which threads of different warps hand each other values.
  void* slot(unsigned thread) {
    if (slots_.empty()) slots_.resize(kMaxBlockThreads);
    return &slots_[thread];
  }

 private:
  bool used_ = false;
  std::vector<ThreadCopies, HostAllocator<ThreadCopies>> copies_;
  std::array<std::array<Part, 6>, 32> parts_{};
  std::array<Named, kNamed> named_{};
  std::vector<std::array<uint64_t, 4>, HostAllocator<std::array<uint64_t, 4>>> slots_;
};

}  // namespace simt::engine
