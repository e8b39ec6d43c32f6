#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

class SharedVariables : private Rule {
 public:
  using Rule::Rule;

  void visit_shared(std::size_t i) {
    if (unit_.handled.contains(i)) return;
    const std::size_t start = declaration_start(i);
    std::vector<std::size_t> attributes;  // first tokens of alignas(...) and [[...]]
    bool is_extern = false;
    const std::size_t declarators_at = parse_specifiers(start, attributes, is_extern);
    std::vector<Declarator> declarators;
    std::size_t end = kNone;
    if (declarators_at != kNone) end = parse_declarators(declarators_at, declarators);
    if (end == kNone) {
      report(list_[i],
             "cannot read this __shared__ declaration; write it as `__shared__ T name[N];`");
      return;
    }
    if (unit_.scopes.back().kind == Scope::Kind::type) {
      for (std::size_t j = start; j < end; ++j) {
        if (is(j, "static"))
          return report(list_[i],
                        "a member of a class cannot be __shared__: declare the variable in the "
                        "kernel");
      }
    }
    for (const Declarator& declarator : declarators) {
      if (is_extern || !declarator.unknown_bound || list_[declarator.name].in_system_header)
        continue;
      return report(list_[declarator.name],
                    "a __shared__ array has a size, or is 'extern' and gets its size from the "
                    "launch: write one of them");
    }
    const bool dynamic =
        is_extern && std::any_of(declarators.begin(), declarators.end(),
                                 [](const Declarator& d) { return d.unknown_bound; });
    const bool of_program = !list_[end < list_.size() ? end : i].in_system_header;
    if (of_program && !is_extern && in_function() && unit_.scopes.back().side == Side::both) {
      note_on_both_sides(declarators.empty() ? i : declarators.front().name);
    } else if (!dynamic && of_program && is_in_host_function(unit_, i)) {
      report(list_[i],
             "a __shared__ variable cannot stand in a function of the host: declare it in a kernel "
             "or in a __device__ function");
    }
    if (dynamic) {
      declare_dynamic(start, declarators_at, declarators, end);
    } else {
      declare_static(start, declarators_at, attributes, declarators, end);
    }
  }

  void use_namespace_shared(const NamespaceShared& shared) {
    for (const FunctionBody& body : unit_.bodies) {
      if (body.open < shared.after) continue;
      bool used = false, declared = false;
      for (std::size_t i = body.head; i < body.close; ++i) {
        if (!is(i, shared.name) || !is_identifier(i)) continue;
        if (i > 0 && (is(i - 1, ".") || is(i - 1, "->"))) continue;
        if (declares(i, body)) declared = true;
        if (i > body.open) used = true;
      }
      if (used && !declared) insert_after(body.open, " " + shared.declaration);
    }
  }

 private:
  struct Declarator {
    std::size_t name;
    std::size_t end;  // one past it: `,` or `;`
    bool unknown_bound;
  };

  // The host's own compilation refuses it, unless an #if hides it there.
  void note_on_both_sides(std::size_t name) {
    const Token& t = list_[name];
    unit_.names.shared_on_both.push_back(
        {std::string(t.text), tokens_.files[t.file], t.line, column_of(t), t.line});
  }

  // Two arrays of one type in one function, as if each had memory of its own.
  void check_second_dynamic(std::size_t start, std::size_t name) {
    const FunctionBody* body = body_at(name);
    if (!body || list_[name].in_system_header) return;
    for (const std::size_t other : unit_.local_dynamic) {
      if (other < body->open || other >= name || is(other, list_[name].text)) continue;
      if (flat(declaration_start(other), other) != flat(start, name)) continue;
      const std::string first(list_[other].text), second(list_[name].text);
      warn(list_[name], "'" + second + "' begins where '" + first +
                            "' does, as all extern __shared__ arrays of a block are one piece of "
                            "memory: declare one, and let '" +
                            second + "' point past the elements of '" + first + "'");
      return;
    }
  }

