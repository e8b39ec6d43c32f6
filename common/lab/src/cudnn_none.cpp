// lab/convolution.h where there is no cuDNN.
#include "lab/convolution.h"

namespace lab {

Peer cudnn(const std::string& name, const Convolution&, DeviceBuffer<float>&, const float*,
           const float*, const Expectation&) {
  return {.name = name, .absent = "needs a GPU and cuDNN 9 when it is built"};
}

Peer cudnn(const std::string& name, const Convolution&, DeviceBuffer<__nv_bfloat16>&,
           const __nv_bfloat16*, const __nv_bfloat16*, const Expectation&) {
  return {.name = name, .absent = "needs a GPU and cuDNN 9 when it is built"};
}

}  // namespace lab
