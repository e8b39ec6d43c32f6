#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  struct Waves {
    int tiles, waves;
    int percent() const { return 100 * tiles / (132 * waves); }
  };
  const auto count = [](int extent, int rows, int cols) {
    const int tiles = lab::ceil_div(extent, rows) * lab::ceil_div(extent, cols);
    return Waves{tiles, lab::ceil_div(tiles, 132)};
  };
  const Waves large = count(4096, 128, 256), small = count(1024, 128, 256),
              smaller = count(1024, 64, 128);
  exercise.predict("tiles, 4096", kTiles4096, large.tiles);
  exercise.predict("waves, 4096", kWaves4096, large.waves);
  exercise.predict("busy in the last wave", kBusyInLast4096, large.tiles - 132 * (large.waves - 1));
  exercise.predict("per cent, 4096", kPercent4096, large.percent());
  exercise.predict("per cent, 1024", kPercent1024, small.percent());
  exercise.predict("per cent, 1024, small tiles", kPercent1024Small, smaller.percent());
}
