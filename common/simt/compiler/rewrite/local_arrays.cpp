#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/zones.h"
#include "rewrite/local_declarations.h"
#include "rewrite/rules.h"

namespace simtcc {
namespace {

// `int a[8];` whose name is handed on without an index becomes
//
//   struct { unsigned char below[32]; int a[8]; unsigned char above[32]; } simt_zones_of_a; auto& a = simt_zones_of_a.a;
//
// and both zones are filled. That is no access which would be traced, and it goes where the compiler needs no such array in
// memory. An array that is only indexed is -fsanitize=bounds's.
class LocalArrays : private LocalDeclarations {
 public:
  using LocalDeclarations::LocalDeclarations;

  void visit_statement(std::size_t i) {
    if (!in_device_code(i)) return;
    const std::size_t names_at = skip_type(i, true);
    if (names_at == kNone) return;
    std::vector<Guarded> declarators;
    std::size_t end = kNone;
    bool any = false;
    for (const Declarator& declarator : declarators_at(names_at)) {
      declarators.push_back({declarator, declarator.rank && is_handed_on(declarator)});
      any |= declarators.back().guarded;
      end = declarator.end;
    }
    if (!any || !may_be_guarded(i, end)) return;
    const std::string type = flat(i, names_at);
    std::string behind;  // of the declarator before
    for (std::size_t d = 0; d < declarators.size(); ++d) {
      const Guarded& declarator = declarators[d];
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
  struct Guarded : Declarator {
    bool guarded;
  };

  static inline const std::string kSize = std::to_string(simt::zones::kBytes);
  static inline const std::string kOpen = "struct { unsigned char below[" + kSize + "]; ";

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
