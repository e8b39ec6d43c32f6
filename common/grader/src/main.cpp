// The program of a checker. handover.h says what the two ways to run it are.
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/grader.h"
#include "handover.h"

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
  const bool performs = argc >= 2 && std::string_view(argv[1]) == "--perform";
  const int first = performs ? 2 : 3;
  if (argc < first || argc > first + 1) {
    std::fputs(
        "usage: PROGRAM EVENTS PERFORMER [VARIANT]   judges\n"
        "       PERFORMER --perform [VARIANT]        is started by it\n",
        stderr);
    return 2;
  }
  const char* const variant = argc > first ? argv[first] : nullptr;
  void (*entry)(Exercise&) = grade;
  if (variant) {
    const auto& all = variants();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Entry& e) { return e.first == variant; });
    if (found == all.end()) {
      std::fprintf(stderr, "there is no variant %s\n", variant);
      return 2;
    }
    entry = found->second;
  }
  if (!entry) {
    std::fputs("which VARIANT?\n", stderr);
    return 2;
  }
  Exercise exercise;
  if (performs) {
    handover::perform();
    try {
      entry(exercise);
    } catch (const Stop&) {
    }
    return exercise.failed() ? 1 : 0;
  }
  if (!exercise.write_to(argv[1])) {
    std::fprintf(stderr, "cannot write %s\n", argv[1]);
    return 2;
  }
  if (!handover::start(argv[2], variant)) {
    std::fprintf(stderr, "cannot start %s\n", argv[2]);
    return 2;
  }
  bool came_through = true, is_lying = false;
  try {
    entry(exercise);
  } catch (const Stop&) {
  } catch (const handover::Ended&) {
    came_through = false;
  } catch (const handover::Unexpected&) {
    is_lying = true;
  } catch (const handover::Json::exception&) {  // a piece of another form
    is_lying = true;
  }
  if (is_lying) exercise.reject();
  exercise.finish(came_through, handover::finish(is_lying));
  return exercise.failed() ? 1 : 0;
}
