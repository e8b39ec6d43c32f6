/// \file
/// cuda::std is std: host and device code are the same here.
#pragma once

#include <cstddef>

namespace cuda::std {
using namespace ::std;
}  // namespace cuda::std
