// The heap of the device: malloc, free, new and delete in kernels.
//
// The simulator works on the lanes' stacks, too: what it allocates there must not be the kernel's. It uses
// HostAllocator (trace.h), malloc, or a HostMemory.
#pragma once

#include <cstddef>

namespace simt::heap {

// The most that the device's heap holds, which cudaDeviceSetLimit() sets.
void set_limit(size_t bytes);
// All that it held has been freed.
void reset();

// The simulator itself is at work on a lane's stack: what it allocates meanwhile is the host's.
class HostMemory {
 public:
  HostMemory() : before_(in_use_) { in_use_ = true; }
  ~HostMemory() { in_use_ = before_; }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  static bool in_use() { return in_use_; }

 private:
  static inline thread_local bool in_use_ = false;
  bool before_;
};

}  // namespace simt::heap
