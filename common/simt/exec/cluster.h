// The blocks of a cluster: resident together, each on an OS thread of its own, and one of them runs at a time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "check/cluster.h"
#include "exec/grid_barrier.h"
#include "monitor/monitor.h"
#include "races/block_races.h"

namespace simt::engine {

class Worker;

// That of a launch, used for one cluster after another.
class Cluster {
 public:
  Cluster(dim3 grid, dim3 block, dim3 extent);

  unsigned size() const { return checks.size; }
  // The number of its block of this rank in the grid, in the cluster with this number.
  uint64_t block(uint64_t cluster, unsigned rank) const;
  // A worker for each rank. Its shared memory is that block's.
  void join(unsigned rank, Worker& worker);
  Monitor& monitor(unsigned rank) const;
  void begin(uint64_t cluster, bool checks_blocks);
  uint64_t number() const { return number_; }
  std::span<const SharedMemory* const> memory() const { return {memory_.data(), size()}; }

  // The barrier of all threads that have not exited. `lanes` of a warp come to it, or exit.
  void arrive(unsigned rank, unsigned warp, uint32_t lanes);
  void exit(unsigned rank, unsigned warp, uint32_t lanes);
  bool has_arrived(unsigned rank, unsigned warp, int lane) const {
    return members_[rank].arrived[warp] >> lane & 1;
  }
  // A thread that has arrived has to wait before it arrives again.
  uint32_t& owing(unsigned rank, unsigned warp) { return members_[rank].owing[warp]; }
  const WarpTimes& completed(unsigned rank) const { return members_[rank].completed; }
  WarpTimes& arrivals(unsigned rank) { return members_[rank].arrivals; }

  const dim3 extent;
  std::optional<GridBarrier> turns;
  ClusterChecks::Blocks checks;

 private:
  void open();
  BlockRaceCheck& races_of(unsigned rank);

  struct Member {
    Worker* worker = nullptr;
    std::array<uint32_t, 32> arrived{}, owing{};  // lanes
    WarpTimes arrivals, completed;                // what orders the block's own threads
  };
  const dim3 grid_;
  const unsigned threads_;  // of a block
  uint64_t number_ = 0;
  bool checks_blocks_ = false;
  unsigned live_ = 0, missing_ = 0;  // threads; of those, who have yet to come
  std::array<Member, kMostClusterBlocks> members_{};
  std::array<const SharedMemory*, kMostClusterBlocks> memory_{};
};

}  // namespace simt::engine
