// The matrix instructions of a warp: mma, ldmatrix, stmatrix, movmatrix.
//
// Which lane holds which element is PTX's: of an 8 x 8 matrix of 16-bit elements lane 4r + c holds the elements 2c and 2c + 1 of
// row r, in one register. The operands of mma are made of such matrices.
#include <cstring>

#include "base/matrix_product.h"
#include "hooks/hooks.h"

namespace simt::engine {
namespace {

using detail::FourRegisters;
using detail::MatrixRows;
using detail::MatrixType;

constexpr unsigned kRows = 8, kRowBytes = 16;

uint32_t register_of(uint64_t pair, unsigned i) { return static_cast<uint32_t>(pair >> 32 * i); }

struct Product : WholeWarp {
  MatrixType type;
  uint32_t a[4], b[2], c[4];

  static const Product& of(const WholeWarp* lane) { return *static_cast<const Product*>(lane); }
  static void run(WholeWarp* const* lanes);
};

// The elements of a register, each in a word.
void spread(MatrixType type, uint32_t bits, uint32_t* to) {
  const unsigned count = 32 / depth_of(type) == 4 ? 1 : 32 / depth_of(type) == 2 ? 2 : 4;
  const unsigned width = 32 / count;
  for (unsigned i = 0; i < count; ++i)
    to[i] = count == 1 ? bits : bits >> width * i & ((1u << width) - 1);
}

// Row g of A is held by the lanes 4g to 4g + 3 (a[0], a[2]), row g + 8 too (a[1], a[3]); column g of B by the same.
void Product::run(WholeWarp* const* lanes) {
  constexpr unsigned kM = 16, kN = 8, kMostDepth = 32;
  const MatrixType type = of(lanes[0]).type;
  const unsigned depth = depth_of(type), in_register = depth / 8;
  uint32_t a[kM * kMostDepth], b[kN * kMostDepth], c[kM * kN];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Product& own = of(lanes[lane]);
    const unsigned g = lane / 4, first = lane % 4 * in_register;
    for (unsigned i = 0; i < 4; ++i)
      spread(type, own.a[i], &a[(g + 8 * (i % 2)) * depth + first + depth / 2 * (i / 2)]);
    for (unsigned i = 0; i < 2; ++i) spread(type, own.b[i], &b[g * depth + first + depth / 2 * i]);
    for (unsigned i = 0; i < 4; ++i) c[(g + 8 * (i / 2)) * kN + lane % 4 * 2 + i % 2] = own.c[i];
  }
  multiply(type, kM, kN, a, b, c);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto& own = *static_cast<Product*>(lanes[lane]);
    for (unsigned i = 0; i < 4; ++i)
      own.c[i] = c[(lane / 4 + 8 * (i / 2)) * kN + lane % 4 * 2 + i % 2];
  }
}

// 8 x 8 elements of 16 bits, from and to memory or registers.
struct Matrix {
  uint16_t at[kRows][kRows];

  uint32_t pair(unsigned lane, bool is_transposed) const {
    const unsigned r = lane / 4, c = lane % 4 * 2;
    return is_transposed ? at[c][r] | uint32_t{at[c + 1][r]} << 16
                         : at[r][c] | uint32_t{at[r][c + 1]} << 16;
  }
  void set_pair(unsigned lane, uint32_t value, bool is_transposed) {
    const unsigned r = lane / 4, c = lane % 4 * 2;
    (is_transposed ? at[c][r] : at[r][c]) = static_cast<uint16_t>(value);
    (is_transposed ? at[c + 1][r] : at[r][c + 1]) = static_cast<uint16_t>(value >> 16);
  }
};

struct Rows : WholeWarp {
  char* row;
  unsigned count;
  bool is_transposed;
  FourRegisters values;

  static Rows& of(WholeWarp* lane) { return *static_cast<Rows*>(lane); }

