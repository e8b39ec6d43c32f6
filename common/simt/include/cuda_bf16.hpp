/// \file
/// The toolkit's name for a part of what cuda_bf16.h provides.
#pragma once

#include <cuda_bf16.h>
