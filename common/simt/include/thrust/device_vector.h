/// \file
/// A part of Thrust, for the simulator: results, no counts.
#pragma once

#include <simt/thrust/find.h>
#include <simt/thrust/placeholders.h>
#include <simt/thrust/reduce.h>
#include <simt/thrust/scan.h>
#include <simt/thrust/transform.h>
#include <simt/thrust/vector.h>
