// Signals while kernels run. A handler of the program would run on the stack of some thread of the device, and what it accesses would
// count as that thread's: it waits until the launch has ended.
#pragma once

#include <csignal>

namespace simt::engine {

// Holds those that the program has a handler for, in this thread.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  bool holds_ = false;
  sigset_t before_;
};

// While one is there, new threads are begun that leave all signals to others, but for those of their own faults.
class SignalsForOthers {
 public:
  SignalsForOthers();
  ~SignalsForOthers();
  SignalsForOthers(const SignalsForOthers&) = delete;
  SignalsForOthers& operator=(const SignalsForOthers&) = delete;

 private:
  sigset_t before_;
};

}  // namespace simt::engine
