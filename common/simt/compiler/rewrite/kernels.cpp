#include <set>
#include <string>
#include <string_view>

#include "rewrite/rules.h"
#include "rewrite/unit.h"

namespace simtcc {
namespace {

class Kernels : private Rule {
 public:
  using Rule::Rule;

  // What nvcc refuses of a kernel's declaration. \param parameters the parenthesis
  void check_kernel(std::size_t i, std::size_t parameters) {
    const std::string_view name = name_before(parameters);
    const std::string kernel = "the kernel '" + std::string(name) + "'";
    const std::size_t start = declaration_start(i);
    bool is_friend = false, is_void = false, is_auto = false, has_template = false;
    for (std::size_t j = start; j < parameters; ++j) {
      if (is(j, "friend")) is_friend = true;
      if (is(j, "operator"))
        return report(list_[j], "an operator cannot be a kernel: give the kernel a name");
      if (is(j, "auto")) is_auto = true;
      if (is(j, "void") && !is(j + 1, "*")) is_void = true;
      if (is(j, "__host__") || is(j, "__device__")) {
        return report(list_[j], kernel + " cannot be " + std::string(list_[j].text) +
                                    " as well: take that qualifier away");
      }
    }
    for (std::size_t j = unit_.head; j < parameters; ++j) {
      if (is(j, "constexpr") || is(j, "consteval"))
        return report(list_[j], kernel + " cannot be constexpr: take that word away");
    }
    for (std::size_t j = start; j-- > 0 && !is(j, ";") && !is(j, "}") && !is(j, "{");) {
      if (is(j, "template")) has_template = true;
    }
    if (unit_.scopes.back().kind == Scope::Kind::type && !is_friend) {
      return report(list_[i], kernel +
                                  " cannot be a member of a class: move it out of the class, "
                                  "and hand it the object as a parameter");
    }
    const std::size_t close = partner_[parameters];
    if (close == kNone) return;
    if (!is_void && !is_auto) {
      for (std::size_t j = start; j < parameters; ++j) {
        if (is(j, "<") || is(j, "decltype") || is(j, "__attribute__")) break;
        if (!is_identifier(j) || !is_builtin_type(list_[j].text)) continue;
        return report(list_[j], kernel + " returns void: write 'void' in place of '" +
                                    std::string(list_[j].text) +
                                    "', and hand results over through memory");
      }
    }
    if (is(close + 1, "noexcept"))
      return report(list_[close + 1], kernel + " cannot be noexcept: take that word away");
    if (is(close + 1, "throw"))
      return report(list_[close + 1], kernel + " cannot have 'throw()': take that away");
    if (is_friend && is(close + 1, "{"))
      return report(list_[i], kernel +
                                  " cannot be defined where it is declared a friend: define it "
                                  "outside of the class");
    if (const std::size_t pack = early_pack(parameters); pack != kNone)
      return report(list_[pack], kernel +
                                     " has template parameters behind a pack: write the pack "
                                     "'" +
                                     std::string(list_[pack].text) + "' last");
    if (is_auto && !is_void && !is(close + 1, "->"))
      return report(list_[i], kernel + " returns void: write void in place of auto");
    if (is(unit_.head, "template")) note_template(name, parameters);
    for (const auto& [from, to] : parts(parameters + 1, close)) {
      if (to == from + 1 && is(from, "...")) {
        return report(list_[from],
                      kernel + " cannot take a variable number of arguments: name its parameters");
      }
      for (std::size_t j = from; j < to && !is(j, "="); ++j) {
        if (is(j, "initializer_list") || is(j, "va_list"))
          return report(list_[j], kernel + " cannot take a parameter of type '" +
                                      std::string(list_[j].text) +
                                      "': pass a pointer to device memory and a length");
      }
      for (std::size_t j = from; j < to; ++j) {
        if (is(j, "&")) unit_.reference_kernels.insert(name);
      }
      if (has_template || has_pack(from, to)) continue;
      for (std::size_t j = from; j < to; ++j) {
        if (is_opening(j)) j = skip_group(j) - 1;
        if (is(j, "<")) {
          const std::size_t after = skip_angles(j);
          if (after != kNone && after <= to) j = after - 1;
        }
        if (is(j, "&&")) {
          report(list_[j], kernel +
                               " cannot take a reference to a temporary of the host: pass the "
                               "value");
        }
      }
    }
  }

