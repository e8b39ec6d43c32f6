// Conway's game of life on a torus; each block keeps its cells and their neighbours in shared memory.
#include <cstdio>
#include <utility>
#include <vector>

constexpr int kTile = 16;

__host__ __device__ int wrap(int i, int n) { return (i + n) % n; }
__host__ __device__ bool lives(bool alive, int neighbours) {
  return neighbours == 3 || (alive && neighbours == 2);
}

__global__ void step(int rows, int columns, const char* from, char* to) {
  __shared__ char cells[kTile + 2][kTile + 2];
  const int top = blockIdx.y * kTile, left = blockIdx.x * kTile;
  for (int i = threadIdx.y; i < kTile + 2; i += kTile) {
    for (int j = threadIdx.x; j < kTile + 2; j += kTile) {
      cells[i][j] = from[wrap(top + i - 1, rows) * columns + wrap(left + j - 1, columns)];
    }
  }
  __syncthreads();
  const int row = top + threadIdx.y, column = left + threadIdx.x;
  if (row >= rows || column >= columns) return;
  int neighbours = -cells[threadIdx.y + 1][threadIdx.x + 1];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) neighbours += cells[threadIdx.y + i][threadIdx.x + j];
  }
  to[row * columns + column] = lives(cells[threadIdx.y + 1][threadIdx.x + 1], neighbours);
}

int main() {
  constexpr int rows = 50, columns = 37, steps = 5;
  std::vector<char> cells(rows * columns), next(rows * columns), result(rows * columns);
  unsigned state = 11;
  for (char& cell : cells) cell = (state = state * 1664525u + 1013904223u) >> 30 == 0;
  char *from, *to;
  cudaMalloc(&from, cells.size());
  cudaMalloc(&to, cells.size());
  cudaMemcpy(from, cells.data(), cells.size(), cudaMemcpyHostToDevice);
  const dim3 block(kTile, kTile), grid((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  for (int s = 0; s < steps; ++s) {
    step<<<grid, block>>>(rows, columns, from, to);
    std::swap(from, to);
  }
  cudaMemcpy(result.data(), from, result.size(), cudaMemcpyDeviceToHost);

  for (int s = 0; s < steps; ++s) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        int neighbours = -cells[row * columns + column];
        for (int i = -1; i <= 1; ++i) {
          for (int j = -1; j <= 1; ++j) {
            neighbours += cells[wrap(row + i, rows) * columns + wrap(column + j, columns)];
          }
        }
        next[row * columns + column] = lives(cells[row * columns + column], neighbours);
      }
    }
    cells.swap(next);
  }
  const bool right = result == cells;
  std::printf("game_of_life: %s\n", right ? "ok" : "FAILED");
  cudaFree(from);
  cudaFree(to);
  return right ? 0 : 1;
}
