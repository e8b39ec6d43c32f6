/// \file
/// Random numbers in kernels: cuRAND's generators XORWOW and Philox4x32-10, with its sequences.
///
/// A generator's state is the program's own memory, and counts as such; the arithmetic does not.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

/// XORWOW: Marsaglia's xorshift with a Weyl sequence ("Xorshift RNGs", 2003).
struct curandStateXORWOW {
  unsigned int d;
  unsigned int v[5];
  int boxmuller_flag;
  int boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
/// Philox4x32-10, a counter that is encrypted (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
struct curandStatePhilox4_32_10 {
  uint4 ctr;
  uint4 output;
  uint2 key;
  unsigned int STATE;
  int boxmuller_flag;
  int boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;

namespace simt::random {

/// Each thread of a launch is to start elsewhere. XORWOW is 0, Philox 1.
void note_start(int generator, unsigned long long seed, unsigned long long sequence,
                unsigned long long offset);
// What takes long is the library's: jumping ahead in a sequence.
void xorwow_start(unsigned int* d, unsigned int* v, unsigned long long seed,
                  unsigned long long sequence, unsigned long long offset);
void xorwow_skip(unsigned int* d, unsigned int* v, unsigned long long steps,
                 unsigned long long sequences);
uint4 philox(uint4 counter, uint2 key);

/// counter += n, in 128 bits.
SIMT_INLINE uint4 advanced(uint4 counter, unsigned long long low, unsigned long long high) {
  const unsigned long long a = static_cast<unsigned long long>(counter.y) << 32 | counter.x;
  const unsigned long long b = static_cast<unsigned long long>(counter.w) << 32 | counter.z;
  const unsigned long long sum = a + low;
  const unsigned long long rest = b + high + (sum < a);
  return make_uint4(static_cast<unsigned>(sum), static_cast<unsigned>(sum >> 32),
                    static_cast<unsigned>(rest), static_cast<unsigned>(rest >> 32));
}

template <class State>
SIMT_INLINE void forget_pair(State* state) {
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0.0f;
  state->boxmuller_extra_double = 0.0;
}

/// Into (0, 1].
SIMT_INLINE float to_uniform(unsigned x) { return x * 2.3283064e-10f + (2.3283064e-10f / 2.0f); }
SIMT_INLINE double to_uniform_double(unsigned x) {
  return x * 2.3283064365386963e-10 + 2.3283064365386963e-10;
}
SIMT_INLINE double to_uniform_double(unsigned x, unsigned y) {
  const unsigned long long z =
      static_cast<unsigned long long>(x) ^ (static_cast<unsigned long long>(y) << (53 - 32));
  return static_cast<double>(z) * 1.1102230246251565e-16 + (1.1102230246251565e-16 / 2.0);
}

/// Two normal numbers of two uniform ones (Box and Muller).
SIMT_INLINE float2 box_muller(unsigned x, unsigned y) {
  const float u = x * 2.3283064e-10f + (2.3283064e-10f / 2);
  const float v = y * (2.3283064e-10f * 6.2831855f) + (2.3283064e-10f * 6.2831855f / 2);
  const float radius = sqrtf(-2.0f * logf(u));
  return make_float2(radius * sinf(v), radius * cosf(v));
}
SIMT_INLINE double2 box_muller_double(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  const double u = to_uniform_double(x0, x1);
  const double v = to_uniform_double(y0, y1) * 2.0;
  const double radius = sqrt(-2.0 * log(u));
  return make_double2(radius * sinpi(v), radius * cospi(v));
}

}  // namespace simt::random

// ---- setting up

/// Starts at number `offset` of sequence `sequence` of the generator with this seed.
SIMT_INLINE void curand_init(unsigned long long seed, unsigned long long sequence,
                             unsigned long long offset, curandStateXORWOW* state) {
  unsigned d, v[5];
  simt::random::note_start(0, seed, sequence, offset);
  simt::random::xorwow_start(&d, v, seed, sequence, offset);
  state->d = d;
  for (int i = 0; i < 5; ++i) state->v[i] = v[i];
  simt::random::forget_pair(state);
}
SIMT_INLINE void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
  const unsigned place = state->STATE + static_cast<unsigned>(n & 3);
  const uint4 counter = simt::random::advanced(state->ctr, n / 4 + place / 4, 0);
  state->STATE = place % 4;
  state->ctr = counter;
  state->output = simt::random::philox(counter, state->key);
}
SIMT_INLINE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
  const uint4 counter = simt::random::advanced(state->ctr, 0, n);
  state->ctr = counter;
  state->output = simt::random::philox(counter, state->key);
}
SIMT_INLINE void curand_init(unsigned long long seed, unsigned long long sequence,
                             unsigned long long offset, curandStatePhilox4_32_10* state) {
  simt::random::note_start(1, seed, sequence, offset);
  state->ctr = make_uint4(0, 0, 0, 0);
  state->key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
  state->STATE = 0;
  simt::random::forget_pair(state);
  skipahead_sequence(sequence, state);
  skipahead(offset, state);
}
/// Goes on by `n` numbers.
SIMT_INLINE void skipahead(unsigned long long n, curandStateXORWOW* state) {
  unsigned d = state->d, v[5];
  for (int i = 0; i < 5; ++i) v[i] = state->v[i];
  simt::random::xorwow_skip(&d, v, n, 0);
  state->d = d;
  for (int i = 0; i < 5; ++i) state->v[i] = v[i];
}
/// Goes on by `n` sequences, of 2^67 numbers each.
SIMT_INLINE void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
  unsigned d = state->d, v[5];
  for (int i = 0; i < 5; ++i) v[i] = state->v[i];
  simt::random::xorwow_skip(&d, v, 0, n);
  state->d = d;
  for (int i = 0; i < 5; ++i) state->v[i] = v[i];
}

