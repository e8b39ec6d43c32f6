// State of the simulator that outlives the program's static objects: their destructors come late, and call it.
#pragma once

namespace simt {

// The one T, made when it is first asked for.
template <class T>
T& lasting() {
  static T* const only = new T;
  return *only;
}

}  // namespace simt
