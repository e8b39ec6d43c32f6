#include "lab/row.h"

namespace lab {

const char* to_string(Status status) {
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

std::string Row::label() const { return variant.empty() ? rung : rung + " " + variant; }

int Report::count(Status status) const {
  int n = 0;
  for (const Row& row : rows) n += row.status == status ? 1 : 0;
  return n;
}

int Report::exit_code() const { return count(Status::fail) + count(Status::error) == 0 ? 0 : 1; }

}  // namespace lab
