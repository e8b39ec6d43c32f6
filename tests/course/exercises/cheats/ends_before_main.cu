// missing_guard: exit
BLANK
#include <unistd.h>
struct Ends {
  Ends() { _exit(0); }
} ends;
