#pragma once

#include "lab/config.h"
#include "lab/row.h"

namespace lab {

LAB_INLINE const char* to_string(Status status) {
  switch (status) {
    case Status::pass:
      return "PASS";
    case Status::fail:
      return "FAIL";
    case Status::skip:
      return "SKIP";
    case Status::error:
      return "ERROR";
  }
  return "";
}

LAB_INLINE std::string Row::label() const { return variant.empty() ? rung : rung + " " + variant; }

LAB_INLINE int Report::count(Status status) const {
  int n = 0;
  for (const Row& row : rows) n += row.status == status ? 1 : 0;
  return n;
}

LAB_INLINE int Report::exit_code() const {
  return count(Status::fail) + count(Status::error) == 0 ? 0 : 1;
}

}  // namespace lab
