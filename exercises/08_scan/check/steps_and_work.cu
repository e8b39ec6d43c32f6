#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto count = [&](const char* name, auto kernel, int d, const grader::Metric& metric) {
    grader::Output<int> sums("sums", lab::random_ints(1024, 1));
    exercise.run(name, [&] { kernel<<<1, 1024>>>(sums.data(), d); });
    return exercise.count(metric);
  };
  exercise.predict("steps near", kStepsAtDistance1,
                   count("steps, d = 1", steps, 1, grader::shared_load_requests));
  exercise.predict("tree near", kTreeAtDistance1,
                   count("tree, d = 1", tree, 1, grader::shared_load_requests));
  exercise.predict("tree far", kTreeAtDistance64,
                   count("tree, d = 64", tree, 64, grader::shared_load_requests));
  exercise.predict("wavefronts", kWavefronts8,
                   count("tree, d = 8", tree, 8, grader::shared_load_wavefronts));
}
