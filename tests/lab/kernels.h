// The kernels of the tests of lab, as functions of the host that launch them: so the tests
// themselves are plain C++, and compile in a third of the time.
#pragma once

/// c = a + b. `count` elements are computed, from `first` on.
void add(int blocks, int threads, const float* a, const float* b, float* c, int first, int count);

/// Sets `count` elements from `first` on.
void set(int blocks, int threads, float* c, long first, int count, float value);

/// x = 2 x, in place.
void scale_in_place(int blocks, int threads, float* x, int count);

/// Each of 64 threads reads what another thread of the block writes, with no barrier between.
void racy(float* c);
