#include "lab/parallel.h"

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

namespace lab {

void in_parallel(std::size_t n,
                 const std::function<void(std::size_t first, std::size_t last)>& work,
                 std::size_t grain) {
  const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1u);
  const std::size_t ranges = std::clamp<std::size_t>(n / std::max<std::size_t>(grain, 1), 1, cores);
  const auto begin = [=](std::size_t range) {
    return n / ranges * range + std::min(range, n % ranges);
  };
  std::vector<std::future<void>> others;
  for (std::size_t range = 1; range < ranges; ++range) {
    others.push_back(
        std::async(std::launch::async,
                   [&work, first = begin(range), last = begin(range + 1)] { work(first, last); }));
  }
  work(0, begin(1));  // should it throw, the futures wait for the others
  for (std::future<void>& other : others) other.get();
}

}  // namespace lab
