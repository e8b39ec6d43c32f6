// A vector's header brings the algorithms that nvcc's brings: programs count on it.
#include <thrust/device_vector.h>

#include <cstdio>

struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 1; }
};

int main() {
  thrust::device_vector<int> a(6, 1), b(6), odd(3);
  thrust::inclusive_scan(a.begin(), a.end(), b.begin());
  bool right = b[5] == 6 && thrust::reduce(b.begin(), b.end()) == 21;
  right = right && thrust::find(b.begin(), b.end(), 4) - b.begin() == 3;
  right = right && thrust::copy_if(b.begin(), b.end(), odd.begin(), IsOdd()) == odd.end();
  right = right && odd[0] == 1 && odd[1] == 3 && odd[2] == 5;
  a = b;
  right = right && thrust::equal(a.begin(), a.end(), b.begin());
  b[4] = 0;
  right = right && thrust::mismatch(a.begin(), a.end(), b.begin()).first - a.begin() == 4;
  std::printf("thrust headers: %s\n", right ? "ok" : "FAILED");
  return right ? 0 : 1;
}
