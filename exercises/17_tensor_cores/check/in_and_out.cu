#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const auto& [tiles, blocks] : {std::pair{1, 1}, {2, 1}, {5, 1}, {3, 2}, {7, 2}}) {
    const auto count = static_cast<std::size_t>(256 * tiles);
    const grader::Input<float> in("in", lab::random_floats(count, 1));
    grader::Output<float> out("out", count);
    exercise.run(lab::format("%d tiles, %d blocks", tiles, blocks),
                 [&] { twice<<<blocks, 256>>>(out.data(), in.data(), tiles); });
    exercise.compare(out, [&](std::size_t i) { return 2 * in[i]; });
    exercise.at_most(grader::load_requests, 0);
    exercise.at_most(grader::store_requests, 0);
  }
}
