#include "lab/expect.h"

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "lab/check.h"

namespace lab::detail {

Comparison compare_buffer(const void* got, Elements elements, const Elements& want,
                          const Check& check) {
  elements.cols = elements.ld = check.cols;
  const double* const allowed = check.allowed ? check.allowed->data() : nullptr;
  if (references_on_device) return compare_on_device(elements, want, check.tolerance, allowed);
  const std::size_t bytes = elements.size * bytes_of(elements.type);
  std::vector<std::uint64_t> copy(bytes / sizeof(std::uint64_t) + 1);
  CUDA_CHECK(cudaMemcpy(copy.data(), got, bytes, cudaMemcpyDeviceToHost));
  elements.data = copy.data();
  return compare_on_host(elements, want, check.tolerance, allowed);
}

void poison_host(void* data, std::size_t bytes) {
  auto* const to = static_cast<std::uint8_t*>(data);
  for (std::size_t i = 0; i < bytes; ++i) {
    to[i] = static_cast<std::uint8_t>(i % 2 == 0 ? Buffer::poison_pattern & 0xFF
                                                 : Buffer::poison_pattern >> 8);
  }
}

}  // namespace lab::detail
