// A launch that goes on beside the host.
//
// On a GPU the host goes on as soon as it has asked for a launch. Here it waits until the launch is over, but for a kernel that
// waits for the host: `while (*flag == 0);` with a flag in memory that the host writes after the launch. Such a launch runs in a
// thread of its own (launch/own_thread.h). Once it polls there, and comes to nothing else, it lets the host go, which waits for it
// when it asks for what has to be behind it.
#pragma once

#include <cstdint>
#include <functional>

#include "check/stream_order.h"

namespace simt::beside_host {

// The launch begins, which may go on beside the host; one at a time. Then who asked for it waits until it has let the host go, or
// is over.
void begin();
void wait_until_let_go();

// In the launch's thread: it is the piece of work with this number; it is over.
void runs_here();
void is_work(uint32_t queue, uint64_t number);
void end();
// In a child of fork(), which has not got that thread.
void forget();

// It waits for the host, as it seems. Is the host at work meanwhile? Then there is no hurry.
bool let_go();
bool is_host_at_work();
// Has it let the host go?
bool has_let_go();

// What the host asks for is behind the launch if it is behind these pieces of work: it waits.
void wait_if_in(const stream_order::Clock& known);
void wait();
// Is it under way, and among these?
bool is_under_way_in(const stream_order::Clock& known);
// Once it is over, before anybody who waits goes on. At once if none is under way, or none that is among these.
void at_end_of(const stream_order::Clock& known, std::function<void()> then);

}  // namespace simt::beside_host
