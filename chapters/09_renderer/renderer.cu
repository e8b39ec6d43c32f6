// # Chapter 09: Renderer
//
// Question: Thousands of transparent circles cover a pixel, and their order matters. What can still be done at once?
// Builds on: 07_reductions, 08_scan
// Minutes: 30
// Afterwards: share irregular work among blocks, and keep an order where the result depends on it
// Kind: free
// Size gpu: 1024,1024
// Size simulator: 61,90
// Sizes measured: 1024,1024 4096,4096 777,1000
// Run: ./learn run 09
//   ./learn run 09 --rung one_by_one         circle after circle, on one core of the host
//   ./learn run 09 --rung circle_per_thread  all circles at once, into the same pixels [raises global-race]
//   ./learn run 09 --rung pixel_per_thread   a thread goes through all circles for its pixel
//   ./learn run 09 --rung in_registers       the same, and the pixel stays in registers
//   ./learn run 09 --rung tiles              a block keeps the circles that touch its tile: box test, scan, compaction
//   ./learn run 09 --rung no_barrier         the list is read before it is complete [raises shared-race]
//   ./learn run 09 --rung ballots            the same tiles, compacted by ballots
//   ./learn run 09 --rung front_to_back      nearest circles first, until nothing shines through
//   ./learn run 09 --rung split_tiles        several blocks draw a tile in layers, which are put together
//   ./learn run 09 --rung sorted_pairs       all pairs of tile and circle, counted, scanned and sorted
//   ./learn run 09 --rung masks              a bit for each circle and column of tiles, and for each row
//   ./learn run 09 --rung warp_blocks        the same lists, and a mask once more, for each 8 x 4 pixels
//   ./learn run 09 --rung linked_lists       small circles enter linked lists, and each pixel sorts what it finds

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "canvas.h"
#include "lab/lab.h"

using std::size_t;

// This chapter draws circles that are half transparent: each lets half of the light below it through and adds half of
// its own colour. There may be three circles or two million, and one rule holds for all of them: **a pixel must look
// as if its circles had been drawn one after the other, in the order of the input.**
//
// ```{drawing} scenes
// ```
//
// The outputs of a map are independent, and a reduction may add in any order. Here a million circles contribute to a
// million pixels, and at each pixel their order matters. Engines draw glass, smoke and particles by this rule, and a
// view made of Gaussian splats consists of nothing else.
//
// The task and most scenes are those of "A Simple CUDA Renderer", an assignment of CMU 15-418 and Stanford CS149 (K.
// Fatahalian and others). If you take one of these courses, write your own renderer before you read on.
//
// `rand10k=600` is the scene `rand10k` with 600 circles instead of 10,000. The counts on this page are for an image of
// 61 rows of 90 pixels.
//
// ## The scenes, and one of your own (second reading)
//
// | scene | circles | what is drawn |
// |---|--:|---|
// | `rgb` | 3 | a red, a green and a blue circle that overlap |
// | `rgby` | 4 | the same, and a yellow one on top |
// | `pattern` | 1217 | a grid of 16 x 16 red circles under one of 31 x 31 yellow ones |
// | `rand10k` | 10000 | anywhere in the unit square, radius .02 to .08, sorted by depth |
// | `rand100k` | 100000 | the same, ten times as many |
// | `rand1M` | 1000000 | the same, radius .009 to .014 |
// | `biglittle` | 10000 | 9,000 of radius .25, then 1,000 of radius .05 in one corner |
// | `littlebig` | 10000 | the same, the 1,000 first |
// | `micro2M` | 2000000 | radius .001 |
// | `snow` | 100000 | flakes with soft edges, small in the distance; moves |
// | `balls` | 12 | bouncing balls; moves |
// | `fireworks` | 1024 | rockets of 64 sparks; moves |
//
// Positions and radii are in units of the longer side of the image, and y points up.
//
// The program can write images, animations and scenes, and read a scene of your own:
//
// ```
// ./learn run 09 -- --scene snow=3000 --size 600,900 --image snow.png
// ./learn run 09 -- --scene balls --size 300,450 --gif balls.gif
// ./learn run 09 -- --load mine.txt --rung tiles --image mine.png
// ```
//
// In a scene file each line is a circle, `x y z r g b radius`, and `#` begins a comment. `.5 .3 0 1 0 0 .2` is a red
// circle of radius .2. Circles are drawn in the order of their lines, the first one at the bottom; z is not looked
// at. `./learn run 09 -- --help` has the other options.
//
// ## 1. A pixel and a circle
//
// A pixel is a small square. It gets the colour found at its **centre**: pixel x of a row is sampled at x + 1/2. It
// is inside a circle if its centre is at most the radius away from the circle's. No square root is needed: compare
// the squares.

/// From the centre of a circle to that of a pixel, in one direction.
///
/// The product and the difference are rounded once, together, on the host and on the device: so all rungs agree
/// on which pixels lie on the rim.
__host__ __device__ inline float offset(int pixel, float scale, float centre) {
  return fmaf(static_cast<float>(pixel) + 0.5f, scale, -centre);
}

/// The square of a distance, rounded alike everywhere.
__host__ __device__ inline float square(float dx, float dy) { return fmaf(dx, dx, dy * dy); }

/// The alpha of a circle, the part of what is below that it hides, at distance^2 d2 from its centre.
///
/// It is 1/2 everywhere, or falls off towards the rim where edges are soft.
__host__ __device__ inline float alpha_at(float d2, float radius2, bool soft) {
  return soft ? 0.5f * expf(-4.0f * d2 / radius2) : 0.5f;
}

/// A pixel with one more layer on top. The fourth component is its coverage: 1 minus what still shines through.
///
/// Source of the idea: T. Porter, T. Duff, "Compositing Digital Images", 1984.
__host__ __device__ inline float4 over(float4 below, float4 colour, float alpha) {
  return {fmaf(alpha, colour.x - below.x, below.x), fmaf(alpha, colour.y - below.y, below.y),
          fmaf(alpha, colour.z - below.z, below.z), fmaf(alpha, 1 - below.w, below.w)};
}

// Why write `fmaf` out? A compiler may contract a product and a sum into one FMA, which rounds once, or leave them
// apart, which rounds twice. Two kernels that differ in this disagree about pixels on the rim of a circle. Where a
// comparison depends on the rounding, spell it out. (`WITH_HOST_FMA` lets the host use its FMA instruction, too.)
//
// The CPU draws one circle after the other. A box around the circle limits the pixels that have to be tested. It must
// be **clamped** to the image, since a circle may extend beyond it or lie outside altogether.

/// The columns [left, right) and the rows [bottom, top) of the image.
struct Box {
  int left, right, bottom, top;
};

/// How far the box of a circle reaches beyond it in one direction, in pixels: the centres of pixels lie at 1/2, and the
/// rest is for the roundings of the box and of the test of a pixel, which grow with the numbers.
__host__ __device__ inline float margin(float centre, float radius, float unit) {
  return fmaf(fabsf(centre) + radius, unit * 0x1p-21f, 0.51f);
}

/// A box with all pixels of the image that the circle may contain; it is empty for a circle outside the image.
__host__ __device__ inline Box box_of(float x, float y, float radius, const Frame& frame) {
  const float w = static_cast<float>(frame.width), h = static_cast<float>(frame.height);
  const float across = margin(x, radius, frame.unit), along = margin(y, radius, frame.unit);
  const float left = ceilf((x - radius) * frame.unit - across);
  const float right = floorf((x + radius) * frame.unit + across);
  const float bottom = ceilf((y - radius) * frame.unit - along);
  const float top = floorf((y + radius) * frame.unit + along);
  return {static_cast<int>(fminf(fmaxf(left, 0), w)), static_cast<int>(fminf(fmaxf(right, 0), w)),
          static_cast<int>(fminf(fmaxf(bottom, 0), h)), static_cast<int>(fminf(fmaxf(top, 0), h))};
}

/// Draws a scene on the host, in the order of its circles.
///
/// @param image  (height, width), row 0 at the bottom
WITH_HOST_FMA void one_by_one(float4* image, const Circle* circles, const Frame& frame) {
  const size_t width = static_cast<size_t>(frame.width);
  std::fill_n(image, width * static_cast<size_t>(frame.height), float4{1, 1, 1, 0});
  for (unsigned i = 0; i < frame.circles; ++i) {
    const Circle& c = circles[i];
    const float radius2 = c.radius * c.radius;
    const Box box = box_of(c.x, c.y, c.radius, frame);
    for (int y = box.bottom; y < box.top; ++y) {
      for (int x = box.left; x < box.right; ++x) {
        const float d2 = square(offset(x, frame.scale, c.x), offset(y, frame.scale, c.y));
        if (d2 > radius2) continue;
        float4& pixel = image[static_cast<size_t>(y) * width + static_cast<size_t>(x)];
        pixel = over(pixel, {c.r, c.g, c.b, 0}, alpha_at(d2, radius2, frame.soft));
      }
    }
  }
}

// The kernels below find a circle as two `float4`: `frame.place[i]` has x, y and the radius, `frame.colour[i]` has r, g
// and b. `frame` itself is in {term}`constant memory`, where all threads read the same values.
//
// ### Constants (second reading)
//
// Every kernel needs the size of the image, the number of circles and where they are. All threads read the same
// values, and none of them changes while a kernel runs. {term}`Constant memory <constant memory>` is made for that.
// It is declared outside all functions, has a cache of its own, and serves a whole warp with one read where all lanes
// ask for the same address.

__constant__ Frame frame;  ///< what is drawn; the host sets it before a launch

// Kernels read it like any other variable. The host cannot: `frame` names an object on the device. The host copies to
// it with `cudaMemcpyToSymbol(frame, &host, sizeof(host))`, and from it with `cudaMemcpyFromSymbol`. Both take the
// variable itself, not its address. Read nvcc's warnings here: host code that reads `frame` all the same compiles, with no
// more than "a __constant__ variable cannot be directly read in a host function".
//
// ## 2. One thread for each circle
//
// In `one_by_one` the outer loop goes over the circles. Give each thread one of them.

/// Draws all circles at once: a mistake on purpose.
///
/// Launch: one thread per circle, in blocks of one dimension; the image is white.
__global__ void circle_per_thread() {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= frame.circles) return;
  const float4 c = frame.place[i], colour = frame.colour[i];
  const Box box = box_of(c.x, c.y, c.z, frame);
  for (int y = box.bottom; y < box.top; ++y) {
    for (int x = box.left; x < box.right; ++x) {
      const float d2 = square(offset(x, frame.scale, c.x), offset(y, frame.scale, c.y));
      if (d2 > c.z * c.z) continue;
      float4& pixel = frame.image[static_cast<size_t>(y) * frame.width + x];
      pixel = over(pixel, colour, alpha_at(d2, c.z * c.z, frame.soft));
    }
  }
}

// [hide] clear
/// Makes the image white, and nothing covers it.
///
/// Launch: one thread per pixel, in blocks of one dimension.
__global__ void clear() {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < static_cast<size_t>(frame.width) * frame.height) frame.image[i] = {1, 1, 1, 0};
}
// [/hide]

