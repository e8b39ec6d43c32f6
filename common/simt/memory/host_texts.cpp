#include "memory/host_texts.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>

#include "base/lasting.h"
#include "memory/allocations.h"
#include "memory/device_variables.h"
#include "program/symbols.h"

namespace simt::host_texts {
namespace {

struct HandedOver {
  std::mutex mutex;
  std::set<uint64_t> arguments, copied;  // words that are addresses of constants
};
HandedOver& handed_over() { return lasting<HandedOver>(); }

void note_words(std::set<uint64_t>& words, const void* bytes, uint64_t size) {
  for (uint64_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(bytes) + at, sizeof word);
    if (is_constant(word)) words.insert(word);
  }
}

// Is the address in the variable or the string that begins at the last of these words before it?
bool is_in_one_of(const std::set<uint64_t>& words, uint64_t address) {
  const auto above = words.upper_bound(address);
  if (above == words.begin()) return false;
  const uint64_t begin = *std::prev(above);
  const symbols::Variable* const variable = symbols::find_variable(begin);
  return address <
         (variable ? variable->end : begin + std::strlen(reinterpret_cast<const char*>(begin)) + 1);
}

}  // namespace

void note_arguments(std::span<const detail::Argument> arguments) {
  HandedOver& s = handed_over();
  const std::lock_guard lock(s.mutex);
  s.arguments.clear();
  for (const detail::Argument& argument : arguments)
    note_words(s.arguments, argument.data, argument.size);
}

void note_copied(const void* from, uint64_t size) {
  constexpr uint64_t kMost = 1 << 16;  // a table of records is short
  HandedOver& s = handed_over();
  const std::lock_guard lock(s.mutex);
  note_words(s.copied, from, std::min(size, kMost));
}

bool is_handed_over(uint64_t address) {
  HandedOver& s = handed_over();
  const std::lock_guard lock(s.mutex);
  return is_in_one_of(s.arguments, address) || is_in_one_of(s.copied, address);
}

bool is_host_text(uint64_t address) {
  if (is_constant(address)) return is_handed_over(address);
  if (engine::in_program_data(address)) return !device_variables::of_host(address).empty();
  if (memory::in_arena(address) || memory::find(address)) return false;
  Dl_info info;
  return dladdr(reinterpret_cast<const void*>(address), &info) == 0;  // a constant of a library
}

}  // namespace simt::host_texts
