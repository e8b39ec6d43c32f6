# Help for debugging a simulated kernel: gdb -x tools/simt.gdb --args PROGRAM ...
#
# A simulated thread is a fiber of an ordinary process: breakpoints, stepping and variables work as in
# any C++ program, and threadIdx, blockIdx, blockDim and gridDim are variables. A step can end in
# another thread of the same warp, because a warp executes in lock-step; `whoami` tells which.

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

define follow
  set $tx = threadIdx.x
  set $ty = threadIdx.y
  set $tz = threadIdx.z
  set $bx = blockIdx.x
  set $by = blockIdx.y
  set $bz = blockIdx.z
  next
  while threadIdx.x != $tx || threadIdx.y != $ty || threadIdx.z != $tz || blockIdx.x != $bx || blockIdx.y != $by || blockIdx.z != $bz
    next
  end
end
document follow
Like `next`, but stays with this CUDA thread: steps on until it runs again.
end
