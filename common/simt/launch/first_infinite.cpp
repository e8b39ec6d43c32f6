#include "launch/first_infinite.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/lasting.h"
#include "base/text.h"
#include "base/values.h"
#include "launch/rerun.h"
#include "memory/allocations.h"
#include "memory/watched.h"
#include "program/symbols.h"
#include "races/sector_records.h"
#include "report/log.h"

namespace simt::engine::first_infinite {
namespace {

struct State {
  std::mutex mutex;
  std::map<uint64_t, std::vector<unsigned>> parameters;  // by an address in the kernel
  std::map<uint64_t, unsigned> elements;                 // their bytes, by the allocation's address
  std::set<uint64_t> given;  // allocations to which the host has copied such values
  bool is_over = false;      // where the first is from is known, or cannot be
  std::string first;
};
State& state() { return lasting<State>(); }

// The bytes of a parameter's elements, if it is a pointer to float or double; else 0.
unsigned element_of(std::string_view parameter) {
  const std::string_view name = parameter.substr(0, parameter.find_first_of(" *"));
  const std::string_view rest = parameter.substr(name.size());
  if (rest != "*" && rest != " const*") return 0;
  return name == "float" ? 4 : name == "double" ? 8 : 0;
}

// Of "void k<float, 4>(float const*, int)", as it is demangled.
std::vector<unsigned> elements_of(std::string_view signature) {
  std::vector<unsigned> elements;
  int depth = 0;
  size_t end = signature.rfind(')');
  if (end == std::string_view::npos) return elements;
  for (size_t i = end; i-- > 0 && depth >= 0;) {
    const char c = signature[i];
    const bool opens = c == '(' || c == '<' || c == '[';
    if (c == ')' || c == '>' || c == ']') ++depth;
    if (opens) --depth;
    if (depth >= (opens ? 0 : 1) || (!opens && c != ',')) continue;
    const size_t begin = signature[i + 1] == ' ' ? i + 2 : i + 1;
    if (begin < end || !elements.empty())
      elements.insert(elements.begin(), element_of(signature.substr(begin, end - begin)));
    end = i;
  }
  return elements;
}

template <class Word>
bool is_infinite(Word word) {
  constexpr Word kExponent = sizeof(Word) == 4 ? 0x7f800000u : 0x7ff0000000000000u;
  return (word & kExponent) == kExponent;
}

// The first such element, from `low` up to `high`; else `high`.
template <class Word>
uint64_t find_words(uint64_t low, uint64_t high) {
  constexpr size_t kAtOnce = 64;
  Word words[kAtOnce];
  for (; low + sizeof(words) <= high; low += sizeof(words)) {
    std::memcpy(words, reinterpret_cast<const void*>(low), sizeof(words));
    Word any = 0;
    for (const Word word : words) any |= Word{is_infinite(word)};
    if (any) break;
  }
  for (; low + sizeof(Word) <= high; low += sizeof(Word)) {
    std::memcpy(words, reinterpret_cast<const void*>(low), sizeof(Word));
    if (is_infinite(words[0])) return low;
  }
  return high;
}
uint64_t find(uint64_t low, uint64_t high, unsigned size) {
  return size == 4 ? find_words<uint32_t>(low, high) : find_words<uint64_t>(low, high);
}

struct Array {
  Touched touched;
  unsigned element;  // its bytes

