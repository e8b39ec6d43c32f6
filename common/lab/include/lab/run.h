/// \file
/// The program of a chapter: its function, called for each size and case, in one loop and one process.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/backend.h"
#include "lab/command_line.h"
#include "lab/gemm.h"
#include "lab/header.h"
#include "lab/ladder.h"
#include "lab/limits.h"
#include "lab/row.h"
#include "lab/table.h"
#include "lab/text.h"
#include "lab/timing.h"

namespace lab {

/// What distinguishes one program from another.
struct Config {
  std::string name;
  std::string default_size = "";  ///< where empty, `--size` is required
  SizeKind kind = SizeKind::n;
  Backend backend = this_backend();
  TimingOptions timing = {};
  LimitOptions limits = {};
  bool color = wants_color(1);
  Header header = this_header();
};

/// What the linked header says of the program, for the backend that it was built for.
Config config_of_header();

/// Reads the command line, calls the chapter's function for each size or case, prints each row as it comes, and writes
/// the results file. `lab::run` makes one; tests make their own.
class Harness {
 public:
  /// `--help` and `--list` print and exit with 0; bad input prints one line to stderr and exits with 2.
  /// \param own options that this chapter has beside those of all
  Harness(int argc, char** argv, const Config& config, const std::vector<OwnOption>& own = {});
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;
  ~Harness();

  /// \return 0 where every rung is PASS or SKIP, 1 where one is FAIL or ERROR, 2 for a rung that does not exist or a
  ///   results file that cannot be written
  int run(const std::function<void(Ladder&)>& chapter);

  /// What was found.
  const Report& report() const { return report_; }

 private:
  friend class Ladder;

  struct Turn {
    Size size;
    long number = -1;        // of the case
    std::string words = {};  // all that there is to know of the case, in one line
  };

  bool has_cases() const;
  std::vector<Turn> turns() const;
  [[noreturn]] void usage(const std::string& message) const;
  void print_help(const std::vector<OwnOption>& own) const;
  void print_list() const;
  void describe_machine();
  bool names_exist();
  void begin(const Turn& turn);
  void report_row(const Row& row);
  void add_case(const Row& row, const Turn& turn);
  bool is_wrong(const std::string& rung, const std::string& variant) const;
  void call(const std::function<void(Ladder&)>& chapter, Ladder& ladder);
  void end(Ladder& ladder);
  int finish();
  bool wants_times() const;
  std::optional<double> limit(Limit which);
  void note(const std::string& text);

  std::string program_;
  Config config_;
  Options options_;
  bool described_ = false;
  bool printed_ = false;  // the head of this turn's table
  bool in_cases_ = false;
  int capability_ = 0;   // of the device: a lost context answers nothing
  std::string lost_in_;  // the rung that cost us the CUDA context
  std::optional<int> instead_;
  std::vector<std::string> there_;  // rungs that something added at the first size
  const Turn* turn_ = nullptr;
  std::vector<std::size_t> solved_;  // cases, by each row of the report
  std::vector<Limit> unmeasured_;
  Report report_, here_;  // of all sizes; of this one
};

namespace detail {

template <class F>
void call_chapter(F& chapter, Ladder& ladder) {
  if constexpr (std::invocable<F, GemmLadder&>) {
    GemmLadder products(ladder);
    chapter(products);
  } else if constexpr (std::invocable<F, Ladder&, std::size_t>) {
    chapter(ladder, ladder.extents<1>()[0]);
  } else if constexpr (std::invocable<F, Ladder&, std::size_t, std::size_t>) {
    const auto [rows, cols] = ladder.extents<2>();
    chapter(ladder, rows, cols);
  } else if constexpr (std::invocable<F, Ladder&, std::size_t, std::size_t, std::size_t>) {
    const auto [m, n, k] = ladder.extents<3>();
    chapter(ladder, m, n, k);
  } else {
    static_assert(std::invocable<F, GemmLadderOf<__nv_bfloat16>&>,
                  "a chapter takes a lab::GemmLadderOf<T>&, or lab::Ladder& and its extents");
    GemmLadderOf<__nv_bfloat16> products(ladder);
    chapter(products);
  }
}

}  // namespace detail

/// The program of a chapter: `int main(int argc, char** argv) { return lab::run(argc, argv, chapter); }`.
/// \param chapter called for each size and case, with `lab::GemmLadder&` (or that of another type), or with `lab::Ladder&` and the extents
/// \param own options that this chapter has beside those of all
template <class F>
int run(int argc, char** argv, F chapter, const std::vector<OwnOption>& own = {}) {
  Harness harness(argc, argv, config_of_header(), own);
  return harness.run([&](Ladder& ladder) { detail::call_chapter(chapter, ladder); });
}

}  // namespace lab