// ```{drawing} wrong
// ```
//
//? atomics: Suppose that each thread locks a pixel while it reads, blends and writes it. Is the image right then?
//? choices: yes | no, some layers are lost | no, some layers are in the wrong order
//? answer: "no, some layers are in the wrong order"
//
// Two things are wrong with this kernel. Blending reads a pixel, computes and writes, and in between another thread
// may write the same pixel: its layer is lost. The simulator reports that as a race. A lock would cure it, or an
// atomic operation. But then each pixel gets its layers in the order in which threads happen to arrive, and that
// order changes from run to run. For a sum of integers it makes no difference. `over` is not commutative: red over
// blue is not blue over red.
//
// **So:** each pixel needs both atomicity and order. A single thread that draws all of a pixel's layers in order
// gives both without any synchronization.
//
// ## 3. One thread for each pixel
//
// Swap the loops: each thread has one pixel and goes through all circles.

/// Draws all circles, each thread at its own pixel.
///
/// Launch: blocks of two dimensions that cover the image; the image is white.
__global__ void pixel_per_thread() {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= frame.width || y >= frame.height) return;
  float4& pixel = frame.image[static_cast<size_t>(y) * frame.width + x];
  for (unsigned i = 0; i < frame.circles; ++i) {
    const float4 c = frame.place[i];
    const float d2 = square(offset(x, frame.scale, c.x), offset(y, frame.scale, c.y));
    if (d2 <= c.z * c.z) pixel = over(pixel, frame.colour[i], alpha_at(d2, c.z * c.z, frame.soft));
  }
}

// The image is right, but every layer reads and writes its pixel in global memory. The compiler cannot keep the pixel
// in a register: for all it knows, the image and the circles overlap. We know that they do not.
//
//? stores: The three circles of `rgb` cover each other in the middle. How many float4 does `pixel_per_thread`,
//?   together with `clear`, store for each one that `in_registers` stores, which keeps the pixel in a register?
//? answer: count("pixel_per_thread/rgb", "global_store_active_lanes") / count("in_registers/rgb",
//?   "global_store_active_lanes")
//? unit: times as many
//? near: 25 %

/// Draws all circles; a pixel is written once, when it is complete.
///
/// Launch: blocks of two dimensions that cover the image.
__global__ void in_registers() {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= frame.width || y >= frame.height) return;
  float4 pixel = {1, 1, 1, 0};
  for (unsigned i = 0; i < frame.circles; ++i) {
    const float4 c = frame.place[i];
    const float d2 = square(offset(x, frame.scale, c.x), offset(y, frame.scale, c.y));
    if (d2 <= c.z * c.z) pixel = over(pixel, frame.colour[i], alpha_at(d2, c.z * c.z, frame.soft));
  }
  frame.image[static_cast<size_t>(y) * frame.width + x] = pixel;
}

// One for the white background, and one for each layer. A circle of radius .3 has an area of .28, and the image, 1
// wide and .68 high, cuts off its top: each of the three covers 36 % of the pixels. That is 1.07 layers for the
// average pixel.
//
// `in_registers` needs no `clear`, either: the register starts as the background.
//
//? work: In `rand10k`, a circle has an area of .0088 on average. What part of the tests of `in_registers` finds a
//?   pixel inside of a circle?
//? choices: 1 in 11 | 1 in 110 | 1 in 1100
//? answer: {"1 in 11": 10 < 1 / 0.0088 < 12,
//?   "1 in 110": 100 < 1 / 0.0088 < 120,
//?   "1 in 1100": 1000 < 1 / 0.0088 < 1200}
//
// The circle covers .0088 of the unit square, and so of a square image: 1 test in 114 finds a pixel inside.
//
// **Timed**, for `rand10k`: 0.33 s for `one_by_one` on a core of the host, 11.0 ms for `pixel_per_thread`, 6.8 ms for
// `in_registers`.
//= 0.33 s: ms("one_by_one/rand10k") / 1e3
//= 11.0 ms: ms("pixel_per_thread/rand10k")
//= 6.8 ms: ms("in_registers/rand10k")
//
// **So:** the kernel is right and wastes nearly all of its tests. A million pixels and a million circles make 10^12
// of them. Pixels that lie close together have the same circles, so let them share the tests.
//
// ## 4. A block for each tile
//
// A block draws a {term}`tile` of 16 x 16 pixels. It takes the circles in batches of 256. For each batch,
//
// 1. each thread tests *one circle* against the tile,
// 2. the circles that touch it are put into a list, in their order,
// 3. each thread blends the circles of the list at *its pixel*.
//
// ```{drawing} tile
// ```
//
// The test must not miss a circle. The pixel of the tile nearest to the circle's centre decides. If the centre is
// left of the tile, that pixel is in the first column; if it is right of it, in the last. Rows go the same way.

/// Whether a circle may contain a pixel of a box. If it may not, it contains none.
///
/// The offsets are those of pixels, rounded as in the test of a pixel, so that no pixel on a rim is lost.
__device__ inline bool touches(float4 c, Box box) {
  const float dx =
      fmaxf(fmaxf(offset(box.left, frame.scale, c.x), 0), -offset(box.right - 1, frame.scale, c.x));
  const float dy =
      fmaxf(fmaxf(offset(box.bottom, frame.scale, c.y), 0), -offset(box.top - 1, frame.scale, c.y));
  return square(dx, dy) <= c.z * c.z;
}

// The second step is a {term}`stream compaction`: the exclusive scan of the flags (chapter 08) tells each thread where
// in the list its circle goes. **Why a scan, and not an atomic counter?** A counter gives each circle *a* place, in the
// order in which threads reach it. A scan keeps the order.

constexpr int TILE = 16;                   ///< pixels along a side of a tile
constexpr unsigned THREADS = TILE * TILE;  ///< of a block that draws one
constexpr unsigned ALL = 0xFFFFFFFF;       ///< the mask of a whole warp

/// The tile that this block draws. It may stick out of the image.
__device__ inline Box tile_box(int side) {
  const int left = blockIdx.x * side, bottom = blockIdx.y * side;
  return {left, left + side, bottom, bottom + side};
}

/// The inclusive scan of a flag of each thread, as in chapter 08.
///
/// @param total  the number of flags that are set
__device__ inline unsigned scan_flags(bool flag, unsigned (&sums)[2][THREADS], unsigned& total) {
  const unsigned t = threadIdx.x;
  unsigned now = 0;
  sums[now][t] = flag;
  for (unsigned d = 1; d < THREADS; d *= 2) {
    __syncthreads();  // the row is complete
    sums[1 - now][t] = t < d ? sums[now][t] : sums[now][t] + sums[now][t - d];
    now = 1 - now;
  }
  __syncthreads();
  total = sums[now][THREADS - 1];
  return sums[now][t];
}

//? tests: An image of 61 rows of 90 pixels has 24 tiles. How many times fewer load requests to global memory does
//?   `tiles` make than `in_registers`, for `rand10k=600`?
//? answer: count("in_registers/rand10k=600", "global_load_requests") / count("tiles/rand10k=600",
//?   "global_load_requests")
//? unit: times fewer requests
//? near: factor 2

/// Draws a tile, batch by batch. Also the rung `no_barrier`, which leaves out the barrier behind the list.
///
/// Launch: blocks of THREADS threads, one for each tile.
template <bool BARRIER>
__global__ void __launch_bounds__(THREADS) tiles() {
  __shared__ unsigned sums[2][THREADS], list[THREADS];
  const unsigned t = threadIdx.x;
  const Box tile = tile_box(TILE);
  const int x = tile.left + t % TILE, y = tile.bottom + t / TILE;
  float4 pixel = {1, 1, 1, 0};

  for (unsigned first = 0; first < frame.circles; first += THREADS) {
    const unsigned i = first + t;
    const bool hit = i < frame.circles && touches(frame.place[i], tile);
    unsigned total;
    const unsigned place = scan_flags(hit, sums, total);
    if (hit) list[place - 1] = i;
    if (BARRIER) __syncthreads();  // the list is complete
    for (unsigned j = 0; j < total; ++j) {
      const float4 c = frame.place[list[j]];
      const float d2 = square(offset(x, frame.scale, c.x), offset(y, frame.scale, c.y));
      if (d2 <= c.z * c.z) {
        pixel = over(pixel, frame.colour[list[j]], alpha_at(d2, c.z * c.z, frame.soft));
      }
    }
  }
  if (x < frame.width && y < frame.height) {
    frame.image[static_cast<size_t>(y) * frame.width + x] = pixel;
  }
}

// In `in_registers` each warp loads every circle: one request for its place, and one for its colour where a lane is
// inside. In `tiles` a request of the first step loads 32 circles, and the requests of the third step are only for
// circles that touch the tile.
//
// Threads of a tile that have no pixel **take part all the same**: every barrier waits for all threads of the block.
//
//? barriers: In `tiles`, no barrier stands at the end of the loop's body, where threads may still read the list
//?   while others begin with the next batch. Can the next batch overwrite a list that is still being read?
//? choices: yes | no: the scan has barriers before anything is written to the list
//? answer: "no: the scan has barriers before anything is written to the list"
//
// Each barrier has a reason. Those in the scan separate its steps. The one behind the list keeps threads from reading
// an entry that is not there yet. None is needed at the end of the body: a thread writes to the list only after the
// barriers of the next scan, and it cannot pass those before all threads have left the loop over the list. The last
// element of `sums`, too, has been read by all threads before the barrier behind the list.
//
// ### Threads without a pixel, and barriers (second reading)
//
// `no_barrier` is the same kernel without the barrier behind the list: a thread may read an entry before it is
// written.
//
// [rung no_barrier]
//
// Tiles at the right and upper edges stick out of the image. Their outer threads have no pixel, and test circles like
// all others. A `return` at the top, right in `in_registers`, would be a mistake here. All that these threads must not
// do is write.
//
// ### Ballots instead of the scan
//
// The scan takes eight steps with a barrier each for 256 flags. Chapter 08 did better: the flags of a warp fit into
// one word, which `__ballot_sync` gives to all lanes, and `__popc` counts those of lower lanes.

/// How many threads of the block with lower numbers have the flag set.
///
/// @param total  how many threads have it set
__device__ inline unsigned rank_of(bool flag, unsigned (&warp_totals)[THREADS / 32],
                                   unsigned& total) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned flags = __ballot_sync(ALL, flag);
  if (lane == 0) warp_totals[warp] = __popc(flags);
  __syncthreads();
  unsigned before = 0;
  total = 0;
#pragma unroll
  for (unsigned w = 0; w < THREADS / 32; ++w) {
    if (w == warp) before = total;
    total += warp_totals[w];
  }
  return before + __popc(flags & ((1u << lane) - 1));
}

//? ballot_barriers: How many load requests to shared memory does `tiles` make for each that `ballots` makes, for
//?   `micro2M=900`, where lists are short?
//? answer: count("tiles/micro2M=900", "shared_load_requests") / count("ballots/micro2M=900", "shared_load_requests")
//? unit: times as many
//? near: factor 1.5

