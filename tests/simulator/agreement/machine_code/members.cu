// Structs as people load and store them: whole, member by member, by reference. widths.json has the memory instructions that nvcc
// makes of each kernel; each is straight code, so an instruction is a request of its warp.
#include <cuda_runtime.h>

#include <cstdio>

struct alignas(16) Body {
  float x, y, z, w;
};
struct alignas(8) Pair {
  float x, y, u, v;
};
struct Loose {
  float x, y, z, w;
};
struct Point {
  float x, y, z;
};
struct alignas(16) Padded {
  float x, y, z;
};
struct alignas(16) Cell {  // 32 bytes
  float a, b, c, d, e, f, g, h;
};
struct alignas(16) Node {  // 48 bytes
  float a, b, c, d, e, f, g, h, i, j, k, l;
};
struct alignas(16) Row {
  float v[4];
};
struct alignas(8) Six {
  float a, b, c, d, e, f;
};
struct alignas(16) Complex {
  double re, im;
};
struct Particle {  // aligned to 8
  double mass;
  float x, y;
};
struct alignas(16) Samples {
  short a, b, c, d, e, f, g, h;
};

// Whole.
__global__ void copy_cell(const Cell* in, Cell* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void change_cell(const Cell* in, Cell* out) {
  Cell p = in[threadIdx.x];
  p.a += p.h;
  out[threadIdx.x] = p;
}
__global__ void change_node(const Node* in, Node* out) {
  Node p = in[threadIdx.x];
  p.a += p.l;
  out[threadIdx.x] = p;
}
__global__ void change_in_place(Body* bodies, float s) {
  Body p = bodies[threadIdx.x];
  p.y += s;
  bodies[threadIdx.x] = p;
}
__global__ void copy_six(const Six* in, Six* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void change_six(const Six* in, Six* out) {
  Six p = in[threadIdx.x];
  p.f += 1;
  out[threadIdx.x] = p;
}
__global__ void copy_point(const Point* in, Point* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void copy_loose(const Loose* in, Loose* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void two_of_cell(const Cell* in, float* out) {
  Cell p = in[threadIdx.x];
  out[threadIdx.x] = p.a + p.g;
}
__global__ void one_of_whole(const Body* in, float* out) {
  Body p = in[threadIdx.x];
  out[threadIdx.x] = p.x;
}
__global__ void two_of_whole(const Body* in, float* out) {
  Body p = in[threadIdx.x];
  out[threadIdx.x] = p.x + p.y;
}
__global__ void ends_of_whole(const Body* in, float* out) {
  Body p = in[threadIdx.x];
  out[threadIdx.x] = p.x + p.w;
}

// Member by member.
__global__ void sum(const Body* in, float* out) {
  int i = threadIdx.x;
  out[i] = in[i].x + in[i].y + in[i].z + in[i].w;
}
__global__ void sum_by_line(const Body* in, float* out) {
  int i = threadIdx.x;
  float s = in[i].w;
  s += in[i].z;
  s *= in[i].y;
  s -= in[i].x;
  out[i] = s;
}
__global__ void by_reference(const Body* in, float* out) {
  const Body& p = in[threadIdx.x];
  out[threadIdx.x] = p.x + p.y + p.z + p.w;
}
__global__ void by_pointer(const Body* in, float* out) {
  const Body* p = in + threadIdx.x;
  out[threadIdx.x] = p->x + p->y + p->z + p->w;
}
__global__ void first_two(const Body* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x].x + in[threadIdx.x].y;
}
__global__ void last_two(const Body* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x].z + in[threadIdx.x].w;
}
__global__ void middle_two(const Body* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x].y + in[threadIdx.x].z;
}
__global__ void ends(const Body* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x].x + in[threadIdx.x].w;
}
__global__ void first_three(const Body* in, float* out) {
  const Body& p = in[threadIdx.x];
  out[threadIdx.x] = p.x + p.y + p.z;
}
__global__ void last_three(const Body* in, float* out) {
  const Body& p = in[threadIdx.x];
  out[threadIdx.x] = p.y + p.z + p.w;
}
__global__ void all_but_one(const Body* in, float* out) {
  const Body& p = in[threadIdx.x];
  out[threadIdx.x] = p.x + p.y + p.w;
}
__global__ void pair_sum(const Pair* in, float* out) {
  const Pair& p = in[threadIdx.x];
  out[threadIdx.x] = p.x + p.y + p.u + p.v;
}
__global__ void loose_sum(const Loose* in, float* out) {
  const Loose& p = in[threadIdx.x];
  out[threadIdx.x] = p.x + p.y + p.z + p.w;
}
__global__ void float4_sum(const float4* in, float* out) {
  int i = threadIdx.x;
  out[i] = in[i].x + in[i].y + in[i].z + in[i].w;
}
__global__ void float2_sum(const float2* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x].x + in[threadIdx.x].y;
}
__global__ void cell_sum(const Cell* in, float* out) {
  const Cell& p = in[threadIdx.x];
  out[threadIdx.x] = p.a + p.b + p.c + p.d + p.e + p.f + p.g + p.h;
}
__global__ void six_of_cell(const Cell* in, float* out) {
  const Cell& p = in[threadIdx.x];
  out[threadIdx.x] = p.a + p.b + p.c + p.d + p.e + p.f;
}
__global__ void complex_sum(const Complex* in, double* out) {
  out[threadIdx.x] = in[threadIdx.x].re + in[threadIdx.x].im;
}
__global__ void momentum(const Particle* in, float* out) {
  const Particle& p = in[threadIdx.x];
  out[threadIdx.x] = (float)p.mass * (p.x + p.y);
}
__global__ void five_samples(const Samples* in, int* out) {
  const Samples& p = in[threadIdx.x];
  out[threadIdx.x] = p.a + p.b + p.c + p.d + p.e;
}
__global__ void row_sum(const Row* in, float* out) {
  const Row& p = in[threadIdx.x];
  out[threadIdx.x] = p.v[0] + p.v[1] + p.v[2] + p.v[3];
}
// No type says how these are aligned.
__global__ void four_floats(const float* in, float* out) {
  int i = 4 * threadIdx.x;
  out[threadIdx.x] = in[i] + in[i + 1] + in[i + 2] + in[i + 3];
}

