/// \file
/// A part of CUB, for the simulator.
#pragma once

#include <simt/cub/device.h>
