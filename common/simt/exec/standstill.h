// Launches that are not traced: a thread that loops for ever never comes back to the simulator. So it is looked at from outside.
//
// Signals interrupt the threads that run blocks, some thousand times, and each notes its registers. A thread whose registers
// are always some that it had before stands still, since what counts in a loop is in a register now and then. Only another thread
// could change what it waits for; where all of them stand still, none will. One whose registers change is alone: it computes and
// comes to no barrier, no other thread and no end. That may be right, but not for ever.
#pragma once

#include <string>

namespace simt::engine {

class Worker;

namespace standstill {

// The calling thread runs blocks of a launch that is not traced, between the two.
void enter(Worker& worker);
void leave();

// Looks at all of them for some tenths of a second; called again and again as long as no block ends.
struct Seen {
  bool stand_still = false;
  bool may_wait = false;  // the last tenths of a second had nothing new
  double alone = 0;       // so many seconds of its time one of them has been
};
Seen look();
// The first line of the reader's code at which one was seen, such as "saxpy.cu:12"; nothing where none was.
std::string place();
// No longer: a block has ended.
void forget();
// Ends those blocks that run whose threads stand still, or have been alone for so many seconds, each with a finding.
void end_blocks(double alone);

}  // namespace standstill
}  // namespace simt::engine
