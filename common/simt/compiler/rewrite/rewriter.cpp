#include "rewrite/rewriter.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "rewrite/rules.h"
#include "rewrite/unit.h"
#include "rewrite/unsupported.h"

namespace simtcc {
namespace {

// What CUDA's qualifiers are to g++. A kernel keeps a symbol of its own, by which reports name it.
const std::map<std::string_view, std::string_view> kQualifiers = {
    {"__global__", kKernelMark},
    {"__device__", ""},
    {"__host__", ""},
    {"__managed__", "__attribute__((section(\"simt_managed\")))"},
    // its section tells it from global memory
    {"__constant__", "__attribute__((section(\"simt_constant\")))"},
};

bool is_asm(std::string_view word) { return word == "asm" || word == "__asm__" || word == "__asm"; }

bool speaks_of_time(std::string_view word) {
  static const std::set<std::string_view> words = {"chrono",
                                                   "clock",
                                                   "clock64",
                                                   "clock_gettime",
                                                   "gettimeofday",
                                                   "omp_get_wtime",
                                                   "MPI_Wtime",
                                                   "timespec_get",
                                                   "cudaEventElapsedTime",
                                                   "cudaProfilerStart",
                                                   "nvtxRangePush",
                                                   "nvtxRangePushA",
                                                   "times",
                                                   "getrusage"};
  return words.contains(word);
}

// Walks through the source, keeps track of its scopes, and calls the rules.
class Rewriter : private Rule {
 public:
  using Rule::Rule;

  Rewritten run() {
    for (const Token& directive : tokens_.directives) visit_directive(directive);
    const bool is_open = report_open_bracket(unit_);
    for (std::size_t i = 0; i < list_.size() && !is_open; ++i) visit(i);
    for (const NamespaceShared& shared : unit_.namespace_shared)
      use_namespace_shared(unit_, shared);
    define_extern_variables(unit_);
    for (const UpdatedAddress& atomic : unit_.atomics) mark_same_address(unit_, atomic);
    Rewritten result;
    result.text = apply();
    result.diagnostics = std::move(unit_.diagnostics);
    result.warnings = std::move(unit_.warnings);
    result.has_inline_ptx = unit_.has_inline_ptx;
    result.names_wide_type = names_wide_type() || unit_.accesses_wide;
    result.edits = std::move(unit_.edits);
    result.names = std::move(unit_.names);
    result.aligned_classes = std::move(unit_.aligned_classes);
    result.array_classes = std::move(unit_.array_classes);
    return result;
  }

 private:
  bool names_wide_type() const {
    static const std::set<std::string_view> names = {
        "float4",     "int4",        "uint4",     "double2",    "long2", "ulong2", "longlong2",
        "ulonglong2", "double4",     "longlong4", "ulonglong4", "long4", "ulong4", "alignas",
        "aligned",    "__aligned__", "float2",    "int2",       "uint2", "short4", "ushort4"};
    return std::any_of(list_.begin(), list_.end(), [](const Token& t) {
      return t.is_identifier() && !t.in_system_header && names.contains(t.text);
    });
  }

