/// \file
/// Lets CUDA's qualifiers survive the preprocessor: simtcc includes this last, then rewrites them itself,
/// because it needs to see which functions run on the device. (A macro that expands to its own name stays
/// as it is, and `#ifdef __device__` still holds.)
#pragma once

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __managed__
#undef __launch_bounds__
#undef __maxnreg__
#undef __cluster_dims__
#undef __grid_constant__
#define __global__ __global__
#define __device__ __device__
#define __host__ __host__
#define __shared__ __shared__
#define __constant__ __constant__
#define __managed__ __managed__
#define __launch_bounds__ __launch_bounds__
#define __maxnreg__ __maxnreg__
#define __cluster_dims__ __cluster_dims__
#define __grid_constant__ __grid_constant__
