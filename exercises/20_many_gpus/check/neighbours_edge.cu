#include <deque>

#include "grader/grader.h"
#include "lab/backend.h"
#include "lab/devices.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  constexpr int kMost = 4;
  lab::simulate_devices(kMost);
  for (const int gpus : {1, 2, 3, kMost}) {
    for (const int n : {1, 2, 130}) {
      constexpr int kSteps = 5;
      // The whole line, smoothed by the host.
      const std::size_t all = static_cast<std::size_t>(gpus * n) + 2;
      std::vector<float> line = lab::random_floats(all, 1), next = line;
      const std::vector<float> begin = line;
      for (int s = 0; s < kSteps; ++s) {
        for (std::size_t i = 1; i + 1 < all; ++i) next[i] = 0.5f * (line[i - 1] + line[i + 1]);
        std::swap(line, next);
      }
      std::deque<grader::Output<float>> arrays;
      std::vector<float*> cells[2];
      std::vector<cudaStream_t> streams(static_cast<std::size_t>(gpus));
      for (int g = 0; g < gpus; ++g) {
        const lab::OnDevice here(g);
        const auto first = begin.begin() + g * n;
        for (auto& side : cells) {
          arrays.emplace_back(lab::format("cells of GPU %d", g),
                              std::vector<float>(first, first + n + 2));
          side.push_back(arrays.back().data());
        }
        cudaStreamCreateWithFlags(&streams[static_cast<std::size_t>(g)], cudaStreamNonBlocking);
      }
      exercise.run(lab::format("n = %d on %d GPUs", n, gpus), [&] {
        smooth(cells, n, gpus, kSteps, streams);
        cudaSetDevice(0);
      });
      for (int g = 0; g < gpus; ++g) {
        auto& made = arrays[static_cast<std::size_t>(2 * g + kSteps % 2)];
        exercise.compare(made,
                         [&](std::size_t i) { return line[static_cast<std::size_t>(g * n) + i]; });
      }
      exercise.exactly(grader::launches, gpus * kSteps);
      for (const cudaStream_t stream : streams) cudaStreamDestroy(stream);
    }
  }
}
