/// \file
/// The ladder table: one line per rung, in order, within 100 columns; recorded times stand behind them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "lab/row.h"

namespace lab {

/// Columns that a table stays within.
inline constexpr std::size_t table_width = 100;

/// Times that a GPU took, for a last column beside the counts of a simulated run.
struct RecordedTimes {
  std::string gpu;   ///< "NVIDIA H200"; empty: there are none, and no such column
  std::string size;  ///< that they are of, which is not the simulator's
  std::map<std::pair<std::string, std::string>, double> ms;  ///< rung and variant -> milliseconds

  /// "H200 ms"
  std::string heading() const;
  /// As the column shows it; "" where nothing is recorded.
  std::string of(const Row& row) const;
};

/// Reads them from a file of lines with tabs: first GPU and size, then rung, variant and milliseconds. `./learn run` writes
/// it from a chapter's results. Empty where `file` is nullptr.
/// \throws std::runtime_error where the file cannot be read
RecordedTimes recorded_times(const char* file);

/// The line above the rows.
/// \param figures whether rows have any: times, or counts
/// \param times whether the backend's times mean something
/// \param recorded adds the column of recorded times
std::string table_head(bool figures, bool times, const RecordedTimes& recorded = {});

/// A row: its figures or, where it is no plain PASS, its reason. A name that is too long for its column has a line of
/// its own.
///
/// On the simulator the figures are global load and store requests with sectors and active lanes per request, and the
/// bank conflicts of shared memory: never the time of the simulation, which says nothing.
/// \param color whether to colour the status
std::string table_row(const Row& row, bool times, bool color = false,
                      const RecordedTimes& recorded = {});

/// The lines below the rows: what the columns mean, the peers, the limits, how many rows ended how.
std::string table_foot(const Report& report, bool times, const RecordedTimes& recorded = {});

/// All of it.
std::string table(const Report& report, bool times, bool color = false,
                  const RecordedTimes& recorded = {});

}  // namespace lab
