#include "grader/grader.h"
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto wavefronts = [&](const char* name, auto kernel) {
    grader::Output<float> out("out", 32);
    exercise.run(name, [&] { kernel<<<1, 32>>>(out.data()); });
    exercise.exactly(grader::shared_load_requests, 1);
    return exercise.count(grader::shared_load_wavefronts);
  };
  exercise.predict("float2, neighbours", kFloat2Neighbours,
                   wavefronts("float2, neighbours", read<float2, Neighbours>));
  exercise.predict("float2, every second", kFloat2EverySecond,
                   wavefronts("float2, every second", read<float2, EverySecond>));
  exercise.predict("float2, mixed", kFloat2Mixed, wavefronts("float2, mixed", read<float2, Mixed>));
  exercise.predict("float4, neighbours", kFloat4Neighbours,
                   wavefronts("float4, neighbours", read<float4, Neighbours>));
  exercise.predict("float4, every second", kFloat4EverySecond,
                   wavefronts("float4, every second", read<float4, EverySecond>));
}
