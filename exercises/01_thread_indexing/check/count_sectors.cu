#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<float> x("x", lab::random_floats(32 * 32, 1));
  const auto sectors = [&](const char* name, auto kernel) {
    grader::Output<float> y("y", 32);
    exercise.run(name, [&] { kernel<<<1, 32>>>(x.data(), y.data()); });
    return exercise.count(grader::load_sectors);
  };
  exercise.predict("neighbours", kNeighbours, sectors("neighbours", neighbours));
  exercise.predict("shifted", kShifted, sectors("shifted", shifted));
  exercise.predict("every_second", kEverySecond, sectors("every_second", every_second));
  exercise.predict("every_32nd", kEvery32nd, sectors("every_32nd", every_32nd));
  exercise.predict("backwards", kBackwards, sectors("backwards", backwards));
  exercise.predict("all_the_same", kAllTheSame, sectors("all_the_same", all_the_same));
}
