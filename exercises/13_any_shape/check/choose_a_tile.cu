#include "grader/grader.h"
#include EXERCISE

namespace {

struct Product {
  int m, n, k_tiles;
  bool operator==(const Product&) const = default;
};

/// What `choice` says of each product. Launch: one block, a thread for each.
__global__ void choices(int* number, const Product* products, int sms) {
  const Product of = products[threadIdx.x];
  number[threadIdx.x] = choice(of.m, of.n, of.k_tiles, sms);
}

}  // namespace

void grade(grader::Exercise& exercise) {
  const grader::Input<Product> products("products", {{1, 1, 1},
                                                     {32, 32, 7},
                                                     {33, 32, 7},
                                                     {64, 64, 4},
                                                     {65, 65, 9},
                                                     {128, 128, 16},
                                                     {129, 128, 16},
                                                     {1000, 8, 50},
                                                     {8, 1000, 50},
                                                     {512, 512, 32},
                                                     {1500, 1500, 90},
                                                     {4096, 64, 99},
                                                     {4001, 4001, 9},
                                                     {1536, 1408, 3},
                                                     {128, 17024, 1},
                                                     {1048576, 1048576, 64}});
  for (const int sms : {1, 6, 132}) {
    grader::Output<int> number("number", products.size());
    exercise.run(lab::format("sms = %d", sms), [&] {
      choices<<<1, static_cast<unsigned>(products.size())>>>(number.data(), products.data(), sms);
    });
    const std::vector<int> got = number.download();
    for (std::size_t i = 0; i < products.size(); ++i) {
      const auto [m, n, k_tiles] = products[i];
      const auto waves = [&, m = m, n = n](long long edge) {
        return lab::ceil_div<long long>(
            lab::ceil_div<long long>(m, edge) * lab::ceil_div<long long>(n, edge), sms);
      };
      const long long large = 18 * waves(128), middle = 6 * waves(64), small = 2 * waves(32);
      const int want = large <= middle && large <= small ? 0 : middle <= small ? 1 : 2;
      exercise.expect(got[i] == want, "choice",
                      lab::format("m = %d, n = %d, k_tiles = %d, sms = %d: kernel %d, where %d is "
                                  "fastest: %lld, %lld and %lld "
                                  "waves' K-tiles",
                                  m, n, k_tiles, sms, got[i], want, large, middle, small));
    }
  }
}
