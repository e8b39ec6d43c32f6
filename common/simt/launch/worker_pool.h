// The OS threads that run blocks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "exec/worker.h"

namespace simt::engine {

// The calling thread is the first of them, so that a program with
// SIMT_THREADS=1 runs its kernels where a debugger expects them.
class Pool {
 public:
  // Each device has its own.
  static Pool& of(int device);

  // Runs all blocks of the grid, whose vote counts as many workers as threads_for() says; a fault keeps further blocks from
  // starting. One caller at a time.
  void run(Grid& grid);
  // How many of its blocks have been begun, and at most one for each thread more.
  const std::atomic<uint64_t>& next_block() const { return next_block_; }
  // How many have been begun, or had been when one of them was found to have a fault.
  uint64_t begun() const;
  // How many threads that takes.
  uint64_t threads_for(const Grid& grid) const;
  // Those that run blocks wait for others, as it seems: as many begin beside them as a GPU has room for, once a launch.
  // False if there are none.
  bool start_more();

  // A worker belongs to its OS thread, whose shared memory it uses.
  Worker& caller_worker();

  template <class F>
  void for_each_worker(F&& f) {
    for (auto& worker : workers_) {
      if (worker) f(*worker);
    }
    for (auto& [id, worker] : callers_) f(*worker);
  }

 private:
  Pool();

  void add_workers(size_t count);
  void work(size_t index);
  void call(size_t first, size_t last);

  void take_blocks(Worker& worker, unsigned rank);
  void run_blocks(Worker& worker);
  void run_clusters(Cluster& cluster);
  bool goes_on(bool ended);

  const uint64_t threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::deque<std::unique_ptr<Worker>> workers_;  // [0] stays empty
  std::deque<std::pair<std::thread::id, std::unique_ptr<Worker>>> callers_;
  const Grid* grid_ = nullptr;
  uint64_t block_count_ = 0;
  alignas(64) std::atomic<uint64_t> next_block_{0};  // what all write, apart from what they read
  std::atomic<uint64_t> begun_{0};                   // at the first fault
  alignas(64) std::deque<bool> called_;  // helpers that are to run blocks of this launch
  size_t working_ = 0;
  std::atomic<uint64_t> running_{0};  // workers that may have blocks to run
  std::mutex starting_;               // held by who starts more of them
  const Grid* waiting_ = nullptr;     // the launch in which they may be started
};

}  // namespace simt::engine
