/// \file
/// Memory that frees itself, knows its size, and notices a write past its end.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/backend.h"
#include "lab/check.h"
#include "lab/text.h"

namespace lab {

/// \addtogroup lab
/// @{

/// Where a buffer lives.
enum class Memory {
  device,  ///< `cudaMalloc`: for kernels
  pinned,  ///< `cudaHostAlloc`: for the host, and for fast asynchronous copies
  mapped   ///< `cudaHostAlloc` with `cudaHostAllocMapped`: for both, over the bus
};

/// Bytes of one kind of memory with a canary on each side. Chapters use the typed buffers below;
/// this is what a chapter and its rungs know of all of them: poison and canaries.
class Buffer {
 public:
  /// The value of every 16 bits of a poisoned buffer: a NaN as half, bfloat16, float and double,
  /// and an unlikely number as anything else.
  static constexpr std::uint16_t poison_pattern = 0x7FFD;

  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  ~Buffer() {
    if (base_ == nullptr) return;
    std::erase(registry(), this);
    // An error here is an earlier kernel's: whoever waits for that kernel reports it.
    memory_ == Memory::device ? cudaFree(base_) : cudaFreeHost(base_);
  }

  /// Overwrites the contents with `poison_pattern`, so that an element that nobody writes fails
  /// the comparison.
  void poison() { fill_pattern(); }

  /// Sets every byte to 0.
  void zero() {
    if (memory_ == Memory::device) {
      if (bytes_ != 0) CUDA_CHECK(cudaMemset(payload(), 0, bytes_));
    } else if (bytes_ != 0) {
      std::memset(payload(), 0, bytes_);
    }
  }

  /// Looks whether something wrote outside of the buffer.
  /// \return what was hit, in one line; nothing where the canaries are whole
  std::optional<std::string> check_canaries() const {
    if (guard_ == 0 || base_ == nullptr) return std::nullopt;
    std::vector<std::uint8_t> found(guard_);
    for (const bool front : {true, false}) {
      const std::uint8_t* const zone = front ? base_ : payload() + bytes_;
      get(found.data(), zone, guard_);
      // Report the byte nearest to the data: first behind the end, last before the start.
      for (std::size_t j = 0; j < guard_; ++j) {
        const std::size_t i = front ? guard_ - 1 - j : j;
        if (found[i] == canary(i)) continue;
        return name_ +
               (front ? format(": a write before its start hit byte -%zu", guard_ - i)
                      : format(": a write past its end hit byte %zu", bytes_ + i)) +
               format(" (it has %zu bytes)", bytes_);
      }
    }
    return std::nullopt;
  }

  /// Makes the canaries whole again, so that the next rung is not blamed for what the last one did.
  void mend_canaries() {
    if (guard_ == 0 || base_ == nullptr) return;
    std::vector<std::uint8_t> pattern(guard_);
    for (std::size_t i = 0; i < guard_; ++i) pattern[i] = canary(i);
    put(base_, pattern.data(), guard_);
    put(payload() + bytes_, pattern.data(), guard_);
  }

  /// The name that messages use.
  const std::string& name() const { return name_; }
  /// Size of the contents in bytes.
  std::size_t size_bytes() const { return bytes_; }
  /// Where it lives.
  Memory memory() const { return memory_; }

  /// Every buffer that is alive.
  static std::vector<Buffer*>& registry() {
    static std::vector<Buffer*> all;
    return all;
  }

 protected:
  Buffer(Memory memory, std::size_t bytes, std::string name, std::size_t guard)
      : memory_(memory), bytes_(bytes), guard_((guard + 255) / 256 * 256), name_(std::move(name)) {
    const std::size_t total = bytes_ + 2 * guard_;
    if (total < bytes_) detail::raise(Failure(name_ + ": its size overflows"));
    void* base = nullptr;
    switch (memory) {
      case Memory::device:
        CUDA_CHECK(cudaMalloc(&base, std::max<std::size_t>(total, 1)));
        break;
      case Memory::pinned:
        CUDA_CHECK(cudaHostAlloc(&base, std::max<std::size_t>(total, 1), cudaHostAllocDefault));
        break;
      case Memory::mapped:
        CUDA_CHECK(cudaHostAlloc(&base, std::max<std::size_t>(total, 1), cudaHostAllocMapped));
        break;
    }
    base_ = static_cast<std::uint8_t*>(base);
    mend_canaries();
    registry().push_back(this);
  }

  std::uint8_t* payload() const { return base_ == nullptr ? nullptr : base_ + guard_; }

  /// Host to buffer.
  void put(void* to, const void* from, std::size_t bytes) const {
    if (bytes == 0) return;
    if (memory_ == Memory::device) {
      CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    } else {
      std::memcpy(to, from, bytes);
    }
  }

  /// Buffer to host, once all that was launched is done.
  void get(void* to, const void* from, std::size_t bytes) const {
    if (bytes == 0) return;
    if (memory_ == Memory::device) {
      CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    } else {
      CUDA_CHECK(cudaDeviceSynchronize());
      std::memcpy(to, from, bytes);
    }
  }

 private:
  // Position-dependent, so that a stray write of one repeated value cannot match all of it.
  static constexpr std::uint8_t canary(std::size_t i) {
    return static_cast<std::uint8_t>(0xA5u ^ (i * 37u));
  }

