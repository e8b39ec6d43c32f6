#include "grader/grader.h"
#define main program
#include EXERCISE

void grade(grader::Exercise& exercise) {
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
  grader::run_and_free(exercise, "the program, once more", [&] { code = program(); });
}
