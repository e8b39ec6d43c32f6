/// \file
/// The ladder of a chapter, at one size: each rung is checked, timed beside its peer and reported as it is added.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/buffer.h"
#include "lab/expect.h"
#include "lab/header.h"
#include "lab/limits.h"
#include "lab/row.h"
#include "lab/size.h"
#include "lab/text.h"
#include "lab/timing.h"
#include "lab/verify.h"

namespace lab {

class Harness;

/// What a rung may be where it has memory of its own: an object with members that are called as those of `Rung`, of
/// which `launch()` is needed and `outputs()`, `prepare()`, `verify()` and `show()` may be there.
template <class T>
concept Experiment = requires(T& one) {
  one.launch();
};

/// Somebody else's solution, timed in the same rounds as the rung that names it, and checked as the rung is.
struct Peer {
  std::string name = {};
  std::function<void()> launch = {};
  std::string absent = {};  ///< why there is none: the rungs that name it run without
  /// What it writes; where empty, what the rung writes.
  std::vector<Expectation> outputs = {};
  double bytes = 0, flops = 0;         ///< 0: those of the rung
  std::function<void()> prepare = {};  ///< as the rung's
  Clock clock = Clock::device;
  /// What else a fair peer has to prove, once for each size, after its result was found right.
  std::function<Comparison()> proof = {};

  ~Peer();
};

/// One rung of the ladder: a way to solve a problem.
struct Rung {
  std::string name = {};     ///< the kernel's name, or that of the host function
  std::string variant = {};  ///< which of several launches of one name, e.g. "block=128"
  /// Launches the work. It is timed in the default stream, which waits for all others but those that are non-blocking:
  /// work in several streams begins and ends there (`lab::Streams`). Need not wait, need not ask for errors: lab does
  /// both.
  std::function<void()> launch = {};
  std::vector<Expectation> outputs = {};  ///< what it writes, and what has to be in it
  /// Sets up inputs, before the verified launch and before the last timed one. Not timed.
  std::function<void()> prepare = {};
  bool prepare_every_run = false;  ///< the rung changes its inputs: set up before each timed run
  /// What is right, where no array says it: called once *before* the launch, too, and must then fail.
  std::function<Comparison()> verify = {};
  double bytes = 0;  ///< bytes that must move at least: reads plus writes
  double flops = 0;  ///< floating-point operations, an FMA counting as 2
  Limit limit = Limit::none;
  Peer peer = {};
  std::function<void()> show = {};  ///< prints to stdout, after the rung ran
  bool timed = true;                ///< false: checked, not timed
  Clock clock = Clock::device;
  int devices =
      1;  ///< how many devices it works on, the first ones: it is done when all of them are
  /// The right result is what `prepare` left, so that a rung may do nothing: its check passes before
  /// the launch, too, and is not asked there.
  bool may_do_nothing = false;

  ~Rung();
};

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

/// The ladder that a chapter's function is called with, once for each size and case (`lab::run`).
///
/// `add` runs the rung at once, so its functions may capture what the chapter's function holds by reference. A rung
/// that the command line does not ask for is left out. The order of the results is that of the header; what the header
/// names and nothing adds is SKIP, for the reason that the header gives (`[needs ...]`), or an ERROR where it gives
/// none. To add a rung that the header does not name ends the program.
class Ladder {
 public:
  Ladder(const Ladder&) = delete;
  Ladder& operator=(const Ladder&) = delete;

  /// The size to solve.
  const Size& size() const { return size_; }
  /// Its extents, in the order of `--size`: `const auto [rows, cols] = ladder.extents<2>();`
  template <std::size_t N>
  std::array<std::size_t, N> extents() const {
    std::array<std::size_t, N> values{};
    copy_extents(values.data(), N);
    return values;
  }
  /// The seed for the inputs.
  std::uint64_t seed() const;
  /// The header.
  const Header& header() const;
  /// Whether the kernels run on the simulator.
  bool on_simulator() const;
  /// Whether a rung is to run: the command line asks for it (with no `--rung`, for all), and no `skip_unless` leaves it
  /// out. What only rungs need that are left out need not be made.
  bool wants(std::string_view rung) const;
  bool wants(std::initializer_list<std::string_view> rungs) const;
  /// Whether it is the first of the sizes, and no case: what does not depend on the size is done there alone.
  bool is_first() const { return first_; }
  /// The number of the case, where the command line asks for `--cases`; else -1.
  long case_number() const { return case_; }

  /// Ends the program with exit code 2 unless `legal` holds: for what this chapter's kernels ask of
  /// a size beyond what `--size` checks itself.
  /// \param legal whether the size is one that they can take
  /// \param what what is legal, e.g. "n is an int here: at most 2147483647"
  void require(bool legal, std::string_view what) const;

