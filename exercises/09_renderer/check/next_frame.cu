#include "grader/grader.h"
#include EXERCISE

namespace {

constexpr float GRAVITY = 2;

// Whole numbers: sums of them are exact. Some circles reach the floor, some touch it, most do neither.
std::vector<float> places(int n) {
  const std::vector<int> x = lab::random_ints(n, 1, -50, 50), y = lab::random_ints(n, 2, 5, 40);
  const std::vector<int> radius = lab::random_ints(n, 3, 1, 5);
  std::vector<float> all;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (const int one : {x[i], y[i], radius[i], 1000 + static_cast<int>(i)})
      all.push_back(static_cast<float>(one));
  return all;
}

std::vector<float> velocities(int n) {
  const std::vector<int> ints = lab::random_ints(2 * n, 4, -12, 12);
  return {ints.begin(), ints.end()};
}

}  // namespace

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    grader::Output<float> place("place", places(n)), velocity("velocity", velocities(n));
    exercise.run(lab::format("n = %d, gravity = %g", n, GRAVITY), [&] {
      move<<<lab::ceil_div(n, 128), 128>>>(reinterpret_cast<float4*>(place.data()),
                                           reinterpret_cast<float2*>(velocity.data()), n, GRAVITY);
    });
    const auto bounces = [&](std::size_t circle) {
      return place[4 * circle + 1] + velocity[2 * circle + 1] - GRAVITY < place[4 * circle + 2];
    };
    exercise.compare(place, [&](std::size_t i) {
      const std::size_t circle = i / 4;
      if (i % 4 == 0) return place[i] + velocity[2 * circle];
      if (i % 4 > 1) return place[i];
      const float y = place[i] + velocity[2 * circle + 1] - GRAVITY;
      return bounces(circle) ? 2 * place[i + 1] - y : y;
    });
    exercise.compare(velocity, [&](std::size_t i) {
      if (i % 2 == 0) return velocity[i];
      return bounces(i / 2) ? GRAVITY - velocity[i] : velocity[i] - GRAVITY;
    });
  }
  exercise.at_most(grader::load_requests, 2 * 4096 / 32);
  exercise.at_most(grader::store_requests, 2 * 4096 / 32);
}
