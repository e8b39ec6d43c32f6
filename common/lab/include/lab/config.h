/// \file
/// How lab is built: header-only, or with the bodies in a library.
///
/// `lab/NAME.h` declares and `lab/NAME-inl.h` holds the bodies. By default the former includes the
/// latter, and the include path is all that a program needs. With `LAB_COMPILED` defined it does
/// not: the bodies are compiled once, in src/lab.cu, and the program links that library. This is how
/// the build does it, since the bodies take longer to compile than a chapter.
#pragma once

#if defined(LAB_COMPILED)
/// Stands before each body in a `-inl.h`.
#define LAB_INLINE
#else
#define LAB_INLINE inline
#endif
