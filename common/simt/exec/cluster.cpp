#include "exec/cluster.h"

#include <bit>
#include <utility>

#include "exec/worker.h"

namespace simt::engine {

Cluster::Cluster(dim3 grid, dim3 block, dim3 extent_)
    : extent(extent_), grid_(grid), threads_(block.x * block.y * block.z) {
  checks.size = extent.x * extent.y * extent.z;
}

uint64_t Cluster::block(uint64_t cluster, unsigned rank) const {
  const uint64_t across = grid_.x / extent.x, down = grid_.y / extent.y;
  const uint64_t x = cluster % across * extent.x + rank % extent.x;
  const uint64_t y = cluster / across % down * extent.y + rank / extent.x % extent.y;
  const uint64_t z = cluster / across / down * extent.z + rank / extent.x / extent.y;
  return (z * grid_.y + y) * grid_.x + x;
}

Monitor& Cluster::monitor(unsigned rank) const { return members_[rank].worker->monitor; }

BlockRaceCheck& Cluster::races_of(unsigned rank) { return monitor(rank).global_checker.blocks; }

void Cluster::join(unsigned rank, Worker& worker) {
  members_[rank].worker = &worker;
  memory_[rank] = &worker.monitor.shared;
  checks.of[rank] = &worker.monitor.cluster;
  checks.checker[rank] = &worker.monitor.shared_checker;
}

void Cluster::begin(uint64_t cluster, bool checks_blocks) {
  checks_blocks_ = checks_blocks;
  number_ = cluster;
  live_ = missing_ = size() * threads_;
  turns.emplace(size(), false, true);
  checks.now = 1;
  checks.released = {};
  for (Member& member : members_) {
    member.arrived = member.owing = {};
    member.arrivals = member.completed = {};
  }
}

void Cluster::arrive(unsigned rank, unsigned warp, uint32_t lanes) {
  members_[rank].arrived[warp] |= lanes;
  members_[rank].owing[warp] |= lanes;
  missing_ -= static_cast<unsigned>(std::popcount(lanes));
  if (!missing_) open();
}

void Cluster::exit(unsigned rank, unsigned warp, uint32_t lanes) {
  live_ -= static_cast<unsigned>(std::popcount(lanes));
  missing_ -= static_cast<unsigned>(std::popcount(lanes & ~members_[rank].arrived[warp]));
  if (!missing_) open();
}

// All have come. What the blocks have done to global memory is known to all of them, too.
void Cluster::open() {
  missing_ = live_;
  const unsigned count = size();
  for (unsigned rank = 0; rank < count; ++rank) {
    Member& member = members_[rank];
    member.arrived = {};
    member.completed.add(std::exchange(member.arrivals, {}));
    if (checks_blocks_) races_of(rank).fence();
  }
  for (unsigned a = 0; a < count && checks_blocks_; ++a) {
    for (unsigned b = 0; b < count; ++b) {
      if (a != b) races_of(a).join_behind(races_of(b));
    }
  }
}

}  // namespace simt::engine
