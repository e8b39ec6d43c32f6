// Jumping ahead in sequences of random numbers, for curand_kernel.h.
#include "libraries/random.h"

#include <array>
#include <cstdint>
#include <vector>

#include "base/host_memory.h"
#include "hooks/hooks.h"
#include "runtime/memory_calls.h"
#include "watch/random_states.h"

namespace simt::random {
namespace {

using u64 = unsigned long long;

constexpr unsigned kSequenceBits = 67;  // a sequence of XORWOW has 2^67 numbers

// ---- XORWOW: five words that a step maps linearly over GF(2), and a counter

using Words = std::array<uint32_t, 5>;

Words step(Words v) {
  const uint32_t t = v[0] ^ (v[0] >> 2);
  return {v[1], v[2], v[3], v[4], (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1))};
}

// What becomes of each of the 160 bits.
using Matrix = std::vector<Words>;

Words times(const Matrix& matrix, const Words& v) {
  Words result{};
  for (unsigned bit = 0; bit < 160; ++bit) {
    if (!(v[bit / 32] >> bit % 32 & 1)) continue;
    for (unsigned i = 0; i < 5; ++i) result[i] ^= matrix[bit][i];
  }
  return result;
}

// [k]: 2^k steps
const std::vector<Matrix>& xorwow_powers() {
  static const auto* powers = [] {
    const HostMemory bookkeeping;  // a kernel is running
    auto* made = new std::vector<Matrix>;
    Matrix one(160);
    for (unsigned bit = 0; bit < 160; ++bit) {
      Words v{};
      v[bit / 32] = 1u << bit % 32;
      one[bit] = step(v);
    }
    made->push_back(one);
    while (made->size() < kSequenceBits + 64) {
      const Matrix& last = made->back();
      Matrix square(160);
      for (unsigned bit = 0; bit < 160; ++bit) square[bit] = times(last, last[bit]);
      made->push_back(std::move(square));
    }
    return made;
  }();
  return *powers;
}

void jump(Words& v, u64 times_of, unsigned first_power) {
  for (unsigned k = 0; times_of; ++k, times_of >>= 1) {
    if (times_of & 1) v = times(xorwow_powers()[first_power + k], v);
  }
}

}  // namespace

void xorwow_skip(unsigned int* d, unsigned int* v, u64 steps, u64 sequences) {
  Words words = {v[0], v[1], v[2], v[3], v[4]};
  jump(words, sequences, kSequenceBits);
  jump(words, steps, 0);
  for (unsigned i = 0; i < 5; ++i) v[i] = words[i];
  *d += static_cast<unsigned>(steps) * 362437u;  // 2^67 steps take the counter round
}

// How cuRAND makes a state of a seed.
void note_start(int generator, u64 seed, u64 sequence, u64 offset) {
  const engine::Worker* const worker = engine::running;
  if (!worker) return;
  const engine::BlockContext& block = worker->monitor.block;
  random_states::note({generator, seed, sequence, offset}, SIMT_CALLER, block.index,
                      block.thread(worker->thread_rank()));
}

void xorwow_start(unsigned int* d, unsigned int* v, u64 seed, u64 sequence, u64 offset) {
  const unsigned s0 = static_cast<unsigned>(seed) ^ 0xaad26b49u;
  const unsigned s1 = static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu;
  const unsigned t0 = 1099087573u * s0;
  const unsigned t1 = 2591861531u * s1;
  *d = 6615241u + t1 + t0;
  v[0] = 123456789u + t0;
  v[1] = 362436069u ^ t0;
  v[2] = 521288629u + t1;
  v[3] = 88675123u ^ t1;
  v[4] = 5783321u + t0;
  xorwow_skip(d, v, offset, sequence);
}

uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const u64 a = u64{0xD2511F53u} * counter.x, b = u64{0xCD9E8D57u} * counter.z;
    counter = uint4(static_cast<unsigned>(b >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(b),
                    static_cast<unsigned>(a >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(a));
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

}  // namespace simt::random
