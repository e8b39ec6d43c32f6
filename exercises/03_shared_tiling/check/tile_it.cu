#include "grader/gemm.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  grader::check_product(exercise, {33, 20, 35}, launch_product, true);
  for (const grader::Product size : grader::products) {
    grader::check_product(exercise, size, launch_product);
  }
  grader::check_product(exercise, {64, 64, 64}, launch_product);
  exercise.at_most(grader::load_requests, 512);
  exercise.at_most(grader::load_sectors_per_request, 4);
  exercise.at_most(grader::bank_conflicts, 0);
}
