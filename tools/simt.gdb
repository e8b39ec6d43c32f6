# Help for debugging a simulated kernel: gdb -x tools/simt.gdb --args PROGRAM ...
#
# A simulated thread is a fiber of an ordinary process: breakpoints and variables work as in any C++
# program, and threadIdx, blockIdx, blockDim and gridDim are variables, good for conditions:
#   break file.cu:12 if threadIdx.x == 3 && blockIdx.x == 0
# `next` can end in another thread of the warp, because a warp executes in lock-step; `whoami` tells
# which. Blocks run side by side on all cores; with `set environment SIMT_THREADS 1` one after the other.

set breakpoint pending on
set print thread-events off

define whoami
  printf "thread (%u, %u, %u) of (%u, %u, %u), ", threadIdx.x, threadIdx.y, threadIdx.z, blockDim.x, blockDim.y, blockDim.z
  printf "block (%u, %u, %u) of (%u, %u, %u)\n", blockIdx.x, blockIdx.y, blockIdx.z, gridDim.x, gridDim.y, gridDim.z
  set $linear = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)
  printf "warp %u, lane %u\n", $linear / 32, $linear % 32
end
document whoami
Which CUDA thread is here: its place in the block and in the grid, its warp and its lane.
end
