/// \file
/// Timing that can be believed: warmed up, with a cold L2 cache, many runs, and side by side with
/// the peer.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "lab/stats.h"

namespace lab {

/// Whose clock times a rung.
enum class Clock {
  device,  ///< CUDA events around the launch in the default stream: what the GPU takes
  host     ///< the host's clock around the launch: what the caller waits for
};

/// How long to time.
///
/// Rounds go on until the medians are known to `precision`: the notch of a box plot, 1.57 x (upper - lower quartile) /
/// sqrt(runs), which is half of a 95 % confidence interval of the median (McGill, Tukey and Larsen, Variations of Box
/// Plots, 1978), is at most that share of the median, for each contestant.
struct TimingOptions {
  int warmup = 3;          ///< rounds before the first that counts; fewer once the budget is spent
  double warmup_s = 0.02;  ///< and so long at least: the clock of an idle GPU is low
  int min_runs = 20;       ///< at least so many, unless they take twice the budget
  int max_runs = 200;      ///< at most so many
  double precision = 0.003;  ///< how well the medians are to be known
  double budget_s = 0.25;    ///< runs go on no longer than that, whatever the precision
  bool flush = true;         ///< empty the L2 cache before each run
};

/// Milliseconds that the GPU spends on `work`, once, between two events in the default stream.
double time_on_device(const std::function<void()>& work);

/// Milliseconds until `work` returns to the host, once. Starts with an idle GPU; waits for nothing
/// that `work` does not wait for.
double time_on_host(const std::function<void()>& work);

/// One of those that are timed side by side.
struct Contestant {
  std::function<void()> run;
  /// Called before each run, outside of the time; `last` is true for the last run, whose output
  /// stays.
  std::function<void(bool last)> before = {};
  /// Called after the last run, before that of the next contestant.
  std::function<void()> after_last = {};
  Clock clock = Clock::device;
};

/// Times the contestants in turn, round after round, so that a change of the machine's clocks or
/// its temperature meets all of them alike. The last contestant also runs last.
///
/// Each run starts with a cold L2 cache (`flush`): a chapter's data is larger than the cache, or comes from elsewhere.
/// A kernel that is too short to be timed by itself is launched many times by its rung, from a graph.
///
/// \param between called between the rounds that count, outside of all times; may be empty
/// \return the times of each, in the order of `contestants`
std::vector<TimeStats> time_interleaved(std::span<const Contestant> contestants,
                                        const TimingOptions& options = {},
                                        const std::function<void()>& between = {});

}  // namespace lab