  // Reads decl-specifiers from i on. Returns the first token of the declarators, or kNone.
  std::size_t parse_specifiers(std::size_t i, std::vector<std::size_t>& attributes,
                               bool& is_extern) {
    bool type = false;
    while (i < list_.size()) {
      const Token& t = list_[i];
      if (is(i, "[") && is(i + 1, "[")) {
        attributes.push_back(i);
        i = skip_group(i);
      } else if (t.is("alignas") && is(i + 1, "(")) {
        attributes.push_back(i);
        i = skip_group(i + 1);
      } else if (t.is_identifier() && takes_attribute_parenthesis(t.text) && is(i + 1, "(")) {
        if (!t.is("__attribute__") && !t.is("__attribute")) type = true;
        i = skip_group(i + 1);
        if (type && is(i, "::")) i = skip_name(i);
      } else if (t.is_identifier() && is_specifier(t.text)) {
        if (t.text == "extern") is_extern = true;
        ++i;
      } else if (t.is_identifier() && is_builtin_type(t.text)) {
        type = true;
        ++i;
      } else if (t.is_identifier() && is_class_key(t.text)) {
        type = true;
        i = skip_class(i + 1);
      } else if (!type && (t.is("::") || t.is_identifier())) {
        type = true;
        i = skip_name(i);
      } else {
        return type ? i : kNone;
      }
      if (i == kNone) return kNone;
    }
    return kNone;
  }

  // After struct, class, union or enum: attributes, a name, bases, a body.
  std::size_t skip_class(std::size_t i) const {
    while (i < list_.size()) {
      if (is_identifier(i) && takes_attribute_parenthesis(list_[i].text) && is(i + 1, "(")) {
        i = skip_group(i + 1);
      } else if (is(i, "[") && is(i + 1, "[")) {
        i = skip_group(i);
      } else {
        break;
      }
    }
    if (is_identifier(i) || is(i, "::")) i = skip_name(i);
    if (i == kNone) return kNone;
    if (is(i, ":")) {
      while (i < list_.size() && !is(i, "{") && !is(i, ";")) ++i;
    }
    return is(i, "{") ? skip_group(i) : i;
  }

  // Reads the declarators from i on. Returns the `;` that ends the declaration, or kNone.
  std::size_t parse_declarators(std::size_t i, std::vector<Declarator>& out) {
    while (true) {
      Declarator declarator{kNone, kNone, false};
      int parentheses = 0;
      while (i < list_.size() && declarator.name == kNone) {
        const Token& t = list_[i];
        if (t.is("(")) {
          ++parentheses;
          ++i;
        } else if (t.is("*") || t.is("&") || t.is("&&")) {
          ++i;
        } else if (t.is_identifier() && takes_attribute_parenthesis(t.text) && is(i + 1, "(")) {
          i = skip_group(i + 1);
        } else if (t.is_identifier() && is_specifier(t.text)) {
          ++i;
        } else if (t.is_identifier()) {
          declarator.name = i++;
        } else {
          return kNone;
        }
      }
      for (; parentheses > 0 && is(i, ")"); --parentheses) ++i;
      declarator.unknown_bound = is(i, "[") && is(i + 1, "]");
      while (i < list_.size() && !is(i, ",") && !is(i, ";")) {
        if (is(i, "=") || is(i, "{") || (is(i, "(") && i == declarator.name + 1)) {
          report(list_[declarator.name],
                 "a __shared__ variable cannot have an initialiser: each block finds its shared "
                 "memory "
                 "uninitialised");
          return list_.size();
        }
        if (is_opening(i)) {
          i = skip_group(i);
        } else if (is_closing(i)) {
          return kNone;
        } else {
          ++i;
        }
      }
      if (i >= list_.size() || declarator.name == kNone) return kNone;
      declarator.end = i;
      out.push_back(declarator);
      if (is(i, ";")) return i;
      ++i;
    }
  }

