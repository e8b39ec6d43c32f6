/// \file
/// The results file: a line for each fact and for each row, so that a difference of two can be read.
///
/// A key that has nothing to say is absent: no `time_ms` on the simulator, no `counts` on a GPU, no
/// `peer` without one. A number that is none (the error of a NaN) is `null`.
#pragma once

#include <string>

#include "lab/row.h"

namespace lab {

/// A report as the text of a results file.
std::string to_json(const Report& report);

/// Writes a results file. It replaces an older one only once it is whole.
/// \return what went wrong; empty where nothing did
std::string write_json(const std::string& path, const Report& report);

}  // namespace lab
