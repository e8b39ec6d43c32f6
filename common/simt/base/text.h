// Numbers and places in words.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <string>

namespace simt {

// "1 byte", "2 bytes"
inline std::string plural(uint64_t n, const char* thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

// "(1,2,3)"
template <class Vector>  // uint3, dim3
std::string text(const Vector& v) {
  return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

}  // namespace simt
