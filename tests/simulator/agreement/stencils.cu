// Stencils in one, two and three dimensions, from global memory and from a tile with its halo.
#include <algorithm>

#include "program.h"

__global__ void average3(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3.0f;
}

constexpr int RADIUS = 3;

__global__ void stencil_1d(const float* in, float* out) {
  __shared__ float temp[128 + 2 * RADIUS];
  int g = blockIdx.x * blockDim.x + threadIdx.x + RADIUS;
  int l = threadIdx.x + RADIUS;
  temp[l] = in[g];
  if (threadIdx.x < RADIUS) {
    temp[l - RADIUS] = in[g - RADIUS];
    temp[l + 128] = in[g + 128];
  }
  __syncthreads();
  float sum = 0.0f;
  for (int offset = -RADIUS; offset <= RADIUS; offset++) sum += temp[l + offset];
  out[g - RADIUS] = sum;
}

__global__ void heat_2d(const float* in, float* out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
    int i = y * nx + x;
    out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - 4.0f * in[i]);
  }
}

template <int TILE>
__global__ void heat_2d_tiled(const float* in, float* out, int nx, int ny) {
  __shared__ float tile[TILE + 2][TILE + 2];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  if (x < nx && y < ny) {
    tile[ty][tx] = in[y * nx + x];
    if (threadIdx.x == 0 && x > 0) tile[ty][0] = in[y * nx + x - 1];
    if (threadIdx.x == TILE - 1 && x < nx - 1) tile[ty][TILE + 1] = in[y * nx + x + 1];
    if (threadIdx.y == 0 && y > 0) tile[0][tx] = in[(y - 1) * nx + x];
    if (threadIdx.y == TILE - 1 && y < ny - 1) tile[TILE + 1][tx] = in[(y + 1) * nx + x];
  }
  __syncthreads();
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
    out[y * nx + x] =
        tile[ty][tx] + 0.1f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] +
                               tile[ty + 1][tx] - 4.0f * tile[ty][tx]);
  }
}

__global__ void blur_clamped(const float* in, float* out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  float sum = 0.0f;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      int cx = min(max(x + dx, 0), nx - 1);
      int cy = min(max(y + dy, 0), ny - 1);
      sum += in[cy * nx + cx];
    }
  }
  out[y * nx + x] = sum / 9.0f;
}

__global__ void blur_counted(const float* in, float* out, int nx, int ny, int radius) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  float sum = 0.0f;
  int count = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      int cx = x + dx, cy = y + dy;
      if (cx >= 0 && cx < nx && cy >= 0 && cy < ny) {
        sum += in[cy * nx + cx];
        ++count;
      }
    }
  }
  out[y * nx + x] = sum / count;
}

__constant__ float weights[25];

__global__ void convolve_5x5(const float* in, float* out, int nx, int ny) {
  __shared__ float tile[20][20];
  int x0 = blockIdx.x * 16 - 2, y0 = blockIdx.y * 16 - 2;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 20 * 20; i += 256) {
    int x = x0 + i % 20, y = y0 + i / 20;
    tile[i / 20][i % 20] = x >= 0 && x < nx && y >= 0 && y < ny ? in[y * nx + x] : 0.0f;
  }
  __syncthreads();
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < nx && y < ny) {
    float sum = 0.0f;
    for (int j = 0; j < 5; ++j) {
      for (int i = 0; i < 5; ++i) {
        sum += weights[j * 5 + i] * tile[threadIdx.y + j][threadIdx.x + i];
      }
    }
    out[y * nx + x] = sum;
  }
}

__global__ void laplace_3d(const float* in, float* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
  int i = (z * ny + y) * nx + x;
  out[i] = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny] -
           6.0f * in[i];
}

__global__ void laplace_3d_march(const float* in, float* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  float below = in[i], here = in[i + nx * ny];
  for (int z = 1; z < nz - 1; ++z) {
    i += nx * ny;
    float above = in[i + nx * ny];
    out[i] = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + below + above - 6.0f * here;
    below = here;
    here = above;
  }
}

__global__ void life(const unsigned char* in, unsigned char* out, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx != 0 || dy != 0) alive += in[(y + dy + ny) % ny * nx + (x + dx + nx) % nx];
    }
  }
  out[y * nx + x] = alive == 3 || (alive == 2 && in[y * nx + x]);
}

