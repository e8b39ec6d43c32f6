/// \file
/// The ladder table: one line per rung, in order, within 100 columns.
#pragma once

#include <cstddef>
#include <string>

#include "lab/row.h"

namespace lab {

/// The ladder, ready to print.
///
/// A row has its figures or, where it is no plain PASS, its reason. On the simulator the figures
/// are global load and store requests with sectors and active lanes per request, and the bank
/// conflicts of shared memory: never a time, since the time of a simulation says nothing.
///
/// \param report what to print
/// \param times whether the backend's times mean something
/// \param color whether to colour the status
/// \param width columns to stay within
std::string table(const Report& report, bool times, bool color = false, std::size_t width = 100);

}  // namespace lab
