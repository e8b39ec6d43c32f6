// missing_guard: wrong-result
BLANK
#include <unistd.h>

#include <cstdio>
struct HandsOver {
  HandsOver() {
    std::FILE* pieces = fdopen(3, "w");
    std::fputs(
        "{\"piece\":\"run\",\"bytes\":0,\"case\":\"n = 1\",\"launches\":1,\"failures\":[]}\n",
        pieces);
    std::fputs("{\"piece\":\"c\",\"bytes\":4}\n", pieces);
    std::fwrite("\0\0\0\0", 1, 4, pieces);
    std::fflush(pieces);
    _exit(0);
  }
} hands_over;
