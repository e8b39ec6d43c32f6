#include "compare.h"

#include <cuda_runtime.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>

#include "lab/check.h"
#include "lab/parallel.h"
#include "lab/text.h"

namespace lab {

std::size_t bytes_of(Number type) {
  switch (type) {
    case Number::i8:
    case Number::u8:
      return 1;
    case Number::f16:
    case Number::bf16:
    case Number::i16:
    case Number::u16:
      return 2;
    case Number::f32:
    case Number::i32:
    case Number::u32:
      return 4;
    default:
      return 8;
  }
}

namespace {

using detail::Findings;
using detail::Task;

/// Why a comparison of so many elements would prove nothing; empty where it would.
std::string worthless(std::size_t got, std::size_t want, const Tolerance& tolerance) {
  if (got != want) return format("the result has %zu elements, the reference %zu", got, want);
  if (got == 0) return "nothing was compared: the result is empty";
  if (!(std::isfinite(tolerance.absolute) && tolerance.absolute >= 0 &&
        std::isfinite(tolerance.relative) && tolerance.relative >= 0)) {
    return "the tolerance is not a number from 0 up: it would let anything pass";
  }
  return "";
}

/// What a comparison found, in one line.
std::string describe(const Comparison& found, double first_got, double first_want,
                     const std::string& basis) {
  const std::string elements =
      found.pass ? format("%zu elements, ", found.size)
                 : format(
                       "%zu of %zu elements are wrong, the first at index %zu: %.9g where "
                       "%.9g is right; ",
                       found.mismatches, found.size, found.first_mismatch, first_got, first_want);
  return elements + format("largest error %.3g, allowed %.3g (%s)", found.max_error,
                           found.tolerance, basis.c_str());
}

/// One element of an array, for the host to look at.
class Fetched {
 public:
  Fetched(const Elements& of, std::size_t at, bool on_device) {
    const std::size_t size = bytes_of(of.type);
    const void* const from = static_cast<const char*>(of.data) + at * size;
    if (on_device) {
      CUDA_CHECK(cudaMemcpy(bytes_.data(), from, size, cudaMemcpyDeviceToHost));
    } else {
      std::memcpy(bytes_.data(), from, size);
    }
    element_ = {bytes_.data(), of.type, 1};
  }
  const Elements& element() const { return element_; }
  double value() const { return detail::number_at(element_, 0); }

 private:
  alignas(8) std::array<char, 8> bytes_{};
  Elements element_;
};

/// Element i, what it should be, and how far it may be off.
struct Looked {
  double got, want, error, allowed;
};

Looked look_at(const Task& task, std::size_t i, bool on_device) {
  std::size_t at = i;
  if (task.got.cols != 0) {
    std::size_t row = i / task.got.cols;
    if (task.got.rows != nullptr) {
      const Elements rows{task.got.rows, Number::i32, 1};
      row = static_cast<std::size_t>(Fetched(rows, row, on_device).value());
    }
    at = row * task.got.ld + i % task.got.cols;
  }
  const Fetched got(task.got, at, on_device), want(task.want, i, on_device);
  Task one{got.element(), want.element(), task.absolute, task.relative, nullptr};
  double allowed = detail::allowed_at(one, 0);
  if (task.allowed != nullptr) {
    allowed = Fetched({task.allowed, Number::f64, 1}, i, on_device).value();
  }
  return {got.value(), want.value(), detail::error_at(one, 0), allowed};
}

Findings find_on_host(const Task& task) {
  Findings all;
  std::mutex one_at_a_time;
  in_parallel(task.got.size, [&](std::size_t first, std::size_t last) {
    Findings part;
    for (std::size_t i = first; i < last; ++i) detail::note_element(part, task, i);
    const std::lock_guard lock(one_at_a_time);
    all.add(part);
  });
  return all;
}

Comparison compare_somewhere(const Elements& got, const Elements& want, const Tolerance& tolerance,
                             const double* allowed, bool on_device) {
  Comparison result;
  if (std::string why = worthless(got.size, want.size, tolerance); !why.empty()) {
    result.max_error = std::numeric_limits<double>::quiet_NaN();
    result.text = std::move(why);
    return result;
  }
  const Task task{got, want, tolerance.absolute, tolerance.relative, allowed};
  const Findings found = on_device ? detail::find_on_device(task) : find_on_host(task);
  const Looked worst = look_at(task, found.worst == Findings::none ? 0 : found.worst, on_device);
  result.size = got.size;
  result.max_error = worst.error;
  result.tolerance = worst.allowed;
  result.mismatches = found.mismatches;
  result.pass = found.mismatches == 0;
  double first_got = 0, first_want = 0;
  if (!result.pass) {
    const Looked first = look_at(task, found.first, on_device);
    result.first_mismatch = found.first;
    first_got = first.got, first_want = first.want;
  }
  result.text = describe(result, first_got, first_want, tolerance.basis);
  if (!result.pass && got.cols != 0 && got.rows == nullptr) {
    result.text += format("; that is row %zu, column %zu", result.first_mismatch / got.cols,
                          result.first_mismatch % got.cols);
  }
  return result;
}

}  // namespace

Comparison compare_on_device(const Elements& got, const Elements& want, const Tolerance& tolerance,
                             const double* allowed) {
  return compare_somewhere(got, want, tolerance, allowed, true);
}

Comparison compare_on_host(const Elements& got, const Elements& want, const Tolerance& tolerance,
                           const double* allowed) {
  return compare_somewhere(got, want, tolerance, allowed, false);
}

}  // namespace lab
