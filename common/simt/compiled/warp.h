// One warp that carries out machine code: registers, predicates, and which of its lanes are where.
#pragma once

#include <simt/counts.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiled/code.h"
#include "count/counter.h"

namespace simt::compiled {

// Thrown where the machine code does what is not carried out here. What was counted is worth nothing then.
struct NotCarriedOut {
  std::string why;
};

enum Operation : int {
  kNone,
  kIadd3,
  kImad,
  kLea,
  kLop3,
  kPlop3,
  kIsetp,
  kSel,
  kVimnmx,
  kVimnmx3,
  kViaddmnmx,
  kViadd,
  kIabs,
  kPopc,
  kFlo,
  kBrev,
  kShf,
  kPrmt,
  kSgxt,
  kBmsk,
  kIdp,
  kMov,
  kP2r,
  kR2p,
  kR2ur,
  kS2r,
  kCs2r,
  kLdc,
  kVote,
  kShfl,
  kMatch,
  kRedux,
  kFadd,
  kFmul,
  kFfma,
  kFmnmx,
  kFsel,
  kFsetp,
  kMufu,
  kFchk,
  kDadd,
  kDmul,
  kDfma,
  kDsetp,
  kI2f,
  kF2i,
  kF2f,
  kFrnd,
  kHfma2Constant,
  kLoad,
  kStore,
  kLoadShared,
  kStoreShared,
  kLoadLocal,
  kStoreLocal,
  kCopyToShared,
  kAtomic,
  kReduce,
  kAtomicShared,
  kBra,
  kExit,
  kBssy,
  kBsync,
  kBreak,
  kBmov,
  kWarpsync,
  kBarrier,
  kCall,
  kRet,
  kNothing,
};
// By the name of an opcode; kNone for one that is not carried out.
int operation_of(std::string_view opcode);
std::string plain_name(std::string_view name);

inline constexpr unsigned kLanesOfWarp = 32;

// Lanes that are at one place.
struct Split {
  enum class State : uint8_t { runs, waits_for_lanes, waits_at_sync, waits_for_block };
  uint32_t lanes = 0;
  uint32_t at = 0;  // index of the next instruction
  State state = State::runs;
  unsigned barrier = 0;  // of waits_for_lanes
  uint32_t awaited = 0;  // of waits_at_sync
};

// What has been counted of an instruction.
struct Executed {
  Counts counts;
  uint64_t issued = 0;  // by a warp
  uint64_t lanes = 0;   // sum of those that took part
  // Passes through L1, at least: one for every four whole sectors of a request. A row of 32 floats that begins inside a sector
  // touches five, takes from each bank once, and so needs one pass.
  uint64_t l1_wavefronts = 0;
};

// What the warps of a block share, and the launch.
struct Block {
  const Code& code;
  std::array<unsigned, 3> index{}, block{}, grid{};
  std::vector<unsigned char> shared;
  std::array<std::vector<unsigned char>, 8> banks;
  std::vector<Executed>& executed;  // of each instruction
  engine::Counter& counter;
  uint64_t budget = 0;  // instructions that may still be carried out
};

class Warp {
 public:
  Warp(Block& block, unsigned first_thread, unsigned threads);

  // Goes on until all lanes wait for the block or have ended, or for a while.
  void run();
  bool ended() const { return splits_.empty(); }
  bool waits_for_block() const;
  void open_barrier();

 private:
  struct Lanes;
  void step(Split& split);
  void diverge(Split& split, uint32_t taken, uint32_t target);
  void release();
  uint32_t alive() const;
  uint32_t target_of(const Instruction& one, const Operand& operand) const;

  // Values of operands, by lane.
  // `next`: the register so many behind it.
  uint32_t raw(const Operand& operand, unsigned lane, unsigned next = 0) const;
  uint32_t integer(const Operand& operand, unsigned lane) const;
  uint64_t integer64(const Operand& operand, unsigned lane) const;
  float real(const Operand& operand, unsigned lane) const;
  double real64(const Operand& operand, unsigned lane) const;
  bool truth(const Operand& operand, unsigned lane) const;
  uint32_t truths(const Operand& operand) const;
  uint64_t constant(const Operand& operand, unsigned lane, unsigned bytes) const;
  uint64_t address(const Operand& operand, unsigned lane, bool wide) const;
  void set(const Operand& operand, unsigned lane, uint32_t value, unsigned next = 0);
  void set64(const Operand& operand, unsigned lane, uint64_t value);
  void set_truth(const Operand& operand, unsigned lane, bool value);

  bool integers(const Instruction& one, uint32_t lanes);
  bool moves(const Instruction& one, uint32_t lanes);
  bool reals(const Instruction& one, uint32_t lanes);
  bool across_lanes(const Instruction& one, uint32_t lanes);
  void memory(const Instruction& one, uint32_t lanes);
  void copy_to_shared(const Instruction& one, uint32_t lanes);
  void atomic(const Instruction& one, uint32_t lanes);
  void control(const Instruction& one, Split& split, uint32_t lanes);
  void iadd3(const Instruction& one, unsigned lane);
  void imad(const Instruction& one, unsigned lane);
  void lea(const Instruction& one, unsigned lane);
  void shift(const Instruction& one, unsigned lane);
  uint32_t special(const std::string& name, unsigned lane) const;
  void count(const Instruction& one, uint32_t lanes, const uint64_t* addresses, unsigned size,
             bool shared, int kind);

  Block& block_;
  unsigned first_thread_;
  std::vector<std::array<uint32_t, kLanesOfWarp>> registers_;
  std::array<uint32_t, 64> uniforms_{};
  std::array<uint32_t, 8> predicates_{};
  std::array<bool, 8> uniform_predicates_{};
  std::array<uint32_t, 16> barriers_{};
  std::vector<std::vector<unsigned char>> locals_;
  std::vector<Split> splits_;
  uint32_t clock_ = 0;
  uint32_t current_ = 0;  // lanes that carry the instruction out, before its guard
};

// The high word of a generic address that points into shared memory.
inline constexpr uint32_t kSharedWindow = 0x10;
inline constexpr unsigned kSharedBytes = 232 * 1024;
// Static shared memory begins behind what the system keeps.
inline constexpr unsigned kSharedBegin = 0x400;

template <class F>
void for_lanes(uint32_t lanes, F&& f) {
  for (; lanes; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

}  // namespace simt::compiled
