/// \file
/// What simtcc includes ahead of every source.
#pragma once

#include <cuda_runtime.h>
