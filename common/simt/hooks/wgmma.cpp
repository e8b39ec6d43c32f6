// wgmma: the matrix instructions of a warpgroup, each of whose warps computes 16 rows of 64.
//
// The operands lie in shared memory as a descriptor of 64 bits says: where they begin, how far apart groups of 8 rows and of columns are,
// and which swizzle they have. The layouts are the PTX ISA's; CUTLASS writes them down as layouts of CuTe (mma_traits_sm90_gmma.hpp).
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/host_memory.h"
#include "base/matrix_product.h"
#include "hooks/hooks.h"
#include "memory/tensor_map.h"

namespace simt::engine {
namespace {

using detail::MatrixType;

constexpr unsigned kRowsOfWarp = 16, kMostColumns = 256, kChunk = 16;
constexpr unsigned kWarps = 4;  // of a warpgroup

unsigned element_bytes(MatrixType type) { return 32 / depth_of(type); }

// A descriptor, and where its elements are.
struct SharedMatrix {
  uint64_t base;             // the native address
  uint64_t leading, stride;  // "leading dimension byte offset", "stride byte offset"
  unsigned swizzle;          // 0 to 3: none, 32, 64, 128 bytes
  unsigned bytes;            // of an element
  bool is_turned;            // lines, not the sum's elements, are neighbours

  // Of the element `k` of the sum in row `line` of A, or column `line` of B.
  uint64_t address(unsigned line, unsigned k) const {
    const unsigned in_chunk = kChunk / bytes, span = kChunk << swizzle;
    uint64_t offset;
    if (!is_turned && !swizzle) {
      offset =
          line % 8 * kChunk + line / 8 * stride + k / in_chunk * leading + k % in_chunk * bytes;
    } else if (!is_turned) {
      offset = line % 8 * span + line / 8 * stride + k * bytes;
    } else if (!swizzle) {
      offset = line % 8 * bytes + line / 8 * stride + k % 8 * kChunk + k / 8 * leading;
    } else {
      const unsigned width = span / bytes;
      offset = line % width * bytes + line / width * leading + k % 8 * span + k / 8 * stride;
    }
    return swizzled(base + offset, swizzle);
  }
  bool begins_chunk(unsigned line, unsigned k) const {
    return (is_turned ? line : k) % (kChunk / bytes) == 0;
  }
  uint32_t element(unsigned line, unsigned k) const {
    uint32_t value = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(address(line, k)), bytes);
    return value;
  }
};

// The sign of an element of a float type of so many bytes, changed.
uint32_t negated(uint32_t bits, unsigned bytes) { return bits ^ 1u << (8 * bytes - 1); }

struct Warpgroup : WholeWarp {
  const detail::Wgmma* how;
  SharedMatrix a, b;
  unsigned first_row;  // of this warp
  uint32_t* sums;      // n / 2 of them

  static const Warpgroup& of(const WholeWarp* lane) { return *static_cast<const Warpgroup*>(lane); }

  static void run(WholeWarp* const* lanes) {
    const Warpgroup& first = of(lanes[0]);
    const detail::Wgmma& how = *first.how;
    const unsigned depth = depth_of(how.type), bytes = element_bytes(how.type);
    const unsigned in_register = depth / 8, n = how.n;
    const HostMemory bookkeeping;
    std::vector<uint32_t> a(kRowsOfWarp * depth), b(n * depth), c(kRowsOfWarp * n);
    for (unsigned i = 0; i < kRowsOfWarp && !how.has_a_in_registers; ++i) {
      for (unsigned k = 0; k < depth; ++k)
        a[i * depth + k] = first.a.element(first.first_row + i, k);
    }
    for (unsigned j = 0; j < n; ++j) {
      for (unsigned k = 0; k < depth; ++k) b[j * depth + k] = first.b.element(j, k);
    }
    const auto place = [n](unsigned lane, unsigned i) {
      return (lane / 4 + 8 * (i / 2 % 2)) * n + lane % 4 * 2 + i % 2 + i / 4 * 8;
    };
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const Warpgroup& own = of(lanes[lane]);
      for (unsigned i = 0; i < 4 && how.has_a_in_registers; ++i) {
        uint32_t* const at =
            &a[(lane / 4 + 8 * (i % 2)) * depth + lane % 4 * in_register + depth / 2 * (i / 2)];
        const uint32_t bits = own.how->a_registers[i];
        at[0] = bytes == 2 ? bits & 0xffff : bits;
        if (bytes == 2) at[1] = bits >> 16;
      }
      for (unsigned i = 0; i < n / 2; ++i) c[place(lane, i)] = how.adds ? own.sums[i] : 0;
    }
    if (how.negates_a)
      for (uint32_t& bits : a) bits = negated(bits, bytes);
    if (how.negates_b)
      for (uint32_t& bits : b) bits = negated(bits, bytes);
    multiply(how.type, kRowsOfWarp, n, a.data(), b.data(), c.data());
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (unsigned i = 0; i < n / 2; ++i) of(lanes[lane]).sums[i] = c[place(lane, i)];
    }
  }
};

