// Loops and branches that the lanes of a warp take differently.
#include "program.h"

__global__ void collatz(const int* start, int* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = start[i];
  int count = 0;
  while (v != 1) {
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    ++count;
  }
  steps[i] = count;
}

__global__ void sum_of_lengths(const float* in, const int* length, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < length[i]; ++k) sum += in[i + k];
  out[i] = sum;
}

__global__ void find_first(const int* in, int* where, int columns, int wanted) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int found = -1;
  for (int c = 0; c < columns; ++c) {
    if (in[row * columns + c] == wanted) {
      found = c;
      break;
    }
  }
  where[row] = found;
}

__global__ void skip_some(const int* in, int* out, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int c = 0; c < columns; ++c) {
    int v = in[row * columns + c];
    if (v % 3 == 0) continue;
    sum += in[v];
  }
  out[row] = sum;
}

__global__ void odd_even(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 2 == 0) {
    out[i] = in[i] * 2.0f;
  } else {
    out[i] = in[i] + 1.0f;
  }
}

__global__ void by_warp(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x / 32 % 2 == 0) {
    out[i] = in[i] * 2.0f;
  } else {
    out[i] = in[i] + 1.0f;
  }
}

__global__ void four_ways(const int* kind, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v;
  switch (kind[i]) {
    case 0:
      v = in[i];
      break;
    case 1:
      v = in[i] + in[i + 1];
      break;
    case 2:
      v = in[2 * i];
      break;
    default:
      v = 0.0f;
  }
  out[i] = v;
}

__global__ void nested(const int* rows, const int* columns, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int r = 0; r < rows[i]; ++r) {
    for (int c = 0; c < columns[(i + r) % n]; ++c) sum += r * c;
  }
  out[i] = sum;
}

__global__ void mandelbrot(int* out, int width, int height, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float cr = -2.0f + 3.0f * x / width, ci = -1.0f + 2.0f * y / height;
  float zr = 0.0f, zi = 0.0f;
  int k = 0;
  for (; k < limit && zr * zr + zi * zi < 4.0f; ++k) {
    float next = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = next;
  }
  out[y * width + x] = k;
}

__global__ void triangle(const float* in, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0.0f;
  for (int c = 0; c <= row; ++c) sum += in[row * n + c];
  out[row] = sum;
}

__global__ void lanes_of_shared(const float* in, float* out) {
  __shared__ float s[256];
  s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  float sum = 0.0f;
  for (int k = threadIdx.x; k < 256; k += 1 + threadIdx.x % 5) sum += s[k];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

__global__ void count_matches(const char* text, int n, const char* word, int length, int* matches) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n - length) return;
  int k = 0;
  while (k < length && text[i + k] == word[k]) ++k;
  if (k == length) atomicAdd(matches, 1);
}

__device__ int gcd(int a, int b) {
  while (b != 0) {
    int r = a % b;
    a = b;
    b = r;
  }
  return a;
}

__global__ void gcds(const int* a, const int* b, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = gcd(a[i], b[i]);
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void fibonaccis(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fibonacci(in[i] % 8);
}

__global__ void clamp_negative(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (data[i] < 0.0f) data[i] = 0.0f;
  }
}

__global__ void store_in_loop(const int* length, int* out, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int n = length[row] % columns;
  for (int c = 0; c < n; ++c) out[c * gridDim.x * blockDim.x + row] = c;
}

