/// \file
/// A part of Thrust, for the simulator: results, no counts.
#pragma once

#include <simt/thrust/random.h>
#include <simt/thrust/sort.h>
