#include "watch/host_heap.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace simt::host_heap {
namespace {

// How glibc keeps its heap: in front of each piece stands the number of bytes up to the next one, a multiple of 16 with these bits.
constexpr uint64_t kMapped = 2, kOtherArena = 4, kBits = 7;
constexpr uint64_t kHeader = 2 * sizeof(uint64_t), kPage = 4096;

// The two words at `address`, what is in front of a piece; false where no memory is.
bool read(uint64_t address, uint64_t (&words)[2]) {
  const iovec local{words, sizeof words}, remote{reinterpret_cast<void*>(address), sizeof words};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(sizeof words);
}

// Does the row of pieces from the heap's beginning on lead to this header? A number in the midst of some array may look like one.
// No std::string: a program's copy of its members may be the one that is linked, and reports what it copies to our caller, who
// holds a lock.
bool is_header(uint64_t address) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             std::fclose);
  char line[512];
  while (maps && std::fgets(line, sizeof line, maps.get())) {
    if (!std::strstr(line, "[heap]\n")) continue;
    uint64_t at = 0, end = 0;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64, &at, &end) != 2 || address >= end) return false;
    while (at < address) {
      const uint64_t bytes = reinterpret_cast<const uint64_t*>(at)[1] & ~kBits;
      if (bytes < 2 * kHeader || bytes % kHeader != 0) return false;
      at += bytes;
    }
    return at == address;
  }
  return false;
}

// The bytes that the piece at `address` can take, if these are fewer than `size`; 0 if not, or if no piece begins there.
uint64_t room_at(uint64_t address, uint64_t size) {
  uint64_t words[2];
  const uint64_t header = address - kHeader;
  if (address % kHeader != 0 || !read(header, words)) return 0;
  const uint64_t length = words[1] & ~kBits;
  if (words[1] & kMapped) {
    const bool is_whole = length % kPage == 0 && header % kPage == 0 && words[0] == 0;
    return is_whole && length > kHeader && length - kHeader < size ? length - kHeader : 0;
  }
  const uint64_t room = length - sizeof(uint64_t);
  if (words[1] & kOtherArena || length < 2 * kHeader || length % kHeader != 0) return 0;
  return room < size && is_header(header) ? room : 0;
}

}  // namespace

uint64_t room_of(uint64_t address) {
#if defined(__GLIBC__) && defined(__x86_64__)
  return room_at(address, ~uint64_t{0});
#else
  (void)address;
  return 0;
#endif
}

std::string wrong_with(const std::string& end, uint64_t address, uint64_t size) {
#if defined(__GLIBC__) && defined(__x86_64__)
  const uint64_t room = room_at(address, size);
  if (room == 0) return {};
  return "the " + end + " is memory that malloc(), new or a std::vector has for at most " +
         plural(room, "byte") + ", and " + std::to_string(size) +
         " are to be copied: malloc() and copies count bytes, so multiply the number of elements "
         "by sizeof";
#else
  return {};
#endif
}

}  // namespace simt::host_heap
