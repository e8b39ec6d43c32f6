/// \file
/// What the kernels for attention in float share: where it is in memory, and how a launch is described.
#pragma once

#include <vector>

#include "rows.h"

/// Where an attention is in memory.
struct AttentionData {
  float* out;
  const float *q, *k, *v;
  float* scores;
  float* found;  ///< room for FOUND floats of each SM, where blocks leave what others merge
  int* ready;    ///< a flag for each SM, zeros
  Heads shape;
};
constexpr int FOUND = 256 * 80;

/// One launch of attention in float, for heads of d columns: `run` gets the attention's pointers, and room for its scores.
struct AttentionLaunch {
  const char* rung;
  int d;
  bool causal;
  void (*run)(const AttentionData&);
  const char* variant = "";  ///< what is said of it behind the attention's name, for a comparison
};
using AttentionLaunches = std::vector<AttentionLaunch>;
