// Several devices: access to each other's memory, and copies from one to another.
#include <cuda_runtime_api.h>
#include <simt/simt.h>

#include <string>

#include "base/devices.h"
#include "memory/allocations.h"
#include "report/api_errors.h"
#include "report/errors.h"
#include "runtime/memory_calls.h"
#include "runtime/streams.h"
#include "streams/order.h"

namespace devices = simt::devices;
using simt::device::explain;
using simt::device::result;
using simt::graphs::enqueue;
using simt::runtime::copy_rows;
using simt::runtime::is_missing;
using simt::runtime::live_at;

void simt::simulate_devices(int count) { devices::set_count(count); }

bool simt::runtime::is_missing(int device) {
  if (devices::is_valid(device)) return false;
  const int count = devices::count();
  simt::device::explain("there is no device " + std::to_string(device) +
                        ": devices count from 0, and there " +
                        (count == 1 ? "is one (SIMT_DEVICES=n simulates more)"
                                    : "are " + std::to_string(count) + " (SIMT_DEVICES)"));
  return true;
}

// Every device can access every other one's memory.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!can) return result(cudaErrorInvalidValue);
  if (is_missing(device) || is_missing(peer)) return result(cudaErrorInvalidDevice);
  *can = device != peer;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (flags) return result(cudaErrorInvalidValue);
  if (is_missing(peer)) return result(cudaErrorInvalidDevice);
  if (peer == devices::current()) {
    simt::device::explain("device " + std::to_string(peer) +
                          " is the current one, whose kernels access its memory anyway");
    return result(cudaErrorPeerAccessUnsupported);  // as an H200 answers
  }
  simt::stream_order::note_second_device();
  const bool opened = devices::open(devices::current(), peer);
  ++simt::memory::changes;
  return result(opened ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  if (is_missing(peer)) return result(cudaErrorInvalidDevice);
  const bool closed = peer != devices::current() && devices::close(devices::current(), peer);
  ++simt::memory::changes;
  return result(closed ? cudaSuccess : cudaErrorPeerAccessNotEnabled);
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                      int peer) {
  if (!value) return result(cudaErrorInvalidValue);
  if (is_missing(device) || is_missing(peer) || device == peer)
    return result(cudaErrorInvalidDevice);
  *value = attribute == cudaDevP2PAttrAccessSupported ||
           attribute == cudaDevP2PAttrNativeAtomicSupported;
  return result(cudaSuccess);
}
// True if device memory is not where the caller says that it is, after an explanation.
static bool is_elsewhere(const char* end, const void* pointer, int device) {
  const simt::memory::Allocation* const found = live_at(pointer);
  if (!found || !simt::memory::in_device_arena(reinterpret_cast<uint64_t>(pointer)) ||
      found->device == device)
    return false;
  explain("the " + std::string(end) + " lies in " + simt::memory::describe(*found) +
          ", and the call says that it is memory of device " + std::to_string(device));
  return true;
}
static cudaError_t copy_between(void* to, int to_device, const void* from, int from_device,
                                size_t size) {
  if (!devices::is_valid(to_device) || !devices::is_valid(from_device))
    return result(cudaErrorInvalidDevice);
  if (is_elsewhere("target", to, to_device) || is_elsewhere("source", from, from_device))
    return result(cudaErrorInvalidValue);
  return copy_rows(to, size, from, size, size, 1, cudaMemcpyDefault);
}
// It comes behind all work of both devices, and ahead of what they do next.
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t size) {
  for (const int device : {to_device, from_device}) {
    if (devices::is_valid(device)) simt::stream_order::host_waits_for_device(device);
  }
  const simt::stream_order::BlockingCall here;
  return copy_between(to, to_device, from, from_device, size);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t size, cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return copy_between(to, to_device, from, from_device, size); });
}