  /// Runs a rung and reports it.
  ///
  /// Its outputs are poisoned and it is prepared; its check must now fail; it is launched; the canaries of all buffers
  /// are looked at; it is checked. Then it is timed, round by round with its peer, which has been checked alike; in the
  /// last round it is poisoned, prepared and run once more on the clock, and what that run left is checked.
  void add(const Rung& rung);
  /// The same for an object: `ladder.add("who_am_i", "1 block of 8x6", Numbering(1, dim3(8, 6)), {.timed = false});`
  /// \param rung what the object does not say: bytes, clock, ...
  template <Experiment T>
  void add(std::string_view name, std::string_view variant, T&& one, Rung rung = {}) {
    rung.name = name;
    rung.variant = variant;
    rung.launch = [&] { one.launch(); };
    if constexpr (requires { one.outputs(); }) {
      if (wants(name)) rung.outputs = one.outputs();
    }
    if constexpr (requires { one.prepare(); }) rung.prepare = [&] { one.prepare(); };
    if constexpr (requires { one.verify(); }) rung.verify = [&] { return one.verify(); };
    if constexpr (requires { one.show(); }) rung.show = [&] { one.show(); };
    add(rung);
  }
  template <Experiment T>
  void add(std::string_view name, T&& one, const Rung& rung = {}) {
    add(name, "", one, rung);
  }
  /// The same for the only rung of a problem: a rung without name, variant and launch. More of them are a `Problem`.
  void add(std::string_view name, std::string_view variant, const Rung& problem,
           const std::function<void()>& launch);
  /// Runs a demonstration: a launch with a mistake. It runs on the simulator alone, and passes if exactly the finding is
  /// raised that the header names, `[raises KIND]`, and no error of another kind.
  /// \param outputs what the launch writes: poisoned before it
  void demonstrate(std::string_view name, const std::function<void()>& launch,
                   const std::vector<Buffer*>& outputs = {});
  /// Runs a variant of a rung for each value: `ladder.sweep("map_square", "block", {32, 64}, [&](int block) { return
  /// lab::Rung{...}; })` adds "block=32" and "block=64".
  /// \param make called with each value; what it returns needs no name and no variant
  template <class T, class Make>
  void sweep(std::string_view name, std::string_view label, std::initializer_list<T> values,
             Make make) {
    for (const T& value : values) {
      Rung rung = make(value);
      rung.name = name;
      if (rung.variant.empty()) rung.variant = variant_name(label, value);
      add(rung);
    }
  }
  /// Reports a rung as SKIP that this build has and that cannot solve this size, e.g. for its alignment.
  void skip(std::string_view rung, std::string_view reason);
  /// Says before they are added which rungs a size may be wrong for: unless `can` holds, `add` and `demonstrate` report
  /// them as SKIP, variants and all in one row.
  void skip_unless(bool can, std::initializer_list<std::string_view> rungs,
                   std::string_view reason);
  /// Measures a limit of the machine that no rung is bound by, for the results file.
  void measure(Limit limit);
  /// The program did what else its own options ask for: there is no ladder, and it ends with this exit code.
  void instead(int exit_code);

 private:
  friend class Harness;
  Ladder(Harness& harness, const Size& size, bool first, long number)
      : harness_(harness), size_(size), first_(first), case_(number) {}

  void copy_extents(std::size_t* values, std::size_t count) const;
  bool asks_for(std::string_view rung) const;
  const std::string* reason_to_skip(std::string_view rung) const;
  void take(const Rung& rung, const std::string& skip_reason);
  void add_absent();
  Row run_entry(const Rung& rung, const HeaderRung& line, const std::string& skip_reason,
                bool absent);
  void run_rung(const Rung& rung, Row& row);
  void run_demonstration(const Rung& rung, const std::string& finding, Row& row);
  void check_peer(const Peer& peer, const std::vector<Expectation>& outputs);
  void time(const Rung& rung, const Peer* peer, Row& row);

  Harness& harness_;
  const Size size_;
  const bool first_;
  const long case_;
  std::vector<std::string> checked_peers_;
  std::vector<std::pair<std::string, std::string>> seen_;     // rung and variant
  std::vector<std::pair<std::string, std::string>> refused_;  // rung and reason
  std::vector<Row> rows_;
};

/// What several rungs have in common, and a short way to add each: outputs, bytes, peer, limit.
///
///     lab::Problem sums(ladder, {.outputs = {lab::expect(out, want)}, .bytes = 4.0 * n, .limit = lab::Limit::copy,
///                                .peer = lab::cub_sum(out, in)});
///     sums.add("sequential", [&] { in_passes(sequential, out, in); });
///     sums.sweep("unrolled", "block", {64u, 128u}, [&](unsigned block) { in_passes(unrolled(block), out, in); });
class Problem {
 public:
  /// \param common a rung without name and launch
  Problem(Ladder& ladder, const Rung& common) : ladder_(ladder), common_(common) {}

  void add(std::string_view name, const std::function<void()>& launch) const {
    add(name, "", launch);
  }
  void add(std::string_view name, std::string_view variant,
           const std::function<void()>& launch) const;
  /// A variant for each value.
  template <class T, class Launch>
  void sweep(std::string_view name, std::string_view label, std::initializer_list<T> values,
             Launch launch) const {
    for (const T& value : values) add(name, variant_name(label, value), [&] { launch(value); });
  }
  /// A launch with a mistake; see `Ladder::demonstrate`.
  void demonstrate(std::string_view name, const std::function<void()>& launch) const;

 private:
  Ladder& ladder_;
  Rung common_;
};

}  // namespace lab
