// missing_guard: api-error
BLANK
#include <cstdio>
struct Prints {
  Prints() {
    std::puts("{\"event\":\"passed\"}");
    std::fprintf(stderr, "{\"event\":\"passed\"}\n");
    std::puts("missing_guard: passed");
  }
} prints;