/// `tiles`, with two barriers for each batch.
///
/// Launch: blocks of THREADS threads, one for each tile.
__global__ void __launch_bounds__(THREADS) ballots() {
  __shared__ unsigned warp_totals[THREADS / 32];
  __shared__ unsigned list[THREADS];
  const unsigned t = threadIdx.x;
  const Box tile = tile_box(TILE);
  const int x = tile.left + t % TILE, y = tile.bottom + t / TILE;
  float4 pixel = {1, 1, 1, 0};

  for (unsigned first = 0; first < frame.circles; first += THREADS) {
    const unsigned i = first + t;
    const bool hit = i < frame.circles && touches(frame.place[i], tile);
    unsigned total;
    const unsigned place = rank_of(hit, warp_totals, total);
    if (hit) list[place] = i;
    __syncthreads();  // the list is complete, and warp_totals has been read
    for (unsigned j = 0; j < total; ++j) {
      const float4 c = frame.place[list[j]];
      const float d2 = square(offset(x, frame.scale, c.x), offset(y, frame.scale, c.y));
      if (d2 <= c.z * c.z) {
        pixel = over(pixel, frame.colour[list[j]], alpha_at(d2, c.z * c.z, frame.soft));
      }
    }
  }
  if (x < frame.width && y < frame.height) {
    frame.image[static_cast<size_t>(y) * frame.width + x] = pixel;
  }
}

// For each batch the scan makes about 15 shared-memory reads; the ballots read 8 totals. The barriers fall from ten to
// two.
//
// **Timed**, for `rand10k`: 0.34 ms for `tiles` and 0.28 ms for `ballots`, instead of 6.8 ms.
//= 0.34 ms: ms("tiles/rand10k")
//= 0.28 ms: ms("ballots/rand10k")
//= 6.8 ms: ms("in_registers/rand10k")
//
// ## 5. Front to back
//
// In `rand100k` about 880 circles cover each pixel, and each hides half of what is below it. After 24 of them, what
// is below has been halved 24 times: it contributes at most 2^-24, a unit in the last place of a float between 1/2
// and 1. The 850 circles below cannot be seen, and need not be drawn.
//= 880: 100000 * 3.14159 * (0.08**3 - 0.02**3) / 3 / 0.06
//
// To leave them out, a thread must start at the front. So far a layer made alpha c + (1 - alpha) p of the pixel p, where
// c is the layer's colour. Multiply that out: each colour is weighted by its own alpha and by the **transmittance** of
// all layers above it, the product of their (1 - alpha). From above, the same terms can be added up with a running
// transmittance. A pixel is **saturated** when its transmittance has fallen below 2^-24.

constexpr float DARK = 0x1p-24f;  ///< with less transmittance, nothing below can be seen

/// Adds a layer below those of a pixel: rgb is the sum of its layers so far, w their transmittance.
__device__ inline void under(float4& sum, float4 colour, float alpha) {
  const float share = alpha * sum.w;
  sum.x = fmaf(share, colour.x, sum.x);
  sum.y = fmaf(share, colour.y, sum.y);
  sum.z = fmaf(share, colour.z, sum.z);
  sum.w = fmaf(-alpha, sum.w, sum.w);
}

/// The pixel that it becomes with the white background behind it.
__device__ inline float4 finished(float4 sum) {
  return {sum.x + sum.w, sum.y + sum.w, sum.z + sum.w, 1 - sum.w};
}

/// Draws circles of the block's tile, batch by batch from the nearest on, while any of its pixels needs more.
///
/// @param k, end  the circles from k to end - 1, counted from the nearest
/// @param above   transmittance of what lies above them
/// @param most    stops behind the batch in which the tile has drawn so many
/// @param sum     of the thread's pixel; without a pixel its transmittance is 0
/// @return        the first circle that is left to others; `end` if no pixel needs more
__device__ inline unsigned draw_down(Box tile, unsigned k, unsigned end, float above, unsigned most,
                                     float4& sum) {
  __shared__ unsigned warp_totals[THREADS / 32];
  __shared__ unsigned list[THREADS];
  const unsigned t = threadIdx.x, n = frame.circles;
  const int x = tile.left + t % TILE, y = tile.bottom + t / TILE;
  for (unsigned drawn = 0; k < end && drawn < most; k += THREADS) {
    const unsigned i = n - 1 - (k + t);
    const bool hit = k + t < end && touches(frame.place[i], tile);
    unsigned total;
    const unsigned place = rank_of(hit, warp_totals, total);
    if (hit) list[place] = i;
    __syncthreads();
    for (unsigned j = 0; j < total && sum.w * above >= DARK; ++j) {
      const float4 c = frame.place[list[j]];
      const float d2 = square(offset(x, frame.scale, c.x), offset(y, frame.scale, c.y));
      if (d2 <= c.z * c.z) under(sum, frame.colour[list[j]], alpha_at(d2, c.z * c.z, frame.soft));
    }
    if (!__syncthreads_or(sum.w * above >= DARK)) return end;
    drawn += total;
  }
  return min(k, end);
}

//? early: How many times fewer load requests does `front_to_back` make than `ballots`, for `biglittle=600`: 540
//?   large circles, each covering about a fifth of the image, and 60 small ones above them?
//? answer: count("ballots/biglittle=600", "global_load_requests") / count("front_to_back/biglittle=600",
//?   "global_load_requests")
//? unit: times fewer
//? near: factor 2

/// Draws a tile from the nearest circle on, until it is saturated.
///
/// Launch: blocks of THREADS threads, one for each tile.
__global__ void __launch_bounds__(THREADS) front_to_back() {
  const Box tile = tile_box(TILE);
  const int x = tile.left + threadIdx.x % TILE, y = tile.bottom + threadIdx.x / TILE;
  const bool mine = x < frame.width && y < frame.height;
  float4 sum = {0, 0, 0, mine ? 1.0f : 0.0f};
  draw_down(tile, 0, frame.circles, 1, frame.circles, sum);
  if (mine) frame.image[static_cast<size_t>(y) * frame.width + x] = finished(sum);
}

// About three times. In the middle of the image a pixel is saturated after about 125 large circles, so one of three
// batches suffices. Near the edges fewer circles cover a pixel, and tiles take longer. With 10,000 circles nearly
// all batches are skipped.
//= three times: count("ballots/biglittle=600", "global_load_requests") / count("front_to_back/biglittle=600",
//=   "global_load_requests")
//
// **Timed.** `rand100k` takes 0.112 ms instead of 2.68, `biglittle` 0.057 instead of 1.89. The pixels of `micro2M` do not
// saturate: 35 ms instead of 30.
//= 0.112 ms instead of 2.68: (ms("front_to_back/rand100k"), ms("ballots/rand100k"))
//= 0.057 instead of 1.89: (ms("front_to_back/biglittle"), ms("ballots/biglittle"))
//= 35 ms instead of 30: (ms("front_to_back/micro2M"), ms("ballots/micro2M"))
//
// ### Leaving together (second reading)
//
// The block leaves the loop of `draw_down` when no pixel needs more, and that must be decided **by all threads together**: a
// thread that left alone would be missing at the barrier. `__syncthreads_or` is a barrier that also returns
// whether the condition holds for any thread. A thread without a pixel starts with a transmittance of 0, and so
// never asks for more.
//
//? saturated: A pixel's transmittance starts at 1, and DARK is 2^-24. How many layers with alpha 1/2 does a thread
//?   draw at most?
//? choices: 23 | 24 | 25
//? answer: 24 + 1
//
// 24 layers leave 2^-24, which is not less than DARK, so one more is drawn.
//
// ### What changes in the image (second reading)
//
// The result differs in its last bits, for two reasons. The terms are added in another order, so they are rounded in
// other places. And a saturated pixel lacks its lowest layers, which together contribute less than 2^-24. The check of
// this chapter allows for that and for nothing else: four roundings for each visible layer, 16 where edges are soft, and
// four more. The reference, which computes in double precision, counts the visible layers. A layer that is missing or
// out of order is off by thousands of times as much.
//
// The coverage, the image's fourth channel, ends at 1 both ways. From below it rounds to 1 at the 25th layer of alpha
// 1/2; from above it is 1 - w with w = 2^-25, which rounds to 1, too. With 8 bits a channel, a transmittance below 2^-9
// moves a channel by one step at most, and one could stop after 10 layers. But then the image depends on the threshold,
// and this chapter's check fails.
//
// ## 6. Splitting hot tiles (second reading)
//
// A launch takes as long as its slowest block. Where circles crowd in one corner, a few tiles have most of the work
// while the other SMs idle. Several blocks could share such a tile if each drew some of its circles. But the order
// matters.
//
// It works all the same, because blending is **associative**. A stack of layers, seen from above, is a colour and a
// transmittance, just like a single layer: (C, T). Two stacks on top of each other are one:
//
//     (C1, T1) over (C2, T2)  =  (C1 + T1 C2, T1 T2)
//
// So a stack may be cut anywhere, each part drawn on its own, and the parts combined in order. It is an operator for
// a scan, associative and not commutative, like that of segments in chapter 14.
//
//? price: Suppose that each tile of `rand100k` is cut into 4 parts of 25,000 circles, and that any 4,000 circles in a
//?   row saturate it. How many tests is that, compared with `front_to_back`?
//? choices: a quarter | the same | four times as many
//? answer: {"a quarter": 4 * min(25000, 4000) / min(100000, 4000) == 1 / 4,
//?   "the same": 4 * min(25000, 4000) / min(100000, 4000) == 1,
//?   "four times as many": 4 * min(25000, 4000) / min(100000, 4000) == 4}
//
// A part does not know what is above it, so it draws until it is saturated itself. In the end three of the four parts
// are hidden. Splitting works against stopping early: **split only what does not saturate soon**.
//
// ### Only the hot tiles
//
// Which tiles do not saturate soon shows only while they are drawn. A tile that still needs more after 64 circles is
// *hot*: its block writes down where it stopped, and leaves the rest to a second launch.

constexpr unsigned HOT = 64;   ///< circles that a tile draws before it is split
constexpr unsigned PARTS = 4;  ///< of what is left then

/// The tiles that are to be split, in any order.
struct HotTiles {
  unsigned* count;  ///< how many there are; 0 before the first launch
  unsigned* done;   ///< for each, how many of its parts are drawn; 0 before the first launch
  uint3* tiles;     ///< their columns and rows, and the first circle that is left
  float4* layers;   ///< (tiles, PARTS, THREADS): what each part sums up
};

/// Draws each tile until it is saturated or hot. A hot tile's pixels are left as sums.
///
/// Launch: blocks of THREADS threads, one for each tile.
__global__ void __launch_bounds__(THREADS) draw_fronts(HotTiles hot) {
  const Box tile = tile_box(TILE);
  const int x = tile.left + threadIdx.x % TILE, y = tile.bottom + threadIdx.x / TILE;
  const bool mine = x < frame.width && y < frame.height;
  float4 sum = {0, 0, 0, mine ? 1.0f : 0.0f};
  const unsigned next = draw_down(tile, 0, frame.circles, 1, HOT, sum);
  const bool split = next < frame.circles;
  if (mine) {
    frame.image[static_cast<size_t>(y) * frame.width + x] = split ? sum : finished(sum);
  }
  if (split && threadIdx.x == 0) {
    hot.tiles[atomicAdd(hot.count, 1)] = {blockIdx.x, blockIdx.y, next};
  }
}

