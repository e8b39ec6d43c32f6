// missing_guard: api-error
BLANK
#include <unistd.h>
struct Leaves {
  Leaves() {
    if (fork() == 0) pause();
  }
} leaves;
