// A header of Thrust brings what nvcc's brings: a vector's the algorithms and placeholders, that of sorting std::cout. Programs
// count on it.
#include <thrust/device_vector.h>
#include <thrust/pair.h>
#include <thrust/sort.h>
#include <thrust/tuple.h>

#include <cstdio>

struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 1; }
};

__device__ thrust::pair<int, int> both(int x) { return thrust::make_pair(x, x * x); }
__global__ void take_apart(int* out) {
  int side, square;
  thrust::tie(side, square) = both(3);
  *out = side + square;
}

int main() {
  thrust::device_vector<int> taken(1);
  take_apart<<<1, 1>>>(thrust::raw_pointer_cast(taken.data()));
  thrust::device_vector<int> a(6, 1), b(6), odd(3);
  thrust::inclusive_scan(a.begin(), a.end(), b.begin());
  bool right = taken[0] == 12 && b[5] == 6 && thrust::reduce(b.begin(), b.end()) == 21;
  right = right && thrust::find(b.begin(), b.end(), 4) - b.begin() == 3;
  right = right && thrust::copy_if(b.begin(), b.end(), odd.begin(), IsOdd()) == odd.end();
  right = right && odd[0] == 1 && odd[1] == 3 && odd[2] == 5;
  a = b;
  right = right && thrust::equal(a.begin(), a.end(), b.begin());
  b[4] = 0;
  right = right && thrust::mismatch(a.begin(), a.end(), b.begin()).first - a.begin() == 4;
  thrust::transform(b.begin(), b.end(), b.begin(), 10 - thrust::placeholders::_1);
  thrust::sort(b.begin(), b.end());
  right = right && b[0] == 4 && b[5] == 10 && std::cout.good();
  std::printf("thrust headers: %s\n", right ? "ok" : "FAILED");
  return right ? 0 : 1;
}