/// Draws what is left of the hot tiles, a block for each part. The last one of a tile puts the parts together.
///
/// Launch: blocks of THREADS threads, any number.
__global__ void __launch_bounds__(THREADS) draw_parts(HotTiles hot) {
  __shared__ bool last;
  const unsigned n = frame.circles, parts = *hot.count * PARTS;
  for (unsigned item = blockIdx.x; item < parts; item += gridDim.x) {
    const uint3 found = hot.tiles[item / PARTS];
    const int left = found.x * TILE, bottom = found.y * TILE;
    const int x = left + threadIdx.x % TILE, y = bottom + threadIdx.x / TILE;
    const bool mine = x < frame.width && y < frame.height;
    float4* const pixel = frame.image + static_cast<size_t>(y) * frame.width + x;
    const float4 front = mine ? *pixel : float4{0, 0, 0, 0};

    const unsigned each = (n - found.z + PARTS - 1) / PARTS, begin = found.z + item % PARTS * each;
    float4 sum = {0, 0, 0, 1};
    draw_down({left, left + TILE, bottom, bottom + TILE}, begin, min(begin + each, n), front.w, n,
              sum);
    float4* const layers = hot.layers + size_t{item / PARTS} * PARTS * THREADS + threadIdx.x;
    layers[item % PARTS * THREADS] = sum;

    __threadfence();  // the part is there before it is counted
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&hot.done[item / PARTS], 1) == PARTS - 1;
    __syncthreads();
    if (!last || !mine) continue;
    __threadfence();
    float4 all = front;
    for (unsigned part = 0; part < PARTS; ++part) {
      const float4 layer = layers[part * THREADS];
      all = {fmaf(all.w, layer.x, all.x), fmaf(all.w, layer.y, all.y), fmaf(all.w, layer.z, all.z),
             all.w * layer.w};
    }
    *pixel = finished(all);
  }
}

/// Draws a scene; the tiles that are hot, in parts.
///
/// @param f      of the scene, on the host
/// @param hot    room for all tiles; `count` and `done` stand in a row
void split_tiles(const Frame& f, HotTiles hot) {
  const dim3 grid(lab::ceil_div(f.width, TILE), lab::ceil_div(f.height, TILE));
  CUDA_CHECK(cudaMemsetAsync(hot.count, 0, (size_t{grid.x} * grid.y + 1) * sizeof(unsigned)));
  draw_fronts<<<grid, THREADS>>>(hot);
  draw_parts<<<std::min(grid.x * grid.y * PARTS, 1024u), THREADS>>>(hot);
}

// Here an atomic counter is right: hot tiles may be listed in any order, since order matters only within a pixel. The
// host does not know how many there are, and need not wait to find out. It launches enough blocks to fill the GPU,
// and each takes parts until none is left. A ticket tells the block that finishes a tile last, as in section 9 of
// chapter 07. It combines the parts in their order, whatever the order in which they were drawn. A part does know the
// transmittance of the front, `above`, so it stops sooner than it would alone.
//
// Which tiles become hot? Circles much larger than a tile saturate it after 30 or 40 of them, because most cover all
// of its pixels. A tile becomes hot only where *small* circles crowd, or faint ones.
//
// **Timed.** On an H200 it is slower. `micro2M` takes 37 ms instead of 35: all of its 4096 tiles are hot, and they kept
// all SMs busy before. `rand1M` takes 3.8 ms instead of 1.4: three of four parts are hidden, as in the question above.
// Only at 4096 x 4096 does `micro2M` gain, 466 ms instead of 501, and `ballots` takes 427. `micro2M` is slow because
// each tile tests each circle, as the next sections show.
//= takes 427: ms("ballots/micro2M", "4096,4096")
//= 37 ms instead of 35: (ms("split_tiles/micro2M"), ms("front_to_back/micro2M"))
//= 4096 tiles: (1024 / 16) ** 2
//= 3.8 ms instead of 1.4: (ms("split_tiles/rand1M"), ms("front_to_back/rand1M"))
//= 466 ms instead of 501: (ms("split_tiles/micro2M", "4096,4096"), ms("front_to_back/micro2M", "4096,4096"))
//
// ## 7. Sorted pairs (second reading)
//
// All these tiles test circles while they draw: batch by batch, with barriers, until they are saturated. Make the lists
// first: all **pairs** of a tile and a circle, sorted by tile and, within a tile, by circle. Then each tile finds its
// circles side by side, and no circle is compared with a tile that its box does not touch. Most rasterisers work this way,
// also that of Gaussian splatting (B. Kerbl and others, 2023).
//
// Every circle knows its tiles: those that its box touches. So a sort needs no comparisons. Three steps, which chapter
// 08 has introduced, send each pair to its place:
//
// 1. **Count** the pairs of each tile. The order does not matter here, so each circle adds 1 to the counter of each of
//    its tiles, by atomic operations.
// 2. **Scan** the counts: the exclusive scan tells where the list of each tile begins.
// 3. **Write** each pair to its place. Now the order matters: the circles of a tile must be written in their order.
//
// One warp that takes circle after circle would keep the order, and leave the rest of the GPU idle. So the circles are
// divided into up to 1024 **chunks**, and each tile has a counter for each chunk. The scan goes through a tile's
// counters chunk by chunk, and tells where the pairs of each tile *and chunk* begin. Then all chunks can be written at
// the same time, each in its order. A radix sort is made of the same steps, with digits in place of tiles.

constexpr unsigned CHUNKS = 1024;     ///< the circles are divided into at most so many
constexpr unsigned COUNTS = 1 << 24;  ///< and there are at most so many counters
constexpr int LANES = 4;              ///< threads that count a circle's pairs: it may have hundreds
constexpr int BAND = 512;             ///< tiles whose lists a warp writes

/// All pairs of a tile and a circle.
struct Pairs {
  int tiles;
  unsigned chunks;
  unsigned each;               ///< circles of a chunk, a multiple of 32
  ushort4* boxes;              ///< the tiles that each circle touches: left, right, bottom, top
  unsigned* places;            ///< (chunks, tiles): counts, then places in the list of the tile
  unsigned long long* begins;  ///< (tiles + 1): where the list of each tile begins, and their end
  unsigned* circles;           ///< the lists, tile by tile
};

/// Counts the pairs of each tile and chunk, and notes which tiles each circle touches.
///
/// Launch: LANES threads per circle, in blocks of one dimension; all places are 0.
__global__ void count_pairs(Pairs pairs) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
  if (i >= frame.circles) return;
  const float4 c = frame.place[i];
  const Box box = box_of(c.x, c.y, c.z, frame);
  const int left = box.left / TILE, right = (box.right + TILE - 1) / TILE;
  const int bottom = box.bottom / TILE, top = (box.top + TILE - 1) / TILE;
  if (lane == 0) {
    pairs.boxes[i] =
        make_ushort4(static_cast<unsigned short>(left), static_cast<unsigned short>(right),
                     static_cast<unsigned short>(bottom), static_cast<unsigned short>(top));
  }
  const int columns = (frame.width + TILE - 1) / TILE;
  unsigned* const counts = pairs.places + size_t{i / pairs.each} * pairs.tiles;
  for (int row = bottom; row < top; ++row) {
    for (int column = left + static_cast<int>(lane); column < right; column += LANES) {
      atomicAdd(&counts[row * columns + column], 1);
    }
  }
}

// In memory the counters stand chunk by chunk, the tiles of a chunk side by side. So the threads of a warp scan
// neighbouring tiles, and their accesses are coalesced. 32 warps share the chunks of 32 tiles: each sums up its part,
// a scan of the parts tells where each begins, and a second pass turns counts into places.

/// The exclusive scan of a value of each of 32 lanes.
template <class T>
__device__ inline T scan_warp(T value, T& total) {
  T inclusive = value;
  for (unsigned d = 1; d < 32; d *= 2) {
    const T left = __shfl_up_sync(ALL, inclusive, d);
    if (threadIdx.x % 32 >= d) inclusive += left;
  }
  total = __shfl_sync(ALL, inclusive, 31);
  return inclusive - value;
}

