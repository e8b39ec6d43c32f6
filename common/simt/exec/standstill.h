// Launches that are not traced: a thread that loops for ever never comes back to the simulator. So it is looked at from outside.
//
// Signals interrupt the threads that run blocks, some thousand times, and each notes its registers. A thread whose registers
// are always some that it had before stands still, since what counts in a loop is in a register now and then. Only another thread
// could change what it waits for; where all of them stand still, none will.
#pragma once

#include <string>

namespace simt::engine {

class Worker;

namespace standstill {

// The calling thread runs blocks of a launch that is not traced, between the two.
void enter(Worker& worker);
void leave();

// Looks at all of them for some tenths of a second; called again and again as long as no block ends. True if they stand
// still.
bool look();
// The first line of the reader's code at which one was seen, such as "saxpy.cu:12"; nothing where none was.
std::string place();
// No longer: a block has ended.
void forget();
// Ends the blocks that run, each with a finding.
void end_blocks();

}  // namespace standstill
}  // namespace simt::engine
