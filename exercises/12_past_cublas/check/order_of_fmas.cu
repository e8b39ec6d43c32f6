#include <utility>
#include <vector>

#include "grader/grader.h"
#include EXERCISE

// Row by row, for the time on a GPU.
template <int ROWS, int COLS>
__global__ void row_by_row(const float* a, const float* b, float* c, int steps) {
  float sums[ROWS][COLS] = {};
  for (int k = 0; k < steps; ++k) {
    float a_now[ROWS], b_now[COLS];
#pragma unroll
    for (int row = 0; row < ROWS; ++row) a_now[row] = a[k * ROWS + row];
#pragma unroll
    for (int col = 0; col < COLS; ++col) b_now[col] = b[k * COLS + col];
#pragma unroll
    for (int i = 0; i < ROWS * COLS; ++i) {
      sums[i / COLS][i % COLS] += a_now[i / COLS] * b_now[i % COLS];
    }
  }
  float* mine = c + (blockIdx.x * blockDim.x + threadIdx.x) * ROWS * COLS;
#pragma unroll
  for (int i = 0; i < ROWS * COLS; ++i) mine[i] = sums[i / COLS][i % COLS];
}

void check_shape(grader::Exercise& exercise, int rows, int cols) {
  const std::size_t sums = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  const std::vector<Place> places = exercise.ask([&] {
    std::vector<Place> all;
    for (int i = 0; i < rows * cols; ++i) all.push_back(fma_at(i, rows, cols));
    return all;
  });
  std::vector<int> often(sums);
  int reads = 0;
  bool inside = places.size() == sums;
  for (std::size_t i = 0; i < sums && inside; ++i) {
    const Place at = places[i], before = places[i > 0 ? i - 1 : 0];
    inside = at.row >= 0 && at.row < rows && at.col >= 0 && at.col < cols;
    if (!inside) break;
    ++often[static_cast<std::size_t>(at.row * cols + at.col)];
    reads += 1 + (i == 0 || at.row != before.row) + (i == 0 || at.col != before.col);
  }
  const std::size_t steps = 5, threads = 64;
  const grader::Input<float> a("a", lab::random_floats(steps * static_cast<std::size_t>(rows), 1));
  const grader::Input<float> b("b", lab::random_floats(steps * static_cast<std::size_t>(cols), 2));
  grader::Output<float> c("c", threads * sums);
  exercise.expect(
      inside, "outside",
      lab::format("fma_at() gives a row or a column that %d x %d sums do not have", rows, cols));
  exercise.run(lab::format("%d x %d sums", rows, cols),
               [&] { launch(rows, cols, 2, threads / 2, a.data(), b.data(), c.data(), steps); });
  for (int i = 0; i < rows * cols; ++i) {
    exercise.expect(often[static_cast<std::size_t>(i)] == 1, "once",
                    lab::format("row %d, column %d has its turn %d times in a step, not once",
                                i / cols, i % cols, often[static_cast<std::size_t>(i)]));
  }
  exercise.compare(
      c,
      [&](std::size_t i) {
        const std::size_t row = i % sums / static_cast<std::size_t>(cols);
        const std::size_t col = i % static_cast<std::size_t>(cols);
        double sum = 0;
        for (std::size_t k = 0; k < steps; ++k) {
          sum += double{a[k * static_cast<std::size_t>(rows) + row]} *
                 b[k * static_cast<std::size_t>(cols) + col];
        }
        return sum;
      },
      lab::tolerance_for_sum(steps, 0.25));
  const int fewest = 2 * rows * cols + 1;
  exercise.expect(reads <= fewest, "operands",
                  lab::format("a step of %d x %d sums reads %d operands, at most %d: there are "
                              "multiply-adds that change both the row and the column",
                              rows, cols, reads, fewest));
}

void grade(grader::Exercise& exercise) {
  check_shape(exercise, 5, 1);
  check_shape(exercise, 2, 3);
  check_shape(exercise, 8, 8);
  // On a GPU: enough of it to be timed.
  if (!lab::this_backend().times) return;
  const int steps = 4096, blocks = 1024, threads = 128;
  const grader::Input<float> a("a", lab::random_floats(steps * 8, 1));
  const grader::Input<float> b("b", lab::random_floats(steps * 8, 2));
  grader::Output<float> c("c", std::size_t{blocks} * threads * 64);
  exercise.run("4096 steps",
               [&] { launch(8, 8, blocks, threads, a.data(), b.data(), c.data(), steps); });
  exercise.at_most_times(1.05, "the order row by row", [&] {
    row_by_row<8, 8><<<blocks, threads>>>(a.data(), b.data(), c.data(), steps);
  });
}
