// Clusters of blocks: their barrier, and the way to another block's shared memory.
#include "base/host_memory.h"
#include "hooks/hooks.h"

namespace simt::engine {

void Hooks::cluster_arrive(const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker || !worker->grid_->cluster) return;
  catch_up(pc);
  const HostMemory bookkeeping;
  Cluster& cluster = *worker->grid_->cluster;
  const unsigned rank = worker->cluster_rank_, thread = worker->thread_rank();
  const uint32_t self = 1u << worker->lane_;
  if (cluster.owing(rank, thread / kLanes) & self)
    trap(
        "a thread arrives at the barrier of its cluster again, and has not waited for the phase "
        "before",
        pc);
  Monitor& monitor = worker->monitor;
  monitor.arrive(worker->warp_->checks, cluster.arrivals(rank));
  monitor.cluster.arrive(thread);
  worker->hang_watch_.changed = true;
  cluster.arrive(rank, thread / kLanes, self);
}

void Hooks::cluster_wait(const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return;
  if (!worker->grid_->cluster) {
    barrier(detail::BarrierReduction::none, 0, pc);
    return;
  }
  catch_up(pc);
  Cluster& cluster = *worker->grid_->cluster;
  const unsigned rank = worker->cluster_rank_, thread = worker->thread_rank();
  const uint32_t self = 1u << worker->lane_;
  if (!(cluster.owing(rank, thread / kLanes) & self))
    trap("a thread waits at the barrier of its cluster, and has not arrived there", pc);
  // At least once: so the lane that comes last goes on together with those of its warp that have waited for it.
  do await_arrivals(pc);
  while (cluster.has_arrived(rank, thread / kLanes, worker->lane_));
  cluster.owing(rank, thread / kLanes) &= ~self;
  const HostMemory bookkeeping;
  worker->monitor.cluster.leave(thread);
  worker->monitor.leave(worker->warp_->checks, cluster.completed(rank));
}

const void* Hooks::map_shared(uint64_t address, unsigned rank, const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return nullptr;
  const SharedMemory& shared = worker->monitor.shared;
  const unsigned size = worker->grid_->cluster ? worker->grid_->cluster->size() : 1;
  if (rank >= size)
    trap("a rank that no block of the cluster has: they count from 0 to num_blocks() - 1", pc);
  if (!shared.holds(address))
    trap("an address that is not in the block's own shared memory has no place in another block's",
         pc, Fault::Kind::trap, address);
  if (size > 1) address = shared.in_other(address, *shared.cluster[rank]);
  return reinterpret_cast<const void*>(address);
}

}  // namespace simt::engine

namespace simt::detail {

using engine::Hooks;

dim3 cluster_extent() {
  const engine::Worker* worker = engine::running;
  return worker && worker->cluster() ? worker->cluster()->extent : dim3(1);
}
unsigned cluster_rank() {
  const engine::Worker* worker = engine::running;
  return worker && worker->cluster() ? worker->cluster_rank() : 0;
}
const volatile void* map_shared(const volatile void* address, unsigned rank) {
  return Hooks::map_shared(reinterpret_cast<uint64_t>(address), rank, SIMT_PC);
}
void cluster_arrive() { Hooks::cluster_arrive(SIMT_PC); }
void cluster_wait() { Hooks::cluster_wait(SIMT_PC); }

}  // namespace simt::detail
