/// \file
/// CUDA's qualifiers, by the toolkit's name of the header.
#pragma once

#define __HOST_DEFINES_H__
#include <simt/qualifiers.h>
