// The heap of the device: malloc, free, new and delete in kernels.
//
// The simulator works on the lanes' stacks, too: what it allocates there must not be the kernel's. It uses
// HostAllocator (trace.h), malloc, or a HostScope.
#pragma once

#include <cstddef>

namespace simt::heap {

// The most that the device's heap holds, which cudaDeviceSetLimit() sets.
void set_limit(size_t bytes);

// While one lives, `new` on this thread is the host's: for the library's own work on a lane's stack.
class HostScope {
 public:
  HostScope();
  ~HostScope();
  HostScope(const HostScope&) = delete;

 private:
  bool before_;
};

}  // namespace simt::heap