  static void load(WholeWarp* const* lanes) {
    for (unsigned i = 0; i < of(lanes[0]).count; ++i) {
      Matrix matrix;
      for (unsigned r = 0; r < kRows; ++r)
        std::memcpy(matrix.at[r], of(lanes[kRows * i + r]).row, kRowBytes);
      for (unsigned lane = 0; lane < kLanes; ++lane)
        of(lanes[lane]).values.at[i] = matrix.pair(lane, of(lanes[0]).is_transposed);
    }
  }
  static void store(WholeWarp* const* lanes) {
    for (unsigned i = 0; i < of(lanes[0]).count; ++i) {
      Matrix matrix;
      for (unsigned lane = 0; lane < kLanes; ++lane)
        matrix.set_pair(lane, of(lanes[lane]).values.at[i], of(lanes[0]).is_transposed);
      for (unsigned r = 0; r < kRows; ++r)
        std::memcpy(of(lanes[kRows * i + r]).row, matrix.at[r], kRowBytes);
    }
  }
  static void transpose(WholeWarp* const* lanes) {
    Matrix matrix;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      matrix.set_pair(lane, of(lanes[lane]).values.at[0], true);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      of(lanes[lane]).values.at[0] = matrix.pair(lane, false);
  }
};

}  // namespace

void Hooks::whole_warp(WholeWarp& operands, const void* pc) {
  if (!fiber_worker()) trap("a matrix instruction outside of a kernel", pc);
  switch (collective(detail::CollectiveOp::whole_warp, ~0u, reinterpret_cast<uint64_t>(&operands),
                     0, kLanes, pc)) {
    case kTooFewLanes:
      trap(
          "an instruction that takes all 32 threads of a warp, of which some have exited or do "
          "not exist",
          pc);
      break;
    case kOtherInstruction:
      trap(
          "an instruction that all 32 threads of a warp have to execute together, while some of "
          "them execute another one",
          pc);
  }
}

// The rows of a lane, which it accesses as any other 16 bytes. Lanes beyond the matrices name none. The access needs a key of its own.
char* Hooks::access_row(const MatrixRows& rows, StopReason what, const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker || static_cast<unsigned>(worker->lane_) >= kRows * rows.count) return nullptr;
  const SharedMemory& shared = worker->monitor.shared;
  const bool is_shared =
      rows.is_window ? shared.is_near_window(rows.address) : shared.holds(rows.address);
  if (!is_shared)
    trap("ldmatrix or stmatrix, which access shared memory, with an address of another kind", pc,
         Fault::Kind::trap, rows.address);
  const uint64_t address =
      rows.is_window ? shared.from_window(static_cast<uint32_t>(rows.address)) : rows.address;
  if (address % kRowBytes) {
    Fault fault = fault_here(Fault::Kind::misaligned, pc);
    fault.address = address;
    fault.size = kRowBytes;
    fault.store = what == StopReason::store;
    worker->fail(fault);
  }
  auto* const row = reinterpret_cast<char*>(address);
  if (!worker->traced_) return row;
  Warp& warp = *worker->warp_;
  const int lane = worker->lane_;
  warp.address[lane] = address;
  warp.size[lane] = kRowBytes;
  warp.is_volatile[lane] = warp.is_padded[lane] = false;
  warp.copies.rows |= 1u << lane;
  note(warp, lane, what, static_cast<const char*>(pc) - 1);
  worker->stop(warp, lane);
  return row;
}

}  // namespace simt::engine

namespace simt::detail {

using engine::Hooks;
using engine::Rows;
using engine::StopReason;

FourRegisters mma(MatrixType type, uint64_t a01, uint64_t a23, uint64_t b01, uint64_t c01,
                  uint64_t c23, int) {
  const auto reg = engine::register_of;
  engine::Product product{{engine::Product::run},
                          type,
                          {reg(a01, 0), reg(a01, 1), reg(a23, 0), reg(a23, 1)},
                          {reg(b01, 0), reg(b01, 1)},
                          {reg(c01, 0), reg(c01, 1), reg(c23, 0), reg(c23, 1)}};
  Hooks::whole_warp(product, SIMT_PC);
  return {{product.c[0], product.c[1], product.c[2], product.c[3]}};
}

FourRegisters load_matrices(MatrixRows rows, int) {
  char* const row = Hooks::access_row(rows, StopReason::load, SIMT_PC);
  Rows operands{{Rows::load}, row, rows.count, rows.is_transposed, {}};
  Hooks::whole_warp(operands, SIMT_PC);
  return operands.values;
}

void store_matrices(MatrixRows rows, FourRegisters values) {
  char* const row = Hooks::access_row(rows, StopReason::store, SIMT_PC);
  Rows operands{{Rows::store}, row, rows.count, rows.is_transposed, values};
  Hooks::whole_warp(operands, SIMT_PC);
}

uint32_t transpose_matrix(uint32_t value, int) {
  Rows operands{{Rows::transpose}, nullptr, 1, false, {{value}}};
  Hooks::whole_warp(operands, SIMT_PC);
  return operands.values.at[0];
}

}  // namespace simt::detail
