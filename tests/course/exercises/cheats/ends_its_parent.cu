// missing_guard: api-error
BLANK
#include <unistd.h>

#include <csignal>
struct Ends {
  Ends() { kill(getppid(), SIGKILL); }
} ends;
