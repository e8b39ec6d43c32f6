#include "lab/buffer.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lab/check.h"
#include "lab/text.h"

namespace lab {

namespace {

// Byte i of a canary. It depends on the position, so that a stray write of one repeated value cannot
// match all of it, and on the buffer, so that the canary of another one, copied along, does not.
constexpr std::uint8_t canary(std::uint8_t salt, std::size_t i) {
  return static_cast<std::uint8_t>(salt ^ (i * 37u));
}

}  // namespace

Buffer::Buffer(Memory memory, std::size_t elements, std::size_t element_size, std::string_view name,
               std::size_t guard)
    : memory_(memory), guard_((guard + 255) / 256 * 256), name_(name) {
  const std::size_t most = (std::size_t{1} << 62) - 2 * guard_;  // more than any device has
  if (elements > most / element_size) detail::fail(name_ + ": its size overflows");
  bytes_ = elements * element_size;
  const std::size_t total = std::max<std::size_t>(bytes_ + 2 * guard_, 1);
  void* base = nullptr;
  switch (memory) {
    case Memory::device:
      CUDA_CHECK(cudaMalloc(&base, total));
      break;
    case Memory::pinned:
      CUDA_CHECK(cudaHostAlloc(&base, total, cudaHostAllocDefault));
      break;
    case Memory::mapped:
      CUDA_CHECK(cudaHostAlloc(&base, total, cudaHostAllocMapped));
      break;
  }
  base_ = static_cast<std::uint8_t*>(base);
  name_allocation(base_, name_);
  static std::uint8_t next_salt = 0xA5;
  salt_ = next_salt++;
  mend_canaries();
  registry().push_back(this);
}

Buffer::Buffer(Buffer&& other) noexcept { swap(other); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  swap(other);
  return *this;
}

Buffer::~Buffer() {
  if (base_ == nullptr) return;
  std::erase(registry(), this);
  // An error here is an earlier kernel's: whoever waits for that kernel reports it.
  memory_ == Memory::device ? cudaFree(base_) : cudaFreeHost(base_);
}

void Buffer::poison() {
  // One chunk from the host, then copies that double what is filled: quick at any size.
  const std::size_t first = std::min<std::size_t>(bytes_, std::size_t{1} << 20);
  std::vector<std::uint8_t> chunk(first);
  for (std::size_t i = 0; i < first; ++i) {
    chunk[i] = static_cast<std::uint8_t>(i % 2 == 0 ? poison_pattern & 0xFF : poison_pattern >> 8);
  }
  std::uint8_t* const start = base_ + guard_;
  copy_in(start, chunk.data(), first);
  for (std::size_t done = first; done < bytes_;) {
    const std::size_t step = std::min(done, bytes_ - done);
    if (memory_ == Memory::device) {
      CUDA_CHECK(cudaMemcpy(start + done, start, step, cudaMemcpyDeviceToDevice));
    } else {
      std::memcpy(start + done, start, step);
    }
    done += step;
  }
}

void Buffer::zero() {
  if (bytes_ == 0) return;
  if (memory_ == Memory::device) {
    CUDA_CHECK(cudaMemset(payload(), 0, bytes_));
  } else {
    std::memset(payload(), 0, bytes_);
  }
}

std::optional<std::string> Buffer::check_canaries() const {
  if (guard_ == 0 || base_ == nullptr) return std::nullopt;
  std::vector<std::uint8_t> found(guard_);
  for (const bool front : {true, false}) {
    copy_out(found.data(), front ? base_ : base_ + guard_ + bytes_, guard_);
    // Report the byte nearest to the data: first behind the end, last before the start.
    for (std::size_t j = 0; j < guard_; ++j) {
      const std::size_t i = front ? guard_ - 1 - j : j;
      if (found[i] == canary(salt_, i)) continue;
      return name_ +
             (front ? format(": a write before its start hit byte -%zu", guard_ - i)
                    : format(": a write past its end hit byte %zu", bytes_ + i)) +
             format(" (it has %zu bytes)", bytes_);
    }
  }
  return std::nullopt;
}

void Buffer::mend_canaries() {
  if (guard_ == 0 || base_ == nullptr) return;
  std::vector<std::uint8_t> pattern(guard_);
  for (std::size_t i = 0; i < guard_; ++i) pattern[i] = canary(salt_, i);
  copy_in(base_, pattern.data(), guard_);
  copy_in(base_ + guard_ + bytes_, pattern.data(), guard_);
}

std::vector<Buffer*>& Buffer::registry() {
  static std::vector<Buffer*> all;
  return all;
}

void* Buffer::device_payload() const {
  void* pointer = nullptr;
  CUDA_CHECK(cudaHostGetDevicePointer(&pointer, payload(), 0));
  return pointer;
}

void Buffer::put(const void* from, std::size_t elements, std::size_t element_size) {
  if (elements > bytes_ / element_size) {
    detail::fail(name_ +
                 format(": upload of %zu elements into %zu", elements, bytes_ / element_size));
  }
  copy_in(payload(), from, elements * element_size);
}

void Buffer::get(void* to) const { copy_out(to, payload(), bytes_); }

void Buffer::copy_in(void* to, const void* from, std::size_t bytes) const {
  if (bytes == 0) return;
  if (memory_ == Memory::device) {
    CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  } else {
    std::memcpy(to, from, bytes);
  }
}

void Buffer::copy_out(void* to, const void* from, std::size_t bytes) const {
  if (bytes == 0) return;
  if (memory_ == Memory::device) {
    CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
  } else {
    CUDA_CHECK(cudaDeviceSynchronize());
    std::memcpy(to, from, bytes);
  }
}

void Buffer::swap(Buffer& other) noexcept {
  const bool here = base_ != nullptr, there = other.base_ != nullptr;
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(guard_, other.guard_);
  std::swap(salt_, other.salt_);
  std::swap(name_, other.name_);
  std::swap(base_, other.base_);
  if (here == there) return;
  Buffer* const from = here ? this : &other;
  std::replace(registry().begin(), registry().end(), from, here ? &other : this);
}

void mend_all_canaries() {
  for (Buffer* buffer : Buffer::registry()) buffer->mend_canaries();
}

std::optional<std::string> check_all_canaries() {
  for (const Buffer* buffer : Buffer::registry()) {
    if (auto damage = buffer->check_canaries()) return damage;
  }
  return std::nullopt;
}

}  // namespace lab