SharedMatrix matrix_of(uint64_t descriptor, MatrixType type, bool is_turned) {
  constexpr unsigned kSwizzles[] = {0, 3, 2, 1};
  const auto field = [descriptor](unsigned bit) { return (descriptor >> bit & 0x3fff) << 4; };
  return {Hooks::shared_from_descriptor(static_cast<uint32_t>(field(0))),
          field(16),
          field(32),
          kSwizzles[descriptor >> 62],
          element_bytes(type),
          is_turned};
}

// All warps of a warpgroup have to execute the same one, though they do not wait for each other.
void hold_against_warpgroup(AsyncState::OfWarpgroup& registers, unsigned warp, unsigned number,
                            bool takes, const void* pc) {
  const unsigned which = registers.done[warp % kWarps]++;
  if (which == registers.set.size()) {
    registers.set.push_back({reinterpret_cast<uint64_t>(pc), number, warp, takes});
    return;
  }
  const AsyncState::SetRegisters& first = registers.set[which];
  if (first.number != number || first.takes != takes)
    Hooks::trap(
        "setmaxnreg that is not the one that another warp of the warpgroup has executed (all four "
        "have to execute the same)",
        pc);
}

}  // namespace

// One lane stands for the warp: the matrix unit reads what the descriptor names.
void Hooks::read_matrix(const void* matrix_at, unsigned first, unsigned lines, MatrixType type,
                        const void* pc) {
  const auto& matrix = *static_cast<const SharedMatrix*>(matrix_at);
  Worker* worker = running;
  if (const BulkBox* const box = worker->monitor.bulk.box_of(matrix.base);
      box && box->swizzle != matrix.swizzle && worker->traced_) {
    Fault fault = fault_here(Fault::Kind::other_swizzle, pc);
    worker->monitor.shared_checker.name_place(fault, matrix.base);
    fault.other_pc = box->pc;
    fault.size = matrix.swizzle ? kChunk << matrix.swizzle : 0;
    fault.lanes = box->swizzle ? kChunk << box->swizzle : 0;
    worker->fail(fault);
  }
  for (unsigned line = first; line < first + lines; ++line) {
    for (unsigned k = 0; k < depth_of(type); ++k) {
      if (!matrix.begins_chunk(line, k)) continue;
      const uint64_t address = matrix.address(line, k);
      access_bulk(Access::load, address, kChunk, false, pc);
      const HostMemory bookkeeping;
      worker->async.pending_sums(worker->thread_rank())
          .read(worker->monitor.shared_checker.bulk_read_begins(address, kChunk,
                                                                reinterpret_cast<uint64_t>(pc)));
    }
  }
}

