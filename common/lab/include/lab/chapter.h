/// \file
/// A chapter: its command line, its rungs, and the one order in which each of them is checked, run,
/// checked, timed and checked again.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/backend.h"
#include "lab/buffer.h"
#include "lab/command_line.h"
#include "lab/header.h"
#include "lab/limits.h"
#include "lab/row.h"
#include "lab/size.h"
#include "lab/text.h"
#include "lab/timing.h"
#include "lab/verify.h"

namespace lab {

/// One rung of the ladder: a way to solve the chapter's problem.
struct Rung {
  std::string name = {};  ///< the kernel's name, or that of the host function
  /// Sets up inputs, before the verified launch and before the last timed one.
  std::function<void()> prepare = {};
  /// Launches the work in the default stream. Need not wait, need not ask for errors: lab does both.
  std::function<void()> launch = {};
  /// Fetches the output and compares it with the reference. Required, but for a demonstration.
  /// It is also called once *before* the launch, on the poisoned output, and must then fail.
  std::function<Comparison()> verify = {};
  double bytes = 0;       ///< bytes that must move at least: reads plus writes
  double flops = 0;       ///< floating-point operations, an FMA counting as 2
  std::string peer = {};  ///< name of the peer that it is timed beside
  Limit limit = Limit::none;
  std::string variant = {};         ///< which of several launches of one name, e.g. "block=128"
  std::function<void()> show = {};  ///< prints to stdout, after the rung ran
  bool timed = true;                ///< false: checked, not timed
  Clock clock = Clock::device;
  std::vector<Buffer*> outputs =
      {};  ///< what the rung writes: poisoned before the launches that are verified
  bool prepare_every_run = false;  ///< the rung changes its inputs: set up before each timed run
  /// The right result is what `prepare` left, so that a rung may do nothing: its check passes before
  /// the launch, too, and is not asked there.
  bool may_do_nothing = false;

  ~Rung();
};

/// Somebody else's solution, timed in the same loop as the rung that names it.
struct Peer {
  std::string name = {};
  std::function<void()> launch = {};
  double bytes = 0, flops = 0;
  /// Like `Rung::verify`, for the peer's own output: a peer that computes something else is no peer.
  std::function<Comparison()> verify = {};
  std::function<void()> prepare = {};
  std::vector<Buffer*> outputs = {};
  Clock clock = Clock::device;

  ~Peer();
};

/// One of the small problems of `--cases`.
struct CaseName {
  Size size;
  std::string words;  ///< all that there is to know of it, in one line
};

/// The small sizes of `--cases` for a map: extents around the multiples of 32, small ones, and a prime.
std::vector<Size> size_cases(SizeKind kind);

/// Puts the rows of many cases together: one for each rung, PASS with the number of cases that it solved, or the
/// first case that went wrong, with the option that runs it again.
class CaseRows {
 public:
  /// Whether a case has gone wrong before, so that a further one need not run.
  bool is_wrong(const Report& report, const std::string& rung, const std::string& variant) const;
  /// Takes note of what one case came to.
  /// \param words all that there is to know of the case
  void add(Report& report, const Row& found, std::size_t number, const std::string& words);

 private:
  std::vector<std::size_t> solved_;  // by each row of the report
};

/// What distinguishes one chapter, or a test, from another.
struct ChapterConfig {
  std::string name;
  std::string default_size = "";  ///< where empty, `--size` is required
  Backend backend = this_backend();
  TimingOptions timing = {};
  LimitOptions limits = {};
  bool color = wants_color(STDOUT_FILENO);
  Header header = this_header();
};

namespace detail {

/// What the linked header says of the program, for the backend that it was built for.
ChapterConfig config_of_header();

}  // namespace detail

/// How a variant is called: "block" and 32 make "block=32"; without a label it is the value alone.
std::string variant_name(std::string_view label, const std::string& value);
template <class T>
std::string variant_name(std::string_view label, const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return variant_name(label, std::to_string(value));
  } else {
    return variant_name(label, std::string(value));
  }
}

/// A chapter's program: `main` makes one, registers the rungs, and returns `run()`. Title, sizes, the order of
/// the ladder, the ideas, what a rung needs and what a demonstration raises are those of the header comment.
///
/// A rung that the header names and the program does not register is SKIP, for the reason that the header gives
/// (`[needs ...]`), and an ERROR where it gives none. To register a rung that the header does not name ends
/// the program.
class Chapter {
 public:
  /// Reads the header and the command line. `--help` prints and exits with 0; bad input prints one line to
  /// stderr and exits with 2. With several sizes, or `--cases` of a map, `main` goes on from here once for each, in
  /// a process of its own.
  /// \param own options that this chapter has beside those of all
  Chapter(int argc, char** argv, const std::vector<OwnOption>& own = {});
  /// For tests, which differ in more than the name.
  Chapter(int argc, char** argv, SizeKind kind, const ChapterConfig& config,
          const std::vector<OwnOption>& own = {});
  Chapter(const Chapter&) = delete;
  Chapter& operator=(const Chapter&) = delete;
  ~Chapter();

  /// The size to solve; with several of them, the one whose turn it is.
  const Size& size() const { return options_.sizes[turn_]; }
  /// The extents of that size, in the order of `--size`: `const auto [rows, cols] = chapter.extents<2>();`
  template <std::size_t N>
  std::array<std::size_t, N> extents() const {
    std::array<std::size_t, N> values{};
    copy_extents(values.data(), N);
    return values;
  }
  /// The header.
  const Header& header() const { return config_.header; }
  /// The seed for the inputs.
  std::uint64_t seed() const { return options_.seed; }
  /// Whether the command line asks for a rung: with no `--rung`, for all.
  bool wants(std::string_view rung) const;
  /// Whether the command line asks for `--cases`.
  bool wants_cases() const { return !options_.cases.empty(); }
  /// Whether the kernels run on the simulator.
  bool on_simulator() const { return config_.backend.name == "simulator"; }

