#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const grader::Input<float> a("A", lab::random_floats(64 * 64, 1)),
      b("B", lab::random_floats(64 * 64, 2));
  grader::Output<float> c("C", 64 * 64);
  exercise.run("along_columns",
               [&] { along_columns<<<dim3(2, 8), dim3(32, 8)>>>(a.data(), b.data(), c.data()); });
  exercise.predict("load requests", kLoadRequests, exercise.count(grader::load_requests));
  exercise.predict("store requests", kStoreRequests, exercise.count(grader::store_requests));
  exercise.predict("sectors along columns", kSectorsAlongColumns,
                   exercise.count(grader::load_sectors));
  exercise.run("along_rows",
               [&] { along_rows<<<dim3(2, 8), dim3(32, 8)>>>(a.data(), b.data(), c.data()); });
  exercise.predict("sectors along rows", kSectorsAlongRows, exercise.count(grader::load_sectors));
  exercise.predict("store sectors along rows", kStoreSectorsAlongRows,
                   exercise.count(grader::store_sectors));
}
