/// \file
/// The toolkit's name for a part of what curand_kernel.h provides.
#pragma once

#include <curand_kernel.h>
