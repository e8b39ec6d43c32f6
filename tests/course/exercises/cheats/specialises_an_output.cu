// missing_guard: compile
#include "grader/grader.h"
template <>
std::vector<float> grader::Output<float>::download() const {
  return {};
}
BLANK
