// Asynchronous copies that are under way.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/host_memory.h"

namespace simt::engine {

struct AsyncCopy {
  void* to;
  const void* from;
  uint64_t group;
  uint64_t pc;
  unsigned size, bytes;  // `bytes` of `size` come from `from`, the rest is zero
  std::array<unsigned char, 16> data{};
  // Where a thread that knew of the copy has arrived first since, at an mbarrier that does not wait for it.
  uint64_t told_barrier = 0, told_pc = 0;

  bool holds(uint64_t address) const { return address - reinterpret_cast<uint64_t>(to) < size; }
  // Of two copies that overlap: do they bring the same bytes?
  bool agrees_with(const AsyncCopy& other) const {
    const auto begin = reinterpret_cast<uint64_t>(to);
    for (unsigned i = 0; i < size; ++i) {
      const uint64_t place = begin + i - reinterpret_cast<uint64_t>(other.to);
      if (place < other.size && data[i] != other.data[place]) return false;
    }
    return true;
  }
  // Has somebody written where the bytes came from?
  bool is_outdated() const { return std::memcmp(data.data(), from, bytes) != 0; }
};

// The last wait of a thread: what it leaves are the groups from `end` on.
struct CopyWait {
  uint64_t pc = 0;  // 0: none yet
  uint64_t committed = 0, end = 0;
};

// The copies of one thread, in the order of their issue.
class ThreadCopies {
 public:
  // The bytes arrive when the thread waits for them. Until then they are garbage, as on hardware they may be.
  const AsyncCopy& issue(void* to, const void* from, unsigned size, unsigned bytes, uint64_t pc) {
    AsyncCopy copy{to, from, open_group_, pc, size, bytes};
    std::memcpy(copy.data.data(), from, bytes);
    pending_.push_back(copy);
    std::memset(to, 0xff, size);
    return pending_.back();
  }
  void commit() { ++open_group_; }
  // Completes all groups but the last `kept`, and calls arrived(copy) for each copy. What was not committed stays
  // under way.
  template <class F>
  void wait(uint64_t kept, uint64_t pc, F&& arrived) {
    wait_ = {pc, open_group_, open_group_ > kept ? open_group_ - kept : 0};
    size_t done = 0;
    while (done < pending_.size() && pending_[done].group < wait_.end) {
      const AsyncCopy& copy = pending_[done++];
      std::memcpy(copy.to, copy.data.data(), copy.size);
      arrived(copy);
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(done));
  }
  bool empty() const { return pending_.empty(); }
  uint64_t committed() const { return open_group_; }
  const CopyWait& last_wait() const { return wait_; }
  const std::vector<AsyncCopy, HostAllocator<AsyncCopy>>& pending() const { return pending_; }
  std::vector<AsyncCopy, HostAllocator<AsyncCopy>>& pending() { return pending_; }
  void clear() {
    pending_.clear();
    open_group_ = 0;
    wait_ = {};
  }

 private:
  std::vector<AsyncCopy, HostAllocator<AsyncCopy>> pending_;
  uint64_t open_group_ = 0;
  CopyWait wait_;
};

// Those of a block. Used by one OS thread only, whose lanes take turns.
class AsyncCopies {
 public:
  void begin_block() {
    if (!used_) return;
    used_ = false;
    for (ThreadCopies& copies : copies_) copies.clear();
  }
  ThreadCopies& of(unsigned thread) {
    used_ = true;
    if (copies_.empty()) copies_.resize(kThreads);
    return copies_[thread];
  }
  // Calls f(copy, thread) for each copy that is under way.
  template <class F>
  void for_each(F&& f) {
    for (unsigned thread = 0; used_ && thread < copies_.size(); ++thread) {
      for (AsyncCopy& copy : copies_[thread].pending()) f(copy, thread);
    }
  }

 private:
  static constexpr unsigned kThreads = 1024;
  bool used_ = false;
  std::vector<ThreadCopies, HostAllocator<ThreadCopies>> copies_;
};

}  // namespace simt::engine
