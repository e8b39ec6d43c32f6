#include "memory/constants.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/lasting.h"
#include "memory/device_variables.h"
#include "program/program.h"
#include "program/program_image.h"
#include "program/symbols.h"

namespace simt::constants {
namespace {

constexpr uint8_t kNever =
    1;  // otherwise how many times as many bytes the variable has as were copied; 0: written

struct State {
  std::mutex mutex;
  bool is_prepared = false;
  uint64_t begin = 0;
  std::vector<uint8_t> bytes;  // of the section
};
State& state() { return lasting<State>(); }

// Under the mutex.
void look(State& s) {
  s.is_prepared = true;
  if (!engine::traced_program || !simt_constant_begin) return;
  s.begin = reinterpret_cast<uint64_t>(simt_constant_begin);
  s.bytes.resize(static_cast<size_t>(simt_constant_end - simt_constant_begin));
  const uint64_t end = s.begin + s.bytes.size();
  for (uint64_t at = s.begin; at < end;) {
    const symbols::Variable* variable = symbols::find_variable(at);
    if (!variable) {
      ++at;
      continue;
    }
    const auto* const first = reinterpret_cast<const char*>(variable->begin);
    const auto* const last = reinterpret_cast<const char*>(variable->end);
    const bool is_zero = std::all_of(first, last, [](char byte) { return byte == 0; });
    if (is_zero && device_variables::is_uninitialized_constant(variable->name)) {
      const auto bytes = s.bytes.begin() + static_cast<std::ptrdiff_t>(variable->begin - s.begin);
      std::fill(bytes, bytes + (last - first), kNever);
      any = true;
    }
    at = std::max(at + 1, variable->end);
  }
}

}  // namespace

void prepare() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.is_prepared) look(s);
}

void note_written(uint64_t address, uint64_t size) {
  if (!engine::is_constant(address)) return;
  prepare();
  if (!any) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const symbols::Variable* variable = symbols::find_variable(address);
  const uint64_t first = variable ? variable->begin : address;
  const uint64_t end = variable ? variable->end : address + size;
  const bool was_untouched = s.bytes[first - s.begin] == kNever;
  const uint64_t times = (end - first) / size;
  const bool counts_elements =
      was_untouched && address == first && times >= 2 && times <= 16 && times * size == end - first;
  for (uint64_t at = first; at < end; ++at) {
    const bool is_left = counts_elements && at >= address + size;
    s.bytes[at - s.begin] = is_left ? static_cast<uint8_t>(times) : 0;
  }
  if (std::all_of(s.bytes.begin(), s.bytes.end(), [](uint8_t byte) { return byte == 0; }))
    any = false;
}

void note_failed_copy() {
  prepare();
  any = false;
}

bool is_unwritten(uint64_t address, unsigned size) {
  const State& s = state();
  const uint8_t byte = address - s.begin < s.bytes.size() ? s.bytes[address - s.begin] : 0;
  return byte == kNever || (byte && byte == size);
}

bool is_short(uint64_t address) {
  const State& s = state();
  return s.bytes[address - s.begin] > kNever;
}

}  // namespace simt::constants
