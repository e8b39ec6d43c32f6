// Questions about all 32 lanes of a warp at once, asked at each of its instructions. The compiler makes vector
// instructions of them, those of the CPU that the program happens to run on.
#pragma once

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

// The lowest and the highest address of some lanes, and the bits that any of them has.
struct Span {
  uint64_t low = ~uint64_t{0}, high = 0, bits = 0;
};
Span span_of(const uint64_t* addresses, uint32_t lanes);

}  // namespace simt::engine
