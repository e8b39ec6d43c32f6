// Loads, stores, atomic operations, asynchronous copies, addresses.
#include <map>
#include <string>
#include <string_view>

#include "ptx/instruction.h"

namespace simtcc::ptx {
namespace {

// What an access says in front of its type. Most of it says to caches what no count depends on.
struct Access {
  std::string_view order = "weak";
  std::string_view scope;
  std::string_view space;
  std::string_view cache;     // .ca and its like
  std::string_view priority;  // L1::no_allocate and its like
  std::string_view operation;
  bool is_read_only = false;  // .nc
  bool has_policy = false;    // L2::cache_hint: one operand more

  bool is_shared() const { return space.starts_with("shared"); }
  std::string spelled_space() const {
    return "::simt::ptx::Space::" + std::string(space.empty()      ? "generic"
                                                : is_shared()      ? "shared"
                                                : space == "const" ? "constant"
                                                                   : space);
  }
};

// ptxas lets them stand in any order, up to the type.
Access access(Instruction& in, std::initializer_list<std::string_view> orders,
              std::initializer_list<std::string_view> caches,
              std::initializer_list<std::string_view> operations = {}) {
  Access result;
  const auto once = [&](std::string_view& place, std::initializer_list<std::string_view> modifiers,
                        bool is_set) {
    if (is_set) return false;
    const std::string_view taken = in.take_one(modifiers);
    if (!taken.empty()) place = taken;
    return !taken.empty();
  };
  bool ordered = false;
  std::string_view size, second;
  while (true) {
    if (once(result.order, orders, ordered)) {
      ordered = true;
      continue;
    }
    if (once(result.scope, {"cta", "cluster", "gpu", "sys"}, !result.scope.empty())) continue;
    if (once(result.space, {"global", "shared", "shared::cta", "shared::cluster", "local", "const"},
             !result.space.empty()))
      continue;
    if (once(result.operation, operations, !result.operation.empty())) continue;
    if (once(result.cache, caches, !result.cache.empty())) continue;
    if (once(result.priority,
             {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
              "L1::no_allocate"},
             !result.priority.empty()))
      continue;
    if (once(second, {"L2::evict_normal", "L2::evict_first", "L2::evict_last"}, !second.empty()))
      continue;
    if (once(size, {"L2::64B", "L2::128B", "L2::256B"}, !size.empty())) continue;
    if (!result.has_policy && in.take("L2::cache_hint")) {
      result.has_policy = true;
      continue;
    }
    if (!result.is_read_only && in.name() == "ld" && in.take("nc")) {
      result.is_read_only = true;
      continue;
    }
    break;
  }
  if (in.has("v8") && !type_named(in.last_modifier()))
    in.fail("has ." + std::string(in.last_modifier()) + " where its type stands");
  if (in.has("param") || in.has("mmio") || in.has("v8") || in.has("b128")) in.fail_unsupported();
  if (!result.cache.empty() && !result.priority.empty())
    in.fail("cannot have ." + std::string(result.cache) + " and ." + std::string(result.priority));
  if (!result.cache.empty() && result.order != "weak")
    in.fail("cannot have ." + std::string(result.order) + " and ." + std::string(result.cache));
  const bool is_scoped = ordered && result.order != "weak" && result.order != "volatile";
  if (is_scoped && result.scope.empty() && operations.size() == 0)
    in.fail("needs a scope: .cta, .cluster, .gpu, .sys");
  if (!is_scoped && !result.scope.empty() && operations.size() == 0)
    in.fail("takes ." + std::string(result.scope) + " only with .relaxed, .acquire or .release");
  if (result.is_read_only && result.space != "global") in.fail("takes .nc only with .global");
  return result;
}

std::string order_of(const Access& access) {
  if (access.order == "volatile") return "::simt::ptx::Order::is_volatile";
  if (access.order == "weak") return "::simt::ptx::Order::weak";
  return access.scope == "cta" ? "::simt::ptx::Order::atomic_in_block"
                               : "::simt::ptx::Order::atomic";
}

std::string release(const Access& access, std::string code) {
  const bool releases =
      access.order == "release" || access.order == "acq_rel" || access.order == "sc";
  if (!releases) return code;
  return (access.scope == "cta" ? "::__threadfence_block(); " : "::__threadfence(); ") + code;
}

// .v2.f32: how many, and of which type.
std::pair<std::size_t, Type> vector_type(Instruction& in) {
  const std::string_view vector = in.take_one({"v2", "v4"});
  const std::size_t count = vector.empty() ? 1 : vector == "v2" ? 2 : 4;
  const Type type = in.type("b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64");
  if (count * static_cast<std::size_t>(type.bits) > 128) in.fail("accesses more than 16 bytes");
  return {count, type};
}

std::string volatile_flag(const Instruction& in) { return in.is_volatile() ? "true" : "false"; }

// A policy is for caches: it is a register of 64 bits, and that is all.
void check_policy(const Instruction& in, const Access& access) {
  if (access.has_policy) in.in(in.operands() - 1, {'b', 64});
}

std::string ld(Instruction& in) {
  const Access how =
      access(in, {"weak", "volatile", "relaxed", "acquire"}, {"ca", "cg", "cs", "cv", "lu"});
  const auto [count, type] = vector_type(in);
  in.end(how.has_policy ? 3 : 2);
  check_policy(in, how);
  std::string targets;
  for (const Operand* element : in.elements(in.operand(0), count))
    targets += (targets.empty() ? "" : ", ") + in.target(*element, type, true);
  return call("load", {how.spelled_space(), cpp(type), order_of(how), volatile_flag(in)},
              {in.address(in.operand(1), how.is_shared()), targets});
}

std::string st(Instruction& in) {
  if (in.has("async")) in.fail_unsupported();
  const Access how =
      access(in, {"weak", "volatile", "relaxed", "release"}, {"wb", "cg", "cs", "wt"});
  if (how.space == "const") in.fail("cannot write to .const");
  const auto [count, type] = vector_type(in);
  in.end(how.has_policy ? 3 : 2);
  check_policy(in, how);
  std::string sources;
  for (const Operand* element : in.elements(in.operand(1), count))
    sources += (sources.empty() ? "" : ", ") + in.source(*element, type, true);
  return release(how,
                 call("store", {how.spelled_space(), cpp(type), order_of(how), volatile_flag(in)},
                      {in.address(in.operand(0), how.is_shared()), sources}));
}

// atom, which gives the old value, and red, which does not.
std::string atom(Instruction& in) {
  const bool returns = in.name() == "atom";
  if (in.has("async") || in.has("noftz") || in.has("v2") || in.has("v4") || in.has("v8") ||
      in.has("b128"))
    in.fail_unsupported();
  const Access how = access(in, {"relaxed", "acquire", "release", "acq_rel"}, {},
                            {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  if (how.operation.empty())
    in.fail("needs an operation: .add, .min, .max, .and, .or, .xor, .exch, .cas, .inc, .dec");
  if (how.space == "local" || how.space == "const") in.fail("takes no ." + std::string(how.space));
  const bool compares = how.operation == "cas";
  if (!returns && (compares || how.operation == "exch")) in.fail("has no such operation");
  static const std::map<std::string_view, std::pair<std::string_view, std::string_view>>
      operations = {
          {"add", {"add", "u32 s32 u64 f32 f64"}}, {"min", {"minimum", "u32 s32 u64 s64"}},
          {"max", {"maximum", "u32 s32 u64 s64"}}, {"and", {"bit_and", "b32 b64"}},
          {"or", {"bit_or", "b32 b64"}},           {"xor", {"bit_xor", "b32 b64"}},
          {"exch", {"exchange", "b32 b64"}},       {"cas", {"compare_exchange", "b16 b32 b64"}},
          {"inc", {"increment", "u32"}},           {"dec", {"decrement", "u32"}}};
  const auto& [operation, types] = operations.at(how.operation);
  const Type type = in.type(types);
  const std::size_t first = returns ? 1 : 0;
  in.end(first + (compares ? 3 : 2) + (how.has_policy ? 1 : 0));
  check_policy(in, how);
  const std::string target = returns ? in.out(0, type) : "::simt::ptx::Sink{}";
  const std::string value = in.in(first + (compares ? 2 : 1), type);
  const std::string compare = compares ? in.in(first + 1, type) : std::string();
  return release(
      how,
      call("atomic",
           {how.spelled_space(), cpp(type), "::simt::detail::AtomicOp::" + std::string(operation),
            how.scope == "cta" ? "true" : "false"},
           {target, in.address(in.operand(first), how.is_shared()), value, compare}));
}

// Of the caches no count depends on, and of the copy engine's neither.
std::string prefetch(Instruction& in) {
  if (in.name() == "prefetch" && in.has("tensormap")) {
    in.take_one({"const", "param"});
    in.take("tensormap");
  } else {
    if (in.name() == "prefetch") in.take_one({"global", "local"});
    in.need_one({"L1", "L2", "L2::evict_last", "L2::evict_normal"}, "a cache");
  }
  in.end(1);
  return call("prefetch", {}, {in.address(in.operand(0), false)});
}

// What caches shall keep: to be had, and without an effect.
std::string createpolicy(Instruction& in) {
  if (!in.take("fractional")) in.fail_unsupported();
  in.need_one({"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"},
              "a priority");
  in.take_one({"L2::evict_first", "L2::evict_unchanged"});
  in.type("b64");
  in.end(1, 2);
  if (in.operands() == 2) in.in(1, {'f', 32});
  return call("mov", {cpp(kU64)}, {in.out(0, {'b', 64}), "::simt::ptx::u64(0)"});
}

std::string cvta(Instruction& in) {
  const bool to = in.take("to");
  if (in.has("param") || in.has("shared::cluster")) in.fail_unsupported();
  const std::string_view space =
      in.need_one({"global", "shared", "shared::cta", "local", "const"}, "a space");
  in.type("u64");
  in.end(2);
  const std::string function = !space.starts_with("shared") ? "mov"
                               : to                         ? "to_shared"
                                                            : "from_shared";
  return call(function, {cpp(kU64)}, {in.out(0, kU64), in.in(1, kU64)});
}

// The same place in another block's shared memory.
std::string mapa(Instruction& in) {
  const bool is_shared = in.take("shared::cluster");
  const Type type = in.type("u32 u64");
  in.end(3);
  return call("mapa", {is_shared ? "true" : "false", cpp(type)},
              {in.out(0, type), in.in(1, type), in.in(2, kU32)});
}

std::string isspacep(Instruction& in) {
  if (in.has("param") || in.has("shared::cluster")) in.fail_unsupported();
  const std::string_view space =
      in.need_one({"global", "shared", "shared::cta", "local", "const"}, "a space");
  in.end(2);
  const std::string kind = space.starts_with("shared") ? "shared"
                           : space == "const"          ? "constant"
                                                       : std::string(space);
  return call("is_in", {"::simt::detail::MemoryKind::" + kind},
              {in.out(0, kPredicate), in.in(1, kU64)});
}

// cp.async.mbarrier.arrive: the copies of the thread arrive at a barrier.
std::string arrive_behind_copies(Instruction& in) {
  in.need_one({"arrive"}, "what it does");
  const bool counts = in.take("noinc");
  const bool is_shared = !in.take_one({"shared", "shared::cta"}).empty();
  in.type("b64");
  in.end(1);
  return call("copies_arrive",
              {std::string("::simt::ptx::Space::") + (is_shared ? "shared" : "generic"),
               counts ? "true" : "false"},
              {in.address(in.operand(0), is_shared)});
}

// cp.async: a copy, or what is done with those begun.
std::string cp(Instruction& in) {
  if (!in.take("async")) in.fail_unsupported();
  if (in.take("bulk")) return bulk(in);
  if (in.take("mbarrier")) return arrive_behind_copies(in);
  if (in.take("commit_group")) {
    in.end(0);
    return "::simt::detail::commit_copies();";
  }
  if (in.take("wait_all")) {
    in.end(0);
    return "::simt::detail::commit_copies(); ::simt::detail::wait_copies(0);";
  }
  if (in.take("wait_group")) {
    in.end(1);
    return "::simt::detail::wait_copies(" + in.constant(0) + ");";
  }
  if (in.has("commit")) in.fail("is spelled cp.async.commit_group");
  if (in.has("wait")) in.fail("is spelled cp.async.wait_group N, or cp.async.wait_all");
  const std::string_view cache = in.take_one({"ca", "cg"});
  if (cache.empty())
    in.fail("needs one of: .ca, .cg (a copy), .commit_group, .wait_group, .wait_all");
  in.need_one({"shared", "shared::cta"}, "the space that it copies to");
  in.need_one({"global"}, "the space that it copies from");
  const bool has_policy = in.take("L2::cache_hint");
  in.take_one({"L2::64B", "L2::128B", "L2::256B"});
  const std::size_t most = has_policy ? 5 : 4;
  in.end(most - 1, most);
  if (has_policy) in.in(in.operands() - 1, {'b', 64});
  if (in.operand(2).kind == Operand::Kind::integer) {
    const auto size = in.operand(2).value;
    if (size != 16 && (cache == "cg" || (size != 4 && size != 8)))
      in.fail(cache == "cg" ? "copies 16 bytes" : "copies 4, 8 or 16 bytes");
  }
  const bool is_partial = in.operands() == most;
  const std::string source = !is_partial          ? std::string()
                             : in.is_predicate(3) ? in.in(3, kPredicate)
                                                  : in.in(3, kU32);
  return call("copy_async", {in.constant(2), cache == "cg" ? "true" : "false"},
              {in.address(in.operand(0), true), in.address(in.operand(1), false), source});
}

}  // namespace

std::string translate_memory(Instruction& instruction) {
  using Function = std::string (*)(Instruction&);
  static const std::map<std::string_view, Function> functions = {{"ld", ld},
                                                                 {"st", st},
                                                                 {"atom", atom},
                                                                 {"red", atom},
                                                                 {"prefetch", prefetch},
                                                                 {"prefetchu", prefetch},
                                                                 {"createpolicy", createpolicy},
                                                                 {"cvta", cvta},
                                                                 {"mapa", mapa},
                                                                 {"isspacep", isspacep},
                                                                 {"cp", cp}};
  const auto found = functions.find(instruction.name());
  return found == functions.end() ? std::string() : found->second(instruction);
}

}  // namespace simtcc::ptx
