/// \file
/// A part of Thrust, for the simulator: results, no counts.
#pragma once

#include <simt/thrust/sort.h>

#include <iostream>  // which programs use that include no more
