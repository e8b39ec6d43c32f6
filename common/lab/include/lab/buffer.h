/// \file
/// Memory that frees itself, knows its size, and notices a write past its end.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lab/backend.h"
#include "lab/check.h"

namespace lab {

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

  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  /// Overwrites the contents with `poison_pattern`, so that an element that nobody writes fails
  /// the comparison.
  void poison();

  /// Sets every byte to 0.
  void zero();

  /// Looks whether something wrote outside of the buffer.
  /// \return what was hit, in one line; nothing where the canaries are whole
  std::optional<std::string> check_canaries() const;

  /// Makes the canaries whole again, so that the next rung is not blamed for what the last one did.
  void mend_canaries();

  /// The name that messages use.
  const std::string& name() const { return name_; }
  /// Size of the contents in bytes.
  std::size_t size_bytes() const { return bytes_; }
  /// Where it lives.
  Memory memory() const { return memory_; }

  /// Every buffer that is alive.
  static std::vector<Buffer*>& registry();

 protected:
  /// \param elements how many, each of `element_size` bytes
  Buffer(Memory memory, std::size_t elements, std::size_t element_size, std::string_view name,
         std::size_t guard);

  /// The contents, as the host sees their address.
  void* payload() const { return base_ == nullptr ? nullptr : base_ + guard_; }
  /// The contents of a mapped buffer, as the device sees their address.
  void* device_payload() const;
  /// From the host to the start of the buffer.
  void put(const void* from, std::size_t elements, std::size_t element_size);
  /// All of the buffer to the host, once all that was launched is done.
  void get(void* to) const;

 private:
  // Between the host and any place in the buffer, canaries included.
  void copy_in(void* to, const void* from, std::size_t bytes) const;
  void copy_out(void* to, const void* from, std::size_t bytes) const;
  void swap(Buffer& other) noexcept;

  Memory memory_ = Memory::device;
  std::size_t bytes_ = 0;
  std::size_t guard_ = 0;  // a multiple of 256: the contents stay aligned as cudaMalloc aligns
  std::uint8_t salt_ = 0;  // sets its canaries apart from those of other buffers
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
  void upload(std::span<const T> values) { put(values.data(), values.size(), sizeof(T)); }

  /// Waits for all that was launched and copies the contents to the host.
  std::vector<T> download() const {
    std::vector<T> values(size());
    get(values.data());
    return values;
  }

 protected:
  TypedBuffer(Memory memory, std::size_t n, std::string_view name, std::size_t guard)
      : Buffer(memory, n, sizeof(T), name, guard) {}

  T* typed() const { return static_cast<T*>(payload()); }
};

/// Device memory. The pointer belongs to kernels and to CUDA calls: the host must not follow it.
template <class T>
class DeviceBuffer : public TypedBuffer<T> {
 public:
  /// Allocates `n` elements, not initialised.
  /// \param n elements; 0 is legal
  /// \param name what messages call it
  /// \param guard bytes of canary on each side, rounded up to a multiple of 256
  explicit DeviceBuffer(std::size_t n, std::string_view name = "a device buffer",
                        std::size_t guard = default_guard())
      : TypedBuffer<T>(Memory::device, n, name, guard) {}

  /// Allocates and uploads.
  explicit DeviceBuffer(std::span<const T> values, std::string_view name = "a device buffer",
                        std::size_t guard = default_guard())
      : DeviceBuffer(values.size(), name, guard) {
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
  explicit PinnedBuffer(std::size_t n, std::string_view name = "a pinned buffer",
                        std::size_t guard = default_guard())
      : TypedBuffer<T>(Memory::pinned, n, name, guard) {}

  /// Allocates, and takes a copy of the values.
  explicit PinnedBuffer(std::span<const T> values, std::string_view name = "a pinned buffer",
                        std::size_t guard = default_guard())
      : PinnedBuffer(values.size(), name, guard) {
    this->upload(values);
  }

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
  explicit MappedBuffer(std::size_t n, std::string_view name = "a mapped buffer",
                        std::size_t guard = default_guard())
      : TypedBuffer<T>(Memory::mapped, n, name, guard) {}

  /// First element, for the host.
  T* data() { return this->typed(); }
  const T* data() const { return this->typed(); }
  /// First element, for kernels.
  T* device_data() const { return static_cast<T*>(this->device_payload()); }
  /// The elements, for the host.
  std::span<T> span() { return {data(), this->size()}; }
  std::span<const T> span() const { return {data(), this->size()}; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
};

/// Makes the canaries of every buffer alive whole again.
void mend_all_canaries();

/// What is wrong with the canaries of any buffer alive, or nothing.
std::optional<std::string> check_all_canaries();

}  // namespace lab
