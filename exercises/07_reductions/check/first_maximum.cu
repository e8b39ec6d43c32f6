#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const std::vector<float> random = lab::random_floats(4096, 1);
  struct Kind {
    const char* name;
    std::function<float(std::size_t)> value;
  };
  const Kind kinds[] = {
      {"random", [&](std::size_t i) { return random[i]; }},
      {"negative", [&](std::size_t i) { return -1 - std::abs(random[i]); }},
      {"all equal", [](std::size_t) { return 0.5f; }},
      {"four values", [&](std::size_t i) { return std::floor(4 * random[i]); }},
      {"falling", [](std::size_t i) { return -static_cast<float>(i); }},
      {"rising", [](std::size_t i) { return static_cast<float>(i); }},
      {"minus infinity", [](std::size_t) { return -INFINITY; }},
      {"the least floats behind infinity",
       [](std::size_t i) { return i == 0 ? -INFINITY : -std::numeric_limits<float>::max(); }},
      {"two zeros", [](std::size_t i) { return i % 3 == 0 ? -0.0f : 0.0f; }},
      {"one at the end", [](std::size_t i) { return i % 256 == 200 ? 2.0f : 1.0f; }},
  };
  for (const Kind& kind : kinds) {
    for (const int n : {1, 2, 33, 257, 1031}) {
      std::vector<float> values;
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) values.push_back(kind.value(i));
      const grader::Input<float> in("in", values);
      grader::Output<int> where("where", 1);
      exercise.run(lab::format("%s, n = %d", kind.name, n),
                   [&] { arg_max<<<1, 256>>>(in.data(), where.data(), n); });
      const auto first = std::max_element(values.begin(), values.end()) - values.begin();
      exercise.compare(where, [&](std::size_t) { return first; });
    }
  }
  exercise.at_most(grader::load_requests,
                   33 + 8);  // every element once, and the first ones of the threads
}
