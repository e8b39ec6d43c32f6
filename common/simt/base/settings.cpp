#include "base/settings.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace simt::settings {
namespace {

uint64_t number(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  char* end = nullptr;
  const uint64_t value = text ? std::strtoull(text, &end, 10) : 0;
  return text && end != text && value > 0 ? value : fallback;
}

}  // namespace

const char* trace_file() {
  const char* path = std::getenv("SIMT_JSON");
  return path && *path ? path : nullptr;
}
const char* compiled_code() {
  const char* path = std::getenv("SIMT_COMPILED");
  return path && *path ? path : nullptr;
}
uint64_t threads() {
  return number("SIMT_THREADS", std::max(1u, std::thread::hardware_concurrency()));
}
uint64_t counted_in_full(uint64_t usually) { return number("SIMT_FULL", usually); }
bool has_devices() {
  const char* text = std::getenv("SIMT_DEVICES");
  return text && *text;
}
long devices() {
  if (!has_devices()) return 1;
  const char* text = std::getenv("SIMT_DEVICES");
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end ? 0 : value;
}
bool has_blocks() { return std::getenv("SIMT_BLOCKS"); }
uint64_t blocks(uint64_t all) { return number("SIMT_BLOCKS", all); }  // "all" is no number
uint64_t steps(uint64_t usually) { return number("SIMT_STEPS", usually); }
uint64_t recorded() { return number("SIMT_RECORD", 0); }
uint64_t stack_bytes() { return number("SIMT_STACK", 0); }
bool leaks_are_errors() {
  const char* wanted = std::getenv("SIMT_LEAKS");
  return wanted && *wanted && std::string_view(wanted) != "0";
}
bool runs_ahead() {
  const char* ahead = std::getenv("SIMT_AHEAD");
  return !ahead || std::string_view(ahead) != "0";
}

}  // namespace simt::settings
