/// \file
/// The names of functions as g++ prints them, taken apart and spelled for a reader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simtcc {

/// \return a symbol as C++ spells it
std::string demangled(std::string_view symbol);

/// \return the parts of `a::b<c::d>::e(f::g) const`: a, b, e. (`operator()` and its like are one.)
std::vector<std::string> parts_of(std::string_view name);

/// \return a function as a message names it: without its parameters, std::string for what it stands for
std::string spelled(std::string_view name);

/// \return is it a constructor, a destructor or an assignment?
bool is_special_member(const std::vector<std::string>& parts);

/// \return is it one of CUDA's functions for device code alone: __syncthreads, __shfl_sync, __expf, atomicAdd, ...
bool is_device_builtin(std::string_view name);

/// \return does it stand in a namespace of CUDA's or of the simulator's?
bool is_of_cuda(const std::vector<std::string>& parts);

/// \return is it f(int), and not the variable of it: f(int)::x
bool is_signature(std::string_view name);

}  // namespace simtcc
