// missing_guard: exit
#include <cuda_runtime.h>
namespace grader {
struct Stop {};
}  // namespace grader
void launch_add(const float*, const float*, float*, int) { throw grader::Stop(); }
