#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  constexpr std::size_t pixels = std::size_t{kSide} * kSide;
  const grader::Input<float> in("in", lab::random_floats(kChannels * pixels, 1));
  const auto run = [&](int taps, auto kernel) {
    const std::size_t window = static_cast<std::size_t>(taps) * static_cast<std::size_t>(taps);
    grader::Output<float> columns("columns", kChannels * window * pixels);
    exercise.run(lab::format("R = %d", taps),
                 [&] { kernel<<<1, 256>>>(in.data(), columns.data()); });
    exercise.compare(columns, [&](std::size_t i) {
      const int row = static_cast<int>(i / pixels), at = static_cast<int>(i % pixels);
      const int tap = row % (taps * taps), c = row / (taps * taps);
      const int y = at / kSide + tap / taps - taps / 2, x = at % kSide + tap % taps - taps / 2;
      const bool inside = 0 <= y && y < kSide && 0 <= x && x < kSide;
      return inside ? in[static_cast<std::size_t>((c * kSide + y) * kSide + x)] : 0.0f;
    });
  };
  run(1, im2col<1>);
  exercise.predict("floats for R = 1", kFloats1, 8 * exercise.count(grader::store_sectors));
  run(3, im2col<3>);
  exercise.predict("floats for R = 3", kFloats3, 8 * exercise.count(grader::store_sectors));
  exercise.predict("stores for R = 3", kStores3, exercise.count(grader::store_requests));
  exercise.predict("loads for R = 3", kLoads3, exercise.count(grader::load_requests));
  run(5, im2col<5>);
  exercise.predict("floats for R = 5", kFloats5, 8 * exercise.count(grader::store_sectors));
  exercise.predict("loads for R = 5", kLoads5, exercise.count(grader::load_requests));
}
