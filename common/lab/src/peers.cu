#include <cuda_runtime.h>

#include <memory>

#include "lab/check.h"
#include "lab/expect.h"
#include "lab/inputs.h"
#include "lab/peers.h"
#include "lab/reference.h"

namespace lab {

Peer memcpy_peer(std::size_t bytes, std::uint64_t seed) {
  using Byte = std::uint8_t;
  const auto from =
      std::make_shared<const Input<Byte>>(bytes, RandomByte{seed}, "what the peer copies");
  const auto to = std::make_shared<DeviceBuffer<Byte>>(bytes, "what the peer copies to");
  return {
      .name = "cudaMemcpy",
      .launch =
          [=] {
            CUDA_CHECK(cudaMemcpyAsync(to->data(), from->data(), bytes, cudaMemcpyDeviceToDevice));
          },
      .outputs = {expect(*to, *from)},
      .bytes = 2.0 * static_cast<double>(bytes)};
}

}  // namespace lab
