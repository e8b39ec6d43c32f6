// A block of a grid that has ended runs again, to tell more than the launch has kept.
#pragma once

#include <sys/mman.h>

#include <functional>
#include <new>
#include <optional>

#include "exec/worker.h"

namespace simt::engine {

// In a child process, on a copy of the memory as it is now, alone and in silence, for at most a second of a CPU's time. `look`
// is called there once the block has ended. False if it does not end, or is stopped by a fault. `worker` is that of this thread.
bool run_again(uint64_t block, Grid grid, Worker& worker, const std::function<void()>& look);

// What `look` returns there: plain data.
template <class Look>
auto what_again(uint64_t block, const Grid& grid, Worker& worker, const Look& look)
    -> std::optional<decltype(look())> {
  using Result = decltype(look());
  void* const page =
      mmap(nullptr, sizeof(Result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return std::nullopt;
  std::optional<Result> result;
  if (run_again(block, grid, worker, [&] { new (page) Result(look()); }))
    result = *static_cast<Result*>(page);
  munmap(page, sizeof(Result));
  return result;
}

}  // namespace simt::engine