  // A kernel makes itself known, for those who launch it by its address alone: see simt::detail::KernelEntry.
  // One with parameters or template parameters that have no name stays unknown.
  void register_kernel(std::size_t head, std::size_t open) {
    bool kernel = false;
    std::size_t parameters = kNone;
    std::string arguments;  // of the template
    std::string bound;      // of the launch: the most threads of a block
    std::string cluster;    // the blocks of one: what else KernelEntry takes
    for (std::size_t i = head; i < open; ++i) {
      if (is(i, "__global__")) kernel = true;
      if (is(i, "requires")) return;
      if (is(i, "__launch_bounds__") && is(i + 1, "(")) {
        const auto bounds = parts(i + 2, partner_[i + 1]);
        if (!bounds.empty()) bound = flat(bounds[0].first, bounds[0].second);
      }
      if (is(i, "__cluster_dims__") && is(i + 1, "(")) {
        for (const auto& [from, to] : parts(i + 2, partner_[i + 1]))
          cluster += ", static_cast<unsigned>(" + flat(from, to) + ")";
      }
      if (is(i, "template") && is(i + 1, "<")) {
        const std::size_t end = skip_angles(i + 1);
        if (end == kNone || end > open) return;
        arguments.clear();
        for (const auto& [from, to] : parts(i + 2, end - 1)) {
          const std::size_t name = declared_name(from, to);
          if (name == kNone) return;  // cannot be named
          arguments += (arguments.empty() ? "" : ", ") + std::string(list_[name].text) +
                       (is(name - 1, "...") ? "..." : "");
        }
        i = end - 1;
      } else if (is(i, "(")) {
        const bool attribute =
            i > head && is_identifier(i - 1) && takes_attribute_parenthesis(list_[i - 1].text);
        if (!attribute && parameters == kNone) parameters = i;
        if (skip_group(i) > open) return;  // the brace is of a default argument
        i = skip_group(i) - 1;
      }
    }
    if (!kernel || parameters == kNone || parameters == head) return;

    std::size_t name = parameters - 1;
    if (is(name, ">")) {  // a specialisation
      const std::size_t angle = angle_start(name);
      if (angle == kNone || angle == 0) return;
      name = angle - 1;
    }
    if (!is_identifier(name)) return;
    unit_.names.kernel_places.push_back(
        {std::string(list_[name].text), tokens_.files[static_cast<std::size_t>(list_[name].file)],
         list_[name].line, column_of(list_[name]), list_[partner_[open]].line});
    std::string kernel_name = flat(name, parameters);
    if (!arguments.empty() && name + 1 == parameters) kernel_name += "<" + arguments + ">";

    std::string types;
    const std::size_t close = partner_[parameters];
    const bool is_void = close == parameters + 2 && is(parameters + 1, "void");
    for (const auto& [from, to] : parts(parameters + 1, is_void ? parameters + 1 : close)) {
      const std::size_t parameter = declared_name(from, to);
      if (parameter == kNone || list_[parameter].text == list_[name].text) return;
      types += (types.empty() ? "" : ", ") +
               ("::simt::detail::Parameter<decltype(" + std::string(list_[parameter].text) + ")>") +
               (has_pack(from, to) ? "..." : "");
    }
    const std::string pointer = "static_cast<void (*)(" + types + ")>(&" + kernel_name + ")";
    insert_after(open, " (void)&::simt::detail::KernelEntry<" + pointer +
                           (!bound.empty()     ? ", static_cast<unsigned>(" + bound + ")"
                            : !cluster.empty() ? ", 0"
                                               : "") +
                           cluster + ">::registered;");
  }

 private:
  // The name of a pack of the template that is not the last of its parameters, or kNone.
  std::size_t early_pack(std::size_t parameters) const {
    const std::size_t end = is(unit_.head, "template") ? skip_angles(unit_.head + 1) : kNone;
    if (end == kNone || end > parameters) return kNone;
    const auto all = parts(unit_.head + 2, end - 1);
    for (std::size_t j = 0; j + 1 < all.size(); ++j) {
      const std::size_t name = declared_name(all[j].first, all[j].second);
      if (name != kNone && is(name - 1, "...")) return name;
    }
    return kNone;
  }

  // A launch with braces as an argument may need to know the parameter's type.
  void note_template(std::string_view name, std::size_t parameters) {
    const auto [known, is_new] =
        unit_.template_kernels.try_emplace(name, TemplateKernel{unit_.head, {}});
    known->second.is_alone = is_new;
    std::set<std::string_view> of_template;
    for (std::size_t j = unit_.head; is(j, "template") && is(j + 1, "<");) {
      const std::size_t end = skip_angles(j + 1);
      if (end == kNone) return;
      for (std::size_t k = j + 2; k + 1 < end; ++k) {
        if (is_identifier(k)) of_template.insert(list_[k].text);
      }
      j = end;
    }
    const auto all = parts(parameters + 1, partner_[parameters]);
    for (std::size_t position = 0; position < all.size(); ++position) {
      const auto [from, to] = all[position];
      const std::size_t parameter = declared_name(from, to);
      std::string type;
      bool is_plain = !has_pack(from, to) && parameter != kNone;
      for (std::size_t j = from; j < to && !is(j, "="); ++j) {
        is_plain &= !of_template.contains(list_[j].text) && !is(j, "[") && !is(j, "&");
        if (j != parameter && !is(j, "__grid_constant__") && !is(j, "__restrict__"))
          type += std::string(list_[j].text) + " ";
      }
      if (is_plain) known->second.plain[position] = type;
      const std::size_t first = is(from, "const") ? from + 1 : from;
      if (of_template.contains(list_[first].text) && first + 2 == to && parameter == first + 1)
        known->second.deduced.insert(position);
    }
  }
};

}  // namespace

void check_kernel(Unit& unit, std::size_t i, std::size_t parameters) {
  Kernels(unit).check_kernel(i, parameters);
}
void register_kernel(Unit& unit, std::size_t head, std::size_t open) {
  Kernels(unit).register_kernel(head, open);
}

}  // namespace simtcc
