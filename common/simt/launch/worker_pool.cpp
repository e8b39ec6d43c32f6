#include "launch/worker_pool.h"

#include <algorithm>

#include "base/settings.h"
#include "exec/grid_barrier.h"
#include "exec/hang_proof.h"
#include "exec/patience.h"
#include "exec/standstill.h"
#include "launch/device_limits.h"
#include "launch/kernel_registry.h"
#include "launch/life_sign.h"

namespace simt::engine {

Pool::Pool() : threads_(settings::threads()) {
  workers_.resize(1);  // the caller's place
}

Pool& Pool::instance() {
  static Pool* pool = new Pool;  // its threads live as long as the process
  return *pool;
}

uint64_t Pool::threads_for(const Grid& grid) const {
  const uint64_t blocks = uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
  // The blocks of a cooperative launch wait for each other.
  return grid.barrier ? blocks : std::min<uint64_t>(threads_, blocks);
}

void Pool::run(Grid& grid) {
  grid_ = &grid;
  next_block_ = 0;
  block_count_ = uint64_t{grid.grid.x} * grid.grid.y * grid.grid.z;
  const size_t helpers = threads_for(grid) - 1;
  while (workers_.size() < helpers + 1) add_worker();
  HangVote hang_vote(helpers + 1, [this] { return begin_more(); });
  grid.hang_vote = &hang_vote;
  {
    const std::lock_guard lock(mutex_);
    working_ = helpers;
    helpers_wanted_ = helpers;
    ++launch_;
    ++generation_;
  }
  if (helpers) wake_.notify_all();
  take_blocks(caller_worker());
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return working_ == 0; });
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

void Pool::add_worker() {
  const size_t index = workers_.size();
  workers_.emplace_back();
  std::unique_lock lock(mutex_);
  std::thread([this, index] {
    auto worker = std::make_unique<Worker>();
    Worker& mine = *worker;
    uint64_t seen, launch = 0;
    {
      const std::lock_guard started(mutex_);
      workers_[index] = std::move(worker);
      seen = generation_;
    }
    done_.notify_all();
    for (;;) {
      {
        std::unique_lock waiting(mutex_);
        wake_.wait(waiting, [&] { return generation_ != seen; });
        seen = generation_;
        if (index > helpers_wanted_ || launch == launch_) continue;
        launch = launch_;
      }
      take_blocks(mine);
      {
        const std::lock_guard finished(mutex_);
        --working_;
      }
      done_.notify_all();
    }
  }).detach();
  done_.wait(lock, [&] { return workers_[index] != nullptr; });
}

uint64_t Pool::begin_more() {
  const uint64_t begun = next_block_, running = helpers_wanted_ + 1;
  if (begun >= block_count_) return 0;
  const dim3 block = grid_->block;
  const size_t shared =
      grid_->dynamic_shared + kernels::static_shared(reinterpret_cast<const void*>(grid_->kernel));
  const auto held = static_cast<uint64_t>(device::resident_blocks(
                        static_cast<int>(block.x * block.y * block.z), shared)) *
                    device::kMultiprocessors;
  if (held <= running) return 0;
  // Twice as many, lest each of them has to wait for its turn.
  const uint64_t more = std::min({held - running, block_count_ - begun, running});
  while (workers_.size() < running + more) add_worker();
  {
    const std::lock_guard lock(mutex_);
    working_ += more;
    helpers_wanted_ += more;
    ++generation_;
  }
  wake_.notify_all();
  return more;
}

void Pool::take_blocks(Worker& worker) {
  if (!grid_->traced) standstill::enter(worker);
  run_blocks(worker);
  if (!grid_->traced) standstill::leave();
  grid_->hang_vote->leave();
}

void Pool::run_blocks(Worker& worker) {
  worker.begin_launch(*grid_);
  for (;;) {
    const uint64_t block = next_block_.fetch_add(1, std::memory_order_relaxed);
    if (block >= block_count_) return;
    if (grid_->barrier) grid_->barrier->begin(block);
    const bool ended = worker.run_block(block);
    if (grid_->barrier) grid_->barrier->leave(block, !ended);
    grid_->hang_vote->move();
    if (ended) Patience::move();
    if (!grid_->traced) life_sign::block_ended();
    if (!ended) {
      next_block_.store(block_count_, std::memory_order_relaxed);
      return;
    }
  }
}

}  // namespace simt::engine
