/// \file
/// What a run found: one row per rung, and what they have in common.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/conditions.h"
#include "lab/counts.h"
#include "lab/size.h"
#include "lab/stats.h"

namespace lab {

/// What became of a rung: four different words.
enum class Status {
  pass,  ///< right, before it was timed and after
  fail,  ///< ran, and is wrong
  skip,  ///< not run, for a reason that is no fault
  error  ///< did not run to its end, or its check is worth nothing
};

/// "PASS", "FAIL", "SKIP" or "ERROR".
const char* to_string(Status status);

/// A peer's times in the rounds that it shared with a rung.
struct PeerTime {
  std::string name;
  TimeStats time;
  double rate = 0;  ///< in the unit of the rung; 0: not known
};

/// One rung of the ladder.
struct Row {
  std::string rung;
  std::string variant;  ///< which of several launches of one rung; may be empty
  std::string idea;
  Size size;
  Status status = Status::error;
  std::string reason;  ///< why it is no PASS, or what a demonstration demonstrated
  std::optional<double> max_error, tolerance;
  std::optional<TimeStats> time;
  std::optional<Conditions> conditions;  ///< of the GPU while it was timed
  /// Milliseconds of the rung's first launch, on the host's clock: with the loading of its kernels.
  std::optional<double> first_ms;
  std::optional<double> rate;
  std::string rate_unit;  ///< "GB/s" or "GFLOP/s"
  std::optional<PeerTime> peer;
  std::optional<double>
      ratio_to_peer;  ///< the peer's median over the rung's: above 1 the rung wins
  std::optional<double> fraction_of_limit;  ///< rate over the machine's limit
  Counts counts;                            ///< of one launch, on the simulator
  /// On the simulator: its launches in the trace, as first and end.
  std::optional<std::pair<std::size_t, std::size_t>> launches;

  /// Rung and variant, as the table shows them.
  std::string label() const;
};

/// All that one run of a chapter found.
struct Report {
  std::string chapter;
  std::string backend;
  std::string device, driver, toolkit, date, commit;
  /// Measured on this machine: `copy_gb_s` and `fp32_gflop_s`, where a rung asks for them; and the
  /// highest clocks that the device states, `sm_clock_mhz` and `memory_clock_mhz`.
  std::vector<std::pair<std::string, double>> limits;
  std::vector<Row> rows;
  std::vector<std::string> notes;  ///< lines for below the table; not in the results file

  /// How many rows ended so.
  int count(Status status) const;
  /// 0 where every row is PASS or SKIP, else 1.
  int exit_code() const;
};

}  // namespace lab
