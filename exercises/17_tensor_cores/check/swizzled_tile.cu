#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<__nv_bfloat16> in("in", lab::random_values<__nv_bfloat16>(16 * 64, 1));
  grader::Output<unsigned> out("out", 4 * 4 * 32);
  exercise.run("one warp", [&] { fragments<<<1, 32>>>(in.data(), out.data()); });
  exercise.compare(out, [&](std::size_t i) {
    const std::size_t lane = i % 32, r = i / 32 % 4, step = i / 128;
    const std::size_t row = lane / 4 + r % 2 * 8, col = step * 16 + r / 2 * 8 + lane % 4 * 2;
    return static_cast<unsigned>(__bfloat16_as_ushort(in[row * 64 + col])) |
           static_cast<unsigned>(__bfloat16_as_ushort(in[row * 64 + col + 1])) << 16;
  });
  exercise.at_most(grader::bank_conflicts, 0);
}
