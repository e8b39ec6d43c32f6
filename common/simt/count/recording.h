// The steps of a launch's first block in the order in which they were taken: for pictures of warps over time (SIMT_RECORD).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/host_memory.h"
#include "base/request.h"

namespace simt::engine {

struct RecordedStep {
  // A basic block entered; an access; lanes that wait for others; all threads of the block met.
  enum class What : uint8_t { enter, load, store, atomic, wait, meet };

  What what = What::enter;
  bool shared = false;
  uint16_t warp = 0;
  unsigned size = 0;   // bytes of each lane
  uint32_t lanes = 0;  // those that take part
  uint64_t pc = 0;
  std::array<uint64_t, 32> address{};

  static RecordedStep of(const Request& request, bool shared);
};

inline RecordedStep RecordedStep::of(const Request& request, bool shared) {
  RecordedStep step{
      .shared = shared, .size = request.size, .lanes = request.lanes, .pc = request.pc};
  step.what = request.kind == Access::load    ? What::load
              : request.kind == Access::store ? What::store
                                              : What::atomic;
  for (const int lane : lanes_of(request.lanes))
    step.address[static_cast<size_t>(lane)] = request.address[lane];
  return step;
}

// Of one worker. Nothing is kept unless the block is the one to record.
class Recording {
 public:
  using Steps = std::vector<RecordedStep, HostAllocator<RecordedStep>>;

  // Keeps at most `most` steps of the block that begins; 0: none.
  void begin(uint64_t most) { most_ = most; }
  bool is_on() const { return most_ > steps_.size(); }
  void add(const RecordedStep& step) {
    if (is_on()) steps_.push_back(step);
  }
  const Steps& steps() const { return steps_; }
  void clear() { steps_.clear(), most_ = 0; }

 private:
  Steps steps_;
  uint64_t most_ = 0;
};

}  // namespace simt::engine