/// Scans the counts of each tile, chunk by chunk: they become places. `begins` gets each tile's number of pairs.
///
/// Launch: blocks of 1024 threads, one for each 32 tiles.
__global__ void __launch_bounds__(1024) scan_chunks(Pairs pairs) {
  __shared__ unsigned sums[32][33];  // (part of the chunks, tile)
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int tile = static_cast<int>(blockIdx.x * 32 + lane);
  const unsigned each = (pairs.chunks + 31) / 32, first = warp * each;
  const unsigned last = tile < pairs.tiles ? min(first + each, pairs.chunks) : 0;
  unsigned sum = 0;
  for (unsigned chunk = first; chunk < last; ++chunk) {
    sum += pairs.places[size_t{chunk} * pairs.tiles + tile];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  unsigned total;  // of the tile that has the warp's number
  sums[lane][warp] = scan_warp(sums[lane][warp], total);
  const int of_warp = static_cast<int>(blockIdx.x * 32 + warp);
  if (lane == 0 && of_warp < pairs.tiles) pairs.begins[of_warp] = total;
  __syncthreads();
  if (first >= last) return;
  unsigned before = sums[warp][lane];
  for (unsigned chunk = first; chunk < last; ++chunk) {
    unsigned& place = pairs.places[size_t{chunk} * pairs.tiles + tile];
    const unsigned count = place;
    place = before;
    before += count;
  }
}

/// Scans the tiles' numbers of pairs.
///
/// Launch: one block of 1024 threads.
__global__ void __launch_bounds__(1024) scan_tiles(Pairs pairs) {
  using Count = unsigned long long;
  __shared__ Count sums[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Count before = 0;
  for (int first = 0; first < pairs.tiles; first += 1024) {
    const int tile = first + static_cast<int>(threadIdx.x);
    Count total;
    const Count in_warp = scan_warp(tile < pairs.tiles ? pairs.begins[tile] : Count{0}, total);
    if (lane == 0) sums[warp] = total;
    __syncthreads();
    const Count of_warps = scan_warp(sums[lane], total);
    const Count place = before + __shfl_sync(ALL, of_warps, warp) + in_warp;
    if (tile < pairs.tiles) pairs.begins[tile] = place;
    before += total;
    __syncthreads();  // the sums have been read
  }
  if (threadIdx.x == 0) pairs.begins[pairs.tiles] = before;
}

// To write the pairs, a warp loads 32 circles at a time, one for each lane, and takes them one by one. Its lanes share
// the tiles of a circle: for its tile a lane finds in shared memory where the next circle goes, writes it there, and
// moves on by one. `__syncwarp` makes that visible to the other lanes. A chunk has several warps: each writes the lists
// of a **band** of 512 tiles. No two warps share a place, so there is no atomic operation.

/// Writes each pair to its place.
///
/// Launch: blocks of 256 threads: along x one for each chunk, along y one for each 8 bands.
__global__ void __launch_bounds__(256) write_pairs(Pairs pairs) {
  __shared__ unsigned long long next[8][BAND];  // (warp, tile): where its next circle goes
  __shared__ ushort4 boxes[8][32];              // (warp, circle)
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int begin = (blockIdx.y * 8 + warp) * BAND, end = min(begin + BAND, pairs.tiles);
  const int columns = (frame.width + TILE - 1) / TILE, row = begin / columns;
  const unsigned* const places = pairs.places + size_t{blockIdx.x} * pairs.tiles;
  for (int tile = begin + lane; tile < end; tile += 32) {
    next[warp][tile - begin] = pairs.begins[tile] + places[tile];
  }
  const unsigned stop = min((blockIdx.x + 1) * pairs.each, frame.circles);
  for (unsigned first = blockIdx.x * pairs.each; first < stop; first += 32) {
    ushort4 box = {0, 0, 0, 0};
    if (first + lane < stop) box = pairs.boxes[first + lane];
    boxes[warp][lane] = box;
    const bool here =
        box.x < box.y && box.z * columns + box.x < end && (box.w - 1) * columns + box.y > begin;
    unsigned left = __ballot_sync(ALL, here);
    __syncwarp();  // the boxes, and at first the places, are there
    for (; left != 0; left &= left - 1) {
      const int from = __ffs(left) - 1;
      const ushort4 b = boxes[warp][from];
      // The lanes take 8 x 4 tiles at a time. Most circles touch no more: unrolled loops would cost instructions.
#pragma unroll 1
      for (int v = max(b.z, row) + lane / 8; v < b.w && v * columns < end; v += 4) {
        const int last = min(v * columns + b.y, end);
#pragma unroll 1
        for (int tile = max(v * columns + b.x, begin) + lane % 8; tile < last; tile += 8) {
          pairs.circles[next[warp][tile - begin]++] = first + from;
        }
      }
      __syncwarp();  // the next circle finds the places moved on
    }
  }
}

/// Draws each pixel from the list of its tile, nearest circles first.
///
/// Launch: blocks of THREADS threads, one for each tile.
__global__ void __launch_bounds__(THREADS) draw_lists(Pairs pairs) {
  __shared__ float4 place[THREADS], colour[THREADS];
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  const Box tile = tile_box(TILE);
  // A warp has 8 x 4 pixels.
  const int x = tile.left + warp % 2 * 8 + lane % 8, y = tile.bottom + warp / 2 * 4 + lane / 8;
  const bool mine = x < frame.width && y < frame.height;
  const unsigned number = blockIdx.y * gridDim.x + blockIdx.x;
  const unsigned* const list = pairs.circles + pairs.begins[number];
  float4 sum = {0, 0, 0, mine ? 1.0f : 0.0f};
  for (size_t end = pairs.begins[number + 1] - pairs.begins[number]; end > 0;) {
    const unsigned count = min(end, size_t{THREADS});
    if (t < count) {
      const unsigned i = list[end - 1 - t];
      place[t] = frame.place[i];
      colour[t] = frame.colour[i];
    }
    __syncthreads();  // places and colours are there
    for (unsigned first = 0; first < count && __any_sync(ALL, sum.w >= DARK); first += 32) {
#pragma unroll 8
      for (unsigned j = first; j < min(first + 32, count); ++j) {
        const float4 c = place[j];
        const float d2 = square(offset(x, frame.scale, c.x), offset(y, frame.scale, c.y));
        if (d2 <= c.z * c.z) under(sum, colour[j], alpha_at(d2, c.z * c.z, frame.soft));
      }
    }
    end -= count;
    if (!__syncthreads_or(sum.w >= DARK)) break;
  }
  if (mine) frame.image[static_cast<size_t>(y) * frame.width + x] = finished(sum);
}

/// Draws a scene with sorted pairs.
///
/// @param f      of the scene, on the host
/// @param pairs  with room for all boxes, places and begins; `circles` is allocated here
void sorted_pairs(const Frame& f, Pairs pairs) {
  const unsigned tiles = static_cast<unsigned>(pairs.tiles);
  const size_t counts = size_t{pairs.chunks} * tiles;
  CUDA_CHECK(cudaMemsetAsync(pairs.places, 0, counts * sizeof(unsigned)));
  count_pairs<<<lab::ceil_div(f.circles, 256u / LANES), 256>>>(pairs);
  scan_chunks<<<lab::ceil_div(tiles, 32u), 1024>>>(pairs);
  scan_tiles<<<1, 1024>>>(pairs);

  unsigned long long total = 0;
  CUDA_CHECK(cudaMemcpy(&total, pairs.begins + pairs.tiles, sizeof total, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMallocAsync(&pairs.circles, (total + 1) * sizeof(unsigned), nullptr));
  write_pairs<<<dim3(pairs.chunks, lab::ceil_div(tiles, 8u * BAND)), 256>>>(pairs);
  draw_lists<<<dim3(lab::ceil_div(f.width, TILE), lab::ceil_div(f.height, TILE)), THREADS>>>(pairs);
  CUDA_CHECK(cudaFreeAsync(pairs.circles, nullptr));
}

// `draw_lists` goes through its list in batches, from the end. It needs no tests and no scan to fill them. A warp has
// 8 x 4 pixels, and leaves a batch when all of them are saturated.
//
// The host does not know how many pairs there will be. It has to wait for the number before it can allocate the lists: a
// **round trip**, during which the GPU idles. `cudaMallocAsync` takes memory from a **pool**. By default the pool gives
// what is free back to the driver whenever the host waits, and the next frame asks for it again. A renderer tells the
// pool to keep it.

/// Lets the device's default pool keep the memory that `cudaFreeAsync` returns.
void keep_freed_memory() {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  unsigned long long all = ~0ull;  // bytes
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

// **Timed.** `micro2M` takes 0.57 ms instead of 35, and `rand1M` 0.30 instead of 1.4. But `rand100k` takes 0.23 instead
// of 0.112, and `rgb`, with its three circles, 0.051 instead of 0.010.
//= 0.57 ms instead of 35: (ms("sorted_pairs/micro2M"), ms("front_to_back/micro2M"))
//= 0.30 instead of 1.4: (ms("sorted_pairs/rand1M"), ms("front_to_back/rand1M"))
//= 0.23 instead: ms("sorted_pairs/rand100k")
//= of 0.112: ms("front_to_back/rand100k")
//= 0.051 instead of 0.010: (ms("sorted_pairs/rgb"), ms("front_to_back/rgb"))
//
// Two problems are left: the round trip, and pairs that nobody looks at. All are made, even those of hidden circles.
// Where circles are much larger than a tile, there are far more pairs than circles.
//
//? pairs: How many pairs are there for each circle in `rand10k=600`?
//? answer: count("sorted_pairs/rand10k=600", "global_store_active_lanes", "write_pairs") / 600
//? unit: pairs
//? near: factor 1.5
//
// The longer side of this image has 90 pixels, so a circle of radius .05 has a box of 9 x 9 pixels, which touches one
// to four tiles. In an image of 1024 x 1024 pixels the same circle has a box of 102 x 102 pixels, and touches about 50
// tiles.
//
// ## 8. Masks, without a round trip
//
// A box touches a tile if it touches the tile's column *and* the tile's row. So it is enough to know, for each
// **column** of tiles and for each **row**, which circles touch it. That is one bit for each circle: 32 circles fit
// into a word, and the circles of a tile are the bitwise *and* of two words.
//
// ```{drawing} masks
// ```
//
// The host knows the size of the masks before the launch: circles / 8 bytes for each column and each row. Nothing has
// to be counted, scanned or sorted, and there is no round trip. The position of a bit is that of its circle, so the
// order is kept.
//
// A warp makes the words of 32 circles. Each lane has one circle and knows which columns its box touches: a word with
// a bit for each of 32 *columns*. What is wanted is a word for each column with a bit for each *circle*. That is the
// transpose of a matrix of 32 x 32 bits, of which each lane holds a row. Five steps exchange its halves, quarters and
// so on between lanes.

/// Lane j gets bit j of each lane's word: a transposition of 32 x 32 bits.
__device__ inline unsigned transpose_bits(unsigned word) {
  const unsigned lane = threadIdx.x % 32;
  unsigned low = 0x0000FFFF;  // bits whose number lacks d
#pragma unroll
  for (unsigned d = 16; d > 0; d /= 2) {
    const unsigned other = __shfl_xor_sync(ALL, word, d);
    word = (lane & d) == 0 ? (word & low) | (other & low) << d : (word & ~low) | (other >> d & low);
    low ^= low << d / 2;
  }
  return word;
}

/// A word with the bits from `begin` to `end` - 1 set, as far as it has them.
__device__ inline unsigned bits_between(int begin, int end) {
  begin = max(begin, 0), end = min(end, 32);
  return begin < end ? ALL >> (32 - (end - begin)) << begin : 0;
}

constexpr int SIDE = 32;                ///< pixels along a side of a tile, from here on
constexpr unsigned WORDS_A_BLOCK = 32;  ///< words of a mask that a block makes: 1024 circles

/// Marks which circles touch each column and each row of tiles. Bit 0 of word 0 is the nearest circle.
///
/// @param columns, rows  (columns, words) and (rows, words)
/// @param words          in a mask: a multiple of WORDS_A_BLOCK; bits that stand for no circle become 0
///
/// Launch: blocks of 256 threads, one for each WORDS_A_BLOCK words.
__global__ void __launch_bounds__(256)
    mark_tiles(unsigned* columns, unsigned* rows, unsigned words) {
  __shared__ unsigned staged[32][33];  // (column or row, word)
  constexpr unsigned EACH = WORDS_A_BLOCK / 8;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = frame.circles;
  Box boxes[EACH];  // in tiles
#pragma unroll
  for (unsigned v = 0; v < EACH; ++v) {
    const unsigned k = (blockIdx.x * WORDS_A_BLOCK + warp * EACH + v) * 32 + lane;
    Box box = {0, 0, 0, 0};
    if (k < n) {
      const float4 c = frame.place[n - 1 - k];
      box = box_of(c.x, c.y, c.z, frame);
    }
    boxes[v] = {box.left / SIDE, (box.right + SIDE - 1) / SIDE, box.bottom / SIDE,
                (box.top + SIDE - 1) / SIDE};
  }

  const int wide = (frame.width + SIDE - 1) / SIDE, high = (frame.height + SIDE - 1) / SIDE;
  const auto mark = [&](unsigned* masks, int count, auto begin, auto end) {
    for (int first = 0; first < count; first += 32) {
#pragma unroll
      for (unsigned v = 0; v < EACH; ++v) {
        staged[lane][warp * EACH + v] =
            transpose_bits(bits_between(begin(boxes[v]) - first, end(boxes[v]) - first));
      }
      __syncthreads();
      for (int i = warp; i < 32 && first + i < count; i += 8) {
        masks[static_cast<size_t>(first + i) * words + blockIdx.x * WORDS_A_BLOCK + lane] =
            staged[i][lane];
      }
      __syncthreads();
    }
  };
  mark(
      columns, wide, [](Box b) { return b.left; }, [](Box b) { return b.right; });
  mark(
      rows, high, [](Box b) { return b.bottom; }, [](Box b) { return b.top; });
}

// A block draws a tile of 32 x 32 pixels with 256 threads, four pixels each. It goes through its two masks from the
// front. In each batch a thread takes W words, and a scan of the numbers of their set bits gives each circle its
// place in the list. When the list holds 256 circles, or at the end, the block loads their places and colours into
// shared memory and draws them.
//
// Each batch begins with `listed` circles in the list, fewer than 256, in their order and not yet drawn. The scan adds
// the new ones behind them. What does not fit stays in `hits` until the list has been drawn, and then goes to its front,
// 256 places lower.

/// What the blocks of section 8 and 9 keep in shared memory.
struct Staged {
  unsigned warp_totals[2]
                      [8];  ///< circles that each warp has found, for this batch and the one before
  unsigned list[256];
  float4 place[256], colour[256];
  unsigned touching[8][32];  ///< section 9: (32 circles, block of pixels)
};

/// Stages the circles that touch the tile of this block, nearest first, 256 at a time, and calls blend(count) for them.
/// It says whether its thread needs more.
///
/// @tparam W  words that a thread takes at a time: 1, or 4, 8 ... with loads of 128 bits
template <unsigned W, class Blend>
__device__ inline void for_circles(Staged& staged, const unsigned* columns, const unsigned* rows,
                                   unsigned words, Blend blend) {
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32, n = frame.circles;
  const unsigned* const column = columns + size_t{blockIdx.x} * words;
  const unsigned* const row = rows + size_t{blockIdx.y} * words;
  unsigned now = 0, listed = 0;
  for (unsigned first = 0; first < words; first += 256 * W, now = 1 - now) {
    const unsigned at = first + t * W;
    const bool last = first + 256 * W >= words;
    unsigned hits[W] = {}, found = 0;
    if constexpr (W == 1) {
      if (at < words) hits[0] = column[at] & row[at];
    } else {
#pragma unroll
      for (unsigned w = 0; w < W; w += 4) {
        if (at + w >= words) break;
        const uint4 a = *reinterpret_cast<const uint4*>(column + at + w);
        const uint4 b = *reinterpret_cast<const uint4*>(row + at + w);
        hits[w] = a.x & b.x, hits[w + 1] = a.y & b.y;
        hits[w + 2] = a.z & b.z, hits[w + 3] = a.w & b.w;
      }
    }
#pragma unroll
    for (unsigned w = 0; w < W; ++w) found += __popc(hits[w]);

    // The scan of all counts: in a warp, then over the warps.
    unsigned place = found;
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
      const unsigned left = __shfl_up_sync(ALL, place, d);
      if (lane >= d) place += left;
    }
    if (lane == 31) staged.warp_totals[now][warp] = place;
    place -= found;
    __syncthreads();
#pragma unroll
    for (unsigned w = 0; w < 8; ++w) {
      if (w == warp) place += listed;
      listed += staged.warp_totals[now][w];
    }

    // Draw when the list is full, or at the end.
    for (;; place -= 256) {
#pragma unroll
      for (unsigned w = 0; w < W; ++w) {
        for (; hits[w] != 0 && place < 256; hits[w] &= hits[w] - 1, ++place) {
          staged.list[place] = n - 1 - ((at + w) * 32 + __ffs(hits[w]) - 1);
        }
      }
      if (listed < 256 && (!last || listed == 0)) break;
      __syncthreads();  // the list is complete
      const unsigned count = min(listed, 256u);
      if (t < count) {
        const unsigned i = staged.list[t];
        staged.place[t] = frame.place[i];
        staged.colour[t] = frame.colour[i];
      }
      __syncthreads();  // so are places and colours
      const bool open = blend(count);
      if (!__syncthreads_or(open)) return;
      listed -= count;
    }
  }
}

/// Draws a tile of 32 x 32 pixels from its masks.
///
/// @param columns, rows, words  as `mark_tiles` has left them
///
/// Launch: blocks of 256 threads, one for each tile.
__global__ void __launch_bounds__(256)
    masks(const unsigned* columns, const unsigned* rows, unsigned words) {
  __shared__ Staged staged;
  const Box tile = tile_box(SIDE);
  const int x = tile.left + threadIdx.x % SIDE, y = tile.bottom + threadIdx.x / SIDE;
  float4 sums[4];  // of the pixels in column x and rows y, y + 8, y + 16, y + 24
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    sums[s] = {0, 0, 0, x < frame.width && y + 8 * s < frame.height ? 1.0f : 0.0f};
  }
  for_circles<1>(staged, columns, rows, words, [&](unsigned count) {
    for (unsigned j = 0; j < count; ++j) {
      const float4 c = staged.place[j], colour = staged.colour[j];
      const float dx = offset(x, frame.scale, c.x), radius2 = c.z * c.z;
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float d2 = square(dx, offset(y + 8 * s, frame.scale, c.y));
        if (d2 <= radius2) under(sums[s], colour, alpha_at(d2, radius2, frame.soft));
      }
    }
    return fmaxf(fmaxf(sums[0].w, sums[1].w), fmaxf(sums[2].w, sums[3].w)) >= DARK;
  });
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    if (x < frame.width && y + 8 * s < frame.height) {
      frame.image[static_cast<size_t>(y + 8 * s) * frame.width + x] = finished(sums[s]);
    }
  }
}

