#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  struct Case {
    int tiles, k_tiles, workers;
  };
  for (const auto [tiles, k_tiles, workers] : {Case{1, 1, 1},
                                               {1, 8, 3},
                                               {3, 4, 2},
                                               {5, 7, 4},
                                               {4, 4, 4},
                                               {9, 16, 8},
                                               {3, 100, 33},
                                               {133, 15, 132}}) {
    grader::Output<int> who("who", static_cast<std::size_t>(tiles));
    grader::Output<int> pieces("pieces", static_cast<std::size_t>(tiles));
    exercise.run(lab::format("tiles = %d, k_tiles = %d, workers = %d", tiles, k_tiles, workers),
                 [&, tiles = tiles, k_tiles = k_tiles, workers = workers] {
                   fix_up<<<static_cast<unsigned>(lab::ceil_div(tiles, 64)), 64>>>(
                       who.data(), pieces.data(), tiles, k_tiles, workers);
                 });
    std::vector<int> owner;  // of each K-tile
    const int total = tiles * k_tiles;
    for (int w = 0; w < workers; ++w)
      for (int s = 0; s < total / workers + (w < total % workers); ++s) owner.push_back(w);
    const auto at = [&, k_tiles = k_tiles](std::size_t tile, int k) {
      return owner[tile * static_cast<std::size_t>(k_tiles) + static_cast<std::size_t>(k)];
    };
    exercise.compare(who,
                     [&, k_tiles = k_tiles](std::size_t tile) { return at(tile, k_tiles - 1); });
    exercise.compare(pieces, [&, k_tiles = k_tiles](std::size_t tile) {
      return at(tile, k_tiles - 1) - at(tile, 0);
    });
  }
}
