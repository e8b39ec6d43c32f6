#include <functional>
#include <vector>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto check = [&](const char* name, int n, unsigned blocks, const auto& value) {
    std::vector<unsigned char> bytes;
    std::vector<int> before(256), want(256);
    for (int b = 0; b < 256; ++b) before[static_cast<std::size_t>(b)] = 3 * b;
    want = before;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      bytes.push_back(value(i));
      ++want[bytes.back()];
    }
    const grader::Input<unsigned char> in("in", bytes);
    grader::Output<int> bins("bins", before);
    exercise.run(lab::format("%s bytes, n = %d, %u blocks", name, n, blocks),
                 [&] { histogram<<<blocks, 256>>>(in.data(), bins.data(), n); });
    exercise.compare(bins, [&](std::size_t b) { return want[b]; });
  };
  const auto random = [](std::size_t i) {
    return static_cast<unsigned char>(lab::random_bits(1, i));
  };
  const auto equal = [](std::size_t) { return static_cast<unsigned char>(255); };
  check("random", 0, 1, random);
  for (const int n : grader::lengths) check("random", n, 1, random), check("equal", n, 3, equal);
  check("random", 4096, 2, random);
  exercise.at_most(grader::atomic_requests, 16);
  exercise.at_most(grader::load_requests, 4096 / 4 / 32);
  check("equal", 4096, 2, equal);
  exercise.at_most(grader::atomic_requests, 2);
}
