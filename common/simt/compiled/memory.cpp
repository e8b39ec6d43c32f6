// Accesses to memory, and what they count for.
#include <simt/counting.h>

#include <algorithm>
#include <cstring>

#include "compiled/warp.h"

namespace simt::compiled {
namespace {

unsigned bytes_of(const Instruction& one) {
  if (one.has("128")) return 16;
  if (one.has("64")) return 8;
  if (one.has("U16") || one.has("S16")) return 2;
  return one.has("U8") || one.has("S8") ? 1 : 4;
}

const Operand& address_of(const Instruction& one) {
  for (const Operand& operand : one.operands) {
    if (operand.kind == Kind::memory) return operand;
  }
  throw NotCarriedOut{one.opcode + " without an address"};
}

unsigned char* at_shared(Block& block, uint64_t address, unsigned size) {
  if (address + size > block.shared.size())
    throw NotCarriedOut{"an address outside of shared memory"};
  return &block.shared[address];
}

// New value of an atomic operation on `old`.
uint64_t combined(const Instruction& one, uint64_t old, uint64_t with, uint64_t instead) {
  const bool is_signed = one.has("S32") || one.has("S64");
  if (one.has("F32")) {
    const float sum = std::bit_cast<float>(static_cast<uint32_t>(old)) +
                      std::bit_cast<float>(static_cast<uint32_t>(with));
    return std::bit_cast<uint32_t>(sum);
  }
  if (one.has("F64")) {
    return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(with));
  }
  const auto less = [&] {
    if (!is_signed) return with < old;
    return one.has("64") || one.has("S64") ? static_cast<int64_t>(with) < static_cast<int64_t>(old)
                                           : static_cast<int32_t>(with) < static_cast<int32_t>(old);
  };
  if (one.has("ADD")) return old + with;
  if (one.has("MIN")) return less() ? with : old;
  if (one.has("MAX")) return less() ? old : with;
  if (one.has("AND")) return old & with;
  if (one.has("OR")) return old | with;
  if (one.has("XOR")) return old ^ with;
  if (one.has("EXCH")) return with;
  if (one.has("INC")) return old >= with ? 0 : old + 1;
  if (one.has("DEC")) return old == 0 || old > with ? with : old - 1;
  if (one.has("CAS")) return old == with ? instead : old;
  throw NotCarriedOut{one.opcode + one.modifiers};
}

}  // namespace

void Warp::count(const Instruction& one, uint32_t lanes, const uint64_t* addresses, unsigned size,
                 bool shared, int kind) {
  if (!lanes) return;
  engine::Request request;
  request.kind = static_cast<engine::Access>(kind);
  request.size = size;
  request.lanes = lanes;
  request.address = addresses;
  engine::SharedUnit units[kLanesOfWarp];
  const engine::SharedUnit unit = one.has("CAS")    ? engine::SharedUnit::compare_exchange
                                  : one.has("POPC") ? engine::SharedUnit::increment
                                                    : engine::SharedUnit::native;
  std::fill(std::begin(units), std::end(units), unit);
  request.unit = units;
  Executed& executed = block_.executed[static_cast<size_t>(&one - block_.code.instructions.data())];
  if (shared) return block_.counter.count_shared(request, nullptr, executed.counts);
  const auto sectors = [&] {
    return executed.counts.global_load_sectors + executed.counts.global_store_sectors;
  };
  const uint64_t before = sectors();
  block_.counter.count_global(request, executed.counts);
  if (const uint64_t moved = sectors() - before) {  // none by an atomic
    executed.l1_wavefronts += std::max<uint64_t>(moved / 4, 1);
  }
}

void Warp::memory(const Instruction& one, uint32_t lanes) {
  const Operand& where = address_of(one);
  const unsigned size = bytes_of(one);
  const bool loads = one.code == kLoad || one.code == kLoadShared || one.code == kLoadLocal;
  const bool is_local = one.code == kLoadLocal || one.code == kStoreLocal;
  const bool named_shared = one.code == kLoadShared || one.code == kStoreShared;
  const bool wide = !is_local && !named_shared && (where.wide || one.has("E"));
  const Operand& data = loads ? one.operands[0] : one.operands.back();
  uint64_t addresses[kLanesOfWarp] = {};
  uint32_t in_shared = 0;
  for_lanes(lanes, [&](unsigned lane) {
    uint64_t at = address(where, lane, wide);
    unsigned char* place = nullptr;
    if (is_local) {
      std::vector<unsigned char>& local = locals_[lane];
      at &= 0xffffff;
      if (at + size > local.size()) throw NotCarriedOut{"an address outside of local memory"};
      place = &local[at];
    } else if (named_shared || at >> 32 == kSharedWindow) {
      at &= 0xffffffff;
      in_shared |= 1u << lane;
      place = at_shared(block_, at, size);
    } else {
      place = reinterpret_cast<unsigned char*>(at);
    }
    addresses[lane] = at;
    if (loads) {
      uint32_t words[4] = {};
      std::memcpy(words, place, size);
      if (one.has("S8")) words[0] = static_cast<uint32_t>(static_cast<int8_t>(words[0]));
      if (one.has("S16")) words[0] = static_cast<uint32_t>(static_cast<int16_t>(words[0]));
      for (unsigned i = 0; i < std::max(1u, size / 4); ++i) {
        set(data, lane, words[i], i);
      }
    } else {
      uint32_t words[4] = {};
      for (unsigned i = 0; i < std::max(1u, size / 4); ++i) {
        words[i] = raw(data, lane, i);
      }
      std::memcpy(place, words, size);
    }
  });
  if (is_local) return;
  const int kind = static_cast<int>(loads ? engine::Access::load : engine::Access::store);
  count(one, in_shared, addresses, size, true, kind);
  count(one, lanes & ~in_shared, addresses, size, false, kind);
}

