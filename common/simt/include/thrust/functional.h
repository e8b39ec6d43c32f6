/// \file
/// A part of Thrust, for the simulator: results, no counts.
#pragma once

#include <simt/thrust/functional.h>
#include <simt/thrust/placeholders.h>