int main() {
  const int n = 1000, threads = 128, blocks = 8;
  const std::vector<int> numbers = random_ints(64 * 1024, 1000);
  const std::vector<float> data = random_floats(256 * 256);
  std::vector<int> starts(n), lengths(n), kinds(n);
  for (int i = 0; i < n; ++i) {
    starts[i] = 1 + numbers[i];
    lengths[i] = numbers[i] % 20;
    kinds[i] = numbers[i] % 4;
  }
  Array<int> in(numbers), start(starts), length(lengths), kind(kinds);
  Array<float> real(data);
  {
    Array<int> steps(n);
    collatz<<<blocks, threads>>>(start, steps, n);
    expect("collatz", steps.host(), [&](size_t i) {
      int count = 0;
      for (unsigned v = starts[i]; v != 1; ++count) v = v % 2 == 0 ? v / 2 : 3 * v + 1;
      return count;
    });
    Array<float> out(n);
    sum_of_lengths<<<blocks, threads>>>(real, length, out, n);
    expect("sum_of_lengths", out.host(), [&](size_t i) {
      float sum = 0;
      for (int k = 0; k < lengths[i]; ++k) sum += data[i + k];
      return sum;
    });
  }
  {
    const int rows = 256, columns = 40;
    std::vector<int> small(rows * columns);
    for (int i = 0; i < rows * columns; ++i) small[i] = numbers[i] % 30;
    Array<int> from(small), where(rows), sums(rows), stored(columns * rows);
    find_first<<<2, 128>>>(from, where, columns, 7);
    expect("find_first", where.host(), [&](size_t r) {
      for (int c = 0; c < columns; ++c) {
        if (small[r * columns + c] == 7) return c;
      }
      return -1;
    });
    skip_some<<<2, 128>>>(from, sums, columns);
    expect("skip_some", sums.host(), [&](size_t r) {
      int sum = 0;
      for (int c = 0; c < columns; ++c) {
        const int v = small[r * columns + c];
        if (v % 3 != 0) sum += small[v];
      }
      return sum;
    });
    store_in_loop<<<2, 128>>>(in, stored, columns);
    expect("store_in_loop", stored.host(), [&](size_t i) {
      const int c = (int)i / rows, row = (int)i % rows;
      return c < numbers[row] % columns ? c : 0;
    });
  }
  {
    Array<float> a(n + 24), b(n + 24), c(n);
    odd_even<<<blocks, threads>>>(real, a);
    expect("odd_even", a.host(), [&](size_t i) { return i % 2 ? data[i] + 1 : data[i] * 2; });
    by_warp<<<blocks, threads>>>(real, b);
    expect("by_warp", b.host(), [&](size_t i) { return i / 32 % 2 ? data[i] + 1 : data[i] * 2; });
    four_ways<<<blocks, threads>>>(kind, real, c, n);
    expect("four_ways", c.host(), [&](size_t i) {
      const float ways[] = {data[i], data[i] + data[i + 1], data[2 * i], 0};
      return ways[kinds[i]];
    });
    Array<int> out(n), other(n);
    nested<<<blocks, threads>>>(kind, length, out, n);
    expect("nested", out.host(), [&](size_t i) {
      int sum = 0;
      for (int r = 0; r < kinds[i]; ++r) {
        for (int k = 0; k < lengths[(i + r) % n]; ++k) sum += r * k;
      }
      return sum;
    });
    gcds<<<blocks, threads>>>(start, length, other, n);
    expect("gcds", std::vector<int>(1, other.host()[3]), [&](size_t) {
      int a2 = starts[3], b2 = lengths[3];
      while (b2 != 0) {
        const int r = a2 % b2;
        a2 = b2;
        b2 = r;
      }
      return a2;
    });
    fibonaccis<<<blocks, threads>>>(start, other, n);
    expect("fibonaccis", other.host(), [&](size_t i) {
      const int f[] = {0, 1, 1, 2, 3, 5, 8, 13};
      return f[starts[i] % 8];
    });
  }
  {
    Array<int> image(60 * 40);
    mandelbrot<<<dim3(8, 5), dim3(8, 8)>>>(image, 60, 40, 50);
    expect("mandelbrot", std::vector<int>(1, image.host()[20 * 60 + 40]),
           [](size_t) { return 50; });
    Array<float> sums(200), lanes(1024), clamped(data);
    triangle<<<2, 128>>>(real, sums, 200);
    expect("triangle", sums.host(), [&](size_t r) {
      float sum = 0;
      for (size_t c = 0; c <= r; ++c) sum += data[r * 200 + c];
      return sum;
    });
    lanes_of_shared<<<4, 256>>>(real, lanes);
    expect("lanes_of_shared", lanes.host(), [&](size_t i) {
      float sum = 0;
      for (size_t k = i % 256; k < 256; k += 1 + i % 256 % 5) sum += data[i / 256 * 256 + k];
      return sum;
    });
    clamp_negative<<<blocks, threads>>>(clamped, n);
    expect("clamp_negative", clamped.host(),
           [&](size_t i) { return (int)i < n && data[i] < 0 ? 0 : data[i]; });
  }
  {
    std::vector<char> text(n), word = {'a', 'b', 'a'};
    for (int i = 0; i < n; ++i) text[i] = (char)('a' + numbers[i] % 2);
    Array<char> t(text), w(word);
    Array<int> matches(1);
    count_matches<<<blocks, threads>>>(t, n, w, 3, matches);
    expect("count_matches", matches.host(), [&](size_t) {
      int count = 0;
      for (int i = 0; i + 2 < n; ++i)
        count += text[i] == 'a' && text[i + 1] == 'b' && text[i + 2] == 'a';
      return count;
    });
  }
  return finish();
}
