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
  Heads shape;
};

/// One launch of attention in float, for heads of d columns: `run` gets the attention's pointers, and room for its scores.
struct AttentionLaunch {
  const char* rung;
  int d;
  bool causal;
  void (*run)(const AttentionData&);
};
using AttentionLaunches = std::vector<AttentionLaunch>;
