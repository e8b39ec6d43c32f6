// What the two halves of a check have in common.
#pragma once

#include <vector>

#include "grader/grader.h"
#include "handover.h"

namespace grader {

// Those that are alive.
std::vector<Array*>& arrays();

// What is handed over of a run ("failures", "launches"), or the lines of a bar.
struct Exercise::Performed {
  handover::Json json;
};

}  // namespace grader
