// What is not traced runs at the speed of the host, and a thread that loops for ever never comes back to the simulator.
// Another thread looks at such launches, and says so when no block ends. Of any launch it says how long it will take, if that
// is long.
#pragma once

#include <atomic>
#include <cstdint>

namespace simt::engine::life_sign {

struct Watched {
  const char* kernel = nullptr;  // its name
  int device = 0;
  bool traced = false;
  uint64_t blocks = 0;                          // of the grid
  const std::atomic<uint64_t>* next = nullptr;  // how many of them have been begun
  uint64_t workers = 1;                         // the threads that run them
  int beside = -1;                              // see beside_host::of_this_thread()
};

// One at a time of each device.
void begin(const Watched& launch);
// So many threads run the blocks of this device's launch now.
void note_workers(int device, uint64_t workers);
// Of launches that are not traced.
void block_ended();
void end(int device);

}  // namespace simt::engine::life_sign
