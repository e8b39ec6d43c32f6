/// \file
/// What the bodies of lab/cub.h share.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include "lab/buffer.h"
#include "lab/check.h"
#include "lab/cub.h"

namespace lab::detail {

/// Asks CUB how much temporary memory it needs, and binds that to the call.
/// \param call `cudaError_t(void* temporary, std::size_t& bytes, cudaStream_t)`, as all of CUB's device-wide functions
template <class Call>
CubLaunch with_temporary(Call call) {
  std::size_t bytes = 0;
  CUDA_CHECK(call(nullptr, bytes, nullptr));
  // Not empty: CUB takes a null pointer for the question how much it needs.
  const auto temporary = std::make_shared<DeviceBuffer<unsigned char>>(bytes + 1, "CUB's memory");
  return [=](cudaStream_t stream) {
    std::size_t size = bytes;
    CUDA_CHECK(call(temporary->data(), size, stream));
  };
}

/// Calls `make` with n as an int where it is one, which CUB has faster kernels for, and as 64 bits otherwise.
template <class Make>
CubLaunch with_count(std::size_t n, Make make) {
  if (n <= std::size_t{std::numeric_limits<int>::max()}) return make(static_cast<int>(n));
  return make(static_cast<long long>(n));
}

}  // namespace lab::detail
