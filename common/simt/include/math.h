/// \file
/// The C library's mathematics without std::lerp in the global namespace, where C++20 puts it and programs for
/// CUDA have a function of that name themselves. No `#pragma once`: <cmath> comes by here too where a compiler's
/// wrapper puts the C++ library's folder ahead of this one, and then only the C library's declarations are wanted.
#if !defined(__cplusplus) || __cplusplus <= 201703L || defined(_GLIBCXX_INCLUDE_NEXT_C_HEADERS)
#include_next <math.h>
#elif !defined(SIMT_MATH_H)
#define SIMT_MATH_H
#include <cmath>

namespace std {
void simt_no_lerp();
}
#define lerp simt_no_lerp
#include_next <math.h>
#undef lerp
#endif
