#include "grader/grader.h"
#include EXERCISE

// How many lanes have made an atomic addition.
constexpr grader::Metric additions{"atomic additions", "additions", "global_atomic_active_lanes",
                                   ""};

void grade(grader::Exercise& exercise) {
  const auto check = [&](const std::string& what, int n, unsigned keys, auto key) {
    std::vector<unsigned> all(n), added(n);
    for (int i = 0; i < n; ++i) all[i] = key(i) % keys, added[i] = lab::random_bits(2, i) % 1000;
    const grader::Input<unsigned> in("keys", all), values("values", added);
    std::vector<unsigned> sums(keys, 7);
    grader::Output<unsigned> out("sums", sums);
    exercise.run(what, [&] {
      add_by_key<<<lab::ceil_div(n, 128), 128>>>(out.data(), in.data(), values.data(), n);
    });
    for (int i = 0; i < n; ++i) sums[all[i]] += added[i];
    exercise.compare(out, [&](std::size_t i) { return sums[i]; });
  };
  for (const int n : grader::lengths) {
    check(lab::format("n = %d, random keys", n), n, 50,
          [](int i) { return static_cast<unsigned>(lab::random_bits(1, i)); });
  }
  check("n = 4096, eight of each key side by side", 4096, 512,
        [](int i) { return static_cast<unsigned>(i / 8); });
  exercise.at_most(additions, 512);
  exercise.at_most(grader::shared_store_requests, 0);
  check("n = 4096, all keys equal", 4096, 3, [](int) { return 1u; });
  exercise.at_most(additions, 128);
}
