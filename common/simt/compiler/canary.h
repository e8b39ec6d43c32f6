/// \file
/// Can simtcc read what this g++ prints?
///
/// g++ promises no form of its dumps, its assembly and its messages. What a reader does not recognise it takes for absent: then calls
/// of host code go through, and accesses count as others. So for each source g++ compiles another one ahead of it, the canary, in which
/// every reader has something to find. That takes some hundredths of a second. No verdict is kept, so none outlives its compiler.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rewrite/rewriter.h"

namespace simtcc {

/// \param command g++ and its flags, without files
/// \param asked those of them that the command line has brought
/// \param folder for what g++ writes
/// \param traced not --fast
/// \return what is wrong and what to do, in one line; nothing if all is found as expected
std::string why_unreadable(const std::vector<std::string>& command,
                           const std::vector<std::string>& asked,
                           const std::filesystem::path& folder, const Dialect& dialect,
                           bool traced);

}  // namespace simtcc
