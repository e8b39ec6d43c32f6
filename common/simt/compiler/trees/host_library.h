/// \file
/// Which functions of the libraries nvcc lets kernels call, and what to write in place of the others. As of nvcc 13.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace simtcc {

template <std::size_t n>
bool is_one_of(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Functions of C's <math.h> on double; those on float have an `f` behind the name.
inline bool is_mathematics(std::string_view name) {
  static constexpr std::array<std::string_view, 83> kNames = {
      "abs",        "fabs",   "labs",     "llabs",     "ceil",      "floor",     "sqrt",  "pow",
      "log",        "log10",  "fmod",     "modf",      "exp",       "frexp",     "ldexp", "asin",
      "sin",        "sinh",   "acos",     "cos",       "cosh",      "atan",      "atan2", "tan",
      "tanh",       "logb",   "ilogb",    "scalbn",    "scalbln",   "exp2",      "expm1", "log2",
      "log1p",      "acosh",  "asinh",    "atanh",     "hypot",     "cbrt",      "erf",   "erfc",
      "lgamma",     "tgamma", "copysign", "nextafter", "remainder", "remquo",    "round", "lround",
      "llround",    "trunc",  "rint",     "lrint",     "llrint",    "nearbyint", "fdim",  "fma",
      "fmax",       "fmin",   "isinf",    "isnan",     "isfinite",  "signbit",   "nan",   "exp10",
      "sincos",     "sinpi",  "cospi",    "sincospi",  "rsqrt",     "rcbrt",     "j0",    "j1",
      "jn",         "y0",     "y1",       "yn",        "erfinv",    "erfcinv",   "erfcx", "normcdf",
      "normcdfinv", "rhypot", "norm3d"};
  return is_one_of(name, kNames);
}

/// A function of C that exists in kernels, too.
inline bool is_c_function_for_both(std::string_view name) {
  static constexpr std::array<std::string_view, 22> kNames = {
      "printf",   "malloc",        "free",           "memcpy",          "memset",     "clock",
      "assert",   "__assert_fail", "__isnan",        "__isinf",         "__isnanf",   "__isinff",
      "__finite", "__finitef",     "__signbit",      "__signbitf",      "__signbitd", "__isfinited",
      "main",     "alloca",        "_Unwind_Resume", "__stack_chk_fail"};
  if (is_one_of(name, kNames) || name.starts_with("__builtin_") || name.starts_with("simt_") ||
      name.starts_with("__sanitizer") || name.starts_with("__cxa_") ||
      name.starts_with("__atomic_") || name.starts_with("__sync_"))
    return true;
  if (is_mathematics(name)) return true;
  return name.ends_with('f') && is_mathematics(name.substr(0, name.size() - 1));
}

/// A function of namespace std that exists in kernels, too.
inline bool is_library_for_both(std::string_view name) {
  return name == "move" || name == "forward" || is_c_function_for_both(name) || name == "terminate";
}

/// A function of the CUDA runtime that the host alone has.
inline bool is_host_runtime(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kInKernels = {
      "cudaGetDevice",
      "cudaDeviceGetAttribute",
      "cudaFuncGetAttributes",
      "cudaGridDependencySynchronize",
      "cudaTriggerProgrammaticLaunchCompletion",
      "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
      "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"};
  return name.starts_with("cuda") && name.size() > 4 &&
         std::isupper(static_cast<unsigned char>(name[4])) && !is_one_of(name, kInKernels);
}

/// The conversions and the arithmetic of __half and __nv_bfloat16, which the host has as well.
inline bool is_for_both(std::string_view name) {
  return name.starts_with("__h") || name.starts_with("__low") || name.starts_with("__high") ||
         name.find("half") != std::string_view::npos ||
         name.find("bfloat16") != std::string_view::npos || name.starts_with("__cuda") ||
         name.starts_with("__nv_") || name.starts_with("__make_");
}

/// Variables that CUDA provides.
inline bool is_variable_for_both(std::string_view name) {
  return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim" ||
         name == "warpSize" || name.starts_with("curand_");
}

inline bool is_c_stream(std::string_view name) {
  return name == "stdout" || name == "stderr" || name == "stdin";
}

inline bool is_cpp_stream(std::string_view name) {
  return name == "cout" || name == "cerr" || name == "clog" || name == "cin";
}

/// A class of the library whose functions are compiled elsewhere.
inline bool is_host_class(std::string_view name) {
  return name == "string" || name.starts_with("basic_") || name == "ostream" || name == "istream" ||
         name.ends_with("stream") || name == "locale" || name == "thread" ||
         name == "runtime_error" || name == "logic_error" || name.ends_with("filebuf");
}

/// What to write in a kernel in place of host code with this name, as the end of a sentence.
inline std::string cure_of(std::string_view name) {
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  if (has("ostream") || has("std::cout") || has("std::cerr") || has("std::endl") || has("puts") ||
      has("putchar") || name == "fprintf" || is_c_stream(name) || has("vprintf") || has("fflush") ||
      has("istream") || has("operator<<") || has("std::endl")) {
    return "use printf()";
  }
  if (has("std::vector") || has("std::list") || has("std::deque") || has("std::map") ||
      has("std::unordered") || has("std::set") || has("std::_Vector") || has("std::allocator") ||
      has("unique") || has("shared_ptr") || has("make_shared")) {
    return "use an array, or pass a pointer to memory of cudaMalloc()";
  }
  if (has("string")) return "use an array of char";
  if (name == "exit" || name == "abort" || name == "std::exit" || name == "std::abort" ||
      name == "_exit" || name == "quick_exit") {
    return "use return, or __trap() to stop the grid";
  }
  if (has("numeric_limits")) {
    return "use a constant (FLT_MAX, INT_MAX) or cuda::std::numeric_limits";
  }
  if (name == "std::max" || name == "std::min") return "use " + std::string(name.substr(5)) + "()";
  if (name == "rand" || name == "srand" || has("std::mersenne") || has("_distribution") ||
      has("drand48") || has("random")) {
    return "use curand_uniform() of <curand_kernel.h>";
  }
  if (name == "time" || name == "now" || has("std::chrono")) return "use clock64()";
  if (has("std::swap") || has("std::exchange")) return "swap by way of a variable of your own";
  if (name == "memmove" || name == "std::memmove") return "copy in a loop";
  if (name == "cudaMalloc")
    return "allocate before the launch, or call malloc(), which kernels have, too";
  if (name == "cudaFree") return "call it on the host, or free() for what malloc() returned here";
  if (name.starts_with("cudaMemcpy")) return "copy in a loop, or on the host";
  if (name.starts_with("cudaMemset")) return "set it in a loop, or on the host";
  if (name.starts_with("cuda")) return "call it on the host, before or after the launch";
  if (has("std::array") || has("std::pair") || has("std::tuple") || has("std::optional") ||
      has("std::complex") || has("std::plus") || has("std::less") || has("std::greater") ||
      has("std::clamp") || has("std::get") || has("std::make_pair") || has("std::make_tuple")) {
    return "use its namesake in cuda::std";
  }
  if (name.starts_with("std::") && is_mathematics(name.substr(5)) && name != "std::hypot") {
    return "kernels have it for floats or doubles, not for integers or a mix: convert first, as in "
           "fmaxf(x, 0.0f) or sqrtf(float(n))";
  }
  if (has("std::function")) return "use a template parameter for what is called";
  return "call it on the host, or write a __device__ function that does the same";
}

}  // namespace simtcc
