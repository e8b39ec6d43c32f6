#include <functional>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<float> in("in", lab::random_floats(31001, 1));
  grader::Output<float> out("out", 4 * 32);
  const auto sectors = [&](const char* name, const std::function<void()>& launch) {
    exercise.run(name, launch);
    return exercise.count(grader::load_sectors);
  };
  const auto floats = [&](const char* name, int guess, int first, int stride) {
    const auto launch = [&, first, stride] {
      read<<<1, 32>>>(in.data(), out.data(), first, stride);
    };
    exercise.predict(name, guess, sectors(name, launch));
  };
  floats("every second", kEverySecond, 0, 2);
  floats("every eighth", kEveryEighth, 0, 8);
  floats("column", kColumn, 0, 1000);
  floats("from the third", kFromTheThird, 2, 1);
  exercise.predict("doubles", kDoubles, sectors("doubles", [&] {
                     read_doubles<<<1, 32>>>(reinterpret_cast<const double*>(in.data()),
                                             reinterpret_cast<double*>(out.data()));
                   }));
  floats("every third", kEveryThird, 0, 3);
  exercise.predict("float4", kFloat4, sectors("float4", [&] {
                     read_float4<<<1, 32>>>(reinterpret_cast<const float4*>(in.data()),
                                            reinterpret_cast<float4*>(out.data()));
                   }));
}
