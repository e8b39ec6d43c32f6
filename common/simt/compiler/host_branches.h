/// \file
/// `#ifdef __CUDA_ARCH__`: what nvcc compiles twice, once for the device and once for the host, made one text.
///
/// The source is preprocessed both ways, and the two texts are compared function by function.
///
/// | where they differ                             | becomes |
/// |-----------------------------------------------|---------|
/// | the body of a `__host__ __device__` function  | `{ if (on the device) {device's body} else {host's body} }` |
/// | that of a function of the host                | the host's |
/// | that of a `__device__` function or a kernel   | the device's |
/// | whole declarations that the host alone has    | are there, too, unless they are the device's |
/// | one function, declared once for each side     | one for both, as in the first row |
/// | anything else outside of functions            | the device's, and a warning |
///
/// `#pragma simt branch device`, `host` and `none` stand around the two texts of a body, for Token::branch.
#pragma once

#include <string>
#include <vector>

#include "text/diagnostic.h"
#include "text/names.h"

namespace simtcc {

/// What the files of the program that went into a preprocessed text speak of.
struct Asked {
  bool for_device_pass = false;  ///< of __CUDA_ARCH__
  bool for_assembly = false;     ///< of `asm`, by all that can be seen without its tokens
};
Asked what_program_asks(const std::string& preprocessed);

struct Merged {
  std::string text;
  std::vector<Diagnostic> warnings;
  std::vector<std::string>
      headers;  ///< Of libraries, which the host alone includes: both texts need them.
};

/// \param device, host the source preprocessed for each, and \param file its name
/// \param relaxed constexpr functions are for both sides
Merged with_host_branches(const std::string& device, const std::string& host,
                          const std::string& file, bool relaxed);

}  // namespace simtcc
