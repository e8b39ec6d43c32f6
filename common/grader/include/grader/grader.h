/// \file
/// What the checker of an exercise is written with.
///
/// A checker is one short file that includes the learner's, runs it on sizes that break kernels, compares what
/// comes out and holds the counts against the exercise's bars:
///
///     #include "grader/grader.h"
///     #include EXERCISE
///
///     void grade(grader::Exercise& exercise) {
///       for (const int n : grader::lengths) {
///         const grader::Input<float> x("x", lab::random_floats(n, 1));
///         grader::Output<float> y("y", n);
///         exercise.run(lab::format("n = %d", n),
///                      [&] { scale<<<lab::ceil_div(n, 128), 128>>>(x.data(), y.data(), n); });
///         exercise.compare(y, [&](std::size_t i) { return 2 * x[i]; });
///       }
///       exercise.at_most(grader::load_sectors_per_request, 4);
///     }
///
/// The first case that fails ends the check, once all that can be said of it has been noted.
///
/// grade() runs twice, side by side: in a process that has the learner's code, and in one that judges and does not have it.
/// What the first one got from that code is handed over to the second, which decides. So nothing of the learner's is called
/// but in run() and ask(), and what they leave in a variable comes from the result of ask(), from an Output or from compare_host().
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/buffer.h"
#include "lab/ceil_div.h"
#include "lab/elements.h"
#include "lab/inputs.h"
#include "lab/text.h"

namespace grader {

/// Lengths that break kernels: below, at and beyond a warp and a block, a prime, several blocks.
inline constexpr int lengths[] = {1, 2, 3, 31, 32, 33, 255, 256, 257, 1031, 4096};

/// The extents of a matrix.
struct Shape {
  int rows = 0, cols = 0;
  /// Elements.
  std::size_t size() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  }
};

/// Shapes that break kernels: single rows and columns, both orientations, around a tile of 32, several tiles.
inline constexpr Shape shapes[] = {{1, 1},   {1, 33},  {33, 1},  {2, 3},   {31, 32},
                                   {32, 31}, {33, 65}, {64, 64}, {70, 130}};

/// Extents M, N and K of a product that break kernels.
struct Product {
  int m = 0, n = 0, k = 0;
};
inline constexpr Product products[] = {{1, 1, 1},    {1, 33, 2},   {33, 1, 3},   {2, 3, 31},
                                       {31, 32, 33}, {33, 31, 32}, {64, 32, 64}, {65, 70, 37}};

namespace detail {

/// Whether this process runs the learner's code. The other one judges.
bool performs();
inline constexpr std::size_t any = ~std::size_t{0};
/// Where the code runs, `bytes` are handed over; where it is judged, they become what was handed over, as many as `wanted`.
void hand_over(const std::string& what, std::string& bytes, std::size_t wanted);

/// The same for an array of `wanted` elements.
template <class T>
void hand_over(const std::string& what, std::vector<T>& values, std::size_t wanted) {
  static_assert(std::is_trivially_copyable_v<T>, "elements travel as bytes");
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  hand_over(what, bytes, wanted == any ? any : wanted * sizeof(T));
  if (performs()) return;
  values.resize(bytes.size() / sizeof(T));
  bytes.copy(reinterpret_cast<char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace detail

/// What all arrays of a case have in common: name, initial values, and whether the learner's code may write.
class Array {
 public:
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  /// What messages call it.
  const std::string& name() const { return name_; }

 protected:
  explicit Array(std::string name);
  ~Array();

 private:
  friend class Exercise;
  virtual void restore() = 0;              // the values before the run
  virtual std::string damage() const = 0;  // what a run did that it must not; "" if nothing
  virtual bool is_input() const = 0;
  virtual std::pair<const void*, std::size_t> bytes() const = 0;  // on the device
  // Element `i` as messages show it, for inputs with as many elements as `of`; "" for all other arrays.
  virtual std::string input_at(std::size_t, std::size_t) const { return ""; }
  std::string name_;
};

/// An array that the learner's code reads and must leave as it is.
template <class T>
class Input : public Array {
 public:
  Input(std::string name, std::vector<T> values) : Array(name), values_(std::move(values)) {
    if (detail::performs()) buffer_.emplace(std::span<const T>(values_), name);
  }

  /// For kernels.
  const T* data() const { return buffer_ ? buffer_->data() : nullptr; }
  /// The value of element `i`, on the host.
  const T& operator[](std::size_t i) const { return values_[i]; }
  std::size_t size() const { return values_.size(); }
  const std::vector<T>& values() const { return values_; }

 private:
  void restore() override { buffer_->upload(values_); }
  bool is_input() const override { return true; }
  std::pair<const void*, std::size_t> bytes() const override {
    return {data(), size() * sizeof(T)};
  }
  std::string damage() const override {
    const std::vector<T> now = buffer_->download();
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i] != values_[i]) {
        return lab::format("element %zu of %s was changed, which is only to be read", i,
                           name().c_str());
      }
    }
    return "";
  }
  std::string input_at(std::size_t i, std::size_t of) const override {
    if constexpr (std::is_arithmetic_v<T>) {
      if (values_.size() == of) {
        return lab::format("%s[%zu] = %.9g", name().c_str(), i, static_cast<double>(values_[i]));
      }
    }
    return "";
  }

