// How the lanes of a warp go through the code: together, and apart from a branch on up to where the code has them meet.
#include "compiled/warp.h"

#include <algorithm>
#include <map>

namespace simt::compiled {
namespace {

using State = Split::State;

constexpr uint32_t kTurn = 1u << 16;  // instructions, before another warp has its turn

}  // namespace

int operation_of(std::string_view opcode) {
  static const std::map<std::string_view, int> known = {{"IADD3", kIadd3},
                                                        {"UIADD3", kIadd3},
                                                        {"IMAD", kImad},
                                                        {"UIMAD", kImad},
                                                        {"LEA", kLea},
                                                        {"ULEA", kLea},
                                                        {"LOP3", kLop3},
                                                        {"ULOP3", kLop3},
                                                        {"PLOP3", kPlop3},
                                                        {"UPLOP3", kPlop3},
                                                        {"ISETP", kIsetp},
                                                        {"UISETP", kIsetp},
                                                        {"SEL", kSel},
                                                        {"USEL", kSel},
                                                        {"VIMNMX", kVimnmx},
                                                        {"IMNMX", kVimnmx},
                                                        {"UIMNMX", kVimnmx},
                                                        {"VIMNMX3", kVimnmx3},
                                                        {"VIADDMNMX", kViaddmnmx},
                                                        {"VIADD", kViadd},
                                                        {"IABS", kIabs},
                                                        {"POPC", kPopc},
                                                        {"UPOPC", kPopc},
                                                        {"FLO", kFlo},
                                                        {"UFLO", kFlo},
                                                        {"BREV", kBrev},
                                                        {"UBREV", kBrev},
                                                        {"SHF", kShf},
                                                        {"USHF", kShf},
                                                        {"PRMT", kPrmt},
                                                        {"UPRMT", kPrmt},
                                                        {"IDP", kIdp},
                                                        {"SGXT", kSgxt},
                                                        {"USGXT", kSgxt},
                                                        {"BMSK", kBmsk},
                                                        {"UBMSK", kBmsk},
                                                        {"MOV", kMov},
                                                        {"UMOV", kMov},
                                                        {"P2R", kP2r},
                                                        {"R2P", kR2p},
                                                        {"R2UR", kR2ur},
                                                        {"S2R", kS2r},
                                                        {"S2UR", kS2r},
                                                        {"CS2R", kCs2r},
                                                        {"LDC", kLdc},
                                                        {"ULDC", kLdc},
                                                        {"VOTE", kVote},
                                                        {"VOTEU", kVote},
                                                        {"SHFL", kShfl},
                                                        {"MATCH", kMatch},
                                                        {"REDUX", kRedux},
                                                        {"FADD", kFadd},
                                                        {"FMUL", kFmul},
                                                        {"FFMA", kFfma},
                                                        {"FMNMX", kFmnmx},
                                                        {"FSEL", kFsel},
                                                        {"FSETP", kFsetp},
                                                        {"MUFU", kMufu},
                                                        {"FCHK", kFchk},
                                                        {"DADD", kDadd},
                                                        {"DMUL", kDmul},
                                                        {"DFMA", kDfma},
                                                        {"DSETP", kDsetp},
                                                        {"I2F", kI2f},
                                                        {"I2FP", kI2f},
                                                        {"F2I", kF2i},
                                                        {"F2F", kF2f},
                                                        {"FRND", kFrnd},
                                                        {"HFMA2", kHfma2Constant},
                                                        {"LDG", kLoad},
                                                        {"LD", kLoad},
                                                        {"STG", kStore},
                                                        {"ST", kStore},
                                                        {"LDS", kLoadShared},
                                                        {"STS", kStoreShared},
                                                        {"LDL", kLoadLocal},
                                                        {"STL", kStoreLocal},
                                                        {"LDGSTS", kCopyToShared},
                                                        {"ATOMG", kAtomic},
                                                        {"ATOM", kAtomic},
                                                        {"REDG", kReduce},
                                                        {"RED", kReduce},
                                                        {"ATOMS", kAtomicShared},
                                                        {"BRA", kBra},
                                                        {"EXIT", kExit},
                                                        {"BSSY", kBssy},
                                                        {"BSYNC", kBsync},
                                                        {"BREAK", kBreak},
                                                        {"BMOV", kBmov},
                                                        {"WARPSYNC", kWarpsync},
                                                        {"BAR", kBarrier},
                                                        {"CALL", kCall},
                                                        {"RET", kRet},
                                                        {"NOP", kNothing},
                                                        {"YIELD", kNothing},
                                                        {"MEMBAR", kNothing},
                                                        {"ERRBAR", kNothing},
                                                        {"CGAERRBAR", kNothing},
                                                        {"CCTL", kNothing},
                                                        {"NANOSLEEP", kNothing},
                                                        {"DEPBAR", kNothing},
                                                        {"LDGDEPBAR", kNothing},
                                                        {"FENCE", kNothing},
                                                        {"WARPGROUPSET", kNothing}};
  const auto at = known.find(opcode);
  return at == known.end() ? kNone : at->second;
}

Warp::Warp(Block& block, unsigned first_thread, unsigned threads)
    : block_(block), first_thread_(first_thread), registers_(256) {
  locals_.assign(kLanesOfWarp, std::vector<unsigned char>(block.code.local_bytes + 64));
  // The first register is the stack's.
  Split all;
  all.lanes = threads >= kLanesOfWarp ? ~0u : (1u << threads) - 1;
  splits_.push_back(all);
}

uint32_t Warp::alive() const {
  uint32_t lanes = 0;
  for (const Split& split : splits_) lanes |= split.lanes;
  return lanes;
}

bool Warp::waits_for_block() const {
  return std::all_of(splits_.begin(), splits_.end(),
                     [](const Split& split) { return split.state == State::waits_for_block; });
}

void Warp::open_barrier() {
  for (Split& split : splits_) split.state = State::runs;
}

// Lanes that have all come to where they wait for each other go on as one.
void Warp::release() {
  for (size_t i = 0; i < splits_.size(); ++i) {
    const Split one = splits_[i];
    if (one.state != State::waits_for_lanes && one.state != State::waits_at_sync) continue;
    const auto waits_with = [&](const Split& other) {
      return other.state == one.state && other.at == one.at &&
             (one.state == State::waits_at_sync || other.barrier == one.barrier);
    };
    uint32_t there = 0;
    for (const Split& other : splits_) there |= waits_with(other) ? other.lanes : 0;
    const uint32_t awaited =
        (one.state == State::waits_for_lanes ? barriers_[one.barrier] : one.awaited) & alive();
    if (awaited & ~there) continue;
    splits_.erase(std::remove_if(splits_.begin(), splits_.end(), waits_with), splits_.end());
    Split all;
    all.lanes = there;
    all.at = one.at;
    splits_.push_back(all);
    i = static_cast<size_t>(-1);
  }
}

void Warp::run() {
  for (uint32_t turn = 0; turn < kTurn;) {
    Split* next = nullptr;
    for (Split& split : splits_) {
      if (split.state == State::runs && (!next || split.at < next->at)) next = &split;
    }
    if (!next) {
      if (splits_.empty() || waits_for_block()) return;
      // Some wait for the block, others for them: as the barrier would on a GPU, which counts threads.
      if (std::any_of(splits_.begin(), splits_.end(),
                      [](const Split& split) { return split.state == State::waits_for_block; }))
        return;
      throw NotCarriedOut{"lanes that wait for each other"};
    }
    const size_t many = splits_.size();
    const uint32_t lanes = next->lanes;
    do {
      step(*next);
      ++turn;
    } while (splits_.size() == many && next->state == State::runs && next->lanes == lanes &&
             turn < kTurn && many == 1);
  }
}

uint32_t Warp::target_of(const Instruction& one, const Operand& operand) const {
  const auto& all = block_.code.instructions;
  const auto address = static_cast<uint64_t>(operand.number);
  if (operand.kind != Kind::number || address % 16 || address / 16 >= all.size())
    throw NotCarriedOut{one.opcode + " to somewhere else"};
  return static_cast<uint32_t>(address / 16);
}

void Warp::diverge(Split& split, uint32_t taken, uint32_t target) {
  if (taken == split.lanes) {
    split.at = target;
    return;
  }
  if (!taken) return;
  Split other = split;
  other.lanes = taken;
  other.at = target;
  split.lanes &= ~taken;
  splits_.push_back(other);  // `split` is no longer valid
}

void Warp::step(Split& split) {
  if (!block_.budget--) throw NotCarriedOut{"so many instructions"};
  ++clock_;
  if (split.at >= block_.code.instructions.size()) throw NotCarriedOut{"the end of the code"};
  const Instruction& one = block_.code.instructions[split.at++];
  const uint32_t guard = one.guard.kind == Kind::none ? ~0u : truths(one.guard);
  const uint32_t lanes = split.lanes & guard;
  current_ = split.lanes;
  Executed& executed = block_.executed[static_cast<size_t>(&one - block_.code.instructions.data())];
  ++executed.issued;
  executed.lanes += static_cast<unsigned>(std::popcount(lanes));
  if (one.code >= kBra) return control(one, split, lanes);
  if (one.code == kNone) {
    if (lanes) throw NotCarriedOut{one.opcode + one.modifiers};
    return;
  }
  if (!lanes) return;
  if (one.code >= kLoad && one.code <= kStoreLocal) return memory(one, lanes);
  if (one.code == kCopyToShared) return copy_to_shared(one, lanes);
  if (one.code >= kAtomic && one.code <= kAtomicShared) return atomic(one, lanes);
  if (across_lanes(one, lanes)) return;
  // What a warp has once is the same for all of its lanes.
  const bool once = !one.operands.empty() && (one.operands[0].kind == Kind::uniform ||
                                              one.operands[0].kind == Kind::uniform_predicate);
  const uint32_t some = once && one.code != kR2ur ? lanes & (0u - lanes) : lanes;
  if (integers(one, some) || moves(one, some) || reals(one, some)) return;
  throw NotCarriedOut{one.opcode + one.modifiers};
}

void Warp::control(const Instruction& one, Split& split, uint32_t lanes) {
  const auto& ops = one.operands;
  switch (one.code) {
    case kNothing:
      return;
    case kBra: {
      if (one.has("DIV")) {
        // To code for lanes that have parted.
        if (current_ != (ops[0].kind == Kind::number ? ~0u : integer(ops[0], 0) & alive()))
          throw NotCarriedOut{"collectives of lanes that have parted"};
        return;
      }
      uint32_t taken = lanes;
      if (ops.size() > 1) taken &= truths(ops[0]);
      return diverge(split, taken, target_of(one, ops.back()));
    }
    case kExit:
      split.lanes &= ~lanes;
      if (!split.lanes) {
        splits_.erase(splits_.begin() + (&split - splits_.data()));
      }
      return release();
    case kBssy:
      barriers_[ops[0].index] = split.lanes;
      return;
    case kBsync:
      if (lanes != split.lanes && lanes) throw NotCarriedOut{"a conditional BSYNC"};
      if (!lanes) return;
      split.state = State::waits_for_lanes;
      split.barrier = ops[0].index;
      return release();
    case kBreak:
      if (ops.size() > 1 && ops[0].kind == Kind::predicate) lanes &= truths(ops[0]);
      barriers_[ops.back().index] &= ~lanes;
      return release();
    case kBmov:
      if (!lanes) return;
      if (ops[0].kind == Kind::barrier) {
        barriers_[ops[0].index] = integer(ops[1], static_cast<unsigned>(std::countr_zero(lanes)));
      } else {
        for_lanes(lanes, [&](unsigned lane) { set(ops[0], lane, barriers_[ops[1].index]); });
      }
      return;
    case kWarpsync:
      if (one.has("COLLECTIVE")) throw NotCarriedOut{"collectives of lanes that have parted"};
      if (!lanes) return;
      split.state = State::waits_at_sync;
      split.awaited = one.has("ALL") || ops.empty()
                          ? ~0u
                          : integer(ops[0], static_cast<unsigned>(std::countr_zero(lanes)));
      return release();
    case kBarrier:
      if (!lanes) return;
      if (!one.has("SYNC") || ops.size() > 1 || lanes != split.lanes)
        throw NotCarriedOut{"a barrier of some threads"};
      split.state = State::waits_for_block;
      return;
    case kCall:
      if (!one.has("REL")) throw NotCarriedOut{"a call of a function"};
      return diverge(split, lanes, target_of(one, ops.back()));
    case kRet: {
      if (!lanes) return;
      const uint32_t to = integer(ops[0], static_cast<unsigned>(std::countr_zero(lanes)));
      for_lanes(lanes, [&](unsigned lane) {
        // A recursion: when such lanes meet again is the hardware's to say.
        if (integer(ops[0], lane) != to) throw NotCarriedOut{"lanes that return to several places"};
      });
      Operand target;
      target.kind = Kind::number;
      target.number = to;
      return diverge(split, lanes, target_of(one, target));
    }
    default:
      throw NotCarriedOut{one.opcode + one.modifiers};
  }
}

bool Warp::across_lanes(const Instruction& one, uint32_t lanes) {
  const auto& ops = one.operands;
  const auto of_each = [&](auto&& f) {
    for_lanes(lanes, [&](unsigned lane) { set(ops.at(0), lane, f(lane)); });
    return true;
  };
  switch (one.code) {
    case kVote: {
      // VOTE.ANY R0, PT, P0
      const uint32_t votes = truths(ops.back()) & lanes;
      const bool holds = one.has("ALL")  ? votes == lanes
                         : one.has("EQ") ? votes == lanes || !votes
                                         : votes != 0;
      for (const Operand& to : std::vector<Operand>(ops.begin(), ops.end() - 1)) {
        if (to.kind == Kind::predicate || to.kind == Kind::uniform_predicate) {
          for_lanes(lanes, [&](unsigned lane) { set_truth(to, lane, holds); });
        } else {
          for_lanes(lanes, [&](unsigned lane) { set(to, lane, votes); });
        }
      }
      return true;
    }
    case kShfl: {
      std::array<uint32_t, kLanesOfWarp> values{};
      for_lanes(current_, [&](unsigned lane) { values[lane] = integer(ops[2], lane); });
      std::array<uint32_t, kLanesOfWarp> results{};
      for_lanes(lanes, [&](unsigned lane) {
        const uint32_t by = integer(ops[3], lane), control = integer(ops[4], lane);
        const uint32_t clamp = control & 31, segment = control >> 8 & 31;
        const uint32_t most = (lane & segment) | (clamp & ~segment);
        const uint32_t least = lane & segment;
        uint32_t from = 0;
        bool inside = false;
        if (one.has("UP")) {
          from = lane - by, inside = static_cast<int32_t>(from) >= static_cast<int32_t>(most);
        } else if (one.has("DOWN")) {
          from = lane + by, inside = from <= most;
        } else if (one.has("BFLY")) {
          from = lane ^ by, inside = from <= most;
        } else {
          from = least | (by & ~segment & 31), inside = from <= most;
        }
        if (!inside) from = lane;
        set_truth(ops[0], lane, inside);
        results[lane] = values[from];
      });
      for_lanes(lanes, [&](unsigned lane) { set(ops[1], lane, results[lane]); });
      return true;
    }
    case kMatch: {
      std::array<uint32_t, kLanesOfWarp> values{};
      const Operand& of = ops.back();
      for_lanes(lanes, [&](unsigned lane) { values[lane] = integer(of, lane); });
      if (!one.has("ANY")) throw NotCarriedOut{"MATCH.ALL"};
      return of_each([&](unsigned lane) {
        uint32_t same = 0;
        for_lanes(lanes, [&](unsigned other) {
          same |= uint32_t{values[other] == values[lane]} << other;
        });
        return same;
      });
    }
    case kRedux: {
      uint32_t all = 0;
      bool first = true;
      for_lanes(lanes, [&](unsigned lane) {
        const uint32_t value = integer(ops[1], lane);
        const auto less =
            one.has("S32") ? static_cast<int32_t>(value) < static_cast<int32_t>(all) : value < all;
        all = first            ? value
              : one.has("SUM") ? all + value
              : one.has("AND") ? all & value
              : one.has("XOR") ? all ^ value
              : one.has("MIN") ? (less ? value : all)
              : one.has("MAX") ? (less ? all : value)
                               : all | value;
        first = false;
      });
      for_lanes(lanes, [&](unsigned lane) { set(ops[0], lane, all); });
      return true;
    }
    default:
      return false;
  }
}

}  // namespace simt::compiled
