/// \file
/// The CUDA runtime as the simulator provides it. simtcc includes it ahead of every source, as nvcc
/// does with its own.
#pragma once

#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <simt/atomics.h>
#include <simt/intrinsics.h>
#include <simt/launch.h>
#include <simt/math.h>
#include <vector_functions.h>