  std::vector<T> values_;
  std::optional<lab::DeviceBuffer<T>> buffer_;  // where the learner's code runs
};

/// An array that the learner's code fills: poisoned, so that an element that nobody writes shows; or, made with
/// values, one that it changes in place.
template <class T>
class Output : public Array {
 public:
  Output(std::string name, std::size_t n) : Array(name), size_(n) { allocate(); }
  Output(std::string name, std::vector<T> values)
      : Array(name), values_(std::move(values)), size_(values_.size()) {
    allocate();
  }

  /// For kernels.
  T* data() { return buffer_ ? buffer_->data() : nullptr; }
  /// The value of element `i` before the run, on the host, if it was made with values.
  const T& operator[](std::size_t i) const { return values_[i]; }
  std::size_t size() const { return size_; }
  /// What is there now.
  std::vector<T> download() const {
    std::vector<T> values = buffer_ ? buffer_->download() : std::vector<T>();
    detail::hand_over(name(), values, size_);
    return values;
  }

 private:
  void allocate() {
    if (!detail::performs()) return;
    buffer_.emplace(size_, name());
    restore();
  }
  void restore() override {
    if (values_.empty()) {
      buffer_->poison();
    } else {
      buffer_->upload(values_);
    }
  }
  std::string damage() const override { return ""; }
  bool is_input() const override { return false; }
  std::pair<const void*, std::size_t> bytes() const override {
    return {buffer_ ? buffer_->data() : nullptr, size_ * sizeof(T)};
  }

  std::vector<T> values_;
  std::size_t size_;
  std::optional<lab::DeviceBuffer<T>> buffer_;  // where the learner's code runs
};

/// The counts that bars are set for: amount, or amount over `per`. simt/counts.h says what each is.
struct Metric {
  const char* name;
  const char* unit;
  /// Names of counts, with a `+` between those that are added.
  const char* amount;
  /// The same, or "" for the plain amount.
  const char* per;
};

inline constexpr Metric load_sectors_per_request{"sectors per load request", "sectors",
                                                 "global_load_sectors", "global_load_requests"};
inline constexpr Metric store_sectors_per_request{"sectors per store request", "sectors",
                                                  "global_store_sectors", "global_store_requests"};
inline constexpr Metric load_requests{"global load requests", "requests", "global_load_requests",
                                      ""};
inline constexpr Metric store_requests{"global store requests", "requests", "global_store_requests",
                                       ""};
inline constexpr Metric load_sectors{"global load sectors", "sectors", "global_load_sectors", ""};
inline constexpr Metric store_sectors{"global store sectors", "sectors", "global_store_sectors",
                                      ""};
inline constexpr Metric atomic_requests{"global atomic requests", "requests",
                                        "global_atomic_requests", ""};
inline constexpr Metric bank_conflicts{
    "bank conflicts", "wavefronts", "shared_load_bank_conflicts+shared_store_bank_conflicts", ""};
