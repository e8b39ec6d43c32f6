// missing_guard: interface
#include <cuda_runtime.h>
#include <simt/simt.h>
namespace simt {
std::vector<Finding> take_findings() { return {}; }
}  // namespace simt
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i] + b[i];
}
void launch_add(const float* a, const float* b, float* c, int n) {
  add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
