// What streams, events, graphs and the host's waiting put in order.
//
// Here all work is done when the call that asks for it returns. On a GPU a stream's work comes behind what the stream did
// before, what the host had waited for when it asked, and the events that the stream was told to wait for; the legacy default
// stream and the blocking ones of a device wait for each other. Each piece of work has a number in its queue, which is a stream or a step
// of a graph, and knows how far the other queues had to come before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt::stream_order {

// Up to which piece of its work each queue is known to be done.
class Clock {
 public:
  uint64_t of(uint32_t queue) const { return queue < at_.size() ? at_[queue] : 0; }
  void advance(uint32_t queue, uint64_t number);
  void join(const Clock& other);
  bool covers(const Clock& other) const;

 private:
  std::vector<uint64_t> at_;
};

// Is it the queue of a device's legacy default stream?
bool is_legacy(uint32_t queue);
int device_of(uint32_t queue);
int device_of(const void* stream);

// Has the program made a stream, used a second device, or launched a graph that branches? Else all work is in one order.
bool has_queues();
void note_second_device();
// A kernel lets the one behind it in its stream begin before it has ended.
void note_dependents();

// A stream was made, or destroyed; a handle may come again.
void add_stream(const void* stream, bool is_blocking);
void remove_stream(const void* stream);

// The queues of a graph that is no more.
void give_back(const std::vector<uint32_t>& queues);

// What an event knows that is recorded in the stream now; the stream waits for such an event, or the host does.
Clock position(const void* stream);
void wait(const void* stream, const Clock& event);
void host_waits(const Clock& event);
void host_waits_for_stream(const void* stream);
void host_waits_for_device(int device);
void host_waits_for_all();
// What this queue does next is behind that: one of its kernels has seen a flag that a kernel of another device has set.
void wait_in(uint32_t queue, const Clock& flag);
// A function of the host that the stream has called may have told the program; what the host then asks for is behind that. Memory
// it reads only after a wait.
void host_was_called();
// Has the host waited for this?
bool is_done(uint32_t queue, uint64_t number);
bool is_done(const Clock& event);

// A piece of work that a stream is asked for. What is done within another one, as a step of a graph, is part of that.
class Work {
 public:
  explicit Work(const void* stream);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // The one under way on this thread; nullptr if none is.
  static const Work* current();
  uint32_t queue() const { return queue_; }
  uint64_t number() const { return number_; }
  bool is_behind(uint32_t queue, uint64_t number) const {
    return queue == queue_ || known_.of(queue) >= number;
  }
  bool is_nested() const { return is_nested_; }
  const Clock& known() const { return known_; }
  // It has come to know more, by a flag.
  void learn(const Clock& flag) const { known_.join(flag); }

 private:
  friend class GraphLaunch;
  friend Clock position(const void* stream);
  friend void wait(const void* stream, const Clock& event);
  Work(uint32_t queue, Clock known);  // a step of a graph
  bool is_nested_ = false;
  uint32_t queue_ = 0;
  uint64_t number_ = 0;
  mutable Clock known_;  // the work itself is none of the callers' to change
};

// A call that returns when its work, which is in the default stream, is done.
class BlockingCall {
 public:
  BlockingCall() : work_(nullptr) {}
  ~BlockingCall();

 private:
  Work work_;
};

// A graph whose steps may overlap runs in a stream.
class GraphLaunch {
 public:
  // `queues`: the graph's own, one for each step; empty at first. `steps` 0: they are one piece of work.
  GraphLaunch(const void* stream, std::vector<uint32_t>& queues, size_t steps);
  ~GraphLaunch();
  GraphLaunch(const GraphLaunch&) = delete;
  GraphLaunch& operator=(const GraphLaunch&) = delete;
  // The step comes behind those in `after`. Part of the launch as a whole if the graph has no queues.
  Work step(size_t index, const std::vector<size_t>& after);

 private:
  Work work_;
  const std::vector<uint32_t>& queues_;
  bool has_steps_ = false;
  Clock before_;
};

}  // namespace simt::stream_order
