#include "grader/gemm.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  for (const grader::Product size : grader::products) {
    grader::check_product(exercise, size, launch_product);
  }
  grader::check_product(exercise, {64, 64, 64}, launch_product);
  exercise.at_most(grader::load_sectors_per_request, 3);
  exercise.at_most(grader::store_sectors_per_request, 4);
}