inline constexpr Metric shared_load_requests{"shared load requests", "requests",
                                             "shared_load_requests", ""};
inline constexpr Metric shared_store_requests{"shared store requests", "requests",
                                              "shared_store_requests", ""};
inline constexpr Metric shared_load_wavefronts{"shared load wavefronts", "wavefronts",
                                               "shared_load_wavefronts", ""};
inline constexpr Metric shared_store_wavefronts{"shared store wavefronts", "wavefronts",
                                                "shared_store_wavefronts", ""};
inline constexpr Metric wavefronts_per_shared_load{"wavefronts per shared load request",
                                                   "wavefronts", "shared_load_wavefronts",
                                                   "shared_load_requests"};
inline constexpr Metric wavefronts_per_shared_store{"wavefronts per shared store request",
                                                    "wavefronts", "shared_store_wavefronts",
                                                    "shared_store_requests"};
inline constexpr Metric divergent_branches{"divergent branches", "branches", "divergent_branches",
                                           ""};
inline constexpr Metric lanes_per_load{"active lanes per load request", "lanes",
                                       "global_load_active_lanes", "global_load_requests"};
inline constexpr Metric launches{"kernel launches", "launches", "launches", ""};
inline constexpr Metric blocks{"blocks", "blocks", "blocks", ""};
inline constexpr Metric threads_per_block{"threads per block", "threads", "threads", "launches"};

/// Ends a check that has failed.
struct Stop {};

/// One check of one exercise: notes what was run and what came of it.
class Exercise {
 public:
  /// Runs the learner's code as the case `what` ("n = 33"), waits for it, and notes findings, errors, and inputs
  /// that were changed. Its launches are those that the bars look at from here on.
  void run(std::string what, std::function<void()> code);

  /// What a call of the learner's code gives, outside of run(): a number, a struct of such, or a std::vector of them.
  template <class Code>
  auto ask(Code code) {
    using Answer = std::invoke_result_t<Code>;
    if constexpr (std::is_trivially_copyable_v<Answer>) {
      std::vector<Answer> answer;
      if (detail::performs()) answer.push_back(code());
      detail::hand_over("an answer", answer, 1);
      return answer[0];
    } else {
      Answer answer;
      if (detail::performs()) answer = code();
      detail::hand_over("an answer", answer, detail::any);
      return answer;
    }
  }

