/// \file
/// What a library that is not traced and a traced program both have, for own_functions_test.cu.
#pragma once

#include <stdexcept>

namespace own {

/// An exception whose type is known on both sides.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One variable for both sides, and one counter behind an inline function.
inline int shared_variable = 0;
inline int& shared_counter() {
  static int counter = 0;
  return counter;
}

/// Has a table of virtual functions on both sides.
struct Shape {
  virtual ~Shape() = default;
  virtual int corners() const { return 0; }
};
struct Square : Shape {
  int corners() const override { return 4; }
};

/// A function that both sides have a copy of.
struct Pair {
  int a, b;
};
[[gnu::noinline]] inline int sum(const Pair& pair) { return pair.a + pair.b; }

// Of the library, with own_sum(), which returns sum().
void refuse();                       ///< Throws a Refused.
int corners(const Shape& shape);     ///< What the library makes of it.
bool is_square(const Shape& shape);  ///< By dynamic_cast.
int* variable();                     ///< The address of shared_variable.
int* counter();                      ///< The address of what shared_counter() returns.

}  // namespace own
