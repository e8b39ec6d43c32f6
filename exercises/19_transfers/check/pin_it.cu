#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    const auto count = static_cast<std::size_t>(n);
    const std::vector<float> values = lab::random_floats(count, 1);
    grader::Output<float> out("out", count);
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    float* piece = nullptr;
    cudaMalloc(&piece, kRoom * sizeof(float));
    int kind = -1, kind_after = -1;
    std::vector<float> there(count);
    exercise.run(lab::format("n = %d", n), [&] {
      float* const buffer = make_buffer();
      cudaPointerAttributes attributes{};
      cudaPointerGetAttributes(&attributes, buffer);
      kind = attributes.type;
      doubled(out.data(), values.data(), count, buffer, piece, stream);
      // In another stream, which waits for nothing: whoever has not waited is told of a race.
      cudaMemcpy(there.data(), out.data(), count * sizeof(float), cudaMemcpyDeviceToHost);
      free_buffer(buffer);
      cudaPointerGetAttributes(&attributes, buffer);
      kind_after = attributes.type;
    });
    exercise.compare(out, [&](std::size_t i) { return 2 * values[i]; });
    exercise.compare_host("the kind of the memory (1: pinned)", std::vector<int>{kind},
                          std::vector<int>{cudaMemoryTypeHost});
    exercise.compare_host("the kind of the memory after free_buffer() (0: given back)",
                          std::vector<int>{kind_after},
                          std::vector<int>{cudaMemoryTypeUnregistered});
    cudaFree(piece);
    cudaStreamDestroy(stream);
  }
}