  void declare_static(std::size_t start, std::size_t declarators_at,
                      const std::vector<std::size_t>& attributes,
                      const std::vector<Declarator>& declarators, std::size_t end) {
    // g++ takes standard attributes only ahead of the specifiers.
    std::string ahead;
    for (const std::size_t attribute : attributes) {
      const std::size_t attribute_end =
          is(attribute, "[") ? skip_group(attribute) : skip_group(attribute + 1);
      ahead += flat(attribute, attribute_end) + ' ';
      remove_tokens(attribute, attribute_end);
    }
    insert_before(start, ahead + "static thread_local ");
    drop_specifiers(start, declarators_at);
    if (end >= list_.size()) return;
    check_initial_values(declarators_at, declarators.front().name);
    std::string checks;
    for (const Declarator& declarator : declarators) {
      unit_.shared_names.emplace(list_[declarator.name].text, declarator.name);
      // Else g++ guards the initialisation of types with a constructor, float4 for one, at each use.
      insert_before(declarator.end, "{}");
      const std::string name(list_[declarator.name].text);
      checks +=
          " static_assert(::simt::detail::fits_shared_memory<decltype(" + name +
          ")>, \"simt: a block's static __shared__ memory holds at most 48 KiB (49152 bytes)\"); "
          "static_assert(::simt::detail::can_be_shared<decltype(" +
          name +
          ")>, \"simt: a __shared__ variable must be of a type without a destructor, and with a "
          "constructor that does nothing: shared memory is never initialised\");";
    }
    insert_after(end, checks);
  }

  // struct Range { int low = 0; };
  void check_initial_values(std::size_t type_end, std::size_t name) {
    if (!is_identifier(type_end - 1) || list_[name].in_system_header) return;
    const auto member = unit_.initialized_classes.find(list_[type_end - 1].text);
    if (member == unit_.initialized_classes.end()) return;
    const std::string variable(list_[name].text), first(list_[member->second].text);
    warn(list_[name],
         "shared memory is never initialised: a GPU does not store the initial values "
         "of the members of '" +
             variable + "', such as that of '" + first +
             "'. Let the threads store them, with a __syncthreads() after it");
  }

  void declare_dynamic(std::size_t start, std::size_t declarators_at,
                       const std::vector<Declarator>& declarators, std::size_t end) {
    if (!in_function()) {
      declare_namespace_dynamic(start, declarators_at, declarators, end);
      return;
    }
    insert_before(start, "[[maybe_unused]] ");
    drop_specifiers(start, declarators_at);
    drop_alignment(start, end);
    for (const Declarator& declarator : declarators) {
      check_dynamic_type(start, declarators_at, declarator.name);
      check_second_dynamic(start, declarator.name);
      const std::string name(list_[declarator.name].text);
      replace_token(declarator.name, "(&" + name + ")");
      insert_before(declarator.end,
                    " = ::simt::detail::DynamicShared<" + number_of_name(declarator.name) + ">()");
      unit_.local_dynamic.insert(declarator.name);
    }
  }

  // The words of a type in one order, as `int unsigned` is `unsigned`. Empty where a name may stand for any type.
  std::string type_in_words(std::size_t begin, std::size_t end) const {
    static const std::set<std::string_view> vectors = {"float2", "float3",  "float4",  "int2",
                                                       "int3",   "int4",    "uint2",   "uint4",
                                                       "uchar4", "double2", "double4", "__half"};
    std::multiset<std::string_view> words;
    for (std::size_t i = begin; i < end; ++i) {
      if (alignment_end(i) != kNone) {
        i = alignment_end(i) - 1;
      } else if (!is_identifier(i)) {
        return {};
      } else if (is_builtin_type(list_[i].text) || vectors.contains(list_[i].text)) {
        words.insert(list_[i].text);
      } else if (!is_specifier(list_[i].text)) {
        return {};
      }
    }
    words.erase("signed");
    if (words.size() > 1) words.erase("int");
    std::string text;
    for (const std::string_view word : words) text += (text.empty() ? "" : " ") + std::string(word);
    return text;
  }

  // The name with those of its namespaces around it.
  std::string full_name(std::size_t name) const {
    std::string text(list_[name].text);
    for (const Scope& scope : unit_.scopes) {
      if (scope.kind == Scope::Kind::space) text += "::" + std::string(scope.name);
    }
    return text;
  }