  // Where the first element is that is infinite or no number; else the end.
  uint64_t first() const {
    const uint64_t low = touched.low - (touched.low - touched.base) % element;
    return find(low, touched.high, element);
  }
};

// What the launch has touched of arrays to which it has a pointer to float or double.
std::vector<Array> arrays_of(State& s, std::span<const detail::Argument> arguments,
                             const Footprint& footprint, uint64_t inside) {
  std::vector<Array> arrays;
  const auto [known, is_new] = s.parameters.try_emplace(inside);
  if (is_new) known->second = elements_of(symbols::signature(inside));
  if (known->second.size() != arguments.size()) return arrays;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const unsigned element = known->second[i];
    if (!element || arguments[i].size != sizeof(uint64_t)) continue;
    const memory::Allocation* const array =
        memory::find(load_up_to_8(reinterpret_cast<uint64_t>(arguments[i].data), 8));
    if (!array || !memory::in_device_arena(array->base)) continue;
    for (const Touched& touched : footprint.touched()) {
      if (touched.base == array->base) arrays.push_back({touched, element});
    }
  }
  return arrays;
}

// The block of the launch that has stored these bytes of a sector by a plain store, if one has.
std::optional<uint32_t> writer_of(const Region& region, uint64_t sector, uint32_t bytes,
                                  const Member& launch) {
  std::optional<uint32_t> block;
  if (!(use_of(region, sector, launch).written & bytes)) return block;
  const uint64_t word = load(region.word(sector).all);
  if (!(word & ShadowWord::kInflated)) return block_of(word) - launch.first;
  for_each_record(region.cells[(sector - region.base) / kSector], sector,
                  [&](const AccessRecord& record) {
                    if (record.kind == AccessKind::write && (record.bytes & bytes) &&
                        launch.holds(record.block))
                      block = record.block - launch.first;
                  });
  return block;
}

std::string text_of(const std::string& kernel, uint64_t at, unsigned size, uint32_t number,
                    const Grid& grid, Worker& worker) {
  const uint3 block{number % grid.grid.x, number / grid.grid.x % grid.grid.y,
                    number / grid.grid.x / grid.grid.y};
  const auto store =
      what_again(number, grid, worker, [] { return last_store().value_or(LastStore{}); });
  double value = 0;
  float narrow = 0;
  std::memcpy(size == 4 ? static_cast<void*>(&narrow) : &value, reinterpret_cast<const void*>(at),
              size);
  char number_text[32];
  std::snprintf(number_text, sizeof(number_text), "%g", size == 4 ? double{narrow} : value);
  const memory::Allocation* const found = memory::find(at);
  std::string text =
      "The host copies values that are infinite or no numbers. The first that a "
      "kernel has made of finite ones is the " +
      std::string(number_text) + " that " + kernel;
  if (store && store->pc) text += " at " + symbols::locate(store->pc).text();
  text += ", block " + simt::text(block);
  if (store && store->pc) text += ", thread " + simt::text(store->thread);
  return text + ", has stored as element " + std::to_string((at - found->base) / size) + " of " +
         memory::describe(*found) + ".";
}

}  // namespace

void after_launch(const std::string& kernel, uint64_t inside,
                  std::span<const detail::Argument> arguments, const Footprint& footprint,
                  const Member& launch, uint64_t accesses, const Grid& grid, Worker& worker) {
  constexpr uint64_t kBytesOfAnAccess = 32, kBytesAnyhow = uint64_t{1} << 16;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if ((s.is_over && s.first.empty()) || !inside || watched_end) return;
  const std::vector<Array> arrays = arrays_of(s, arguments, footprint, inside);
  for (const Array& array : arrays) s.elements[array.touched.base] = array.element;
  if (s.is_over) return;
  uint64_t bytes = 0;
  for (const Array& array : arrays) bytes += array.touched.high - array.touched.low;
  s.is_over = bytes > kBytesOfAnAccess * accesses + kBytesAnyhow;  // what it leaves is not known
  if (s.is_over) return;
  const auto is_in = [](const Array& array) { return array.first() < array.touched.high; };
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const Array& array) {
    return array.touched.written && is_in(array);
  });
  if (found == arrays.end()) return;
  s.is_over = true;
  // Was it there before, or perhaps?
  for (const Array& array : arrays) {
    const bool may_be = !array.touched.written || s.given.contains(array.touched.base);
    if (array.touched.read && may_be && is_in(array)) return;
  }
  const uint64_t at = found->first();
  const Region* const region = shadow::region_of(at);
  const uint32_t its_bytes = ((1u << found->element) - 1) << at % kSector;
  const std::optional<uint32_t> block =
      region ? writer_of(*region, at - at % kSector, its_bytes, launch) : std::nullopt;
  if (!block) return;
  watch(reinterpret_cast<const void*>(at), found->element);
  s.first = text_of(kernel, at, found->element, *block, grid, worker);
  watch(nullptr, 0);
}

void note_copy(uint64_t to, uint64_t from, uint64_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const memory::Allocation* const target = memory::in_device_arena(to) ? memory::find(to) : nullptr;
  if (target && !s.is_over) {
    if (find(to, to + bytes, 4) < to + bytes) s.given.insert(target->base);
    return;
  }
  if (target || s.first.empty() || !memory::in_device_arena(from)) return;
  const memory::Allocation* const source = memory::find(from);
  const auto element = source ? s.elements.find(source->base) : s.elements.end();
  if (element == s.elements.end()) return;
  const unsigned size = element->second;
  if (find(from, from + bytes, size) + size <= from + bytes)
    device::note_uncounted(std::exchange(s.first, {}));
}

}  // namespace simt::engine::first_infinite