void Hooks::wgmma(const detail::Wgmma& how, float* const* sums, const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) trap("a matrix instruction outside of a kernel", pc);
  if (how.n % 8 || how.n > kMostColumns) trap("wgmma has 8 to 256 columns, a multiple of 8", pc);
  if ((how.a | how.b) >> 49 & 7) trap("wgmma with a base offset in a descriptor", pc);
  catch_up(pc);
  PendingSums& pending = worker->async.pending_sums(worker->thread_rank());
  if (!pending.is_fenced())
    trap(
        "wgmma ahead of the warp's first wgmma.fence: without it the registers of the sums, and of "
        "A, may not be written yet",
        pc);

  check_fence(how, sums, pc);

  const unsigned warp = static_cast<unsigned>(worker->warp_->checks.index);
  const SharedMatrix a = matrix_of(how.a, how.type, how.turns_a);
  const SharedMatrix b = matrix_of(how.b, how.type, how.turns_b);
  const unsigned first_row = warp % 4 * kRowsOfWarp;
  if (worker->lane_ == 0 && worker->traced_) {
    if (!how.has_a_in_registers) read_matrix(&a, first_row, kRowsOfWarp, how.type, pc);
    read_matrix(&b, 0, how.n, how.type, pc);
  }
  uint32_t values[kMostColumns / 2];
  for (unsigned i = 0; i < how.n / 2u; ++i) {
    const PendingSum* const known = pending.find(reinterpret_cast<uint64_t>(sums[i]), i);
    if (known) {
      values[i] = known->value;
    } else {
      std::memcpy(&values[i], sums[i], sizeof(values[i]));
    }
  }
  Warpgroup operands{{Warpgroup::run}, &how, a, b, first_row, values};
  whole_warp(operands, pc);
  for (unsigned i = 0; i < how.n / 2u; ++i) {
    pending.set(reinterpret_cast<uint64_t>(sums[i]), values[i], reinterpret_cast<uint64_t>(pc), i);
    std::memcpy(sums[i], &zones::kMark, sizeof(zones::kMark));
  }
  if (!worker->traced_) return;
  for (const void* const variable : how.a_variables) {
    const auto at = reinterpret_cast<uint64_t>(variable);
    if (!variable || !is_on_stack(at)) continue;
    unsigned depth = worker->warp_->calls.depth[worker->lane_];
    auto frame = static_cast<void* const*>(how.frame);  // at its end, and has that of the caller's
#ifdef __aarch64__
    frame = static_cast<void* const*>(*frame);  // at its beginning
#endif
    for (; depth > 1 && reinterpret_cast<uint64_t>(frame) <= at; --depth)
      frame = static_cast<void* const*>(*frame);
    worker->async.add_operand(worker->thread_rank(),
                              {at, 0, depth, reinterpret_cast<uint64_t>(pc)});
  }
}

// Has the thread changed a register of the wgmma since its last fence?
void Hooks::check_fence(const detail::Wgmma& how, float* const* sums, const void* pc) {
  Worker* worker = running;
  if (!worker->traced_) return;
  PendingSums& pending = worker->async.pending_sums(worker->thread_rank());
  const auto is_unfenced = [&](const void* variable) {
    const auto at = reinterpret_cast<uint64_t>(variable);
    uint32_t value;
    std::memcpy(&value, variable, sizeof(value));
    return pending.is_unfenced(at, value);
  };
  for (const void* const variable : how.a_variables) {
    if (variable && is_unfenced(variable))
      trap(
          "wgmma of registers of A that the thread has written since its last wgmma.fence (put one "
          "between the last write and the first wgmma that reads them)",
          pc);
  }
  for (unsigned i = 0; how.adds && i < how.n / 2u; ++i) {
    if (!pending.find(reinterpret_cast<uint64_t>(sums[i]), i) && is_unfenced(sums[i]))
      trap(
          "wgmma with sums that the thread has changed since its last wgmma.fence (put one between "
          "the last change and the next wgmma)",
          pc);
  }
}

// A thread writes to its stack, while registers of A are read.
void Hooks::check_operand(uint64_t address, unsigned size, const void* pc) {
  Worker* worker = running;
  if (!worker->traced_) return;
  const PendingOperand* const operand =
      worker->async.pending_sums(worker->thread_rank()).find_operand(address, size);
  if (!operand) return;
  Fault fault = fault_here(Fault::Kind::pending_register, pc);
  fault.other_pc = operand->pc;
  fault.store = true;
  fault.text = "A";
  worker->fail(fault);
}

