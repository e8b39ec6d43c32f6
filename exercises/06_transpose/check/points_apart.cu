#include <vector>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const int n : grader::lengths) {
    const std::size_t floats = 3 * static_cast<std::size_t>(n);
    const std::vector<int> places = exercise.ask([&] {
      std::vector<int> all;
      for (int at = 0; at < 3 * n; ++at) all.push_back(place(at / 3, at % 3, n));
      return all;
    });
    std::vector<bool> taken(floats);
    bool each_has_its_own = places.size() == floats;
    for (const int place : places) {
      const auto at = static_cast<std::size_t>(place);
      if (at >= floats || taken[at]) {
        each_has_its_own = false;
      } else {
        taken[at] = true;
      }
    }
    grader::Output<float> points("points", lab::random_floats(floats, 1));
    exercise.run(lab::format("n = %d", n),
                 [&] { move<<<lab::ceil_div(n, 128), 128>>>(points.data(), 0.5f, n); });
    exercise.expect(
        each_has_its_own, "layout",
        "place() must give each component of each point an element of its own, from 0 to 3 n - 1");
    std::vector<bool> moved(floats);
    for (std::size_t at = 0; at < floats; at += 3)
      moved[static_cast<std::size_t>(places[at])] = true;
    exercise.compare(points, [&](std::size_t i) { return points[i] + (moved[i] ? 0.5f : 0.0f); });
  }
  exercise.at_most(grader::load_sectors_per_request, 4);
  exercise.at_most(grader::store_sectors_per_request, 4);
}
