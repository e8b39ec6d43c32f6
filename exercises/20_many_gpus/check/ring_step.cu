#include <deque>

#include "grader/grader.h"
#include "lab/backend.h"
#include "lab/devices.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  constexpr int kMost = 4;
  lab::simulate_devices(kMost);
  for (const int gpus : {2, 3, kMost}) {
    for (const int n : {1, 4, 7, 300}) {
      const auto count = static_cast<std::size_t>(n);
      std::deque<grader::Output<float>> arrays;
      std::vector<float*> pointers;
      std::vector<float> sums(count, 0);
      for (int g = 0; g < gpus; ++g) {
        const lab::OnDevice here(g);
        std::vector<float> values(count);
        const std::vector<int> numbers = lab::random_ints(count, static_cast<unsigned>(g) + 1);
        for (std::size_t i = 0; i < count; ++i) {
          values[i] = static_cast<float>(numbers[i] % 16);
          sums[i] += values[i];
        }
        arrays.emplace_back(lab::format("the array of GPU %d", g), values);
        pointers.push_back(arrays.back().data());
        for (int peer = 0; peer < gpus; ++peer) {
          if (peer != g) lab::open_memory(g, peer, true);
        }
      }
      exercise.run(lab::format("n = %d on %d GPUs", n, gpus), [&] {
        reduce_scatter(pointers, n);
        cudaSetDevice(0);
      });
      std::vector<float> got;
      for (int g = 0; g < gpus; ++g) {
        const std::vector<float> here = arrays[static_cast<std::size_t>(g)].download();
        got.insert(got.end(), here.begin() + n * g / gpus, here.begin() + n * (g + 1) / gpus);
      }
      exercise.compare_host("chunk g of GPU g, one behind the other", got, sums);
      int chunks = 0;  // that are not empty
      for (int c = 0; c < gpus; ++c) chunks += n * (c + 1) / gpus > n * c / gpus;
      exercise.exactly(grader::launches, chunks * (gpus - 1));
    }
  }
}
