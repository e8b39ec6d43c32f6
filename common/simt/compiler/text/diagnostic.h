/// \file
/// What is said of a source, and what is changed in it.
#pragma once

#include <cstddef>
#include <string>

namespace simtcc {

struct Diagnostic {
  std::string file;
  int line = 0;
  std::string message;   ///< "textures (tex2D) are not simulated"
  int column = 0;        ///< From 1, in bytes; 0 if it is not known.
  bool warning = false;  ///< Said, and compiled all the same.

  /// `file:line:column: error: simt: message`
  std::string text() const;
};

/// A change to the text: `length` bytes at `offset` give way to `text`.
struct Edit {
  std::size_t offset;
  std::size_t length;
  std::string text;
};

}  // namespace simtcc
