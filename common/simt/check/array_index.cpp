#include "check/array_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "program/program_image.h"
#include "program/symbols.h"

namespace simt::engine {
namespace {

// What "'float [8][33]'" says.
struct ArrayType {
  uint64_t element = 0;  // bytes of what the first index counts; 0: unknown
  std::vector<uint64_t> extents;

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
    for (size_t at = open + 1; at < text.size() && text[at] == '['; at = text.find(']', at) + 1) {
      extents.push_back(std::strtoull(text.data() + at + 1, nullptr, 10));
      if (extents.size() > 1) element *= extents.back();
    }
  }

  uint64_t count() const { return extents.empty() ? 0 : extents.front(); }
  // May it be the type of a row of so many bytes altogether?
  bool may_be_row_of(uint64_t bytes) const {
    const uint64_t row = element * count();
    return row == 0 || (bytes > row && bytes % row == 0);
  }
  // Is it that of this variable, or of a row of it?
  bool fits(const symbols::SharedVariable& variable) const {
    const std::vector<uint64_t>& declared = symbols::extents_of(variable);
    if (declared.empty()) {
      const uint64_t bytes = variable.end - variable.begin;
      return bytes == element * count() || may_be_row_of(bytes);
    }
    return declared.size() >= extents.size() &&
           std::equal(extents.rbegin(), extents.rend(), declared.rbegin());
  }
};

bool are_of_one_line(uint64_t pc, uint64_t other) {
  const symbols::Location a = symbols::locate(pc);
  const symbols::Location& b = symbols::locate(other);
  return a.line == b.line && a.file == b.file;
}

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
        if (offset - shift - meant.begin >= meant.end - meant.begin || !type.fits(meant)) continue;
        const bool misses = offset < meant.begin || offset + size > meant.end;
        // An index outside of a whole array misses it.
        if (!misses && type.element && type.element * type.count() == meant.end - meant.begin)
          continue;
        // Another access, to another array, is what it was to be.
        if (misses && shared_.variable(offset, size) && !are_of_one_line(open[i].pc, request.pc))
          continue;
        if (misses) {
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
      if (meant && address >= meant->begin && address + size <= meant->end &&
          type.may_be_row_of(meant->end - meant->begin)) {
        drop();
        return true;
      }
      if (meant && meant->end - meant->begin == type.count() * element) {
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
    fault.size = static_cast<unsigned>(ArrayType(wrong.array).count());
    faults_.add(fault);
  }
  warp.wrong_index[lane].clear();
  warp.has_wrong_index &= ~(1u << lane);
}

}  // namespace simt::engine
