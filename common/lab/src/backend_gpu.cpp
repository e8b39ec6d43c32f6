// The backend of a GPU.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

#include "lab/backend.h"
#include "lab/text.h"

namespace lab {

Backend this_backend() {
  std::string toolkit = format("CUDA %d.%d", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
#ifdef LAB_CUB  // not the toolkit's
  toolkit += ", CUB " LAB_CUB;
#endif
  return {"gpu", true, false, toolkit};
}

std::size_t default_guard() {
  const char* const text = std::getenv("LAB_GUARD");
  return text != nullptr && std::strcmp(text, "0") == 0 ? 0 : std::size_t{16} << 10;
}

std::size_t launch_count() { return 0; }
Counts counts_since(std::size_t) { return {}; }
std::vector<Finding> take_findings() { return {}; }

void print_findings(bool) {}
void simulate_devices(int) {}
void name_allocation(const void*, const std::string&) {}

}  // namespace lab