  std::string apply() {
    std::stable_sort(unit_.edits.begin(), unit_.edits.end(),
                     [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
    std::string out;
    out.reserve(unit_.source.size() + unit_.source.size() / 8);
    std::size_t from = 0;
    for (const Edit& edit : unit_.edits) {
      if (edit.offset > from) out += unit_.source.substr(from, edit.offset - from);
      out += edit.text;
      from = std::max(from, edit.offset + edit.length);
    }
    out += unit_.source.substr(from);
    return out;
  }

  void visit_directive(const Token& directive) {
    std::string_view rest = directive.text.substr(1);
    const auto next_word = [&rest] {
      while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t')) rest.remove_prefix(1);
      std::size_t length = 0;
      while (length < rest.size() &&
             (std::isalnum(static_cast<unsigned char>(rest[length])) || rest[length] == '_')) {
        ++length;
      }
      const std::string_view word = rest.substr(0, length);
      rest.remove_prefix(length);
      return word;
    };
    if (next_word() != "pragma") return;
    const std::string_view kind = next_word();
    if (kind == "hd_warning_disable" || kind == "nv_exec_check_disable")
      unit_.names.unchecked = true;
    if (kind == "unroll") unit_.unrolls.emplace(directive.offset, rest);
    if (kind == "unroll" || kind == "nounroll" || kind.starts_with("nv_") ||
        kind.starts_with("diag_") || kind == "hd_warning_disable") {
      replace(directive.offset, directive.text.size(), "");
    } else if (kind == "simt") {
      const std::string_view what = next_word();
      if (what == "not_simulated") report_include(directive, rest);
      if (what == "branch") replace(directive.offset, directive.text.size(), "");
    }
  }

  // A header that only says that it is not simulated: the fault is at the line that includes it.
  void report_include(const Token& directive, std::string_view what) {
    const std::size_t open = what.find('"');
    const std::size_t close = what.rfind('"');
    if (open != std::string_view::npos && close > open)
      what = what.substr(open + 1, close - open - 1);
    Token at = directive;
    if (directive.include >= 0) {
      at.file = tokens_.includes[directive.include].file;
      at.line = tokens_.includes[directive.include].line;
    }
    // "tensor-core matrices (mma.h) are"
    std::string_view instead;
    for (const Unsupported& entry : kUnsupported) {
      if (what.starts_with(entry.feature)) instead = entry.instead;
    }
    report(at, not_simulated(std::string(what), instead));
  }

  void visit(std::size_t i) {
    const Token& t = list_[i];
    if (i == unit_.head && unit_.parentheses == 0 && t.is_identifier()) {
      if (unit_.traced) guard_local_arrays(unit_, i);
      check_values(unit_, i);
      if (in_device_code(i)) check_unroll(unit_, i);
    }
    if (t.kind == TokenKind::punctuator) {
      if (t.is("[")) check_extent(unit_, i);
      if (t.is("{")) return open_scope(i);
      if (t.is("}")) return close_scope(i);
      if (t.is("(") || t.is("[")) ++unit_.parentheses;
      if (t.is(")") || t.is("]")) unit_.parentheses = std::max(0, unit_.parentheses - 1);
      if (t.is(";") && unit_.parentheses == 0) {
        if (!in_function()) note_host_variables(unit_, unit_.head, i);
        unit_.head = i + 1;
      }
      if (is_launch_open(i)) rewrite_launch(unit_, i);
      if (is_shift(i)) rewrite_shift(unit_, i);
      if (t.is("&") && in_device_code(i)) check_address(unit_, i);
    } else if (t.kind == TokenKind::identifier) {
      visit_identifier(i);
    } else if (in_device_code(i)) {
      note_literal(unit_, i);
    }
  }

  bool is_shift(std::size_t i) const {
    if (i > 0 && (is(i, "<<=") || is(i, ">>="))) return true;
    if (i == 0 || run_length(i) != 2 || !(is(i, "<") || is(i, ">"))) return false;
    return !(is(i - 1, list_[i].text) && adjacent(i - 1, i));
  }

  void open_scope(std::size_t i) {
    auto [kind, side] = scope_opened(unit_.head, i, unit_.scopes.back().side);
    const bool begins_host_branch =
        list_[i].branch == Branch::host && i > 0 && list_[i - 1].branch != Branch::host;
    if (begins_host_branch) side = Side::host;
    if (kind == Scope::Kind::type && !list_[i].in_system_header) note_class(unit_.head, i);
    if (!in_function() && kind == Scope::Kind::block && unit_.parentheses == 0)
      note_host_variables(unit_, unit_.head, i);
    if (kind == Scope::Kind::block && unit_.scopes.back().kind != Scope::Kind::block &&
        partner_[i] != kNone) {
      unit_.bodies.push_back({unit_.head, i, partner_[i]});
      register_kernel(unit_, unit_.head, i);
      for (std::size_t j = unit_.head; j < i && !list_[i].in_system_header; ++j) {
        if (is(j, "__global__")) check_results(unit_, unit_.bodies.back());
      }
    }
    unit_.scopes.push_back(
        {kind, side, unit_.parentheses, unit_.head,
         kind == Scope::Kind::block ? std::string_view{} : scope_name(unit_.head, i),
         unit_.scopes.back().templated || is(unit_.head, "template")});
    unit_.parentheses = 0;
    unit_.head = i + 1;
  }

  // struct alignas(16) Name {}, struct {} __align__(16) Name and so on; and those with arrays, struct Name { float v[4]; }.
  void note_class(std::size_t head, std::size_t open) {
    const std::size_t close = partner_[open];
    if (close == kNone) return;
    std::size_t end = close + 1;
    while (end < list_.size() && !is(end, ";") && !is(end, "{")) ++end;
    std::string_view name = scope_name(head, open);
    if (name.empty() && list_[end - 1].is_identifier()) name = list_[end - 1].text;
    if (name.empty()) return;
    for (std::size_t i = head; i < end; ++i) {
      const bool is_inside = i > open && i < close;
      if (is_inside && is(i, "[")) unit_.array_classes.emplace(name);
      if (!is_inside && (is(i, "alignas") || is(i, "aligned") || is(i, "__aligned__")))
        unit_.aligned_classes.emplace(name);
    }
    if (const std::size_t member = initialized_member(open, close); member != kNone)
      unit_.initialized_classes.emplace(name, member);
  }

  // The first member with an initial value, as in struct { int n = 1, m{2}; }, or kNone.
  std::size_t initialized_member(std::size_t open, std::size_t close) const {
    static const std::set<std::string_view> others = {"static", "using", "friend", "template"};
    std::size_t head = open + 1;
    for (std::size_t i = open + 1; i < close; ++i) {
      if (is(i, ";") || (is(i, ":") && i == head + 1)) {
        head = i + 1;
      } else if (is(i, "(")) {  // a function, up to its body or its end
        i = skip_group(i) - 1;
        while (i + 1 < close && !is(i + 1, ";") && !is(i + 1, "{")) ++i;
        if (is(i + 1, "{")) i = skip_group(i + 1) - 1, head = i + 1;
      } else if (is(i, "{") || is(i, "=")) {
        const std::size_t name = is(i - 1, "]") ? partner_[i - 1] - 1 : i - 1;
        const bool is_member = is_identifier(name) && name > head &&
                               !others.contains(list_[head].text) &&
                               !is_class_key(list_[head].text);
        if (is_member && (is(i, "=") || is(skip_group(i), ";"))) return name;
        if (is(i, "{")) i = skip_group(i) - 1, head = i + 1;
      }
    }
    return kNone;
  }

  void close_scope(std::size_t i) {
    if (unit_.scopes.size() == 1) return;
    const Scope closed = unit_.scopes.back();
    unit_.scopes.pop_back();
    unit_.parentheses = closed.outer_parentheses;
    // Foo() : a{1}, b{2} { ... } is still one declaration after the brace of a{1}.
    const bool goes_on =
        unit_.scopes.back().kind != Scope::Kind::block &&
        (unit_.parentheses > 0 || is(i + 1, ",") || is(i + 1, "{") || is(i + 1, ")"));
    unit_.head = goes_on ? closed.outer_head : i + 1;
  }

  // What the tokens [head, open) of a class or a namespace name it.
  std::string_view scope_name(std::size_t head, std::size_t open) const {
    std::string_view name;
    bool key = false;
    for (std::size_t i = head; i < open; ++i) {
      if (is(i, "template") && is(i + 1, "<")) {
        const std::size_t end = skip_angles(i + 1);
        if (end == kNone || end > open) return {};
        i = end - 1;
      } else if (is_identifier(i) && takes_attribute_parenthesis(list_[i].text)) {
        i = skip_group(i + 1) - 1;
      } else if (is_identifier(i) && is_class_key(list_[i].text)) {
        key = true;
      } else if (is(i, "namespace")) {
        std::size_t last = i;
        while (last + 1 < open && (is_identifier(last + 1) || is(last + 1, "::"))) ++last;
        if (last == i) return {};
        const std::size_t from = list_[i + 1].offset;
        return unit_.source.substr(from, list_[last].end() - from);
      } else if (key && (is(i, "<") || is(i, ":"))) {
        break;
      } else if (key && is_identifier(i) && !is(i, "final")) {
        name = list_[i].text;
      }
    }
    return name;
  }

  void visit_identifier(std::size_t i) {
    const Token& t = list_[i];
    if (const auto qualifier = kQualifiers.find(t.text); qualifier != kQualifiers.end()) {
      if (unit_.handled.contains(i)) return;
      const bool is_function_word = t.text == "__host__" || t.text == "__device__";
      if (!is_function_word && drop_stray_qualifier(unit_, i)) return;
      if (t.text == "__device__" && !in_function()) note_device_variables(unit_, i + 1);
      if (t.text == "__device__" || t.text == "__global__") return mark_function(unit_, i);
      if (t.text == "__host__" && marks_lambda(i) && !is(i + 1, "__device__"))
        check_lambda_option(unit_, i);
      if (t.text != "__host__") {
        note_variables(unit_, i + 1);
        check_thread_local(unit_, i);
        check_member(unit_, i);
        check_local(unit_, i);
      }
      const bool is_variable = t.text == "__constant__" || t.text == "__managed__";
      const bool no_section = is_variable && declares_const(i);
      replace_token(i, no_section ? "" : std::string(qualifier->second));
      return;
    }
    if (!t.in_system_header && t.text.starts_with("cuda") && t.text.find("Symbol") != t.text.npos)
      unit_.names.copies_symbols = true;
    if (!t.in_system_header && speaks_of_time(t.text)) unit_.names.takes_times = true;
    if (t.text == "constexpr" || t.text == "consteval") note_constexpr(unit_, i);
    if (t.text == "cuda" && !t.in_system_header && is(i + 1, "::") && is(i + 2, "std"))
      unit_.names.cuda_std.insert(is(i + 3, "::") && is_identifier(i + 4) ? list_[i + 4].text : "");
    // thrust::tuple and its like are the standard library's
    if (t.text == "thrust" && !t.in_system_header && is(i + 1, "::") && is_identifier(i + 2))
      unit_.names.cuda_std.insert(list_[i + 2].text);
    if (t.text == "thrust" && !t.in_system_header && i > 0 && is(i - 1, "namespace"))
      unit_.names.cuda_std.insert("tuple");
    if (!t.in_system_header && is(i + 1, "(") && !in_function() && unit_.parentheses == 0) {
      bool marked = false;
      for (std::size_t j = unit_.head; j < i; ++j)
        marked |= is(j, "__device__") || is(j, "__global__");
      // One that CUDA has stays what it is where the program declares it again.
      marked |= is(skip_group(i + 1), ";") && unit_.names.simulator.contains(t.text);
      if (!marked) unit_.names.unmarked.insert(t.text);
      note_function(unit_, i);
    }
    if (t.in_system_header && is(i + 1, "(") && !in_function() && unit_.parentheses == 0) {
      (unit_.in_simulator[static_cast<std::size_t>(t.file)] ? unit_.names.simulator
       : unit_.scopes.back().kind == Scope::Kind::type      ? unit_.names.methods
                                                            : unit_.names.library)
          .insert(t.text);
    }
    if (unit_.scopes.back().kind == Scope::Kind::type && unit_.parentheses == 0)
      mark_special_member(unit_, i);
    if (t.text == "__grid_constant__") {
      check_grid_constant(unit_, i);
      return replace_token(i, "");
    }
    if (t.text == "__launch_bounds__" || t.text == "__maxnreg__" ||
        t.text == "__cluster_dims__") {  // see register_kernel()
      if (t.text != "__cluster_dims__") check_launch_bounds(unit_, i);
      remove_tokens(i, is(i + 1, "(") ? skip_group(i + 1) : i + 1);
      return;
    }
    if (t.text == "__noinline__") {
      // Also g++'s own spelling, inside __attribute__((...)).
      if (i > 0 && (is(i - 1, "(") || is(i - 1, ","))) return;
      return replace_token(i, "__attribute__((noinline))");
    }
    if (t.text == "__shared__" && !unit_.handled.contains(i) && drop_stray_qualifier(unit_, i))
      return;
    if (t.text == "__shared__") return rewrite_shared(unit_, i);
    if (in_device_code(i)) {
      if (!unit_.scopes.back().templated) check_device_word(unit_, i);
      note_constexpr_call(unit_, i);
      if (t.text == "delete" && i > 0) keep_stores_ahead_of_delete(unit_, i);
    }
    if (is_merging_atomic(t.text)) return rewrite_atomic(unit_, i);
    if (t.in_system_header && t.text.starts_with("__builtin_")) return;
    if (rewrite_library_function(unit_, i)) return;
    if (t.in_system_header) return;
    if (is_asm(t.text) && in_device_code(i)) return rewrite_asm(unit_, i);
    if (i > 0 && (is(i - 1, ".") || is(i - 1, "->"))) return;
    // texture<float, 2> image; of a program that has no such template itself
    const bool is_texture = t.text == "texture", is_surface = t.text == "surface";
    if ((is_texture || is_surface) && is(i + 1, "<") && !in_function() && i == unit_.head &&
        is_identifier(i + 2) && !unit_.own_references.contains(t.text)) {
      return report_unsupported(
          t, is_texture
                 ? "texture references (texture<...>) ended with CUDA 12: make a "
                   "cudaTextureObject_t with cudaCreateTextureObject(); they are"
                 : "surface references (surface<...>) ended with CUDA 12; they and surface objects "
                   "are");
    }
    if (i > 0 && (is_texture || is_surface) && (is(i - 1, "struct") || is(i - 1, "class")))
      unit_.own_references.insert(t.text);
    check_vector_type(unit_, i);
    check_call(unit_, i);
    check_statement(unit_, i);
    if (const auto absent = unsupported_feature(t.text)) {
      report(t, not_simulated(std::string(absent->feature) + " (" + std::string(t.text) + ") are",
                              absent->instead));
    }
  }
};

}  // namespace

Rewritten rewrite(std::string_view source, std::string_view file, bool traced,
                  const std::set<std::string>& to_inline, const Dialect& dialect) {
  Unit unit(source, file);
  unit.traced = traced;
  unit.to_inline = to_inline;
  unit.dialect = dialect;
  unit.names.relocatable = dialect.relocatable;
  return Rewriter(unit).run();
}

}  // namespace simtcc
