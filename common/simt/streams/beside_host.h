// Launches that go on beside the host, and beside each other.
//
// On a GPU the host goes on as soon as it has asked for a launch. Here it waits until the launch is over, but for a kernel that
// waits for the host, or for a kernel of another device: `while (*flag == 0);` with a flag in memory that the host, or that
// device, writes after the launch. Such a launch runs in a thread of its own, one for each device (launch/own_thread.h). Once it
// polls there, and comes to nothing else, it lets the host go, which waits for it when it asks for what has to be behind it.
#pragma once

#include <cstdint>
#include <functional>

#include "streams/order.h"

namespace simt::beside_host {

// A launch of this device begins, which may go on beside the host; one at a time of each. Then who asked for it waits until it
// has let the host go, or is over.
void begin(int device);
void wait_until_let_go(int device);

// In the launch's thread: it is the piece of work with this number; it is over.
void runs_here(int device);
void is_work(uint32_t queue, uint64_t number);
void end();
// All of its blocks have ended, so that it will soon be over, and the host goes on that may wait for it. `-1`: no such launch.
void ends(int launch);
// In a child of fork(), which has not got these threads.
void forget();
// The device whose launch runs in this thread, or none, -1: a thread of the host.
int of_this_thread();

// What a launch waits for, as it seems.
enum class For { host, device };
// The launch of of_this_thread(), if there is one, lets the host go. Is the host at work meanwhile? Then there is no hurry.
bool let_go(int launch, For what);
bool is_host_at_work();
// Has it let the host go, to wait for the host? `-1` never has.
bool has_let_go(int launch);

// What the host asks for is behind a launch if it is behind these pieces of work: it waits.
void wait_if_in(const stream_order::Clock& known);
void wait();
void wait_for(int device);
// Is one under way, and among these?
bool is_under_way_in(const stream_order::Clock& known);
// Once it is over, before anybody who waits goes on. At once if none is under way, or none that is among these.
void at_end_of(const stream_order::Clock& known, std::function<void()> then);

}  // namespace simt::beside_host
