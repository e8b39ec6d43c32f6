#include "base/branch.h"

#include <cstring>

#include "base/program_image.h"

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

}  // namespace

uint64_t branch_behind(uint64_t pc, uint64_t block_hook) {
  const uint64_t code_end = program_image().code_end;
  for (uint64_t next = pc; next + kCall <= code_end; ++next) {
    if (byte_at(next) != 0xe8 || target_of(next + kCall) != block_hook) continue;
    // The next block begins here. Where both ways lead elsewhere, an unconditional jump is between.
    if (byte_at(next - kShortJump) == 0xeb && is_conditional_jump(next - kShortJump))
      return next - kShortJump;
    if (byte_at(next - kLongJump) == 0xe9 && is_conditional_jump(next - kLongJump))
      return next - kLongJump;
    return is_conditional_jump(next) ? next : pc;
  }
  return pc;
}

}  // namespace simt::engine
