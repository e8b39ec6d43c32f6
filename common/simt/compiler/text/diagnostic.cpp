#include "text/diagnostic.h"

namespace simtcc {

std::string Diagnostic::text() const {
  const std::string place = file + ":" + std::to_string(line) + ":";
  const std::string in_line = column ? std::to_string(column) + ":" : "";
  return place + in_line + (warning ? " warning: simt: " : " error: simt: ") + message;
}

}  // namespace simtcc
