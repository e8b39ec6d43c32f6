#include "lab/devices.h"

#include <algorithm>

#include "lab/backend.h"
#include "lab/check.h"
#include "lab/text.h"

namespace lab {

int open_devices(int most, int simulated) {
  simulate_devices(simulated);
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  count = std::min(count, most);
  for (int device = 0; device < count; ++device) {
    for (int peer = 0; peer < count; ++peer) {
      if (peer == device) continue;
      int can = 0;
      CUDA_CHECK(cudaDeviceCanAccessPeer(&can, device, peer));
      if (!can) {
        detail::fail(
            format("device %d has no access to the memory of device %d: CUDA_VISIBLE_DEVICES "
                   "chooses others",
                   device, peer));
      }
      open_memory(device, peer, true);
    }
  }
  return count;
}

void open_memory(int device, int peer, bool open) {
  const OnDevice here(device);
  const cudaError_t error =
      open ? cudaDeviceEnablePeerAccess(peer, 0) : cudaDeviceDisablePeerAccess(peer);
  if (error == cudaErrorPeerAccessAlreadyEnabled || error == cudaErrorPeerAccessNotEnabled) {
    cudaGetLastError();
    return;
  }
  CUDA_CHECK(error);
}

OnDevice::OnDevice(int device) {
  CUDA_CHECK(cudaGetDevice(&before_));
  CUDA_CHECK(cudaSetDevice(device));
}

OnDevice::~OnDevice() { cudaSetDevice(before_); }

void on_each_device(int devices, const std::function<void(int device)>& work) {
  for (int device = 0; device < devices; ++device) {
    const OnDevice here(device);
    work(device);
  }
}

void synchronize_devices(int devices) {
  on_each_device(devices, [](int) { CUDA_CHECK(cudaDeviceSynchronize()); });
}

}  // namespace lab
