/// \file
/// What g++ says of launches whose arguments do not fit their kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simtcc {

/// The type of an argument as the reader knows it. A variable of type T is passed as T&; and what a library's name stands for
/// says nothing here.
std::string plain_type(std::string type);

/// \param notes why no function fits
/// \param kernel " 'name'", or nothing
/// \return the one sentence, or "" if the notes do not say it
std::string misfit(const std::vector<std::string>& notes, const std::string& kernel);

/// The same of a launch whose arguments are too few or too many, where g++ names the function.
/// \param said the message of g++
/// \param launch the source text from the message on
std::optional<std::string> miscount(const std::string& said, const std::vector<std::string>& notes,
                                    const std::string& kernel, std::string_view launch);

}  // namespace simtcc
