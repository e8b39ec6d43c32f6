// Launches that would do once more what an earlier one has done.
//
// A program that measures launches one kernel hundreds of times with the same arguments. If what the kernel reads
// and what it writes lie in different allocations, every such launch leaves the same behind, and while nobody
// else writes to these allocations, running it again changes nothing. A launch that was counted in full tells
// what it has touched; it is remembered if all of that is memory of cudaMalloc, and if the kernel did nothing that shows
// elsewhere: no atomic or volatile access, no printf, no clock, no heap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/stream_races.h"
#include "launch/sampling.h"
#include "memory/footprint.h"

namespace simt::engine {

// A launch as far as it can be told from others: what is launched how, and the bytes of its arguments.
struct LaunchKey {
  LaunchShape shape;
  std::vector<unsigned char> arguments;
  bool operator==(const LaunchKey&) const = default;
};

namespace launch_memo {

enum class Known {
  nothing,
  what_it_writes,  // all that it reads is as it was, but somebody has written to its results
  all              // it need not run
};
// What is known of a launch before it runs; if that is all, the kernel's name and what it accesses.
Known look_up(const LaunchKey& key, std::string& kernel, stream_races::Shared& accesses);
// Of the launch nothing was known: how often so, this time included?
unsigned missed(const LaunchKey& key);
// The launch has run, was counted in full, and found no fault. `before` is the latest version of memory when it
// began: what another thread of the host has written to since may not be what it read. Is it known from now on?
bool remember(LaunchKey key, std::string kernel, const Footprint& footprint,
              stream_races::Shared accesses, uint64_t before);
// The launch has run, of which it was known what it writes.
void remember_again(const LaunchKey& key);
// Somebody wrote where no allocation of cudaMalloc is, to a __constant__ variable for one.
void forget();

}  // namespace launch_memo
}  // namespace simt::engine
