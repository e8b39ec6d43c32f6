#include "program/branch.h"

#include <cstring>
#include <string_view>

#include "program/program_image.h"

namespace simt::engine {
namespace {

constexpr uint64_t kCall = 5, kLongJump = 5, kShortJump = 2;  // bytes of an instruction

uint8_t byte_at(uint64_t address) { return *reinterpret_cast<const uint8_t*>(address); }

// Where a call or a jump with a distance of 32 bits goes that ends at `end`.
uint64_t target_of(uint64_t end) {
  int32_t distance;
  std::memcpy(&distance, reinterpret_cast<const void*>(end - 4), 4);
  return end + static_cast<int64_t>(distance);
}

bool is_conditional_jump(uint64_t end) {
  return (byte_at(end - 2) & 0xf0) == 0x70 ||
         (byte_at(end - 6) == 0x0f && (byte_at(end - 5) & 0xf0) == 0x80);
}

// Instructions of several bytes that do nothing: the assembler aligns loops with them. 0x66 and 0x2e may stand before each.
constexpr std::string_view kNothing[] = {
    std::string_view("\x90", 1),
    std::string_view("\x0f\x1f\x00", 3),
    std::string_view("\x0f\x1f\x40\x00", 4),
    std::string_view("\x0f\x1f\x44\x00\x00", 5),
    std::string_view("\x0f\x1f\x80\x00\x00\x00\x00", 7),
    std::string_view("\x0f\x1f\x84\x00\x00\x00\x00\x00", 8),
};

// Where the conditional jump ends behind which, at `end`, another block begins; 0 if there is none.
uint64_t jump_before(uint64_t end, int skipped = 0) {
  constexpr int kMostSkipped = 3, kMostPrefixes = 3;
  // Where both ways lead elsewhere, an unconditional jump is between.
  if (byte_at(end - kShortJump) == 0xeb && is_conditional_jump(end - kShortJump))
    return end - kShortJump;
  if (byte_at(end - kLongJump) == 0xe9 && is_conditional_jump(end - kLongJump))
    return end - kLongJump;
  if (is_conditional_jump(end)) return end;
  if (skipped == kMostSkipped) return 0;
  for (const std::string_view nothing : kNothing) {
    uint64_t begin = end - nothing.size();
    if (std::memcmp(reinterpret_cast<const void*>(begin), nothing.data(), nothing.size()) != 0)
      continue;
    for (int prefixes = 0;; ++prefixes) {
      if (const uint64_t found = jump_before(begin, skipped + 1)) return found;
      --begin;
      if (prefixes == kMostPrefixes || (byte_at(begin) != 0x66 && byte_at(begin) != 0x2e)) break;
    }
  }
  return 0;
}

}  // namespace

uint64_t branch_behind(uint64_t pc, uint64_t block_hook) {
  const uint64_t code_end = program_image().code_end;
  for (uint64_t next = pc; next + kCall <= code_end; ++next) {
    if (byte_at(next) != 0xe8 || target_of(next + kCall) != block_hook) continue;
    const uint64_t found = jump_before(next);  // the next block begins here
    return found ? found : pc;
  }
  return pc;
}

}  // namespace simt::engine
