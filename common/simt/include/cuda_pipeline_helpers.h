/// \file
/// The toolkit's name for a part of what cuda_pipeline.h provides.
#pragma once

#include <cuda_pipeline.h>
