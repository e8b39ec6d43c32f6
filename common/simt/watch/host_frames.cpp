#include "watch/host_frames.h"

#include <unwind.h>

#include "base/text.h"
#include "program/symbols.h"

namespace simt::host_frames {
namespace {

struct Search {
  uint64_t first, end;  // the bytes
  uint64_t called = 0;  // where the last frame but one is
  std::string function;
};

// A frame begins behind the address that its callee returns to.
_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  Search& search = *static_cast<Search*>(argument);
  const uint64_t pc = _Unwind_GetIP(context);
  const uint64_t slot = _Unwind_GetCFA(context) - sizeof(uint64_t);
  if (slot >= search.end) return _URC_END_OF_STACK;
  if (slot >= search.first && *reinterpret_cast<const uint64_t*>(slot) == pc) {
    search.function = symbols::function_name(search.called - 1);
    return _URC_END_OF_STACK;
  }
  search.called = pc;
  return _URC_NO_REASON;
}

}  // namespace

std::string wrong_with(const std::string& end, uint64_t address, uint64_t size) {
#if defined(__x86_64__)
  constexpr uint64_t kStack = uint64_t{1} << 30;
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (size <= 2 * sizeof(uint64_t) || address - here > kStack) return {};
  Search search{address, address + size, 0, {}};
  _Unwind_Backtrace(&visit, &search);
  if (search.function.empty()) return {};
  return "the " + end + " is a variable of '" + search.function + "', and " + plural(size, "byte") +
         " reach past the end of all that this function has: of a std::vector hand over its "
         "data(), "
         "not its address";
#else
  return {};
#endif
}

}  // namespace simt::host_frames
