// Questions about all 32 lanes of a warp at once, asked at each of its instructions. The compiler makes vector
// instructions of them, those of the CPU that the program happens to run on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>

namespace simt::engine {

inline constexpr int kLanes = 32;

// The lanes of a mask, from the lowest on: `for (const int lane : lanes_of(mask))`.
class Lanes {
 public:
  explicit constexpr Lanes(uint32_t mask) : mask_(mask) {}

  struct Iterator {
    uint32_t rest;
    constexpr int operator*() const { return std::countr_zero(rest); }
    constexpr void operator++() { rest &= rest - 1; }
    constexpr bool operator==(std::default_sentinel_t) const { return rest == 0; }
  };
  constexpr Iterator begin() const { return {mask_}; }
  constexpr std::default_sentinel_t end() const { return {}; }

 private:
  uint32_t mask_;
};
constexpr Lanes lanes_of(uint32_t mask) { return Lanes(mask); }

// How many they are. The oldest CPUs have no instruction for it, and mostly it is the whole warp.
constexpr unsigned count_lanes(uint32_t mask) {
  return mask == ~0u ? unsigned{kLanes} : static_cast<unsigned>(std::popcount(mask));
}

// The least of 32 values.
uint64_t lowest_of(const uint64_t* values);

// The lanes that have this value.
uint32_t lanes_with(const uint64_t* values, uint64_t value);
uint32_t lanes_with(const uint32_t* values, uint32_t value);
uint32_t lanes_with(const uint8_t* values, uint8_t value);

// Are they values[0], values[0] + step, values[0] + 2 * step, ...?
bool are_in_steps(const uint64_t* values, uint64_t step);

// Does each lie at least `step` above the one before?
bool are_apart(const uint64_t* values, uint64_t step);

// What a warp of 32 active lanes accesses, `words` in a row for each lane: lane i < 16 from word first[0] + i * step on,
// lane 16 + i from first[1] + i * step.
struct TwoRows {
  uint32_t first[2];
  uint32_t step, words;
};

// Are the first 16 values[0], values[0] + step, ..., and the others values[16], values[16] + step, ...? So lie the addresses
// of a warp that holds a row of a block, or two rows of 16 threads.
bool are_in_two_rows(const uint64_t* values, uint64_t step);

// Are all of these values at least `low`, counted from there on (so that `low` may be near the end of all numbers), and at
// most `most` above?
bool are_within(const uint32_t* values, unsigned count, uint32_t low, uint32_t most);

// Where the addresses of some lanes lie.
struct Span {
  uint64_t low = ~uint64_t{0}, high = 0;  // the lowest and the highest of them
  uint64_t bits = 0;                      // of the lowest four, those that any of them has
  // Of all 32 lanes: each address lies `step` above the one before, or below where it is negative. Asked once here, since
  // nearly every check and every count would ask.
  bool is_regular = false;
  int64_t step = 0;

  // One element of `size` bytes after another?
  bool is_row(unsigned size) const { return is_regular && step == static_cast<int64_t>(size); }
  uint64_t first() const { return step < 0 ? high : low; }  // of a regular one
};
Span span_of(const uint64_t* addresses, uint32_t lanes);

// Calls f(chunk, units, lanes) for each chunk of kChunk bytes that the lanes access, `size` bytes each, in their order:
// which of its units of kUnit bytes, and by which lanes. Neighbours that share a chunk are one call. An access may cross
// a chunk's end where a unit is a byte; else it is of whole units. `is_row`: all 32 lanes, one element after another.
template <uint64_t kChunk, unsigned kUnit, class F>
[[gnu::always_inline]] inline void for_each_chunk(const uint64_t* address, uint32_t lanes,
                                                  unsigned size, bool is_row, F&& f) {
  const auto ones = [](uint64_t count) { return ~uint64_t{0} >> (64 - count); };
  if (is_row) {
    const uint64_t begin = address[0], end = begin + kLanes * size;
    const int shift = std::countr_zero(size);
    for (uint64_t chunk = begin - begin % kChunk; chunk < end; chunk += kChunk) {
      const uint64_t first = std::max(chunk, begin), last = std::min(chunk + kChunk, end) - 1;
      const uint64_t lane = (first - begin) >> shift, last_lane = (last - begin) >> shift;
      f(chunk, ones((last - first) / kUnit + 1) << (first - chunk) / kUnit,
        static_cast<uint32_t>(ones(last_lane - lane + 1) << lane));
    }
    return;
  }
  const uint64_t all = ones(size / kUnit);
  while (lanes) {
    const uint64_t at = address[std::countr_zero(lanes)], chunk = at - at % kChunk;
    uint64_t units = 0, units_behind = 0;
    uint32_t here = 0, across = 0;
    for (uint64_t offset = at - chunk; offset < kChunk;) {
      const uint32_t lane = lanes & -lanes;
      units |= all << offset / kUnit;
      here |= lane;
      if (kUnit == 1 && offset + size > kChunk) [[unlikely]] {
        units_behind |= all >> (kChunk - offset);
        across |= lane;
      }
      lanes &= lanes - 1;
      if (!lanes) break;
      offset = address[std::countr_zero(lanes)] - chunk;
    }
    f(chunk, units, here);
    if (kUnit == 1 && across) [[unlikely]]
      f(chunk + kChunk, units_behind, across);
  }
}

}  // namespace simt::engine
