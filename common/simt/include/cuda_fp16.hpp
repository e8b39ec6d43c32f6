/// \file
/// The toolkit's name for a part of what cuda_fp16.h provides.
#pragma once

#include <cuda_fp16.h>
