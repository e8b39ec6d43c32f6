// The simulator works on the lanes' stacks, too, where `new` is the device's: what it allocates there must not be the
// kernel's. It uses HostAllocator, malloc, or a HostMemory.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace simt {

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

// An array of the host's that holds zeros. A page of it that nobody uses takes no memory.
struct FreeHostMemory {
  void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using HostArray = std::unique_ptr<T[], FreeHostMemory>;
template <class T>
HostArray<T> zeroed(size_t count) {
  return HostArray<T>(static_cast<T*>(std::calloc(count, sizeof(T))));
}

// For containers that grow while a lane runs.
template <class T>
struct HostAllocator {
  using value_type = T;
  HostAllocator() = default;
  template <class U>
  HostAllocator(const HostAllocator<U>&) {}
  T* allocate(size_t n) {
    if (void* memory = std::malloc(n * sizeof(T))) return static_cast<T*>(memory);
    std::abort();
  }
  void deallocate(T* memory, size_t) { std::free(memory); }
  friend bool operator==(const HostAllocator&, const HostAllocator&) { return true; }
};

}  // namespace simt
