// # Sums and prefixes
//
// Kind: repair
// Level: 5
// Minutes: 12
//
// `scan` is an exclusive scan of n elements in one launch, with decoupled look-back: out[i] is the
// sum of the elements before i. Each block of 32 threads draws a tile of 32 elements and loads it
// once; its last lane looks back. state[0] counts the tiles drawn, state[1 + t] is the word of
// tile t: 0, or a flag and a value. SUM says that the value is the sum of tile t alone, PREFIX that
// it is the sum of everything up to the end of tile t. At the end the word of each tile that the
// launch has drawn is a PREFIX.
//
// The code is right as long as each block finds its neighbour done, and wrong if it finds it in
// the midst of its own look-back. The checker makes such moments: it also begins with some tiles
// drawn and their words published, tile 0 as a PREFIX and the others as sums. Repair it.
//
// Bar: one launch, and 1 global load request for n = 32, since each tile is loaded once

#include <cuda_runtime.h>

#include <cuda/atomic>

using Word = unsigned long long;
using AtomicWord = cuda::atomic_ref<Word, cuda::thread_scope_device>;
constexpr unsigned ALL = 0xFFFFFFFF;
constexpr Word SUM = 1ull << 32;
constexpr Word PREFIX = 2ull << 32;

__device__ void publish(Word* word, Word flag, unsigned value) {
  AtomicWord(*word).store(flag | value, cuda::memory_order_relaxed);
}

__device__ unsigned look_back(Word* words, int tile) {
  unsigned before = 0;
  for (int left = tile - 1; left >= 0; --left) {
    Word word = 0;
    while (word == 0) word = AtomicWord(words[left]).load(cuda::memory_order_relaxed);
    before += static_cast<unsigned>(word);
#ifdef SOLUTION
    if ((word & PREFIX) != 0) break;
#else
    if ((word & (SUM | PREFIX)) != 0) break;
#endif
  }
  return before;
}

__global__ void scan(unsigned* out, const unsigned* in, int n, Word* state) {
  const int lane = threadIdx.x;
  Word* const words = state + 1;
  int tile = 0;
  if (lane == 0) tile = static_cast<int>(atomicAdd(state, 1ull));
  tile = __shfl_sync(ALL, tile, 0);

  const int i = tile * 32 + lane;
  const unsigned value = i < n ? in[i] : 0;
  unsigned sum = value;
  for (int d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(ALL, sum, d);
    if (lane >= d) sum += other;
  }

  unsigned before = 0;
  if (lane == 31) {
    if (tile > 0) publish(&words[tile], SUM, sum);
    before = look_back(words, tile);
    publish(&words[tile], PREFIX, before + sum);
  }
  before = __shfl_sync(ALL, before, 31);
  if (i < n) out[i] = before + sum - value;
}