  /// Holds an array against its reference: `want(i)` is what element `i` must be.
  template <class T, class Want>
  requires std::invocable<Want, std::size_t>
  void compare(const Output<T>& got, Want want,
               const lab::Tolerance& tolerance = lab::Tolerance::exact()) {
    std::vector<double> expected(got.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<double>(want(i));
    compare_values(got, expected, tolerance, 0);
  }

  /// The same for the first elements, as many as are wanted; what stands behind them does not matter.
  template <class T>
  void compare_first(const Output<T>& got, const std::vector<T>& want,
                     const lab::Tolerance& tolerance = lab::Tolerance::exact()) {
    if (!want.empty()) compare_values(got, {want.begin(), want.end()}, tolerance, 0);
  }

  /// The same for a row-major matrix: `want(row, col)`.
  template <class T, class Want>
  requires std::invocable<Want, int, int>
  void compare(const Output<T>& got, Shape shape, Want want,
               const lab::Tolerance& tolerance = lab::Tolerance::exact()) {
    std::vector<double> expected;
    expected.reserve(shape.size());
    for (int row = 0; row < shape.rows; ++row) {
      for (int col = 0; col < shape.cols; ++col) {
        expected.push_back(static_cast<double>(want(row, col)));
      }
    }
    compare_values(got, expected, tolerance, shape.cols);
  }

  /// The same for values that came back to the host; `name` is what messages call them.
  template <class T>
  void compare_host(const std::string& name, std::vector<T> got, const std::vector<T>& want,
                    const lab::Tolerance& tolerance = lab::Tolerance::exact()) {
    detail::hand_over(name, got, detail::any);
    judge(
        {name, {got.begin(), got.end()}, {want.begin(), want.end()}, tolerance, 0, {}, nullptr, 0});
  }

  /// A condition with a reason of its own, if it does not hold: `kind` names it for the tests.
  void expect(bool holds, const std::string& kind, const std::string& otherwise);

  /// Bars for what the last run() counted. They hold on the simulator; elsewhere nothing is counted.
  void at_most(const Metric& metric, double bar) { hold(metric, "at most", bar); }
  void at_least(const Metric& metric, double bar) { hold(metric, "at least", bar); }
  void exactly(const Metric& metric, double bar) { hold(metric, "exactly", bar); }
  /// A bar in time, where there is a GPU: the code of the last run() takes at most `factor` times as long as
  /// `reference`, timed in turns with it. `name` is what that is: "a copy", "cuBLAS".
  void at_most_times(double factor, const std::string& name,
                     const std::function<void()>& reference);
  /// What the last run() printed.
  const std::string& printed() const { return printed_; }
  /// What the last run() counted.
  double count(const Metric& metric) const;

  /// A number that the learner wrote down against what was measured. A negative one is no answer yet.
  void predict(const std::string& question, double guess, double measured);

  /// Everything that is noted where it is judged goes to `file` as it happens, one JSON object a line. False if it cannot be
  /// written.
  bool write_to(const std::string& file);
  /// Ends the check. `came_through`: to its end, or to a failure. `code`: with which the process that performed has ended, or
  /// minus the signal.
  void finish(bool came_through, int code);
  /// What came from there is no answer to the checker.
  void reject();
  bool failed() const { return failed_ || missed_ || wrong_guess_; }

 private:
  struct Values {
    std::string name;
    std::vector<double> got, want;
    lab::Tolerance tolerance;
    int cols;                     // of a matrix; 0: none
    std::vector<bool> untouched;  // still poison
    const Array* array;           // that it is; nullptr: values of the host
    std::size_t element_size;
  };

  template <class T>
  void compare_values(const Output<T>& got, const std::vector<double>& want,
                      const lab::Tolerance& tolerance, int cols) {
    std::vector<T> values = got.download();
    values.resize(std::min(values.size(), want.size()));
    std::vector<bool> untouched(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) untouched[i] = is_poison(&values[i], sizeof(T));
    judge({got.name(),
           {values.begin(), values.end()},
           want,
           tolerance,
           cols,
           std::move(untouched),
           &got,
           sizeof(T)});
  }
  static bool is_poison(const void* value, std::size_t size);
  struct Performed;
  Performed perform();
  Performed lines_here(const Metric& metric, double bar, bool too_many) const;
  std::string computed_by_host() const;
  double counted_here(const Metric& metric) const;
  void fail(const std::string& kind, const std::string& message);
  void judge(const Values& values);
  std::string writer_of(const Values& values, std::size_t at);  // the last one, in words
  std::string writer_here(const Values& values, std::size_t at);
  void hold(const Metric& metric, const char* relation, double bar);
  void stop_if_failed();

  std::string case_;
  std::function<void()> code_;
  std::string printed_;
  std::size_t first_launch_ = 0;
  bool failed_ = false;  // something is wrong
  bool missed_ = false;  // a bar
  bool wrong_guess_ = false;
  bool looked_ = false;  // at a case, or at an answer
};

/// Runs a case that must free what it allocates. It is not the first: a GPU takes memory of its own for that one.
inline void run_and_free(Exercise& exercise, std::string what, std::function<void()> code) {
  const auto free_bytes = [&] {
    return exercise.ask([] {
      std::size_t free = 0, total = 0;
      cudaMemGetInfo(&free, &total);
      return free;
    });
  };
  const std::size_t before = free_bytes();
  exercise.run(std::move(what), std::move(code));
  const std::size_t after = free_bytes();
  exercise.expect(after == before, "not-freed",
                  lab::format("%zu bytes of the device's memory were not freed", before - after));
}

/// One of several variants of a learner's file that a program was compiled with, each with its checker.
struct Variant {
  Variant(const char* name, void (*grade)(Exercise&));
};

}  // namespace grader
