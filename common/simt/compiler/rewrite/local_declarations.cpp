#include "rewrite/local_declarations.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace simtcc {

std::size_t LocalDeclarations::skip_type(std::size_t i, bool any) const {
  static constexpr std::array<std::string_view, 25> kNames = {
      "size_t",  "int8_t",   "uint8_t",   "int16_t", "uint16_t", "int32_t", "uint32_t",
      "int64_t", "uint64_t", "float2",    "float3",  "float4",   "double2", "int2",
      "int3",    "int4",     "uint2",     "uint3",   "uint4",    "uchar4",  "char4",
      "short2",  "ushort2",  "longlong2", "uint"};
  const std::size_t begin = i;
  while (is_identifier(i) && (is_builtin_type(list_[i].text) || (any && is(i, "volatile")))) {
    if (is(i, "auto") || is(i, "void")) return kNone;
    ++i;
  }
  if (i > begin) return i;
  if (!is_identifier(i)) return kNone;
  const bool is_known = std::find(kNames.begin(), kNames.end(), list_[i].text) != kNames.end();
  return is_known || (any && is_template_parameter(i)) ? i + 1 : kNone;
}

bool LocalDeclarations::is_template_parameter(std::size_t i) const {
  const FunctionBody* body = body_at(i);
  if (!body || !is(body->head, "template")) return false;
  for (std::size_t j = body->head; j < body->open; ++j) {
    if (is(j, list_[i].text) && (is(j - 1, "typename") || is(j - 1, "class"))) return true;
  }
  return false;
}

std::vector<LocalDeclarations::Declarator> LocalDeclarations::declarators_at(std::size_t i) const {
  std::vector<Declarator> declarators;
  while (true) {
    Declarator declarator{i, kNone, 0, kNone, kNone};
    while (is(i, "*")) ++i;
    if (!is_identifier(i) || is_builtin_type(list_[i].text) || is_specifier(list_[i].text))
      return {};
    declarator.name = i++;
    for (; is(i, "[") && !is(i + 1, "]") && !is(i + 1, "["); i = skip_group(i)) ++declarator.rank;
    if (is(i, "[")) return {};
    declarator.extents_end = i;
    if (!is(i, ",") && !is(i, ";") && !is(i, "=") && !is(i, "{")) return {};
    for (; i < list_.size() && !is(i, ",") && !is(i, ";");
         i = is_opening(i) ? skip_group(i) : i + 1) {
      // "<": a comma may stand in template arguments
      if (is_closing(i) || is(i, "<")) return {};
    }
    if (i >= list_.size()) return {};
    declarator.end = i;
    declarators.push_back(declarator);
    if (is(i, ";")) return declarators;
    ++i;
  }
}

std::size_t LocalDeclarations::scope_end(std::size_t i) const {
  while (i < list_.size() && !is(i, "}")) i = is_opening(i) ? skip_group(i) : i + 1;
  return i;
}

}  // namespace simtcc
