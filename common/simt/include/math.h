/// \file
/// The C library's mathematics without std::lerp in the global namespace, where C++20 puts it and programs for
/// CUDA have a function of that name themselves.
#pragma once

#if defined(__cplusplus) && __cplusplus > 201703L
#include <cmath>

namespace std {
void simt_no_lerp();
}
#define lerp simt_no_lerp
#include_next <math.h>
#undef lerp
#else
#include_next <math.h>
#endif
