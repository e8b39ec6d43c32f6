/// \file
/// What g++ says, in the reader's terms: at the columns of the source as written, without what simtcc put into it.
#pragma once

#include <string>
#include <string_view>

#include "text/origins.h"

namespace simtcc {

/// Turns the output of g++ about the rewritten text (in English, without excerpts of the source and without colours) into
/// what the reader gets to see. Of a launch that does not fit its kernel, and of what else simtcc asks g++ to check, one
/// sentence is left.
std::string readable(std::string_view said, Origins& origins, bool in_colour);

}  // namespace simtcc
