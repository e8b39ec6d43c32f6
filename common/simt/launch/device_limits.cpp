#include "launch/device_limits.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace simt::device {
namespace {

std::mutex mutex;

// By kernel: what it has been allowed beyond 48 KiB.
std::map<const void*, size_t>& allowed() {
  static auto* bytes =
      new std::map<const void*, size_t>;  // destructors of the program may come late
  return *bytes;
}

}  // namespace

int resident_blocks(int block_size, size_t shared) {
  if (block_size < 1 || block_size > 1024 || shared > kSharedPerBlockOptin) return 0;
  const int whole_warps = (block_size + 31) / 32 * 32;
  const size_t taken = (shared + kSharedReserved + 127) / 128 * 128;
  return std::min({kThreadsPerMultiprocessor / whole_warps, kBlocksPerMultiprocessor,
                   static_cast<int>(kSharedPerMultiprocessor / taken)});
}

void allow_dynamic_shared(const void* kernel, size_t bytes) {
  const std::lock_guard lock(mutex);
  allowed()[kernel] = bytes;
}
size_t allowed_dynamic_shared(const void* kernel, size_t fixed) {
  const std::lock_guard lock(mutex);
  // A launch by overload resolution does not tell which kernel it is.
  if (!kernel) {
    size_t most = kSharedPerBlock;
    for (const auto& [named, bytes] : allowed()) most = std::max(most, bytes);
    return most;
  }
  const auto found = allowed().find(kernel);
  const size_t unasked = kSharedPerBlock - fixed;
  return found == allowed().end() ? unasked : std::max(unasked, found->second);
}

}  // namespace simt::device
