// Warps, barriers, fences, branches.
#include <map>
#include <string>
#include <string_view>

#include "ptx/instruction.h"

namespace simtcc::ptx {
namespace {

void need_sync(Instruction& in) {
  if (!in.take("sync")) in.fail("needs .sync, as all warp instructions since sm_70");
}

// d|p, or d alone.
std::pair<std::string, std::string> with_predicate(const Instruction& in, Type type) {
  const Operand& target = in.operand(0);
  if (target.kind != Operand::Kind::pair) return {in.target(target, type), "::simt::ptx::Sink{}"};
  return {in.target(target.parts[0], type), in.target(target.parts[1], kPredicate)};
}

std::string shfl(Instruction& in) {
  need_sync(in);
  const std::string_view mode = in.need_one({"up", "down", "bfly", "idx"}, "one of");
  in.type("b32");
  in.end(5);
  const auto [target, predicate] = with_predicate(in, kB32);
  return call("shfl_" + std::string(mode), {},
              {target, predicate, in.in(1, kB32), in.in(2, kB32), in.in(3, kB32), in.in(4, kB32)});
}

std::string vote(Instruction& in) {
  need_sync(in);
  const std::string_view mode = in.need_one({"all", "any", "uni", "ballot"}, "one of");
  const Type type = in.type(mode == "ballot" ? "b32" : "pred");
  in.end(3);
  return call("vote_" + std::string(mode), {},
              {in.out(0, type), in.in(1, kPredicate), in.in(2, kB32)});
}

std::string match(Instruction& in) {
  const std::string_view mode = in.need_one({"any", "all"}, "one of");
  need_sync(in);
  const Type type = in.type("b32 b64");
  in.end(3);
  if (mode == "any")
    return call("match_any", {cpp(type)}, {in.out(0, kB32), in.in(1, type), in.in(2, kB32)});
  const auto [target, predicate] = with_predicate(in, kB32);
  return call("match_all", {cpp(type)}, {target, predicate, in.in(1, type), in.in(2, kB32)});
}

std::string redux(Instruction& in) {
  need_sync(in);
  const std::string_view operation =
      in.need_one({"add", "min", "max", "and", "or", "xor"}, "an operation");
  if (in.has("f32") || in.has("abs")) in.fail_unsupported();
  const bool is_bits = operation == "and" || operation == "or" || operation == "xor";
  const Type type = in.type(is_bits ? "b32" : "u32 s32");
  in.end(3);
  return call("redux_" + std::string(operation), {cpp(type)},
              {in.out(0, type), in.in(1, type), in.in(2, kB32)});
}

std::string activemask(Instruction& in) {
  in.type("b32");
  in.end(1);
  return call("mov", {cpp(kU32)}, {in.out(0, kB32), "::__activemask()"});
}

// Barriers of the block. Those with a number of threads, or another number than 0, are of a part of it.
std::string bar(Instruction& in) {
  if (in.name() == "barrier" && in.take("cluster")) {
    const std::string_view half = in.need_one({"arrive", "wait"}, "one of");
    in.take_one({"release", "acquire", "relaxed"});
    in.take("aligned");
    in.end(0);
    return "::simt::detail::cluster_" + std::string(half) + "();";
  }
  if (in.name() == "bar" && in.take("warp")) {
    need_sync(in);
    in.end(1);
    return call("sync_warp", {}, {in.in(0, kB32)});
  }
  in.take("cta");
  const bool reduces = in.take("red");
  const std::string_view reduction = reduces ? in.need_one({"popc", "and", "or"}, "one of") : "";
  const std::string_view what = reduces ? "" : in.need_one({"sync", "arrive"}, "one of");
  in.take("aligned");
  if (reduces) in.type(reduction == "popc" ? "u32" : "pred");
  if (!reduces) {
    in.end(what == "arrive" ? 2 : 1, 2);
    const std::string threads = in.operands() == 2 ? in.in(1, kU32) : std::string();
    const bool is_first = in.operand(0).kind == Operand::Kind::integer && !in.operand(0).value;
    if (is_first && threads.empty()) return "::__syncthreads();";
    return call("named_barrier", {what == "sync" ? "true" : "false"}, {in.in(0, kU32), threads});
  }
  in.end(3, 4);
  if (!in.is_constant(1) || (in.operand(1).kind == Operand::Kind::integer && in.operand(1).value))
    in.fail("is simulated with barrier 0 only");
  const std::string threads = in.operands() == 4 ? in.in(2, kU32) : std::string();
  return call("barrier_" + std::string(reduction), {in.constant(1)},
              {in.out(0, reduction == "popc" ? kU32 : kPredicate),
               in.in(in.operands() - 1, kPredicate), threads});
}

// Barriers in shared memory.
std::string mbarrier(Instruction& in) {
  if (in.has("complete_tx")) in.fail_unsupported();
  const std::string_view what = in.need_one({"init", "inval", "arrive", "arrive_drop", "expect_tx",
                                             "test_wait", "try_wait", "pending_count"},
                                            "an operation");
  const bool arrives = what.starts_with("arrive"), waits = what.ends_with("wait");
  const bool by_parity = waits && in.take("parity");
  const bool expects = arrives && in.take("expect_tx");
  bool has_count = (arrives && in.take("noComplete")) || expects;
  if (waits || arrives || what == "expect_tx") {
    const std::string_view order = in.take_one({"release", "acquire", "relaxed"});
    if (!order.empty()) in.need_one({"cta", "cluster"}, "a scope");
  }
  has_count |= arrives && in.take("noComplete");
  if (in.has("shared::cluster") && !arrives && what != "expect_tx") in.fail_unsupported();
  const bool is_shared =
      what != "pending_count" && !in.take_one({"shared", "shared::cta", "shared::cluster"}).empty();
  const Type word = in.type("b64");
  const std::string space =
      std::string("::simt::ptx::Space::") + (is_shared ? "shared" : "generic");
  const auto address = [&](std::size_t i) { return in.address(in.operand(i), is_shared); };
  if (what == "pending_count") {
    in.end(2);
    return call("mbarrier_pending_count", {}, {in.out(0, kB32), in.in(1, word)});
  }
  const auto count = [&](std::size_t i) {
    if (in.operand(i).kind == Operand::Kind::integer && !in.operand(i).value)
      in.fail("needs a count above 0");
    return in.in(i, kU32);
  };
  if (what == "init") {
    in.end(2);
    return call("mbarrier_init", {space}, {address(0), count(1)});
  }
  if (what == "inval") {
    in.end(1);
    return call("mbarrier_inval", {space}, {address(0)});
  }
  if (what == "expect_tx") {
    in.end(2);
    return call("mbarrier_expect_tx", {space}, {address(0), in.in(1, kU32)});
  }
  if (arrives) {
    in.end(has_count ? 3 : 2, 3);
    const std::string number = in.operands() < 3 ? "::simt::ptx::Constant<1>{}"
                               : expects         ? in.in(2, kU32)
                                                 : count(2);
    return call("mbarrier_arrive",
                {space, what == "arrive" ? "false" : "true", expects ? "true" : "false"},
                {in.out(0, word), address(1), number});
  }
  in.end(3, what == "try_wait" ? 4 : 3);
  if (in.operands() == 4) in.in(3, kU32);  // for how long it may sleep
  return call("mbarrier_wait", {space, by_parity ? "true" : "false"},
              {in.out(0, kPredicate), address(1), in.in(2, by_parity ? kU32 : word)});
}

std::string fence_of(std::string_view scope) {
  if (scope == "cta") return "::__threadfence_block();";
  return scope == "sys" ? "::__threadfence_system();" : "::__threadfence();";
}

std::string membar(Instruction& in) {
  if (in.has("proxy")) in.fail_unsupported();
  const std::string_view level = in.need_one({"cta", "gl", "sys"}, "a level");
  in.end(0);
  return fence_of(level);
}

std::string fence(Instruction& in) {
  if (in.take("mbarrier_init")) {
    in.need_one({"release"}, "an order");
    in.need_one({"cluster"}, "a scope");
    in.end(0);
    return fence_of("cluster");
  }
  if (in.take("proxy")) {
    if (!in.take("async")) in.fail_unsupported();
    in.take_one({"shared::cta", "shared::cluster", "global"});
    in.end(0);
    return "::simt::detail::fence_proxy_async();";
  }
  if (in.has("acquire") || in.has("release")) in.fail_unsupported();
  in.take_one({"sc", "acq_rel"});
  const std::string_view scope = in.need_one({"cta", "cluster", "gpu", "sys"}, "a scope");
  in.end(0);
  return fence_of(scope);
}

// How many registers a thread has.
std::string setmaxnreg(Instruction& in) {
  const bool takes = in.need_one({"inc", "dec"}, "what it does") == "inc";
  need_sync(in);
  in.need_one({"aligned"}, "the modifier");
  in.type("u32");
  in.end(1);
  return "static_assert(" + in.constant(0) + " % 8 == 0 && " + in.constant(0) + " >= 24 && " +
         in.constant(0) +
         " <= 256, \"simt: inline PTX: setmaxnreg takes 24 to 256 registers, a multiple of 8\"); "
         "::simt::detail::set_registers(" +
         in.constant(0) + ", " + (takes ? "true" : "false") + ");";
}

std::string nanosleep(Instruction& in) {
  in.type("u32");
  in.end(1);
  return "::__nanosleep(::simt::ptx::get<::simt::ptx::u32>(" + in.in(0, kU32) + "));";
}

std::string trap(Instruction& in) {
  in.end(0);
  return in.name() == "trap" ? "::__trap();" : "::__brkpt();";
}

// The thread ends. Of a function other than the kernel only PTX knows where it returns to.
std::string exit(Instruction& in) {
  if (in.name() == "ret" && !in.in_kernel())
    in.fail(
        "returns from a function that the compiler may have inlined: write 'return;' in C++, or "
        "exit to end the thread");
  in.end(0);
  return "::simt::detail::exit_thread();";
}

std::string griddepcontrol(Instruction& in) {
  const bool waits = in.need_one({"wait", "launch_dependents"}, "what it does") == "wait";
  in.end(0);
  return waits ? "::cudaGridDependencySynchronize();"
               : "::cudaTriggerProgrammaticLaunchCompletion();";
}

std::string bra(Instruction& in) {
  in.take("uni");
  in.end(1);
  return "goto " + in.label(0) + ";";
}

}  // namespace

std::string translate_control(Instruction& instruction) {
  using Function = std::string (*)(Instruction&);
  static const std::map<std::string_view, Function> functions = {{"shfl", shfl},
                                                                 {"vote", vote},
                                                                 {"match", match},
                                                                 {"redux", redux},
                                                                 {"activemask", activemask},
                                                                 {"bar", bar},
                                                                 {"barrier", bar},
                                                                 {"mbarrier", mbarrier},
                                                                 {"membar", membar},
                                                                 {"fence", fence},
                                                                 {"griddepcontrol", griddepcontrol},
                                                                 {"nanosleep", nanosleep},
                                                                 {"setmaxnreg", setmaxnreg},
                                                                 {"trap", trap},
                                                                 {"brkpt", trap},
                                                                 {"exit", exit},
                                                                 {"ret", exit},
                                                                 {"bra", bra}};
  const auto found = functions.find(instruction.name());
  return found == functions.end() ? std::string() : found->second(instruction);
}

}  // namespace simtcc::ptx
