/// \file
/// The toolkit's name for cuda_pipeline_primitives.h.
#pragma once

#include <cuda_pipeline_primitives.h>
