#include <algorithm>

#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const auto [workers, steps] : {std::pair{1, 1},
                                      {2, 1},
                                      {2, 3},
                                      {3, 31},
                                      {7, 32},
                                      {33, 255},
                                      {132, 1031},
                                      {132, 131},
                                      {132, 132},
                                      {132, 4096}}) {
    grader::Output<int> taken_by("taken_by", static_cast<std::size_t>(steps));
    exercise.run(lab::format("workers = %d, steps = %d", workers, steps),
                 [&, workers = workers, steps = steps] {
                   divide<<<lab::ceil_div(workers, 64), 64>>>(taken_by.data(), workers, steps);
                 });
    const std::vector<int> by = taken_by.download();
    std::vector<int> share(static_cast<std::size_t>(workers));
    bool ordered = true, whole = true;
    for (std::size_t s = 0; s < by.size(); ++s) {
      whole = whole && by[s] >= 0 && by[s] < workers;
      ordered = ordered && (s == 0 || by[s] >= by[s - 1]);
      if (whole) ++share[static_cast<std::size_t>(by[s])];
    }
    exercise.expect(whole, "step left out", "there are steps that no worker has taken");
    exercise.expect(ordered, "order",
                    "a step was taken by a worker before the one of the step ahead");
    const auto [least, most] = std::minmax_element(share.begin(), share.end());
    exercise.expect(*most - *least <= 1, "uneven",
                    lab::format("the shares have from %d to %d steps", *least, *most));
  }
  const int last = exercise.ask([] { return first_step(132, 132, 2000000000); }),
            middle = exercise.ask([] { return first_step(66, 132, 2000000000); });
  exercise.expect(last == 2000000000 && middle >= 1000000000 - 132 && middle <= 1000000000 + 132,
                  "overflow",
                  lab::format("with 2,000,000,000 steps, worker 66 of 132 begins at %d", middle));
}
