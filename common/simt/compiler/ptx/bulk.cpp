// Bulk copies: cp.async.bulk and what follows it.
#include <string>
#include <string_view>

#include "ptx/instruction.h"

namespace simtcc::ptx {
namespace {

// The end of both kinds: an eviction policy, which no count depends on.
std::size_t policy(Instruction& in) { return in.take("L2::cache_hint") ? 1 : 0; }

// And before it the blocks of the cluster that get the bytes, one bit each.
std::string end(Instruction& in, std::size_t operands) {
  const bool is_multicast = in.take("multicast::cluster");
  const std::size_t policies = policy(in), all = operands + (is_multicast ? 1 : 0);
  in.end(all + policies);
  if (policies) in.in(all, {'b', 64});
  return is_multicast ? in.in(operands, {'b', 16}) : "::simt::ptx::Constant<0>{}";
}

std::string tensor(Instruction& in) {
  const std::string_view rank =
      in.need_one({"1d", "2d", "3d", "4d", "5d"}, "a number of dimensions");
  const bool loads = !in.take_one({"shared::cluster", "shared::cta"}).empty();
  if (loads) {
    in.need_one({"global"}, "the space that it copies from");
  } else {
    in.need_one({"global", "shared::cluster"}, "the space that it copies to");
    in.need_one({"shared::cta"}, "the space that it copies from");
  }
  in.take("tile");
  in.need_one({loads ? "mbarrier::complete_tx::bytes" : "bulk_group"}, "how it completes");
  if (in.has("im2col") || in.has("cta_group::1") || (in.has("multicast::cluster") && !loads))
    in.fail_unsupported();
  const std::string blocks = end(in, loads ? 3 : 2);
  const Operand& map = in.operand(loads ? 1 : 0);
  const std::string coordinates = in.coordinates(map);
  if (map.kind != Operand::Kind::address || map.parts.size() < 2 ||
      map.parts[1].parts.size() != static_cast<std::size_t>(rank[0] - '0'))
    in.fail("takes [map, {...}] with as many coordinates as its name has dimensions");
  const std::string corner = "::simt::ptx::corner(" + coordinates + ")";
  if (!loads)
    return call("tensor_store", {},
                {in.address(map, false), in.address(in.operand(1), true), corner});
  return call("tensor_load", {},
              {in.address(in.operand(0), true), in.address(map, false),
               in.address(in.operand(2), true), corner, blocks});
}

}  // namespace

std::string bulk(Instruction& in) {
  if (in.take("commit_group")) {
    in.end(0);
    return "::simt::detail::bulk_commit();";
  }
  if (in.take("wait_group")) {
    const bool reads = in.take("read");
    in.end(1);
    return "::simt::detail::bulk_wait(" + in.constant(0) + ", " + (reads ? "true" : "false") + ");";
  }
  if (in.take("tensor")) return tensor(in);
  const bool loads = !in.take_one({"shared::cluster", "shared::cta"}).empty();
  if (in.has("shared::cta") == loads && (loads || !in.has("global"))) in.fail_unsupported();
  in.need_one({"global"}, loads ? "the space that it copies from" : "the space that it copies to");
  if (!loads) in.need_one({"shared::cta"}, "the space that it copies from");
  in.need_one({loads ? "mbarrier::complete_tx::bytes" : "bulk_group"}, "how it completes");
  if (in.has("cp_mask") || (in.has("multicast::cluster") && !loads)) in.fail_unsupported();
  const std::string blocks = end(in, loads ? 4 : 3);
  const std::string to = in.address(in.operand(0), loads), from = in.address(in.operand(1), !loads);
  const std::string size = in.in(2, kU32);
  if (!loads) return call("bulk_store", {}, {to, from, size});
  return call("bulk_load", {}, {to, from, size, in.address(in.operand(3), true), blocks});
}

}  // namespace simtcc::ptx