  /// Ends the program with exit code 2 unless `legal` holds: for what this chapter's kernels ask of
  /// a size beyond what `--size` checks itself.
  /// \param legal whether the size is one that they can take
  /// \param what what is legal, e.g. "n is an int here: at most 2147483647"
  void require(bool legal, std::string_view what) const;

  /// Adds a rung.
  void add(const Rung& rung);
  /// Adds a demonstration: a rung that shows a mistake. It runs on the simulator alone, and passes if exactly
  /// the finding is raised that the header names, `[raises KIND]`, and no error of another kind.
  /// \param outputs what the launch writes: poisoned before it
  void demonstrate(std::string_view name, const std::function<void()>& launch,
                   const std::vector<Buffer*>& outputs = {});
  /// Ends the program unless the header names the finding of that demonstration.
  void require_finding(std::string_view demonstration) const;
  /// Adds a variant of a rung for each value: `chapter.sweep("map_square", "block", {32, 64}, [&](int block) {
  /// return lab::Rung{...}; })` adds "block=32" and "block=64".
  /// \param make called with each value; what it returns needs no name and no variant
  template <class Values, class Make>
  void sweep(std::string_view name, std::string_view label, const Values& values, Make make) {
    for (const auto& value : values) {
      Rung rung = make(value);
      rung.name = name;
      if (rung.variant.empty()) rung.variant = variant_name(label, value);
      add(rung);
    }
  }
  template <class T, class Make>
  void sweep(std::string_view name, std::string_view label, std::initializer_list<T> values,
             Make make) {
    sweep<std::initializer_list<T>, Make>(name, label, values, make);
  }
  /// Adds a peer, for the rungs that name it.
  void peer(const Peer& peer);
  /// Reports a rung as SKIP that this build has and that cannot solve this size, e.g. for its alignment.
  void skip(std::string_view rung, std::string_view reason);
  /// Says why a peer is not there: the rungs that name it run without.
  void skip_peer(std::string_view name, std::string_view reason);

  /// Measures a limit of the machine that no rung is bound by, for the results file.
  void measure(Limit limit) { more_limits_.push_back(limit); }

  /// Runs what the command line asks for, prints the ladder, and writes the results file. A chapter
  /// that calls this takes one size a run.
  ///
  /// Each rung: poison its outputs and prepare; its check must now fail; launch; look at the
  /// canaries; check. Then time it, round by round with its peer; in the last round, poison and
  /// prepare before the rung runs once more on the clock, and check what that run left.
  ///
  /// \return 0 where every rung is PASS or SKIP, 1 where one is FAIL or ERROR, 2 for a rung that
  ///   does not exist or a results file that cannot be written
  int run();

  /// The same for a chapter that takes several sizes a run: a ladder for each, one results file.
  /// \param add_rungs called for each size when it is its turn: adds the rungs and peers of `size()`.
  ///   Those of the size before are gone by then.
  int run(const std::function<void()>& add_rungs);

  /// Checks the rungs on small problems, as `--cases` asks: each rung on each case, without times and
  /// counts, and without demonstrations. A rung has one row: PASS and how many cases it solved, or the
  /// first case that went wrong, with the option that runs it again.
  /// \param count how many cases there are
  /// \param add_case called for each case: adds the rungs that solve it, each with its `Rung::name`
  ///   and `Rung::variant` alike for all cases, and says which case it is
  int run_cases(std::size_t count, const std::function<CaseName(std::size_t)>& add_case);

  /// What `run` found.
  const Report& report() const { return report_; }

 private:
  struct Entry {
    Rung rung;
    HeaderRung line;
    bool absent = false;           // the header names it, and nothing registers it
    std::string skip_reason = {};  // why it does not run at this size
  };

  bool has_cases(SizeKind kind) const;
  void take_turns();
  int send_report(int code);
  void copy_extents(std::size_t* values, std::size_t count) const;
  int capability();
  void arrange(bool all);
  [[noreturn]] void usage(const std::string& message) const;
  void print_help(SizeKind kind, const std::vector<OwnOption>& own) const;
  void print_list() const;
  void describe_machine();
  void measure_limits();
  bool check_names() const;
  void start();
  void run_size();
  int finish();
  void drop_rungs();

  Row run_entry(const Entry& entry);
  void run_rung(const Rung& rung, Row& row);
  void run_demonstration(const Rung& rung, const std::string& finding, Row& row);
  void check_peer(const Peer& peer);
  void time(const Rung& rung, const Peer* peer, Row& row);
  bool verify(const Rung& rung, const std::string& when, Row& row);
  const Peer* find_peer(const std::string& name) const;
  std::optional<double> limit(Limit which) const;

  std::string program_;
  ChapterConfig config_;
  Options options_;
  std::vector<Entry> entries_;
  std::set<std::string> there_;  // rungs that something registered at the first size
  std::vector<Peer> peers_;
  std::vector<std::pair<std::string, std::string>> skipped_peers_;  // name, reason
  std::vector<std::string> checked_peers_;
  std::vector<Limit> more_limits_;
  int capability_ = 0;     // of the device; 0: not asked for yet
  std::string lost_in_;    // the rung that cost us the CUDA context
  std::size_t turn_ = 0;   // which of the sizes
  bool measuring_ = true;  // times and counts are wanted
  int report_to_ = -1;     // one of several sizes or cases: where its rows go
  Report report_;
};

}  // namespace lab
