/// \file
/// What simtcc includes ahead of every source.
#pragma once

// -DN=1024 is for the program: here these letters are parameters of templates.
#pragma push_macro("A")
#undef A
#pragma push_macro("B")
#undef B
#pragma push_macro("F")
#undef F
#pragma push_macro("I")
#undef I
#pragma push_macro("N")
#undef N
#pragma push_macro("P")
#undef P
#pragma push_macro("R")
#undef R
#pragma push_macro("T")
#undef T
#pragma push_macro("U")
#undef U
#pragma push_macro("V")
#undef V

#include <cuda_runtime.h>

#pragma pop_macro("A")
#pragma pop_macro("B")
#pragma pop_macro("F")
#pragma pop_macro("I")
#pragma pop_macro("N")
#pragma pop_macro("P")
#pragma pop_macro("R")
#pragma pop_macro("T")
#pragma pop_macro("U")
#pragma pop_macro("V")
