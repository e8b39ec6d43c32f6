// The Mandelbrot set: iterations per pixel, where neighbouring lanes leave their loops at different times.
#include <cstdio>
#include <vector>

__host__ __device__ int iterations(float x, float y, int most) {
  float u = 0, v = 0;
  int i = 0;
  while (i < most && u * u + v * v <= 4) {
    const float next = u * u - v * v + x;
    v = 2 * u * v + y;
    u = next;
    ++i;
  }
  return i;
}

__host__ __device__ int pixel(int row, int column, int rows, int columns, int most) {
  return iterations(-2 + 3.0f * column / columns, -1.2f + 2.4f * row / rows, most);
}

__global__ void draw(int rows, int columns, int most, unsigned char* image) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) {
    image[row * columns + column] = pixel(row, column, rows, columns, most);
  }
}

int main() {
  constexpr int rows = 40, columns = 70, most = 60;
  std::vector<unsigned char> image(rows * columns);
  unsigned char* device;
  cudaMalloc(&device, image.size());
  draw<<<dim3((columns + 31) / 32, (rows + 3) / 4), dim3(32, 4)>>>(rows, columns, most, device);
  cudaMemcpy(image.data(), device, image.size(), cudaMemcpyDeviceToHost);
  int wrong = 0, inside = 0;
  for (int i = 0; i < rows * columns; ++i) {
    wrong += image[i] != pixel(i / columns, i % columns, rows, columns, most);
    inside += image[i] == most;
  }
  const bool right = wrong == 0 && inside > rows * columns / 10;
  std::printf("mandelbrot: %s (%d wrong, %d inside)\n", right ? "ok" : "FAILED", wrong, inside);
  cudaFree(device);
  return right ? 0 : 1;
}
