#include "memory/device_variables.h"

#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

#include "base/lasting.h"
#include "program/program_image.h"
#include "program/symbols.h"

namespace simt::device_variables {
namespace {

enum class Side { unknown, device, host, function, function_of_both };

struct State {
  std::mutex mutex;
  std::set<uint64_t> known;    // where variables and functions begin
  std::set<uint64_t> symbols;  // where those variables begin that the host has asked for
};

thread_local unsigned by_name = 0;

// Calls f(word) for each name that simtcc has left, its kind in front.
template <class F>
void for_each_name(F&& f) {
  for (const char* at = simt_variables_begin; at < simt_variables_end;) {
    const std::string_view word(at);
    at += word.size() + 1;
    if (!word.empty()) f(word);
  }
}

std::map<std::string_view, Side> read_names() {
  std::map<std::string_view, Side> names;
  for_each_name([&names](std::string_view word) {
    if (word[0] == 'c' || word[0] == 't') return;
    const Side side = word[0] == 'd'   ? Side::device
                      : word[0] == 'f' ? Side::function
                      : word[0] == 'b' ? Side::function_of_both
                                       : Side::host;
    const auto [it, is_new] = names.try_emplace(word.substr(1), side);
    if (!is_new && it->second != side) it->second = Side::unknown;  // in different sources
  });
  return names;
}

// A variable's name without its scopes.
std::string plain(const std::string& name) {
  const size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

bool is_one_of(Side side, const std::string& name) {
  static const auto& names = *new auto(read_names());
  const auto it = names.find(plain(name));
  return it != names.end() && it->second == side;
}

const symbols::Variable* variable_of(uint64_t address, Side side) {
  if (!simt_variables_begin || !engine::in_program_data(address)) return nullptr;
  const symbols::Variable* found = symbols::find_variable(address);
  return found && is_one_of(side, found->name) ? found : nullptr;
}

bool in_code(uint64_t address) {
  const engine::ProgramImage& program = engine::program_image();
  return simt_variables_begin && address >= program.first && address < program.code_end;
}

bool is_known(uint64_t address) {
  State& state = lasting<State>();
  const std::lock_guard lock(state.mutex);
  return state.known.contains(address);
}

}  // namespace

void note_known(uint64_t address) {
  const symbols::Variable* variable = variable_of(address, Side::device);
  if (!variable && !in_code(address)) return;
  State& state = lasting<State>();
  const std::lock_guard lock(state.mutex);
  state.known.insert(variable ? variable->begin : address);
}

void note_symbol(uint64_t address) {
  note_known(address);
  State& state = lasting<State>();
  const std::lock_guard lock(state.mutex);
  state.symbols.insert(address);
}

void note_copied(const void* from, uint64_t size) {
  if (!simt_variables_begin || size % sizeof(uint64_t) != 0) return;
  constexpr uint64_t kMost = 1024;  // a table of pointers is short
  for (uint64_t at = 0; at < size && size <= kMost; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(from) + at, sizeof word);
    note_known(word);
  }
}

std::string stand_in(uint64_t address) {
  const symbols::Variable* variable = variable_of(address, Side::device);
  if (!variable || is_known(variable->begin)) return {};
  return plain(variable->name);
}

std::string stand_in_of_function(uint64_t address) {
  if (!in_code(address) || is_known(address)) return {};
  const std::string name = symbols::function_name(address);
  if (is_one_of(Side::function, name)) return "__device__ function '" + plain(name) + "'";
  if (is_one_of(Side::function_of_both, name))
    return "__host__ __device__ function '" + plain(name) + "'";
  return {};
}

bool is_on_device(uint64_t address) {
  const symbols::Variable* variable = variable_of(address, Side::device);
  if (variable && is_known(variable->begin)) return true;
  variable = symbols::find_variable(address);
  State& state = lasting<State>();
  const std::lock_guard lock(state.mutex);
  return state.symbols.contains(variable ? variable->begin : address);
}

std::string of_host(uint64_t address) {
  const symbols::Variable* variable = variable_of(address, Side::host);
  return variable ? plain(variable->name) : std::string();
}

bool is_uninitialized_constant(const std::string& name) {
  static const auto& names = *new auto([] {
    std::set<std::string_view> found;
    for_each_name([&found](std::string_view word) {
      if (word[0] == 'c') found.insert(word.substr(1));
    });
    return found;
  }());
  return names.contains(plain(name));
}

ByName::ByName() { ++by_name; }
ByName::~ByName() { --by_name; }
bool ByName::is_open() { return by_name > 0; }

}  // namespace simt::device_variables
