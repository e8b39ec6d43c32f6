#include "check/array_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "base/program_image.h"
#include "base/symbols.h"

namespace simt::engine {
namespace {

// What "'float [8][33]'" says: the size of an element in bytes, 0 if that is unknown, and their number.
struct ArrayType {
  uint64_t element = 0, count = 0;

  explicit ArrayType(std::string_view text) {
    const size_t open = text.find(" [");
    if (open == std::string_view::npos) return;
    const std::string_view name = text.substr(text.starts_with("'"), open - text.starts_with("'"));
    element = name.ends_with("*")                                          ? 8
              : name.ends_with("char") || name == "bool"                   ? 1
              : name.find("short") != name.npos                            ? 2
              : name.find("long") != name.npos || name == "double"         ? 8
              : name == "int" || name == "unsigned int" || name == "float" ? 4
                                                                           : 0;
    bool first = true;
    for (size_t at = open + 1; at < text.size() && text[at] == '['; at = text.find(']', at) + 1) {
      const uint64_t extent = std::strtoull(text.data() + at + 1, nullptr, 10);
      (first ? count : element) = first ? extent : element * extent;
      first = false;
    }
  }
};

}  // namespace

bool ArrayIndexCheck::settle(const Request& request, int lane) {
  WarpChecks& warp = *request.warp;
  const unsigned size = request.size;
  const uint64_t address = request.address[lane];
  const uint64_t offset = address - shared_.tls_base;
  std::vector<WrongIndex>& open = warp.wrong_index[lane];
  for (size_t i = 0; i < open.size(); ++i) {
    const auto drop = [&] {
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
      if (open.empty()) warp.has_wrong_index &= ~(1u << lane);
    };
    const ArrayType type(open[i].array);
    const uint64_t element = type.element ? type.element : size;
    const uint64_t shift = static_cast<uint64_t>(open[i].index) * element;
    if (offset < shared_.tls_size) {
      for (const symbols::SharedVariable& meant : shared_.variables) {
        if (offset - shift - meant.begin >= meant.end - meant.begin) continue;
        if (offset < meant.begin || offset + size > meant.end) {
          Fault fault = fault_of(Fault::Kind::shared_out_of_bounds, block_, request, lane);
          fault.address = offset;
          fault.text = "static";
          fault.variable = &meant;
          faults_.add(fault);
          open.clear();
          warp.has_wrong_index &= ~(1u << lane);
          return false;
        }
        drop();
        return true;
      }
    } else if (in_program_data(address)) {
      // A __device__ or __constant__ array, or a row of one.
      const symbols::Variable* meant = symbols::find_variable(address - shift);
      if (meant && address >= meant->begin && address + size <= meant->end) {
        drop();
        return true;
      }
      if (meant && meant->end - meant->begin == type.count * element) {
        report(warp, lane);
        return false;
      }
    }
  }
  return true;
}

void ArrayIndexCheck::note(WarpChecks& warp, int lane, const WrongIndex& wrong) {
  constexpr size_t kMostOpen = 8;
  std::vector<WrongIndex>& open = warp.wrong_index[lane];
  // Still open when the lane comes there again: nobody saw the access.
  const auto same = std::find_if(open.begin(), open.end(),
                                 [&](const WrongIndex& known) { return known.pc == wrong.pc; });
  if (same != open.end()) {
    *same = wrong;
  } else if (open.size() < kMostOpen) {
    open.push_back(wrong);
  }
  warp.has_wrong_index |= 1u << lane;
}

void ArrayIndexCheck::report_exited(WarpChecks& warp, uint32_t live) {
  for (const int lane : lanes_of(warp.has_wrong_index & ~live)) {
    report(warp, lane);
  }
}

void ArrayIndexCheck::report(WarpChecks& warp, int lane) {
  for (const WrongIndex& wrong : warp.wrong_index[lane]) {
    Fault fault;
    fault.kind = Fault::Kind::array_out_of_bounds;
    fault.block = block_.index;
    fault.thread = warp.thread[lane];
    fault.grid = block_.grid;
    fault.pc = wrong.pc;
    fault.address = static_cast<uint64_t>(wrong.index);
    fault.text = wrong.array;
    fault.size = static_cast<unsigned>(ArrayType(wrong.array).count);
    faults_.add(fault);
  }
  warp.wrong_index[lane].clear();
  warp.has_wrong_index &= ~(1u << lane);
}

}  // namespace simt::engine