// The four pixels of a thread share the circle's load from shared memory and one of its two offsets. That is the
// {term}`register tiling <register tile>` of chapter 04, for pixels.
//
// Why has `warp_totals` two rows? A batch that does not fill the list has only one barrier, and a fast warp may write
// its next count while a slow one still reads. Before a row is written again, all threads have passed the barrier of
// the batch in between.
//
//? words: How many bytes of masks does `mark_tiles` write for an image of 1024 x 1024 pixels and a million
//?   circles?
//? choices: 0.5 MB | 8 MB | 125 MB
//? answer: (32 + 32) / 8 * 1e6 / 1e6
//
// 32 columns and 32 rows, a bit each: 8 bytes for a circle. All pairs of a tile and a circle, at a bit each, would
// be 128 bytes.
//= 8 bytes: (32 + 32) / 8
//= 128 bytes: 32 * 32 / 8
//
// **Timed.** `rgb` takes 0.012 ms instead of 0.051, `rand100k` 0.115 instead of 0.23, and `rand1M` 0.24 instead of 0.30.
// But `micro2M` takes 1.18 ms, twice as long as with sorted pairs. `biglittle` takes 0.114, twice as long as with
// `front_to_back`. The larger tiles are not why: `warp_blocks` has the same and takes 0.059. But `masks` draws all of a
// list, even where pixels are saturated; its cost is not measured.
//= takes 0.059: ms("warp_blocks/biglittle")
//= 0.012 ms instead of 0.051: (ms("masks/rgb"), ms("sorted_pairs/rgb"))
//= 0.115 instead of 0.23: (ms("masks/rand100k"), ms("sorted_pairs/rand100k"))
//= 0.24 instead of 0.30: (ms("masks/rand1M"), ms("sorted_pairs/rand1M"))
//= 1.18 ms: ms("masks/micro2M")
//= twice as long as with sorted: ms("masks/micro2M") / ms("sorted_pairs/micro2M")
//= 0.114: ms("masks/biglittle")
//= twice as long: ms("masks/biglittle") / ms("front_to_back/biglittle")
//
// ## 9. A mask for 8 x 4 pixels (second reading)
//
// A circle of `micro2M` is two pixels wide, and a tile of `masks` tests 1024 pixels for it. Smaller tiles would have
// shorter lists, and there would be more masks. So a third level stays inside the tile: a mask of the up to 256
// circles in the list for each block of 8 x 4 pixels.
//
// The tile has 32 such blocks, in four columns and eight rows. A lane tests its circle against all of them. That
// gives a word with a bit for each block, and `transpose_bits` turns the words of a warp into a word for each block.
// A warp draws four blocks: a lane has one pixel in each of them, and goes through the block's circles bit by bit.
//
// ```{drawing} levels
// ```

/// A block of 8 x 4 pixels of a tile: number 0 to 31, row by row from its corner.
__device__ inline Box block_box(Box tile, int number) {
  const int left = tile.left + number % 4 * 8, bottom = tile.bottom + number / 4 * 4;
  return {left, left + 8, bottom, bottom + 4};
}

/// Draws a tile of 32 x 32 pixels from its masks; a pixel looks at what touches its block of 8 x 4.
///
/// @tparam SOFT  whether alpha falls off from the centre
/// @tparam W     words of a mask that a thread takes at a time
///
/// Launch: as `masks`.
template <bool SOFT, unsigned W>
__global__ void __launch_bounds__(256, 4)
    warp_blocks(const unsigned* columns, const unsigned* rows, unsigned words) {
  __shared__ Staged staged;
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  const Box tile = tile_box(SIDE);
  const int x = tile.left + lane % 8, y = block_box(tile, 4 * warp).bottom + lane / 8;
  float4 sums[4];  // of the pixels at x, x + 8, x + 16, x + 24
  bool open[4];    // whether a lane of the warp needs more; the same in all lanes
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const bool mine = x + 8 * s < frame.width && y < frame.height;
    sums[s] = {0, 0, 0, mine ? 1.0f : 0.0f};
    open[s] = __any_sync(ALL, mine);
  }
  for_circles<W>(staged, columns, rows, words, [&](unsigned count) {
    unsigned blocks = 0;  // that this thread's circle touches
    if (t < count) {
      const float4 c = staged.place[t];
#pragma unroll 8
      for (int b = 0; b < 32; ++b) blocks |= unsigned{touches(c, block_box(tile, b))} << b;
    }
    staged.touching[warp][lane] = transpose_bits(blocks);
    __syncthreads();  // all warps' bits are there

#pragma unroll
    for (int s = 0; s < 4; ++s) {
      for (unsigned first = 0; first < count && open[s]; first += 32) {
        unsigned hits = staged.touching[first / 32][4 * warp + s];
        for (; hits != 0; hits &= hits - 1) {
          const unsigned j = first + __ffs(hits) - 1;
          const float4 c = staged.place[j], colour = staged.colour[j];
          const float radius2 = c.z * c.z;
          const float d2 = square(offset(x + 8 * s, frame.scale, c.x), offset(y, frame.scale, c.y));
          if (d2 <= radius2) under(sums[s], colour, alpha_at(d2, radius2, SOFT));
        }
        open[s] = __any_sync(ALL, sums[s].w >= DARK);
      }
    }
    return open[0] || open[1] || open[2] || open[3];
  });
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    if (x + 8 * s < frame.width && y < frame.height) {
      frame.image[static_cast<size_t>(y) * frame.width + x + 8 * s] = finished(sums[s]);
    }
  }
}

