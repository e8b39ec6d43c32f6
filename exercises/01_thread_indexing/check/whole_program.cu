#include "grader/grader.h"
#define main program
#include EXERCISE

void grade(grader::Exercise& exercise) {
  const auto free_bytes = [&] {
    return exercise.ask([] {
      std::size_t free = 0, total = 0;
      cudaMemGetInfo(&free, &total);
      return free;
    });
  };
  int code = -1;
  exercise.run("the program", [&] { code = program(); });
  exercise.expect(
      exercise.printed() == "2001000\n", "wrong-output",
      "the program must print 2001000; it printed: " + lab::one_line(exercise.printed()));
  code = exercise.ask([&] { return code; });
  exercise.expect(code == 0, "exit-code", lab::format("main() returned %d, not 0", code));
  exercise.exactly(grader::launches, 1);
  exercise.exactly(grader::threads_per_block, 256);
  exercise.at_most(grader::blocks, 4);
  // The second run: a GPU takes memory of its own for the first one.
  const std::size_t before = free_bytes();
  exercise.run("the program, once more", [&] { code = program(); });
  const std::size_t after = free_bytes();
  exercise.expect(after == before, "not-freed",
                  lab::format("%zu bytes of the device's memory were not freed", before - after));
}