// ---- 32 random bits

SIMT_INLINE unsigned int curand(curandStateXORWOW* state) {
  const unsigned t = state->v[0] ^ (state->v[0] >> 2);
  const unsigned last = state->v[4];
  state->v[0] = state->v[1];
  state->v[1] = state->v[2];
  state->v[2] = state->v[3];
  state->v[3] = last;
  const unsigned next = (last ^ (last << 4)) ^ (t ^ (t << 1));
  state->v[4] = next;
  const unsigned d = state->d + 362437;
  state->d = d;
  return next + d;
}
SIMT_INLINE unsigned int curand(curandStatePhilox4_32_10* state) {
  const unsigned place = state->STATE;
  const uint4 output = state->output;
  const unsigned values[4] = {output.x, output.y, output.z, output.w};
  if (place == 3) {
    const uint4 counter = simt::random::advanced(state->ctr, 1, 0);
    state->ctr = counter;
    state->output = simt::random::philox(counter, state->key);
  }
  state->STATE = (place + 1) % 4;
  return values[place];
}
/// Four numbers at once.
SIMT_INLINE uint4 curand4(curandStatePhilox4_32_10* state) {
  const uint4 old = state->output;
  const uint4 counter = simt::random::advanced(state->ctr, 1, 0);
  const uint4 fresh = simt::random::philox(counter, state->key);
  state->ctr = counter;
  state->output = fresh;
  switch (state->STATE) {
    case 1:
      return make_uint4(old.y, old.z, old.w, fresh.x);
    case 2:
      return make_uint4(old.z, old.w, fresh.x, fresh.y);
    case 3:
      return make_uint4(old.w, fresh.x, fresh.y, fresh.z);
    default:
      return old;
  }
}

// ---- distributions, of any generator

/// Uniform in (0, 1].
template <class State>
SIMT_INLINE float curand_uniform(State* state) {
  return simt::random::to_uniform(curand(state));
}
template <class State>
SIMT_INLINE double curand_uniform_double(State* state) {
  const unsigned x = curand(state);
  return simt::random::to_uniform_double(x, curand(state));
}
SIMT_INLINE double curand_uniform_double(curandStatePhilox4_32_10* state) {
  return simt::random::to_uniform_double(curand(state));
}
SIMT_INLINE float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  using simt::random::to_uniform;
  return make_float4(to_uniform(x.x), to_uniform(x.y), to_uniform(x.z), to_uniform(x.w));
}
SIMT_INLINE double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  return make_double2(simt::random::to_uniform_double(x.x, x.y),
                      simt::random::to_uniform_double(x.z, x.w));
}

/// Two normal numbers, of mean 0 and deviation 1.
template <class State>
SIMT_INLINE float2 curand_normal2(State* state) {
  const unsigned x = curand(state);
  return simt::random::box_muller(x, curand(state));
}
/// One; every other call uses the second of the pair that the call before made.
template <class State>
SIMT_INLINE float curand_normal(State* state) {
  if (state->boxmuller_flag != 0) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  const float2 pair = curand_normal2(state);
  state->boxmuller_extra = pair.y;
  state->boxmuller_flag = 1;
  return pair.x;
}
SIMT_INLINE float4 curand_normal4(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  const float2 a = simt::random::box_muller(x.x, x.y), b = simt::random::box_muller(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}
template <class State>
SIMT_INLINE double2 curand_normal2_double(State* state) {
  const unsigned x0 = curand(state), x1 = curand(state), y0 = curand(state);
  return simt::random::box_muller_double(x0, x1, y0, curand(state));
}
SIMT_INLINE double2 curand_normal2_double(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  return simt::random::box_muller_double(x.x, x.y, x.z, x.w);
}
template <class State>
SIMT_INLINE double curand_normal_double(State* state) {
  if (state->boxmuller_flag_double != 0) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  const double2 pair = curand_normal2_double(state);
  state->boxmuller_extra_double = pair.y;
  state->boxmuller_flag_double = 1;
  return pair.x;
}