// A block of 8 x 4 pixels that is saturated is not looked at again. A warp whose four blocks are saturated still
// tests its 32 circles for the other warps.
//
//? culling: How many times fewer load requests to shared memory does `warp_blocks` make than `masks`, for
//?   `micro2M=900`?
//? answer: count("masks/micro2M=900", "shared_load_requests") / count("warp_blocks/micro2M=900",
//?   "shared_load_requests")
//? unit: times fewer
//? near: factor 1.5
//
// Each warp of `masks` loads the place and the colour of every circle in the list. A warp of `warp_blocks` loads one
// word for 32 circles, and then place and colour of each circle that touches the block.
//
// **Timed.** `micro2M` takes 0.30 ms instead of 1.18, `rand1M` 0.095 instead of 0.24, `rand100k` and `biglittle` 0.06 each
// instead of 0.115. For three circles the set-up dominates: `rgb` takes 0.013 ms, and with `in_registers` 0.009.
//= 0.30 ms instead of 1.18: (ms("warp_blocks/micro2M"), ms("masks/micro2M"))
//= 0.095 instead of 0.24: (ms("warp_blocks/rand1M"), ms("masks/rand1M"))
//= 0.06 each: ms("warp_blocks/rand100k")
//= 0.06 each: ms("warp_blocks/biglittle")
//= instead of 0.115: ms("masks/rand100k")
//= 0.013 ms: ms("warp_blocks/rgb")
//= 0.009: ms("in_registers/rgb")
//
// **So:** three levels decide what a pixel has to look at: columns and rows of tiles for all circles, a list for a tile,
// a mask for 32 pixels. Each level tests fewer circles with a finer test, and each keeps the order without an atomic.
//
// What limits it? At the rate of a copy, reading the million circles of `rand1M` once takes 7.5 us and writing the image
// 3.9 us, so global memory is not the limit there. For `micro2M` Nsight Compute found the schedulers busy in 68 % of
// their cycles, with 187 million warp instructions. These take 0.18 ms at 1.98 GHz; what the rest waits for is not
// measured.
//= 0.18 ms: 187e6 / (132 * 4) / 1.98e6
//= 7.5 us: 1e6 * 32 / limit("copy") / 1e3
//= 3.9 us: 1024 * 1024 * 16 / limit("copy") / 1e3
//
// ## 10. Small circles: order at the end (second reading)
//
// A circle of `micro2M` covers three pixels. To find them, every tile reads two masks with a bit for each of two million
// circles: 512 MB for all tiles. The circle could have told them, since it knows its pixels.
//= three pixels: 3.14159 * (0.001 * 1024) ** 2
//= 512 MB: 2 * 2000000 / 8 * 32 * 32 / 1e6
//
// Section 2 asked the circles, a thread for each, and lost atomicity and order. An atomic operation gives the first
// back. As to the second: **a circle's number is its place in the order.** A pixel that knows the numbers of its
// circles can sort them, so until then order does not matter.
//
// 1. Each circle enters a list of each tile that it touches.
// 2. A tile goes through its lists, and each circle notes its number at each of its pixels.
// 3. Each pixel sorts its numbers, and blends.
//
// How long will a list be? Section 7 counted first. A **linked list** need not know: each link says which one comes
// next, and a new one goes to the front. One `atomicExch` does it: it makes the new link the head of the list and
// returns the old one, which comes next.
//
// ```{drawing} links
// ```

/// The lists of all tiles. Links have numbers from 1 on; after the last one comes 0.
struct Links {
  unsigned* heads;  ///< (tiles, THREADS): the first link of each list; 0 before the launch
  unsigned* next;   ///< (4, circles): which link comes after link i + 1 is at i
};

/// Enters each circle into a list of each tile that it touches, at most 2 x 2.
///
/// Source of the idea: Yang, Hensley, Grün and Thibieroz, Real-Time Concurrent Linked List
/// Construction on the GPU, Computer Graphics Forum 29 (2010).
///
/// Launch: one thread per circle, in blocks of one dimension.
__global__ void link_circles(Links links) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = frame.circles;
  if (i >= n) return;
  const float4 c = frame.place[i];
  const Box box = box_of(c.x, c.y, c.z, frame);
  const int columns = (frame.width + TILE - 1) / TILE;
  unsigned link = i + 1;  // and i + 1 + n, i + 1 + 2 n ... in further tiles
  for (int row = box.bottom / TILE; row * TILE < box.top; ++row) {
    for (int column = box.left / TILE; column * TILE < box.right; ++column, link += n) {
      const size_t tile = static_cast<size_t>(row) * columns + column;
      links.next[link - 1] = atomicExch(&links.heads[tile * THREADS + i % THREADS], link);
    }
  }
}

// A thread that walks along a list knows the next link only when this one has arrived, hundreds of cycles later. So a
// tile has 256 lists, one for each thread of the block that draws it: 256 short walks at the same time. Neighbouring
// circles enter different lists, and seldom wait for each other's `atomicExch`.
//
// Each pixel has room for 20 numbers in shared memory, and `atomicAdd` gives a circle its place there. To sort them,
// the pixel's thread takes them into registers. Registers have no addresses, so which two numbers are compared must
// not depend on what they are. That is a **sorting network**, a fixed sequence of exchanges. All lanes execute the
// same ones, and no warp diverges.

/// Sorts numbers, the largest first.
///
/// Source of the idea: the odd-even merge sort of Batcher, Sorting networks and their applications
/// (1968).
template <unsigned N>
__device__ inline void sort_down(unsigned (&numbers)[N]) {
#pragma unroll
  for (unsigned p = 1; p < N; p *= 2) {
#pragma unroll
    for (unsigned d = p; d >= 1; d /= 2) {
#pragma unroll
      for (unsigned i = 0; i + d < N; ++i) {
        // Of a run of 2 p, the first d of each 2 d are compared with those d further on.
        if (i < d % p || (i - d % p) / d % 2 != 0 || i / (2 * p) != (i + d) / (2 * p)) continue;
        const unsigned low = min(numbers[i], numbers[i + d]);
        numbers[i] = max(numbers[i], numbers[i + d]);
        numbers[i + d] = low;
      }
    }
  }
}

constexpr unsigned ROOM = 20;  ///< circles that a pixel can note at a time

/// Draws each tile from its lists.
///
/// @tparam SOFT  whether alpha falls off from the centre
///
/// Launch: blocks of THREADS threads, one for each tile.
template <bool SOFT>
__global__ void __launch_bounds__(THREADS, 6) draw_linked(Links links) {
  __shared__ unsigned counts[THREADS], noted[ROOM][THREADS];  // for each pixel
  const unsigned t = threadIdx.x, n = frame.circles;
  const Box tile = tile_box(TILE);
  const int x = tile.left + t % TILE, y = tile.bottom + t / TILE;
  const bool mine = x < frame.width && y < frame.height;
  const size_t number = static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned head = links.heads[number * THREADS + t];
  float4 sum = {0, 0, 0, mine ? 1.0f : 0.0f};

  // The circles from begin to end - 1; the nearest ones first.
  for (unsigned end = n, most = n; end > 0;) {
    const unsigned begin = end - min(end, most);
    counts[t] = 0;
    __syncthreads();
    for (unsigned link = head; link != 0;) {
      unsigned i = link - 1;
      link = links.next[i];
      while (i >= n) i -= n;
      if (i < begin || i >= end) continue;
      const float4 c = frame.place[i];
      const Box box = box_of(c.x, c.y, c.z, frame);
      for (int v = max(box.bottom, tile.bottom); v < min(box.top, tile.top); ++v) {
        const float dy = offset(v, frame.scale, c.y);
        for (int u = max(box.left, tile.left); u < min(box.right, tile.right); ++u) {
          if (square(offset(u, frame.scale, c.x), dy) > c.z * c.z) continue;
          const unsigned pixel = (v - tile.bottom) * TILE + u - tile.left;
          const unsigned place = atomicAdd(&counts[pixel], 1);
          if (place < ROOM) noted[place][pixel] = i + 1;
        }
      }
    }
    __syncthreads();  // all numbers are there
    const unsigned count = counts[t];
    if (__syncthreads_or(count > ROOM && sum.w >= DARK)) {
      most = (end - begin) / 2;  // too many: half of the circles, then
      continue;
    }

    unsigned numbers[ROOM];
#pragma unroll
    for (unsigned k = 0; k < ROOM; ++k) numbers[k] = k < count ? noted[k][t] : 0;
    sort_down(numbers);
#pragma unroll
    for (unsigned k = 0; k < ROOM; k += 4) {
      if (numbers[k] == 0 || sum.w < DARK) break;
      float4 colours[4];
      float alphas[4];
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {  // four loads under way at a time
        const unsigned i = max(numbers[k + j], 1) - 1;
        colours[j] = frame.colour[i];
        alphas[j] = 0.5f;
        if (SOFT) {
          const float4 c = frame.place[i];
          const float d2 = square(offset(x, frame.scale, c.x), offset(y, frame.scale, c.y));
          alphas[j] = alpha_at(d2, c.z * c.z, true);
        }
      }
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        if (numbers[k + j] != 0) under(sum, colours[j], alphas[j]);
      }
    }
    end = begin;
    if (!__syncthreads_or(sum.w >= DARK)) break;
  }
  if (mine) frame.image[static_cast<size_t>(y) * frame.width + x] = finished(sum);
}

/// Whether `link_circles` has links enough: no circle has more than half the side of a tile for its diameter, and no
/// box reaches more than a pixel beyond it.
///
/// @param circles  on the host
bool all_small(const std::vector<Circle>& circles, const Frame& f) {
  return std::all_of(circles.begin(), circles.end(), [&](const Circle& c) {
    const float far = std::max(std::abs(c.x), std::abs(c.y));
    return 2 * c.radius * f.unit <= static_cast<float>(TILE) / 2 &&
           margin(far, c.radius, f.unit) < 1;
  });
}

/// Draws a scene of small circles.
///
/// @param f      of the scene, on the host
/// @param links  for all tiles and circles; overwritten
void linked_lists(const Frame& f, Links links) {
  const dim3 grid(lab::ceil_div(f.width, TILE), lab::ceil_div(f.height, TILE));
  CUDA_CHECK(cudaMemsetAsync(links.heads, 0, size_t{grid.x} * grid.y * THREADS * sizeof(unsigned)));
  link_circles<<<lab::ceil_div(f.circles, 256u), 256>>>(links);
  const auto draw = f.soft ? draw_linked<true> : draw_linked<false>;
  draw<<<grid, THREADS>>>(links);
}

// What if 21 circles cover a pixel? Then its tile starts again with half of the circles, the nearest ones, or with a
// quarter, until no pixel has more than 20 of them. When these are drawn, it goes on with those behind. In `micro2M`
// a pixel has 6.3 circles on average, and few have more than 20.
//= 6.3 circles: 2000000 * 3.14159 * 0.001 ** 2
//
// A circle that covers a quarter of the image would enter hundreds of lists, and note its number at each of its pixels
// by itself. So the host looks at the radii: where a diameter exceeds half a tile, the rung `linked_lists` draws like
// `warp_blocks`.
//
//? linked: How many times faster than `warp_blocks` is `linked_lists` for `micro2M`?
//? answer: ms("warp_blocks/micro2M") / ms("linked_lists/micro2M")
//? unit: times faster
//? near: factor 1.3
//
// **Timed.** `micro2M` takes 0.17 ms instead of 0.30, and at 777 x 1000 it takes 0.18 instead of 0.50.
//= 0.17 ms instead of 0.30: (ms("linked_lists/micro2M"), ms("warp_blocks/micro2M"))
//= 0.18: ms("linked_lists/micro2M", "777,1000")
//= instead of 0.50: ms("warp_blocks/micro2M", "777,1000")
//
// **So:** where a circle covers many pixels, the pixels look for it, level by level. Where it covers few, it enters
// their lists, and its number restores the order at the end.

