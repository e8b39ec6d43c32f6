// # Waves
//
// Kind: predict
// Level: 2
// Minutes: 6
//
// An H200 has 132 SMs. A kernel runs one block on each SM at a time, each block computes one tile
// of C, and all tiles take the same time. The blocks go in waves: 132 tiles, then the next 132. The
// kernel is over when its last wave is, however few tiles that has. Round down where you are asked
// for per cent.

#include <cuda_runtime.h>

#ifdef SOLUTION
// M = N = 4096, tiles of 128 x 256: how many tiles, and how many waves?
constexpr int kTiles4096 = 512;
constexpr int kWaves4096 = 4;
// How many SMs have a tile in the last wave?
constexpr int kBusyInLast4096 = 116;
// Of all the tiles that the SMs could have computed in these waves, how many per cent are there?
constexpr int kPercent4096 = 96;
// The same share for M = N = 1024.
constexpr int kPercent1024 = 24;
// For M = N = 1024, with tiles of 64 x 128 in place of 128 x 256: the share then.
constexpr int kPercent1024Small = 96;
#else
// M = N = 4096, tiles of 128 x 256: how many tiles, and how many waves?
constexpr int kTiles4096 = -1;  // TODO
constexpr int kWaves4096 = -1;  // TODO
// How many SMs have a tile in the last wave?
constexpr int kBusyInLast4096 = -1;  // TODO
// Of all the tiles that the SMs could have computed in these waves, how many per cent are there?
constexpr int kPercent4096 = -1;  // TODO
// The same share for M = N = 1024.
constexpr int kPercent1024 = -1;  // TODO
// For M = N = 1024, with tiles of 64 x 128 in place of 128 x 256: the share then.
constexpr int kPercent1024Small = -1;  // TODO
#endif
