#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto wavefronts = [&](const char* name, auto kernel) {
    grader::Output<float> out("out", 32);
    exercise.run(name, [&] { kernel<<<1, 32>>>(out.data()); });
    return exercise.count(grader::shared_load_wavefronts);
  };
  exercise.predict("same", kSame, wavefronts("same", read<Same>));
  exercise.predict("neighbours", kNeighbours, wavefronts("neighbours", read<Neighbours>));
  exercise.predict("stride 2", kStride2, wavefronts("stride 2", read<Stride2>));
  exercise.predict("stride 32", kStride32, wavefronts("stride 32", read<Stride32>));
  exercise.predict("stride 33", kStride33, wavefronts("stride 33", read<Stride33>));
  exercise.predict("rows of 8", kRowsOf8, wavefronts("rows of 8", read<RowsOf8>));
}