  void fill_pattern() {
    // One chunk from the host, then copies that double what is filled: quick at any size.
    const std::size_t first = std::min<std::size_t>(bytes_, std::size_t{1} << 20);
    std::vector<std::uint8_t> chunk(first);
    for (std::size_t i = 0; i < first; ++i) {
      chunk[i] =
          static_cast<std::uint8_t>(i % 2 == 0 ? poison_pattern & 0xFF : poison_pattern >> 8);
    }
    put(payload(), chunk.data(), first);
    for (std::size_t done = first; done < bytes_;) {
      const std::size_t step = std::min(done, bytes_ - done);
      if (memory_ == Memory::device) {
        CUDA_CHECK(cudaMemcpy(payload() + done, payload(), step, cudaMemcpyDeviceToDevice));
      } else {
        std::memcpy(payload() + done, payload(), step);
      }
      done += step;
    }
  }

  void swap(Buffer& other) noexcept {
    const bool here = base_ != nullptr, there = other.base_ != nullptr;
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(guard_, other.guard_);
    std::swap(name_, other.name_);
    std::swap(base_, other.base_);
    if (here == there) return;
    Buffer* const from = here ? this : &other;
    std::replace(registry().begin(), registry().end(), from, here ? &other : this);
  }

  Memory memory_ = Memory::device;
  std::size_t bytes_ = 0;
  std::size_t guard_ = 0;  // a multiple of 256: the contents stay aligned as cudaMalloc aligns
  std::string name_;
  std::uint8_t* base_ = nullptr;
};

/// A buffer of `T`: what the three kinds of memory have in common.
template <class T>
class TypedBuffer : public Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "elements travel as bytes");

 public:
  /// Number of elements.
  std::size_t size() const { return size_bytes() / sizeof(T); }

  /// Copies `values` into the buffer, from its start.
  /// \param values at most `size()` elements
  void upload(std::span<const T> values) {
    if (values.size() > size()) {
      detail::raise(Failure(name() + ": upload of " + std::to_string(values.size()) +
                            " elements into " + std::to_string(size())));
    }
    put(payload(), values.data(), values.size_bytes());
  }

  /// Waits for all that was launched and copies the contents to the host.
  std::vector<T> download() const {
    std::vector<T> values(size());
    get(values.data(), payload(), size_bytes());
    return values;
  }

 protected:
  TypedBuffer(Memory memory, std::size_t n, std::string name, std::size_t guard)
      : Buffer(memory, bytes_of(n, name), name, guard) {}

  T* typed() const { return reinterpret_cast<T*>(payload()); }

 private:
  static std::size_t bytes_of(std::size_t n, const std::string& name) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      detail::raise(Failure(name + ": its size overflows"));
    }
    return n * sizeof(T);
  }
};

/// Device memory. The pointer belongs to kernels and to CUDA calls: the host must not follow it.
template <class T>
class DeviceBuffer : public TypedBuffer<T> {
 public:
  /// Allocates `n` elements, not initialised.
  /// \param n elements; 0 is legal
  /// \param name what messages call it
  /// \param guard bytes of canary on each side, rounded up to a multiple of 256
  explicit DeviceBuffer(std::size_t n, std::string name = "a device buffer",
                        std::size_t guard = this_backend().guard)
      : TypedBuffer<T>(Memory::device, n, std::move(name), guard) {}

  /// Allocates and uploads.
  explicit DeviceBuffer(std::span<const T> values, std::string name = "a device buffer",
                        std::size_t guard = this_backend().guard)
      : DeviceBuffer(values.size(), std::move(name), guard) {
    this->upload(values);
  }

  /// First element, for kernels.
  T* data() { return this->typed(); }
  const T* data() const { return this->typed(); }
};

/// Page-locked host memory: the copy engine reads and writes it without a detour, and copies of it
/// can be asynchronous.
template <class T>
class PinnedBuffer : public TypedBuffer<T> {
 public:
  explicit PinnedBuffer(std::size_t n, std::string name = "a pinned buffer",
                        std::size_t guard = this_backend().guard)
      : TypedBuffer<T>(Memory::pinned, n, std::move(name), guard) {}

  /// First element, for the host.
  T* data() { return this->typed(); }
  const T* data() const { return this->typed(); }
  /// The elements, for the host.
  std::span<T> span() { return {data(), this->size()}; }
  std::span<const T> span() const { return {data(), this->size()}; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
};

/// Page-locked host memory that kernels reach over the bus ("zero copy").
template <class T>
class MappedBuffer : public TypedBuffer<T> {
 public:
  explicit MappedBuffer(std::size_t n, std::string name = "a mapped buffer",
                        std::size_t guard = this_backend().guard)
      : TypedBuffer<T>(Memory::mapped, n, std::move(name), guard) {}

  /// First element, for the host.
  T* data() { return this->typed(); }
  const T* data() const { return this->typed(); }
  /// First element, for kernels.
  T* device_data() const {
    void* pointer = nullptr;
    CUDA_CHECK(cudaHostGetDevicePointer(&pointer, this->typed(), 0));
    return static_cast<T*>(pointer);
  }
  /// The elements, for the host.
  std::span<T> span() { return {data(), this->size()}; }
  std::span<const T> span() const { return {data(), this->size()}; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
};

/// Makes the canaries of every buffer alive whole again.
inline void mend_all_canaries() {
  for (Buffer* buffer : Buffer::registry()) buffer->mend_canaries();
}

/// What is wrong with the canaries of any buffer alive, or nothing.
inline std::optional<std::string> check_all_canaries() {
  for (const Buffer* buffer : Buffer::registry()) {
    if (auto damage = buffer->check_canaries()) return damage;
  }
  return std::nullopt;
}

/// @}

}  // namespace lab
