// missing_guard: interface
BLANK
#include <fstream>
int main(int, char** argv) {
  std::ofstream(argv[1]) << "{\"event\":\"passed\"}\n";
  return 0;
}