// A lane touches a register whose sum is still to come.
void Hooks::check_pending_sum(uint64_t address, StopReason what, const void* pc) {
  Worker* worker = running;
  const PendingSum* const sum =
      worker->async.pending_sums(worker->thread_rank()).find(address / 4 * 4);
  if (!sum) return;
  Fault fault = fault_here(Fault::Kind::pending_register, pc);
  fault.other_pc = sum->pc;
  fault.store = what != StopReason::load;
  worker->fail(fault);
}

void Hooks::fence_wgmma(const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return;
  catch_up(pc);
  // All that lies above this frame; where there is very much, the nearest of it.
  constexpr uint64_t kMost = 64 * 1024;
  const auto from = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const uint64_t end = from / stacks.span * stacks.span + stacks.span;
  worker->async.pending_sums(worker->thread_rank())
      .fence(from, worker->traced_ ? std::min(end, from + kMost) : from);
}

void Hooks::commit_wgmma(const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return;
  catch_up(pc);
  worker->async.pending_sums(worker->thread_rank()).commit();
}

void Hooks::wait_wgmma(unsigned kept, const void* pc) {
  Worker* worker = fiber_worker();
  if (!worker) return;
  catch_up(pc);
  PendingSums& pending = worker->async.pending_sums(worker->thread_rank());
  if (!pending.ends_any(kept)) return;
  Monitor& monitor = worker->monitor;
  const HostMemory bookkeeping;
  pending.wait(
      kept,
      [&](const PendingSum& sum) {
        std::memcpy(reinterpret_cast<void*>(sum.at), &sum.value, sizeof(sum.value));
        pending.set_fenced(sum.at, sum.value);
      },
      [&](const PendingRead& read) {
        monitor.shared_checker.bulk_read_ends(read, worker->thread_rank(), worker->warp_->checks);
      });
  if (worker->traced_) ++worker->warp_->checks.order.now;
  // The warpgroup has multiplied together: whoever knows that it is over speaks for all four warps. CUTLASS lets one of their threads
  // arrive at the barrier of an empty stage.
  const auto group = static_cast<unsigned>(worker->warp_->checks.index) / kWarps;
  const unsigned first = group * kWarps, last = std::min(first + kWarps, worker->warp_count_);
  AsyncState::Named& meeting = worker->async.warpgroup(group);
  meeting.threads = (last - first) * kLanes;
  come_to(meeting, first, last, true, pc);
}

// More come from what other warps of the block have given back.
void Hooks::set_registers(unsigned number, bool takes, const void* pc) {
  WholeWarp none{[](WholeWarp* const*) {}};
  whole_warp(none, pc);
  Worker* worker = running;
  const auto warp = static_cast<unsigned>(worker->warp_->checks.index);
  AsyncState::Registers& registers = worker->async.registers();
  if (worker->lane_ == 0)
    hold_against_warpgroup(registers.of_warpgroup[warp / kWarps], warp, number, takes, pc);
  registers.wanted[warp] = static_cast<uint16_t>(number);
  while (takes && !worker->has_registers_for(warp)) await_arrivals(pc);
  registers.of[warp] = static_cast<uint16_t>(number);
  registers.wanted[warp] = 0;
  worker->hang_watch_.changed = true;
}

}  // namespace simt::engine

namespace simt::detail {

using engine::Hooks;

void wgmma(const Wgmma& how, float* const* sums) { Hooks::wgmma(how, sums, SIMT_PC); }
void fence_wgmma() { Hooks::fence_wgmma(SIMT_PC); }
void commit_wgmma() { Hooks::commit_wgmma(SIMT_PC); }
void wait_wgmma(unsigned kept) { Hooks::wait_wgmma(kept, SIMT_PC); }
void set_registers(unsigned number, bool takes) { Hooks::set_registers(number, takes, SIMT_PC); }

}  // namespace simt::detail
