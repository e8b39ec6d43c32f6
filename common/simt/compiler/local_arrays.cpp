#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/zones.h"
#include "rules.h"
#include "unit.h"

namespace simtcc {
namespace {

// `int a[8];` whose name is handed on without an index becomes
//
//   struct { unsigned char below[32]; int a[8]; unsigned char above[32]; } simt_zones_of_a; auto& a = simt_zones_of_a.a;
//
// and both zones are filled. That is no access which would be traced, and it goes where the compiler needs no such array in
// memory. An array that is only indexed is -fsanitize=bounds's.
class LocalArrays : private Rule {
 public:
  using Rule::Rule;

  void visit_statement(std::size_t i) {
    if (!in_device_code(i)) return;
    const std::size_t names_at = skip_type(i);
    if (names_at == kNone) return;
    std::vector<Declarator> declarators;
    const std::size_t end = parse(names_at, declarators);
    if (end == kNone) return;
    bool any = false;
    for (Declarator& declarator : declarators) {
      if (declarator.rank) declarator.guarded = is_handed_on(declarator);
      any |= declarator.guarded;
    }
    if (!any || !may_be_guarded(i, end)) return;
    const std::string type = flat(i, names_at);
    std::string behind;  // of the declarator before
    for (std::size_t d = 0; d < declarators.size(); ++d) {
      const Declarator& declarator = declarators[d];
      if (d > 0) {
        replace_token(declarators[d - 1].end, ";" + behind + " ");
        insert_before(declarator.begin, (declarator.guarded ? kOpen : std::string()) + type + " ");
      } else if (declarator.guarded) {
        insert_before(i, kOpen);
      }
      behind = declarator.guarded ? guard(declarator) : std::string();
    }
    insert_after(end, behind);
  }

 private:
  struct Declarator {
    std::size_t begin, name;
    std::size_t rank;         // how many extents
    std::size_t extents_end;  // one past them
    std::size_t end;          // `,` or `;`
    bool guarded = false;
  };

  static inline const std::string kSize = std::to_string(simt::zones::kBytes);
  static inline const std::string kOpen = "struct { unsigned char below[" + kSize + "]; ";

  // One past the type at i, if its objects begin without a call; kNone if this is no declaration of such.
  std::size_t skip_type(std::size_t i) const {
    const std::size_t begin = i;
    while (is_identifier(i) && (is_builtin_type(list_[i].text) || is(i, "volatile"))) {
      if (is(i, "auto") || is(i, "void")) return kNone;
      ++i;
    }
    if (i == begin && is_identifier(i) && is_plain(i)) ++i;
    return i > begin ? i : kNone;
  }

  bool is_plain(std::size_t i) const {
    static constexpr std::array<std::string_view, 24> kNames = {
        "size_t",   "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t",
        "uint64_t", "float2", "float3",  "float4",  "double2",  "int2",    "int3",     "int4",
        "uint2",    "uint3",  "uint4",   "uchar4",  "char4",    "short2",  "ushort2",  "longlong2"};
    for (const std::string_view name : kNames) {
      if (is(i, name)) return true;
    }
    // A parameter of the function's template.
    const FunctionBody* body = body_at(i);
    if (!body || !is(body->head, "template")) return false;
    for (std::size_t j = body->head; j < body->open; ++j) {
      if (is(j, list_[i].text) && (is(j - 1, "typename") || is(j - 1, "class"))) return true;
    }
    return false;
  }

  // Reads `*p, a[8] = {}, b[2][3];`. Returns the `;`, or kNone.
  std::size_t parse(std::size_t i, std::vector<Declarator>& declarators) const {
    while (true) {
      Declarator declarator{i, kNone, 0, kNone, kNone};
      while (is(i, "*")) ++i;
      if (!is_identifier(i) || is_builtin_type(list_[i].text) || is_specifier(list_[i].text))
        return kNone;
      declarator.name = i++;
      for (; is(i, "[") && !is(i + 1, "]") && !is(i + 1, "["); i = skip_group(i)) ++declarator.rank;
      if (is(i, "[")) return kNone;
      declarator.extents_end = i;
      if (!is(i, ",") && !is(i, ";") && !is(i, "=") && !is(i, "{")) return kNone;
      for (; i < list_.size() && !is(i, ",") && !is(i, ";");
           i = is_opening(i) ? skip_group(i) : i + 1) {
        if (is_closing(i) || is(i, "<"))
          return kNone;  // "<": a comma may stand in template arguments
      }
      if (i >= list_.size()) return kNone;
      declarator.end = i;
      declarators.push_back(declarator);
      if (is(i, ";")) return i;
      ++i;
    }
  }

  // Where the innermost scope at i ends.
  std::size_t scope_end(std::size_t i) const {
    while (i < list_.size() && !is(i, "}")) i = is_opening(i) ? skip_group(i) : i + 1;
    return i;
  }

  // Is the array's address given to somebody?
  bool is_handed_on(const Declarator& declarator) const {
    const std::string_view name = list_[declarator.name].text;
    const std::size_t end = scope_end(declarator.end);
    bool handed_on = false;
    for (std::size_t i = declarator.end; i < end; ++i) {
      if (!is(i, name) || is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::")) continue;
      // As a reference the name has another type, and is no constant expression.
      if (is(i - 1, "(") && is_identifier(i - 2) && !is(i - 2, "sizeof")) {
        static constexpr std::array<std::string_view, 7> kOfTypes = {
            "decltype", "typeof", "__typeof__", "__typeof", "size", "ssize", "alignof"};
        for (const std::string_view word : kOfTypes) {
          if (is(i - 2, word)) return false;
        }
      }
      std::size_t rank = 0, at = i + 1;
      for (; is(at, "["); at = skip_group(at)) ++rank;
      handed_on |= rank < declarator.rank || is(i - 1, "&");
    }
    return handed_on;
  }

  // Nothing may jump over a reference, and a constant expression fills no bytes.
  bool may_be_guarded(std::size_t begin, std::size_t end) const {
    const FunctionBody* body = body_at(begin);
    if (!body) return false;
    for (std::size_t i = body->head; i < body->open; ++i) {
      if (is(i, "constexpr") || is(i, "consteval")) return false;
    }
    for (std::size_t i = body->open; i < body->close; ++i) {
      if (is(i, "goto")) return false;
    }
    for (std::size_t i = end; i < list_.size() && !is(i, "}");
         i = is_opening(i) ? skip_group(i) : i + 1) {
      if (is(i, "case") || is(i, "default")) return false;
    }
    return true;
  }

  // \return what comes behind the declarator's end
  std::string guard(const Declarator& declarator) {
    const std::string name(list_[declarator.name].text);
    const std::string zones = std::string(simt::zones::kPrefix) + name;
    const std::size_t value = declarator.extents_end;
    std::string close = "; unsigned char above[" + kSize + "]; } " + zones;
    if (is(value, "=")) {
      replace_token(value, close + " = {{}, ");
      insert_before(declarator.end, ", {}}");
    } else if (is(value, "{")) {
      insert_before(value, close + " = {{}, ");
      insert_before(declarator.end, ", {}}");
    } else {
      insert_before(declarator.end, close);
    }
    std::string text = " auto& " + name + " = " + zones + "." + name + ";";
    for (const char* zone : {".below", ".above"}) {
      text += " __builtin_memset(" + zones + zone + ", " +
              std::to_string(simt::zones::kMark & 0xff) + ", " + kSize + ");";
    }
    return text;
  }
};

}  // namespace

void guard_local_arrays(Unit& unit, std::size_t i) { LocalArrays(unit).visit_statement(i); }

}  // namespace simtcc
