// The devices of the simulated machine: as many as SIMT_DEVICES says, all alike, and each can open its memory to each other.
#pragma once

#include <atomic>

namespace simt::devices {

inline constexpr int kMost = 16;

int count();
// As many as that where SIMT_DEVICES says nothing, from 1 to kMost.
void set_count(int number);
inline bool is_valid(int device) { return device >= 0 && device < count(); }

// The one that what this thread asks for goes to: a thread of the host, or the one in which a launch runs.
int current();
void set_current(int device);
// A thread of the host has set its own. So many have; one at least.
void note_host_thread();
unsigned host_threads();

// May kernels of `device` access the memory of `peer`? Its own always.
bool may_access(int device, int peer);
// cudaDeviceEnablePeerAccess() and its counterpart; false if that is so already.
bool open(int device, int peer);
bool close(int device, int peer);
// Has any device been given access to another one's memory? Then kernels may wait for each other.
inline std::atomic<bool> any_open{false};

}  // namespace simt::devices
