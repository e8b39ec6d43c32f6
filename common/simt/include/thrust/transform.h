/// \file
/// A part of Thrust, for the simulator: results, no counts.
#pragma once

#include <simt/thrust/placeholders.h>
#include <simt/thrust/transform.h>
