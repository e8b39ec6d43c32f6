/// \file
/// The CUDA runtime as the simulator provides it. simtcc includes it ahead of every source, as nvcc
/// does with its own.
#pragma once

#define __CUDA_RUNTIME_H__

#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <library_types.h>
#include <simt/atomics.h>
#include <simt/bytes.h>
#include <simt/conversions.h>
#include <simt/intrinsics.h>
#include <simt/launch.h>
#include <simt/math.h>
#include <simt/shifts.h>
#include <simt/simd.h>
#include <simt/textures.h>
#include <vector_functions.h>
