#include "lab/cublas_transpose.h"
#include "lab/lab.h"
#include "transposed.h"

namespace {

void add_cublas(lab::Map<float>& map) {
  const auto [rows, cols] = map.ladder().extents<2>();
  map.add("cublas", Transposed{map.in, rows, cols},
          lab::bind_back(lab::cublas_transpose, static_cast<int>(rows), static_cast<int>(cols)));
}

const lab::Rungs here(add_cublas);

}  // namespace