// An asynchronous copy is done at once: who does not wait for it is told so by the checks of the source.
void Warp::copy_to_shared(const Instruction& one, uint32_t lanes) {
  // Of another operand, as one that says where zeros are written, is not known which lanes it means.
  if (one.operands.size() != 2 || one.operands[0].kind != Kind::memory ||
      one.operands[1].kind != Kind::memory)
    throw NotCarriedOut{one.opcode + one.modifiers};
  const unsigned size = bytes_of(one);
  uint64_t to[kLanesOfWarp] = {}, from[kLanesOfWarp] = {};
  for_lanes(lanes, [&](unsigned lane) {
    to[lane] = address(one.operands[0], lane, false);
    from[lane] = address(one.operands[1], lane, true);
    std::memcpy(at_shared(block_, to[lane], size), reinterpret_cast<const void*>(from[lane]), size);
  });
  const CopyCost cost = count_copy(from, to, lanes, 0, size);
  engine::Request request;
  request.kind = engine::Access::load;
  request.size = size;
  request.lanes = lanes;
  request.address = from;
  Counts counts;
  block_.counter.count_global(request, counts);
  counts.global_load_sectors = cost.sectors;
  counts.shared_wavefronts = cost.wavefronts;
  counts.shared_wavefronts_ideal = cost.ideal;
  block_.executed[static_cast<size_t>(&one - block_.code.instructions.data())].counts += counts;
}

void Warp::atomic(const Instruction& one, uint32_t lanes) {
  const Operand& where = address_of(one);
  const auto& ops = one.operands;
  const bool shared = one.code == kAtomicShared, keeps = one.code != kReduce;
  const bool spins = one.has("SPIN"), increments = one.has("POPC");
  const unsigned size = one.has("64") || one.has("F64") || one.has("S64") ? 8 : 4;
  // PT or P0, where it says whether it has been done, the old value, the address, the values.
  size_t first = 0;
  const Operand* done = nullptr;
  if (ops[0].kind == Kind::predicate) done = &ops[first++];
  const auto at_address = static_cast<size_t>(&where - ops.data());
  uint64_t addresses[kLanesOfWarp] = {};
  uint32_t in_shared = 0;
  for_lanes(lanes, [&](unsigned lane) {
    addresses[lane] = address(where, lane, !shared && (where.wide || one.has("E")));
    if (shared || addresses[lane] >> 32 == kSharedWindow) {
      in_shared |= 1u << lane;
      addresses[lane] &= 0xffffffff;
    }
  });
  uint32_t carried_out = lanes;
  if (spins) carried_out = count_spin_round(addresses, lanes, size).done;
  const auto value = [&](size_t operand, unsigned lane) -> uint64_t {
    if (operand >= ops.size()) return 0;
    return size == 8 ? integer64(ops[operand], lane) : integer(ops[operand], lane);
  };
  for_lanes(lanes, [&](unsigned lane) {
    unsigned char* const place = in_shared >> lane & 1
                                     ? at_shared(block_, addresses[lane], size)
                                     : reinterpret_cast<unsigned char*>(addresses[lane]);
    uint64_t old = 0;
    std::memcpy(&old, place, size);
    // It says in a register whether the word was still the old one, and this lane's turn.
    const bool mine = (carried_out >> lane & 1) && (!spins || old == value(at_address + 1, lane));
    uint64_t next = old;
    if (increments) {
      next = old + 1;
    } else if (spins) {
      next = mine ? value(at_address + 2, lane) : old;
    } else {
      next = combined(one, old, value(at_address + 1, lane), value(at_address + 2, lane));
    }
    std::memcpy(place, &next, size);
    if (spins) {
      done ? set_truth(*done, lane, mine) : set(ops[first], lane, mine);
    } else if (keeps && at_address > first) {
      size == 8 ? set64(ops[first], lane, old) : set(ops[first], lane, static_cast<uint32_t>(old));
    }
  });
  const int kind = static_cast<int>(engine::Access::atomic);
  if (spins) {
    Counts& counts =
        block_.executed[static_cast<size_t>(&one - block_.code.instructions.data())].counts;
    const SpinRound round = count_spin_round(addresses, lanes, size);
    ++counts.shared_atomic_requests;
    counts.shared_atomic_wavefronts += round.wavefronts;
    counts.shared_atomic_active_lanes += static_cast<unsigned>(std::popcount(lanes));
    counts.shared_wavefronts += round.wavefronts;
    counts.shared_wavefronts_ideal += round.wavefronts;
    return;
  }
  count(one, in_shared, addresses, size, true, kind);
  count(one, lanes & ~in_shared, addresses, size, false, kind);
}

}  // namespace simt::compiled
