// Which allocations a launch has read and written.
#pragma once

#include <cstdint>
#include <vector>

namespace simt::engine {

struct Touched {
  uint64_t base;  // of the allocation
  bool read, written;
};

// What lies between the lowest and the highest byte that a launch has written of an allocation that the host shares.
struct SharedWrite {
  uint64_t base;  // of the allocation
  uint64_t first, end;
};

// What a launch has touched, as far as one worker knows.
class Footprint {
 public:
  void note(uint64_t base, bool write) {
    if (base == last_ && (write ? last_written_ : last_read_)) return;
    note_new(base, write);
  }
  void note_shared_write(uint64_t base, uint64_t first, uint64_t end);
  void show() { shown_ = true; }  // an effect beyond loads and stores of memory
  bool shown() const { return shown_; }
  const std::vector<Touched>& touched() const { return touched_; }
  const std::vector<SharedWrite>& shared_writes() const { return shared_writes_; }
  void add(const Footprint& other);
  void clear();

 private:
  void note_new(uint64_t base, bool write);
  std::vector<Touched> touched_;
  std::vector<SharedWrite> shared_writes_;
  uint64_t last_ = 0;
  bool last_read_ = false, last_written_ = false;
  bool shown_ = false;
};

}  // namespace simt::engine
