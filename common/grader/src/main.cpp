// The program of a checker: PROGRAM EVENTS [VARIANT]
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/grader.h"

// Of a program with one checker; one with several registers them as variants.
[[gnu::weak]] void grade(grader::Exercise& exercise);

namespace grader {
namespace {

using Entry = std::pair<std::string_view, void (*)(Exercise&)>;

std::vector<Entry>& variants() {
  static std::vector<Entry> all;
  return all;
}

}  // namespace

Variant::Variant(const char* name, void (*grade)(Exercise&)) {
  variants().emplace_back(name, grade);
}

}  // namespace grader

int main(int argc, char** argv) {
  using namespace grader;
  if (argc < 2 || argc > 3) {
    std::fputs("usage: PROGRAM EVENTS [VARIANT]\n", stderr);
    return 2;
  }
  void (*entry)(Exercise&) = grade;
  if (argc == 3) {
    const auto& all = variants();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Entry& e) { return e.first == argv[2]; });
    if (found == all.end()) {
      std::fprintf(stderr, "there is no variant %s\n", argv[2]);
      return 2;
    }
    entry = found->second;
  }
  if (!entry) {
    std::fputs("which VARIANT?\n", stderr);
    return 2;
  }
  Exercise exercise;
  if (!exercise.write_to(argv[1])) {
    std::fprintf(stderr, "cannot write %s\n", argv[1]);
    return 2;
  }
  try {
    entry(exercise);
  } catch (const Stop&) {
  }
  exercise.finish();
  return exercise.failed() ? 1 : 0;
}