int main() {
  const int n = 128 * 10;
  const std::vector<float> line = random_floats(n + 2 * RADIUS);
  {
    Array<float> in(line), out(n), other(n);
    average3<<<(n + 99) / 100, 100>>>(in, out, n);
    expect("average3", out.host(), [&](size_t i) {
      return i > 0 && i < n - 1 ? (line[i - 1] + line[i] + line[i + 1]) / 3 : 0;
    });
    stencil_1d<<<10, 128>>>(in, other);
    expect("stencil_1d", other.host(), [&](size_t i) {
      float sum = 0;
      for (int k = 0; k <= 2 * RADIUS; ++k) sum += line[i + k];
      return sum;
    });
  }
  const int nx = 75, ny = 53;
  const std::vector<float> plane = random_floats(nx * ny);
  const auto at = [&](int x, int y) { return plane[y * nx + x]; };
  const auto heat = [&](size_t i) {
    const int x = (int)i % nx, y = (int)i / nx;
    if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) return 0.0f;
    return at(x, y) +
           0.1f * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1) - 4 * at(x, y));
  };
  Array<float> in(plane);
  {
    Array<float> a(nx * ny), b(nx * ny), c(nx * ny), d(nx * ny);
    heat_2d<<<dim3(5, 7), dim3(16, 8)>>>(in, a, nx, ny);
    expect("heat_2d", a.host(), heat);
    heat_2d<<<dim3(10, 7), dim3(8, 8)>>>(in, d, nx, ny);
    expect("heat_2d 8x8", d.host(), heat);
    heat_2d_tiled<16><<<dim3(5, 4), dim3(16, 16)>>>(in, b, nx, ny);
    expect("heat_2d_tiled<16>", b.host(), heat);
    heat_2d_tiled<32><<<dim3(3, 2), dim3(32, 32)>>>(in, c, nx, ny);
    expect("heat_2d_tiled<32>", c.host(), heat);
  }
  {
    Array<float> out(nx * ny), counted(nx * ny), convolved(nx * ny);
    blur_clamped<<<dim3(3, 14), dim3(32, 4)>>>(in, out, nx, ny);
    expect("blur_clamped", out.host(), [&](size_t i) {
      float sum = 0;
      for (int k = 0; k < 9; ++k) {
        sum += at(std::min(std::max((int)i % nx + k % 3 - 1, 0), nx - 1),
                  std::min(std::max((int)i / nx + k / 3 - 1, 0), ny - 1));
      }
      return sum / 9;
    });
    blur_counted<<<dim3(5, 4), dim3(16, 16)>>>(in, counted, nx, ny, 2);
    expect("blur_counted", counted.host(), [&](size_t i) {
      float sum = 0;
      int count = 0;
      for (int k = 0; k < 25; ++k) {
        const int x = (int)i % nx + k % 5 - 2, y = (int)i / nx + k / 5 - 2;
        if (x < 0 || y < 0 || x >= nx || y >= ny) continue;
        sum += at(x, y);
        ++count;
      }
      return sum / count;
    });
    std::vector<float> w = random_floats(25);
    CHECK(cudaMemcpyToSymbol(weights, w.data(), sizeof(float) * 25));
    convolve_5x5<<<dim3(5, 4), dim3(16, 16)>>>(in, convolved, nx, ny);
    expect("convolve_5x5", convolved.host(), [&](size_t i) {
      float sum = 0;
      for (int k = 0; k < 25; ++k) {
        const int x = (int)i % nx + k % 5 - 2, y = (int)i / nx + k / 5 - 2;
        if (x >= 0 && y >= 0 && x < nx && y < ny) sum += w[k] * at(x, y);
      }
      return sum;
    });
  }
  {
    const int mx = 34, my = 18, mz = 10;
    const std::vector<float> cube = random_floats(mx * my * mz);
    Array<float> from(cube), a(cube.size()), b(cube.size());
    const auto laplace = [&](size_t i) {
      const int x = (int)i % mx, y = (int)i / mx % my, z = (int)i / mx / my;
      if (x < 1 || y < 1 || z < 1 || x >= mx - 1 || y >= my - 1 || z >= mz - 1) return 0.0f;
      const float* c = &cube[i];
      return c[-1] + c[1] + c[-mx] + c[mx] + c[-mx * my] + c[mx * my] - 6 * c[0];
    };
    laplace_3d<<<dim3(5, 5, 3), dim3(8, 4, 4)>>>(from, a, mx, my, mz);
    expect("laplace_3d", a.host(), laplace);
    laplace_3d_march<<<dim3(2, 3), dim3(32, 6)>>>(from, b, mx, my, mz);
    expect("laplace_3d_march", b.host(), laplace);
  }
  {
    std::vector<unsigned char> world(nx * ny);
    for (unsigned char& cell : world) cell = next_random() % 3 == 0;
    Array<unsigned char> from(world), to(nx * ny);
    life<<<dim3(5, 7), dim3(16, 8)>>>(from, to, nx, ny);
    expect("life", to.host(), [&](size_t i) {
      int alive = 0;
      for (int k = 0; k < 9; ++k) {
        if (k == 4) continue;
        alive +=
            world[((int)i / nx + k / 3 - 1 + ny) % ny * nx + ((int)i % nx + k % 3 - 1 + nx) % nx];
      }
      return alive == 3 || (alive == 2 && world[i]);
    });
  }
  return finish();
}
