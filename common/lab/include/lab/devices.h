/// \file
/// Work on several devices: how many there are, and which one calls go to.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>

namespace lab {

/// How many devices a chapter works on, at most `most`: on a GPU as many as there are, on the simulator `simulated`, unless
/// `SIMT_DEVICES` says otherwise. Opens the memory of each to all others; ends the program with one line where two have no
/// access to each other.
int open_devices(int most, int simulated);

/// Closes the memory of `peer` to kernels of `device`, or opens it again.
void open_memory(int device, int peer, bool open);

/// The current device of this thread, for as long as the object lives.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// Calls `work(device)` for the first devices, each as the current one.
void on_each_device(int devices, const std::function<void(int device)>& work);

/// Waits for all work of the first devices.
void synchronize_devices(int devices);

}  // namespace lab
