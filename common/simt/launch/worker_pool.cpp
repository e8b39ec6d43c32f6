#include "launch/worker_pool.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/device_limits.h"
#include "base/devices.h"
#include "base/settings.h"
#include "exec/grid_barrier.h"
#include "exec/hang_proof.h"
#include "exec/patience.h"
#include "launch/held_signals.h"
#include "launch/kernel_registry.h"
#include "launch/life_sign.h"
#include "streams/beside_host.h"

namespace simt::engine {
namespace {

// Blocks that the device runs side by side.
uint64_t resident_blocks(const Grid& grid) {
  const auto* const kernel = reinterpret_cast<const void*>(grid.kernel);
  const auto threads = static_cast<int>(grid.block.x * grid.block.y * grid.block.z);
  const size_t shared = grid.dynamic_shared + kernels::static_shared(kernel);
  return uint64_t{device::kMultiprocessors} *
         static_cast<uint64_t>(device::resident_blocks(threads, shared));
}

}  // namespace

Pool::Pool() : threads_(settings::threads()) {
  workers_.resize(1);  // the caller's place
}

Pool& Pool::of(int device) {
  static std::array<std::atomic<Pool*>, devices::kMost> pools{};
  std::atomic<Pool*>& pool = pools[static_cast<size_t>(device)];
  if (!pool) pool = new Pool;  // its threads live as long as the process
  return *pool;
}

uint64_t Pool::threads_for(const Grid& grid) const {
  const uint64_t blocks = uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
  if (grid.cluster) return grid.cluster->size();
  // The blocks of a cooperative launch wait for each other.
  return grid.barrier ? blocks : std::min<uint64_t>(threads_, blocks);
}

void Pool::run(Grid& grid) {
  const HeldSignals held;
  grid_ = &grid;
  next_block_ = begun_ = 0;
  running_ = 1;
  block_count_ = uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
  const size_t helpers = threads_for(grid) - 1;
  grid.begun = [](int device) { return of(device).begun(); };
  if (grid.cluster) return run_clusters(*grid.cluster);
  if (!grid.barrier) grid.start_more = [](int device) { of(device).start_more(); };
  {
    const std::lock_guard lock(starting_);
    if (!grid.barrier) waiting_ = &grid;
    call(1, helpers);
  }
  take_blocks(caller_worker(), 0);
  {
    const std::lock_guard lock(starting_);
    waiting_ = nullptr;
  }
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return working_ == 0; });
}

// One cluster after another, a worker for each of its blocks.
void Pool::run_clusters(Cluster& cluster) {
  const unsigned size = cluster.size();
  add_workers(size);
  cluster.join(0, caller_worker());
  for (unsigned rank = 1; rank < size; ++rank) cluster.join(rank, *workers_[rank]);
  for (uint64_t number = 0; next_block_ < block_count_; ++number) {
    next_block_ += size;
    cluster.begin(number, grid_->checks_blocks);
    grid_->hang_vote->begin(size);
    call(1, size - 1);
    take_blocks(caller_worker(), 0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return working_ == 0; });
  }
}

// The helpers from `first` to `last` run blocks.
void Pool::call(size_t first, size_t last) {
  if (first > last) return;
  add_workers(last + 1);
  running_ += last - first + 1;
  {
    const std::lock_guard lock(mutex_);
    working_ += last - first + 1;
    for (size_t i = first; i <= last; ++i) called_[i] = true;
  }
  wake_.notify_all();
}

uint64_t Pool::begun() const {
  const uint64_t next = next_block_;
  return std::min(begun_ ? begun_.load() : next, block_count_);
}

bool Pool::start_more() {
  const std::lock_guard lock(starting_);
  if (!waiting_ || next_block_ >= block_count_) return false;
  const Grid& grid = *std::exchange(waiting_, nullptr);
  const uint64_t wanted = std::min(block_count_, resident_blocks(grid)), begun = threads_for(grid);
  if (wanted <= begun) return false;
  life_sign::note_workers(grid.device, wanted);
  grid.hang_vote->join(wanted - begun);
  call(begun, wanted - 1);
  return true;
}

Worker& Pool::caller_worker() {
  const auto id = std::this_thread::get_id();
  for (auto& [known, worker] : callers_) {
    if (known != id) continue;
    worker->attach();
    return *worker;
  }
  callers_.emplace_back(id, std::make_unique<Worker>());
  return *callers_.back().second;
}

// All at once: beside workers that spin, each takes its time to begin.
void Pool::add_workers(size_t count) {
  std::unique_lock lock(mutex_);
  const size_t first = workers_.size();
  if (first >= count) return;
  workers_.resize(count);
  called_.resize(count);
  const SignalsForOthers here;
  for (size_t i = first; i < count; ++i) std::thread([this, i] { work(i); }).detach();
  done_.wait(lock, [&] {
    return std::all_of(workers_.begin() + static_cast<std::ptrdiff_t>(first), workers_.end(),
                       [](const auto& worker) { return worker != nullptr; });
  });
}

// What its thread does for ever.
void Pool::work(size_t index) {
  auto worker = std::make_unique<Worker>();
  Worker& mine = *worker;
  {
    const std::lock_guard started(mutex_);
    workers_[index] = std::move(worker);
  }
  done_.notify_all();
  for (;;) {
    {
      std::unique_lock waiting(mutex_);
      wake_.wait(waiting, [&] { return called_[index]; });
      called_[index] = false;
    }
    take_blocks(mine, static_cast<unsigned>(index));
    {
      const std::lock_guard finished(mutex_);
      --working_;
    }
    done_.notify_all();
  }
}

// `rank`: of a cluster's block, the one that the worker runs.
void Pool::take_blocks(Worker& worker, unsigned rank) {
  worker.begin_launch(*grid_);
  if (grid_->cluster) {
    goes_on(worker.run_in_cluster(rank));
  } else {
    run_blocks(worker);
    // Told first: who then votes sees that the host will go on.
    if (--running_ == 0) beside_host::ends(grid_->beside);
    grid_->hang_vote->leave();
  }
}

void Pool::run_blocks(Worker& worker) {
  for (;;) {
    const uint64_t block = next_block_.fetch_add(1, std::memory_order_relaxed);
    if (block >= block_count_) return;
    if (grid_->barrier) grid_->barrier->begin(block);
    const bool ended = worker.run_block(block);
    if (grid_->barrier) grid_->barrier->leave(block, !ended);
    if (!goes_on(ended)) return;
  }
}

// A block has ended, or a fault has stopped it: then no other one begins.
bool Pool::goes_on(bool ended) {
  grid_->hang_vote->move();
  if (ended) Patience::move();
  if (!grid_->traced) life_sign::block_ended();
  if (ended) return true;
  if (const uint64_t begun = next_block_; begun < block_count_) begun_ = begun;
  next_block_ = block_count_;
  return false;
}

}  // namespace simt::engine
