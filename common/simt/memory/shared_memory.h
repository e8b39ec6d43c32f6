// Shared memory as one worker has it: static arrays are thread-local variables of its OS thread, dynamic ones lie in a
// buffer of its own.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "program/program_image.h"
#include "program/symbols.h"

namespace simt::engine {

inline constexpr unsigned kMaxDynamicShared = 227 * 1024;
inline constexpr unsigned kMostClusterBlocks = 8;

class SharedMemory {
 public:
  SharedMemory()
      : tls_size(program_image().tls_size),
        dynamic(
            static_cast<char*>(std::aligned_alloc(1024, kMaxDynamicShared / 1024 * 1024 + 1024))),
        variables(symbols::shared_variables()) {}
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // The OS thread that calls this is the one whose static arrays count.
  void attach() { tls_base = reinterpret_cast<uint64_t>(__builtin_thread_pointer()) - tls_size; }

  bool is_static(uint64_t address) const { return address - tls_base < tls_size; }
  bool is_dynamic(uint64_t address) const {
    return address - reinterpret_cast<uint64_t>(dynamic) < kMaxDynamicShared;
  }
  bool holds(uint64_t address) const { return is_static(address) || is_dynamic(address); }
  // Where the memory begins that holds this address.
  uint64_t begin_of(uint64_t address) const {
    return is_dynamic(address) ? reinterpret_cast<uint64_t>(dynamic) : tls_base;
  }

  // In a cluster the other blocks' memory is laid out alike. The rank of the one that holds this address, or `cluster.size()`.
  unsigned rank_of(uint64_t address) const {
    unsigned rank = 0;
    while (rank < cluster.size() && !cluster[rank]->holds(address)) ++rank;
    return rank;
  }
  // An address of this block's memory, as the same place in another block's.
  uint64_t in_other(uint64_t address, const SharedMemory& other) const {
    const bool is_in_dynamic = is_dynamic(address);
    return address - begin_of(address) +
           (is_in_dynamic ? reinterpret_cast<uint64_t>(other.dynamic) : other.tls_base);
  }

  // Addresses of 32 bits, as PTX has them: the static arrays come first, and what lies up to kWindowGap / 2 behind them still
  // counts as theirs. The lowest bits are those of the memory's own address. Of another block of the cluster the highest bits are its rank
  // and one.
  uint64_t to_window(uint64_t address) const {
    if (!cluster.empty() && !holds(address)) [[unlikely]] {
      const unsigned rank = rank_of(address);
      if (rank < cluster.size())
        return cluster[rank]->to_own_window(address) | uint64_t{rank + 1} << kRankShift;
    }
    return to_own_window(address);
  }
  uint64_t to_own_window(uint64_t address) const {
    return is_dynamic(address) ? dynamic_window() + (address - reinterpret_cast<uint64_t>(dynamic))
                               : address - window_zero();
  }
  uint64_t from_window(uint32_t address) const {
    const uint32_t rank = address >> kRankShift;
    if (rank && rank <= cluster.size()) [[unlikely]]
      return cluster[rank - 1]->from_window(address & ((1u << kRankShift) - 1));
    const auto place = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(address)));
    if (static_cast<int64_t>(place) < static_cast<int64_t>(dynamic_window() - kWindowGap / 2))
      return window_zero() + place;
    return reinterpret_cast<uint64_t>(dynamic) + (place - dynamic_window());
  }

  // A descriptor of a matrix has the low 18 bits of such an address: it means the dynamic memory, of which the block has so many bytes,
  // if it can.
  uint64_t from_descriptor(uint32_t low, uint32_t dynamic_bytes) const {
    constexpr uint64_t kRange = 1 << 18;
    const uint64_t offset = (low - dynamic_window()) % kRange;
    return offset < dynamic_bytes ? reinterpret_cast<uint64_t>(dynamic) + offset
                                  : window_zero() + low;
  }

  // Where the dynamic arrays begin; of all static ones together and these, what fits into 256 KiB differs in the low 18 bits.
  uint64_t dynamic_window() const {
    return (tls_size / kWindowUnit + 2) * kWindowUnit + kWindowGap;
  }

  // Whether an address of 32 bits is one of either memory, or so close to one that an index that is off by some leads there.
  bool is_near_window(uint32_t address) const {
    if (address >> kRankShift && address >> kRankShift <= cluster.size()) return true;
    const auto behind =
        static_cast<int64_t>(static_cast<int32_t>(address)) + int64_t{kWindowGap} / 2;
    return behind >= 0 &&
           behind < static_cast<int64_t>(dynamic_window() + kMaxDynamicShared + kWindowGap);
  }

  // Words of both have one numbering, the static ones first.
  size_t words() const { return tls_size / 4 + kMaxDynamicShared / 4 + 2; }
  size_t word_of(uint64_t address) const { return (address - word_zero(address)) / 4; }
  // From where the words are counted in the memory that holds this address.
  uint64_t word_zero(uint64_t address) const {
    return is_dynamic(address) ? reinterpret_cast<uint64_t>(dynamic) - tls_size / 4 * 4 : tls_base;
  }

  // The __shared__ variable that holds these bytes of static shared memory, or nullptr.
  const symbols::SharedVariable* variable(uint64_t offset, unsigned size) const {
    const auto holds = [&](const symbols::SharedVariable& variable) {
      return offset >= variable.begin && offset + size <= variable.end;
    };
    if (hit_last_ && holds(*hit_last_)) [[likely]]
      return hit_last_;
    for (const symbols::SharedVariable& variable : variables) {
      if (holds(variable)) return hit_last_ = &variable;
    }
    return nullptr;
  }

  uint64_t tls_base = 0;
  const uint64_t tls_size;
  char* const dynamic;
  // Read before there are lanes, which have no room for it.
  const std::vector<symbols::SharedVariable>& variables;
  // That of all blocks of the cluster, by rank; empty outside of one.
  std::span<const SharedMemory* const> cluster;

 private:
  static constexpr unsigned kRankShift = 24;
  static constexpr uint64_t kWindowUnit =
      1024;  // what the buffer of the dynamic arrays is aligned to
  static constexpr uint64_t kWindowGap = 256 * 1024;
  uint64_t window_zero() const { return tls_base / kWindowUnit * kWindowUnit; }

  mutable const symbols::SharedVariable* hit_last_ = nullptr;
};

}  // namespace simt::engine
