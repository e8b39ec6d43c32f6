/// \file
/// What g++ says of the usual mistakes with CUDA, and what is the matter.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace simtcc {

/// \param said the message of g++
/// \param line the reader's source line that it is about
/// \return the same for who writes CUDA, in one sentence, or nothing if g++ has said it well enough
std::optional<std::string> beginners_mistake(const std::string& said,
                                             const std::vector<std::string>& notes,
                                             const std::string& line);

}  // namespace simtcc