  // A number for a template's argument; 0 for names that are the toolkit's own.
  std::string number_of_name(std::size_t name) const {
    if (list_[name].in_system_header) return "0";
    std::uint64_t number = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : full_name(name))
      number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return std::to_string(number | 1) + "ull";
  }

  // All arrays of one name are one array: nvcc wants one type. (Of those in templates, or of types that a name stands for, the
  // compiler says so: see simt/launch.h.)
  void check_dynamic_type(std::size_t start, std::size_t declarators_at, std::size_t name) {
    const std::string type = type_in_words(start, declarators_at);
    if (type.empty() || unit_.scopes.back().templated || list_[name].in_system_header) return;
    const auto [known, is_new] =
        unit_.dynamic_arrays.try_emplace(full_name(name), type, list_[name].line);
    if (is_new || known->second.first == type) return;
    report(list_[name],
           "'" + std::string(list_[name].text) + "' is an array of " + type + " here and of " +
               known->second.first + " in line " + std::to_string(known->second.second) +
               ": extern __shared__ arrays of one name are one array, so let each type "
               "have a name of its own");
  }

  // Is this word one that says where the variable lives?
  bool says_where(std::size_t i) const {
    return is(i, "__shared__") || is(i, "static") || is(i, "extern") || is(i, "inline") ||
           is(i, "__device__");
  }

  // One past the alignas(...) or __attribute__((...)) at i, or kNone.
  std::size_t alignment_end(std::size_t i) const {
    const bool aligns = is(i, "alignas") || is(i, "__attribute__") || is(i, "__attribute");
    return aligns && is(i + 1, "(") ? skip_group(i + 1) : kNone;
  }

  // Takes such words out.
  void drop_specifiers(std::size_t start, std::size_t end) {
    for (std::size_t i = start; i < end; ++i) {
      if (is(i, "{")) i = skip_group(i) - 1;
      if (says_where(i)) {
        replace_token(i, "");
        unit_.handled.insert(i);
      }
    }
  }

  // Takes out alignas(...) and __attribute__((...)): dynamic shared memory is aligned for everything.
  void drop_alignment(std::size_t start, std::size_t end) {
    for (std::size_t i = start; i < end; ++i) {
      if (is(i, "{")) i = skip_group(i) - 1;
      const std::size_t group_end = is(i, "[") && is(i + 1, "[") ? skip_group(i) : alignment_end(i);
      if (group_end == kNone) continue;
      remove_tokens(i, group_end);
      i = group_end - 1;
    }
  }

  // At namespace scope the declaration goes; functions that use the name get one of their own.
  void declare_namespace_dynamic(std::size_t start, std::size_t declarators_at,
                                 const std::vector<Declarator>& declarators, std::size_t end) {
    std::string specifiers;
    for (std::size_t i = start; i < declarators_at; ++i) append_kept(i, specifiers);
    std::size_t from = declarators_at;
    for (const Declarator& declarator : declarators) {
      std::string text = "[[maybe_unused]] " + specifiers;
      for (std::size_t i = from; i < declarator.end; ++i) {
        if (i == declarator.name) {
          text += "(&" + std::string(list_[i].text) + ")";
        } else {
          append_kept(i, text);
        }
      }
      text += " = ::simt::detail::DynamicShared<>();";
      unit_.namespace_shared.push_back({list_[declarator.name].text, text, end});
      from = declarator.end + 1;
    }
    remove_tokens(start, end + 1);
    for (std::size_t i = start; i < end; ++i) unit_.handled.insert(i);
  }

  // Appends token i to a declaration, unless it is a storage class or (then i moves on) an alignment.
  void append_kept(std::size_t& i, std::string& text) const {
    if (says_where(i)) return;
    if (const std::size_t end = alignment_end(i); end != kNone) {
      i = end - 1;
    } else {
      text += std::string(list_[i].text) + ' ';
    }
  }
};

}  // namespace

void rewrite_shared(Unit& unit, std::size_t i) { SharedVariables(unit).visit_shared(i); }
void use_namespace_shared(Unit& unit, const NamespaceShared& shared) {
  SharedVariables(unit).use_namespace_shared(shared);
}

}  // namespace simtcc
