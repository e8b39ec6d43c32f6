#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Metric lanes{"active lanes of shared loads", "lanes", "shared_load_active_lanes",
                             ""};
  const grader::Metric per_request{"active lanes per shared load request", "lanes",
                                   "shared_load_active_lanes", "shared_load_requests"};
  const auto count = [&](const char* name, const grader::Metric& metric, auto launch) {
    grader::Output<int> sums("sums", lab::random_ints(256, 1));
    exercise.run(name, [&] { launch(sums.data()); });
    return exercise.count(metric);
  };
  exercise.predict("halves near", kHalves64, count("halves, s = 64", per_request, [](int* sums) {
                     halves<<<1, 256>>>(sums, 64, 64);
                   }));
  exercise.predict("halves far", kHalves4, count("halves, s = 4", per_request, [](int* sums) {
                     halves<<<1, 256>>>(sums, 4, 4);
                   }));
  exercise.predict(
      "neighbours", kNeighbours2,
      count("neighbours, s = 2", per_request, [](int* sums) { neighbours<<<1, 256>>>(sums, 2); }));
  exercise.predict("tail", kActiveInTail, count("halves, s = 16 to 1", lanes, [](int* sums) {
                     halves<<<1, 256>>>(sums, 16, 1);
                   }));
}
