#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    const auto count = static_cast<std::size_t>(n);
    const std::vector<float> values = lab::random_floats(count, 1);
    grader::Output<float> device("device", count);
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int kind = -1;
    exercise.run(lab::format("n = %d", n), [&] {
      Staging staging;
      cudaPointerAttributes attributes{};
      cudaPointerGetAttributes(&attributes, staging.data());
      kind = attributes.type;
      send(device.data(), values.data(), count, staging, stream);
    });
    exercise.compare(device, [&](std::size_t i) { return values[i]; });
    exercise.compare_host("the kind of the memory (1: pinned)", std::vector<int>{kind},
                          std::vector<int>{cudaMemoryTypeHost});
    cudaStreamDestroy(stream);
  }
}
