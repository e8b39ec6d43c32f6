/// \file
/// What simtcc includes ahead of every source.
#pragma once

// clang-format off
#include <simt/block_copies.h>  // first
#include <cuda_runtime.h>
