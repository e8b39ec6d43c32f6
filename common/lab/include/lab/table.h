/// \file
/// The ladder table: one line per rung, in order, within 100 columns.
#pragma once

#include <cstddef>
#include <string>

#include "lab/row.h"

namespace lab {

/// Columns that a table stays within.
inline constexpr std::size_t table_width = 100;

/// The line above the rows.
/// \param figures whether rows have any: times, or counts
/// \param times whether the backend's times mean something
std::string table_head(bool figures, bool times);

/// A row: its figures or, where it is no plain PASS, its reason. A name that is too long for its column has a line of
/// its own.
///
/// On the simulator the figures are global load and store requests with sectors and active lanes per request, and the
/// bank conflicts of shared memory: never a time, since the time of a simulation says nothing.
/// \param color whether to colour the status
std::string table_row(const Row& row, bool times, bool color = false);

/// The lines below the rows: what the columns mean, the peers, the limits, how many rows ended how.
std::string table_foot(const Report& report, bool times);

/// All of it.
std::string table(const Report& report, bool times, bool color = false);

}  // namespace lab