// Stores.
__global__ void fill(Body* out, float s) {
  int i = threadIdx.x;
  out[i].x = s;
  out[i].y = 2 * s;
  out[i].z = 3 * s;
  out[i].w = 4 * s;
}
__global__ void fill_three(Body* out, float s) {
  Body& p = out[threadIdx.x];
  p.x = s;
  p.y = 2 * s;
  p.z = 3 * s;
}
__global__ void fill_last_three(Body* out, float s) {
  Body& p = out[threadIdx.x];
  p.y = s;
  p.z = 2 * s;
  p.w = 3 * s;
}
__global__ void fill_whole(Body* out, float s) { out[threadIdx.x] = {s, 2 * s, 3 * s, 4 * s}; }

// With other accesses in between.
__global__ void scale(const Body* in, Body* out, float s) {
  int i = threadIdx.x;
  out[i].x = in[i].x * s;
  out[i].y = in[i].y * s;
  out[i].z = in[i].z * s;
  out[i].w = in[i].w * s;
}
__global__ void move_in_place(Body* p, float s) {
  int i = threadIdx.x;
  p[i].x += s;
  p[i].y += s;
  p[i].z += s;
  p[i].w += s;
}
__global__ void reverse(const Body* in, Body* out) {
  int i = threadIdx.x;
  out[i].x = in[i].w;
  out[i].y = in[i].z;
  out[i].z = in[i].y;
  out[i].w = in[i].x;
}
__global__ void to_another_type(const Body* in, float4* out) {
  int i = threadIdx.x;
  out[i].x = in[i].x;
  out[i].y = in[i].y;
  out[i].z = in[i].z;
  out[i].w = in[i].w;
}
__global__ void scale_row(const Row* in, Row* out, float s) {
  int i = threadIdx.x;
  out[i].v[0] = in[i].v[0] * s;
  out[i].v[1] = in[i].v[1] * s;
  out[i].v[2] = in[i].v[2] * s;
  out[i].v[3] = in[i].v[3] * s;
}
__global__ void store_between(const Body* in, float* out) {
  int i = threadIdx.x;
  out[2 * i] = in[i].x;
  out[2 * i + 1] = in[i].y;
}
__global__ void barrier_between(const Body* in, float* out) {
  int i = threadIdx.x;
  float s = in[i].x;
  __syncthreads();
  out[i] = s + in[i].y + in[i].z + in[i].w;
}
__global__ void volatile_members(const volatile Body* in, float* out) {
  int i = threadIdx.x;
  out[i] = in[i].x + in[i].y + in[i].z + in[i].w;
}

char *first, *second;
template <class A, class B>
void run(void (*kernel)(A, B)) {
  kernel<<<1, 32>>>((A)first, (B)second);
}
template <class A>
void run(void (*kernel)(A, float)) {
  kernel<<<1, 32>>>((A)first, 2.0f);
}
template <class A, class B>
void run(void (*kernel)(A, B, float)) {
  kernel<<<1, 32>>>((A)first, (B)second, 2.0f);
}

int main() {
  const size_t bytes = 64 * sizeof(Node);
  cudaMalloc((void**)&first, bytes);
  cudaMalloc((void**)&second, bytes);
  cudaMemset(first, 0, bytes);
  cudaMemset(second, 0, bytes);
  run(copy_cell), run(change_cell), run(change_node), run(change_in_place), run(copy_six),
      run(change_six), run(copy_point), run(copy_loose);
  run(two_of_cell), run(one_of_whole), run(two_of_whole), run(ends_of_whole);
  run(sum), run(sum_by_line), run(by_reference), run(by_pointer), run(first_two), run(last_two),
      run(middle_two), run(ends);
  run(first_three), run(last_three), run(all_but_one), run(pair_sum), run(loose_sum),
      run(float4_sum), run(float2_sum);
  run(cell_sum), run(six_of_cell), run(complex_sum), run(momentum), run(five_samples), run(row_sum),
      run(four_floats);
  run(fill), run(fill_three), run(fill_last_three), run(fill_whole);
  run(scale), run(move_in_place), run(reverse), run(to_another_type), run(scale_row),
      run(store_between);
  run(barrier_between), run(volatile_members);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
  cudaFree(first);
  cudaFree(second);
  return error != cudaSuccess;
}
