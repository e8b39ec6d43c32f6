// One warp, one asynchronous copy, many patterns: both sides at random, lanes that stay away, strides, tiles of a matrix
// in padded and swizzled rows, and zeros instead of data. One launch for each, in a fixed order.
#include <cuda_pipeline.h>

#include <functional>

#include "program.h"

constexpr int kSharedBytes = 32768, kGlobalBytes = 1 << 20;

struct Lane {
  int from, to;  // bytes; from < 0: takes no part
  int zeros;     // of all of it
};

template <class T>
__global__ void copy(const char* in, const Lane* lanes, T* out) {
  __shared__ __align__(128) char shared[kSharedBytes];
  const Lane lane = lanes[threadIdx.x];
  if (lane.from >= 0) __pipeline_memcpy_async(shared + lane.to, in + lane.from, sizeof(T));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (lane.from >= 0) out[threadIdx.x] = *reinterpret_cast<T*>(shared + lane.to);
}

template <class T>
__global__ void fill(const char* in, const Lane* lanes, T* out) {
  __shared__ __align__(128) char shared[kSharedBytes];
  const Lane lane = lanes[threadIdx.x];
  if (lane.from >= 0)
    __pipeline_memcpy_async(shared + lane.to, in + lane.from, sizeof(T),
                            lane.zeros ? sizeof(T) : 0);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (lane.from >= 0) out[threadIdx.x] = *reinterpret_cast<T*>(shared + lane.to);
}

// Not program.h's: the patterns are those that were measured.
int random_below(int n) {
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return static_cast<int>((state >> 9) % static_cast<unsigned>(n));
}

template <class T>
class Patterns {
 public:
  explicit Patterns(const char* in) : in_(in), lanes_(32), out_(32) {}

  void all() {
    at_random();
    strides();
    tiles();
    zeros();
  }
  int launches() const { return launches_; }

 private:
  using Pattern = std::function<Lane(int)>;
  static constexpr int kSize = sizeof(T), kPlaces = kSharedBytes / kSize;

  void launch(bool filled, const Pattern& pattern) {
    std::vector<Lane> lanes(32);
    for (int t = 0; t < 32; ++t) lanes[t] = pattern(t);
    CHECK(cudaMemcpy(lanes_, lanes.data(), sizeof(Lane) * 32, cudaMemcpyHostToDevice));
    if (filled) {
      fill<T><<<1, 32>>>(in_, lanes_, out_);
    } else {
      copy<T><<<1, 32>>>(in_, lanes_, out_);
    }
    const std::vector<T> got = out_.host();
    const auto* words = reinterpret_cast<const unsigned*>(got.data());
    for (int i = 0; i < 32 * kSize / 4; ++i) {
      const Lane& lane = lanes[i / (kSize / 4)];
      const unsigned want = lane.zeros ? 0 : static_cast<unsigned>(lane.from / 4 + i % (kSize / 4));
      if (lane.from < 0 || words[i] == want) continue;
      std::printf("%d bytes, launch %d: FAIL, word %d is %u, not %u\n", kSize, launches_, i,
                  words[i], want);
      ++failures;
      break;
    }
    ++launches_;
  }

  // In small and large ranges, with all lanes and with some. No two lanes write one place.
  void at_random() {
    for (const int range : {64, 256, 2048}) {
      for (const int share : {1, 2, 4}) {
        for (int repeat = 0; repeat < 4; ++repeat) {
          std::vector<bool> used(kPlaces);
          launch(false, [&](int) {
            int to;
            do to = random_below(range);
            while (used[to]);
            used[to] = true;
            const int from = random_below(range);
            return Lane{random_below(share) == 0 ? from * kSize : -1, to * kSize, 0};
          });
        }
      }
    }
  }

  // One side in order or with a stride, the other with another; all lanes, or every third.
  void strides() {
    for (const int from : {0, 1, 2, 3, 4, 8, 32}) {
      for (const int to : {1, 2, 3, 4, 8, 33}) {
        launch(false, [&](int t) { return Lane{t * from * kSize, t * to % kPlaces * kSize, 0}; });
        if (from != 2 && to != 2 && to != 33) continue;
        launch(false, [&](int t) {
          return Lane{t % 3 == 0 ? t * from * kSize : -1, t * to % kPlaces * kSize, 0};
        });
      }
    }
  }

  // Rows of a matrix, into rows with pads, and swizzled.
  void tiles() {
    for (const int row : {2, 4, 8, 16}) {  // pieces a row
      for (const int pitch : {row, row + 1, row + 2, row + 4}) {
        for (const int columns : {64, 65, 128})
          launch(false, [&](int t) {
            return Lane{(t / row * columns + t % row) * kSize, (t / row * pitch + t % row) * kSize,
                        0};
          });
      }
      launch(false, [&](int t) {
        return Lane{(t / row * 64 + t % row) * kSize,
                    (t / row * row + ((t % row) ^ (t / row % row))) * kSize, 0};
      });
      launch(false, [&](int t) {
        return Lane{(t / row * 64 + t % row + 1) * kSize, t * kSize, 0};
      });
    }
  }

  // For all lanes, for some, for none.
  void zeros() {
    for (const int first : {0, 1, 5, 16, 31, 32}) {
      launch(true, [&](int t) { return Lane{t * kSize, t * kSize, t >= first}; });
      launch(true, [&](int t) { return Lane{t * kSize, t * 2 % kPlaces * kSize, t >= first}; });
    }
  }

  const char* in_;
  Array<Lane> lanes_;
  Array<T> out_;
  int launches_ = 0;
};

int main() {
  std::vector<unsigned> words(kGlobalBytes / 4);
  for (unsigned i = 0; i < words.size(); ++i) words[i] = i;
  Array<unsigned> in(words);
  const auto* bytes = reinterpret_cast<const char*>(static_cast<unsigned*>(in));
  Patterns<unsigned> by_4(bytes);
  Patterns<uint2> by_8(bytes);
  Patterns<uint4> by_16(bytes);
  by_4.all();
  by_8.all();
  by_16.all();
  std::printf("%d launches\n", by_4.launches() + by_8.launches() + by_16.launches());
  return finish();
}