// ## 11. What wins where
//
// The table has the times for an image of 1024 x 1024, in milliseconds. No renderer wins everywhere.
//
// | | `rgb` | `rand10k` | `rand100k` | `biglittle` | `rand1M` | `micro2M` |
// |:--|--:|--:|--:|--:|--:|--:|
// | `in_registers` | 0.009 | 6.8 | 70 | 7.7 | | |
// | `tiles` | 0.011 | 0.34 | 3.3 | 2.0 | 23 | 44 |
// | `front_to_back` | 0.010 | 0.11 | 0.11 | 0.057 | 1.4 | 35 |
// | `sorted_pairs` | 0.051 | 0.09 | 0.23 | 0.29 | 0.30 | 0.57 |
// | `masks` | 0.012 | 0.08 | 0.11 | 0.11 | 0.24 | 1.2 |
// | `warp_blocks` | 0.013 | 0.06 | 0.06 | 0.06 | 0.09 | 0.30 |
// | `linked_lists` | 0.013 | 0.06 | 0.06 | 0.06 | 0.09 | 0.17 |
// | another solution, like `tiles` | 0.021 | 0.46 | 4.5 | 5.7 | 25 | 46 |
// | the fastest public one that we know | 0.020 | 0.64 | 1.6 | 2.0 | 1.8 | 1.1 |
// | a copy of as many bytes | 0.004 | 0.004 | 0.004 | 0.004 | 0.008 | 0.011 |
//= 0.009 | 6.8 | 70 | 7.7: (ms("in_registers/rgb"), ms("in_registers/rand10k"), ms("in_registers/rand100k"),
//=   ms("in_registers/biglittle"))
//= 0.011 | 0.34 | 3.3 | 2.0 | 23 | 44: (ms("tiles/rgb"), ms("tiles/rand10k"), ms("tiles/rand100k"),
//=   ms("tiles/biglittle"), ms("tiles/rand1M"), ms("tiles/micro2M"))
//= 0.010 | 0.11 | 0.11 | 0.057 | 1.4 | 35: (ms("front_to_back/rgb"), ms("front_to_back/rand10k"),
//=   ms("front_to_back/rand100k"),
//=   ms("front_to_back/biglittle"), ms("front_to_back/rand1M"), ms("front_to_back/micro2M"))
//= 0.051 | 0.09 | 0.23 | 0.29 | 0.30 | 0.57: (ms("sorted_pairs/rgb"), ms("sorted_pairs/rand10k"),
//=   ms("sorted_pairs/rand100k"),
//=   ms("sorted_pairs/biglittle"), ms("sorted_pairs/rand1M"), ms("sorted_pairs/micro2M"))
//= 0.012 | 0.08 | 0.11 | 0.11 | 0.24 | 1.2: (ms("masks/rgb"), ms("masks/rand10k"), ms("masks/rand100k"),
//=   ms("masks/biglittle"), ms("masks/rand1M"), ms("masks/micro2M"))
//= 0.013 | 0.06 | 0.06 | 0.06 | 0.09 | 0.30: (ms("warp_blocks/rgb"), ms("warp_blocks/rand10k"),
//=   ms("warp_blocks/rand100k"),
//=   ms("warp_blocks/biglittle"), ms("warp_blocks/rand1M"), ms("warp_blocks/micro2M"))
//= 0.013 | 0.06 | 0.06 | 0.06 | 0.09 | 0.17: (ms("linked_lists/rgb"), ms("linked_lists/rand10k"),
//=   ms("linked_lists/rand100k"),
//=   ms("linked_lists/biglittle"), ms("linked_lists/rand1M"), ms("linked_lists/micro2M"))
//= 0.004 | 0.004 | 0.004 | 0.004 | 0.008 | 0.011: (
//=   (16 * 1024 ** 2 + 16 * 3) / limit("copy") / 1e6, (16 * 1024 ** 2 + 16 * 1e4) / limit("copy") / 1e6,
//=   (16 * 1024 ** 2 + 16 * 1e5) / limit("copy") / 1e6, (16 * 1024 ** 2 + 16 * 1e4) / limit("copy") / 1e6,
//=   (16 * 1024 ** 2 + 16 * 1e6) / limit("copy") / 1e6, (16 * 1024 ** 2 + 16 * 2e6) / limit("copy") / 1e6)
//
// The two rows of others are from the assignment's own scenes on such a GPU, measured over many frames in a row; the
// fastest one sorts pairs. The last row is what a copy takes for the bytes that must be moved: the places of all circles
// and the image.
//
// Three circles need no lists at all. Circles that hide each other are best drawn from the front, until nothing shines
// through. Of many small circles hardly any is hidden, and what counts is how few of them each pixel looks at.

// [hide] How the kernels are launched for a scene
namespace {

/// Device memory that lives as long as the launch that uses it.
template <class T>
std::shared_ptr<lab::DeviceBuffer<T>> scratch(size_t elements, const char* name) {
  return std::make_shared<lab::DeviceBuffer<T>>(elements, name);
}

dim3 grid_of(const Frame& f, int side) {
  return dim3(lab::ceil_div(f.width, side), lab::ceil_div(f.height, side));
}

/// Makes the image white.
void launch_clear(const Frame& f) {
  const size_t pixels = static_cast<size_t>(f.width) * static_cast<size_t>(f.height);
  clear<<<static_cast<unsigned>(lab::ceil_div(pixels, size_t{256})), 256>>>();
}

void by_one_core(float4* image, const Stage& stage) {
  one_by_one(image, stage.scene.circles.data(), stage.frame);
}

Canvas::Launch by_circles(const Stage& stage) {
  return [f = stage.frame] {
    launch_clear(f);
    circle_per_thread<<<lab::ceil_div(f.circles, 256u), 256>>>();
  };
}

Canvas::Launch by_pixels(const Stage& stage) {
  return [f = stage.frame] {
    launch_clear(f);
    pixel_per_thread<<<grid_of(f, TILE), dim3(TILE, TILE)>>>();
  };
}

/// A kernel that needs nothing but the frame: a block for each tile.
Canvas::Make by_tiles(void (*kernel)(), dim3 threads) {
  return [=](const Stage& stage) -> Canvas::Launch {
    return [=, f = stage.frame] { kernel<<<grid_of(f, TILE), threads>>>(); };
  };
}

Canvas::Launch by_parts(const Stage& stage) {
  const Frame f = stage.frame;
  const dim3 grid = grid_of(f, TILE);
  const size_t most = size_t{grid.x} * grid.y;
  const auto counts = scratch<unsigned>(1 + most, "counts");
  const auto tiles = scratch<uint3>(most, "hot tiles");
  const auto layers = scratch<float4>(most * PARTS * THREADS, "layers");
  return [=] {
    split_tiles(f, {counts->data(), counts->data() + 1, tiles->data(), layers->data()});
  };
}

Canvas::Launch by_pairs(const Stage& stage) {
  const Frame f = stage.frame;
  const dim3 grid = grid_of(f, TILE);
  const unsigned tiles = grid.x * grid.y;
  const unsigned each = 32 * lab::ceil_div(f.circles, 32 * std::clamp(COUNTS / tiles, 1u, CHUNKS));
  const unsigned chunks = lab::ceil_div(f.circles, each);
  const auto boxes = scratch<ushort4>(f.circles, "boxes");
  const auto places = scratch<unsigned>(size_t{chunks} * tiles, "places");
  const auto begins = scratch<unsigned long long>(tiles + 1, "begins");
  keep_freed_memory();
  return [=] {
    sorted_pairs(f, {static_cast<int>(tiles), chunks, each, boxes->data(), places->data(),
                     begins->data(), nullptr});
  };
}

/// A kernel that draws from the masks of the tiles' columns and rows.
using FromMasks = void (*)(const unsigned* columns, const unsigned* rows, unsigned words);
Canvas::Launch with_masks(const Frame& f, FromMasks kernel) {
  const dim3 grid = grid_of(f, SIDE);
  const unsigned blocks = lab::ceil_div(f.circles, 32 * WORDS_A_BLOCK);
  const unsigned words = blocks * WORDS_A_BLOCK;
  const auto bits = scratch<unsigned>(size_t{grid.x + grid.y} * words, "masks");
  return [=] {
    unsigned* const columns = bits->data();
    unsigned* const rows = columns + size_t{grid.x} * words;
    mark_tiles<<<blocks, 256>>>(columns, rows, words);
    kernel<<<grid, 256>>>(columns, rows, words);
  };
}

Canvas::Launch by_masks(const Stage& stage) { return with_masks(stage.frame, masks); }

Canvas::Launch by_warps(const Stage& stage) {
  const Frame& f = stage.frame;
  const unsigned words = lab::ceil_div(f.circles, 32 * WORDS_A_BLOCK) * WORDS_A_BLOCK;
  const bool many = words >= 1024;  // eight at a time save batches
  return with_masks(f, f.soft ? (many ? warp_blocks<true, 8> : warp_blocks<true, 1>)
                              : (many ? warp_blocks<false, 8> : warp_blocks<false, 1>));
}

Canvas::Launch by_lists(const Stage& stage) {
  const Frame f = stage.frame;
  if (!all_small(stage.scene.circles, f)) return by_warps(stage);
  const dim3 grid = grid_of(f, TILE);
  const auto heads = scratch<unsigned>(size_t{grid.x} * grid.y * THREADS, "heads");
  const auto next = scratch<unsigned>(4 * size_t{f.circles}, "next");
  return [=] { linked_lists(f, {heads->data(), next->data()}); };
}

void set_frame(const Frame& host) { CUDA_CHECK(cudaMemcpyToSymbol(frame, &host, sizeof host)); }

}  // namespace
// [/hide]

int main(int argc, char** argv) {
  Asked asked;
  const auto options = asked.options();
  return lab::run(
      argc, argv,
      [&](lab::Ladder& ladder, size_t height, size_t width) {
        ladder.require(height <= 16384 && width <= 16384, "at most 16384 rows and columns");
        Canvas canvas(ladder, asked, set_frame);
        constexpr double MOST_TESTS = 2e11;
        canvas.add_host("one_by_one", by_one_core, 1e8);
        canvas.demonstrate("circle_per_thread", by_circles);
        canvas.add("pixel_per_thread", by_pixels, MOST_TESTS);
        canvas.add("in_registers", by_tiles(in_registers, dim3(TILE, TILE)), MOST_TESTS);
        canvas.add("tiles", by_tiles(tiles<true>, THREADS));
        canvas.demonstrate("no_barrier", by_tiles(tiles<false>, THREADS));
        canvas.add("ballots", by_tiles(ballots, THREADS));
        canvas.add("front_to_back", by_tiles(front_to_back, THREADS));
        canvas.add("split_tiles", by_parts);
        canvas.add("sorted_pairs", by_pairs);
        canvas.add("masks", by_masks);
        canvas.add("warp_blocks", by_warps);
        canvas.add("linked_lists", by_lists);
        canvas.finish();
      },
      options);
}

// ## What to remember
//
// - Blending needs atomicity *and* order. Atomic operations give only the first.
// - Give each output to one thread, and both come for free. Then look for the work that its neighbours share.
// - A scan compacts in order, a counter does not. For 32 flags, a ballot is the scan.
// - Begin where the result is decided, and stop when it is. Let a block stop together.
// - A size that the host knows in advance saves a round trip; masks have one.
// - Where a comparison decides, say how it is rounded.
// - Order can be restored at the end, if each part carries its number.
//
// ## Possibilities for extension
//
// 1. Give each circle its own alpha. What changes in `front_to_back`?
// 2. Stop at a transmittance of 2^-9 and compare the images at 8 bits a channel.
// 3. Triangles instead of circles: which functions change?
// 4. `draw_parts` cuts what is left into parts of equal numbers of circles. Let each part have about the same number of
//    those that touch the tile.
// 5. Sort the circles by z on the device first.
// 6. Let each circle write its pairs side by side, and sort them by tile with `cub::DeviceRadixSort`, over as many bits
//    as the number of a tile has. For which scenes is that faster than `sorted_pairs`?
