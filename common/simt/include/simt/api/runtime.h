/// \file
/// What the simulator's headers call in its library: the seam between rewritten code and the engine.
/// No program calls these itself.
#pragma once

#include <simt/config.h>

#include <cstddef>
#include <cstdint>

namespace simt::detail {

/// The bytes of an argument of a launch.
struct Argument {
  const void* data;
  std::size_t size;
};

/// Runs a grid. `thread_entry(closure)` is called once per CUDA thread, with threadIdx & co. set, and
/// calls the kernel with copies of its arguments. Returns when the grid has finished. Errors of the
/// configuration are kept for cudaGetLastError(), as a launch returns nothing.
/// \param kernel_text the kernel as the source spells it; reports use the symbol's own name if known.
void run_grid(const char* kernel_text, const Config& config, void (*thread_entry)(void* closure),
              void* closure, const Argument* arguments, unsigned count);

/// malloc() and free() in a kernel; host code that shares a function with one gets the host's.
void* device_malloc(std::size_t size);
void device_free(void* pointer);

/// Something to do later, with what it needs.
struct Work {
  void (*run)(void* closure);
  void (*destroy)(void* closure);
  void* closure;
};

/// Does the launch go into a graph? Then it is given to capture() instead of being done.
bool is_captured(const Config& config);
void capture(const Config& config, Work work);

/// May the kernel wait for what the host does after the launch? It is given memory that the host can write. Then
/// run_beside_host() runs the launch, and returns when it is over, or waits for the host.
bool may_wait_for_host(const Argument* arguments, unsigned count);
void run_beside_host(Work work);

/// Waits for the kernel ahead in the stream, and lets the one behind begin.
void wait_for_dependency();
void let_dependents_begin();

/// Makes a kernel known to cudaLaunchKernel() and its like, which have no more than its address.
/// \param launch launches it with the values that `arguments` point to
/// \param most_threads of a block, as its `__launch_bounds__` says; 0 without
/// \param has_parameters does it take any? Then a launch without `arguments` is refused.
/// \param cluster as its `__cluster_dims__` says; 0 without
bool register_kernel(const void* function, void (*launch)(const Config& config, void** arguments),
                     unsigned most_threads, bool has_parameters, dim3 cluster);

/// The block's dynamic shared memory. The address is the OS thread's and stays for a whole block.
void* dynamic_shared();
unsigned dynamic_shared_size();

enum class MemoryKind { other, global, shared, constant, local };
MemoryKind memory_of(const void* address);

/// An address of shared memory in 32 bits, as PTX has it, and back.
[[gnu::pure]] uint64_t to_shared_window(const void* address);
[[gnu::pure]] void* from_shared_window(uint32_t address);
/// Ends the kernel if the address is one of shared or local memory.
void check_global(const void* address);
/// Ends the kernel if a barrier for this many threads is none for the whole block.
void check_barrier(unsigned threads);

/// Barrier 0 to 15 of PTX: comes to it, and `waits` there or does not, until `threads` threads have come; 0: all that have
/// not exited.
void named_barrier(unsigned number, unsigned threads, bool waits);
/// The thread ends here.
void exit_thread();

// Barriers of the block. `reduction`: what __syncthreads_count, _and and _or return.
enum class BarrierReduction { none, count, all, any };
int barrier(BarrierReduction reduction, int predicate);

// Collectives of a warp. Every lane named in `mask` that has not exited must call.
//
// Like the instructions, they leave memory alone: what the compiler holds in a register it need not load
// again behind a shuffle. So they are pure to it, and in_place() keeps each call where it stands.
enum class CollectiveOp {
  sync,
  shuffle_index,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  vote_all,
  vote_any,
  vote_ballot,
  vote_uniform,
  match_any,
  match_all,
  reduce_add,
  reduce_min_signed,
  reduce_max_signed,
  reduce_min_unsigned,
  reduce_max_unsigned,
  reduce_and,
  reduce_or,
  reduce_xor,
  whole_warp,  // an instruction of all 32 lanes at once: see WholeWarp in exec/warp.h
};
[[gnu::pure]] uint64_t collective(CollectiveOp op, unsigned mask, uint64_t value, int operand,
                                  int width, int call);
[[gnu::pure]] unsigned active_mask(int call);

/// Calls the pure function `f(call)`, where nothing is known of `call`: so g++ neither drops the call nor
/// makes one of two, nor moves it into or out of a branch.
template <class F>
[[gnu::always_inline]] inline auto in_place(F f) {
  int call;
  asm volatile("" : "=r"(call));
  auto result = f(call);
  asm volatile("" : : "r"(result));
  return result;
}

// The matrix instructions of a warp, which all 32 lanes carry out together. Registers travel in pairs, the first in the low half.
enum class MatrixType { bf16, f16, tf32, s8, e4m3 };
/// Four registers of 32 bits.
struct FourRegisters {
  uint32_t at[4];
};
/// D = A B + C of 16 x 8 elements, and 32 bytes of each row of A and each column of B.
[[gnu::pure]] FourRegisters mma(MatrixType type, uint64_t a01, uint64_t a23, uint64_t b01,
                                uint64_t c01, uint64_t c23, int call);
/// Which of ldmatrix and stmatrix: `count` matrices of 8 rows of 16 bytes. Lanes 8i to 8i + 7 name the rows of matrix i.
struct MatrixRows {
  uint64_t address;  ///< of this lane's row: generic, or in 32 bits
  bool is_window;    ///< the latter
  bool is_transposed;
  uint8_t count;
};
[[gnu::pure]] FourRegisters load_matrices(MatrixRows rows, int call);
void store_matrices(MatrixRows rows, FourRegisters values);
/// setmaxnreg, which all threads of a warp execute together, and all warps of a warpgroup; `takes`: it waits for what the block's other
/// warps give back.
void set_registers(unsigned number, bool takes);
/// movmatrix: an 8 x 8 matrix of 16-bit elements, a row of it in four lanes, transposed.
[[gnu::pure]] uint32_t transpose_matrix(uint32_t value, int call);

/// The barrier of the grid: all threads of all blocks of a cooperative launch.
void grid_barrier();
bool grid_is_cooperative();

/// The cluster of the block, which is alone in it unless it was launched otherwise.
dim3 cluster_extent();
unsigned cluster_rank();
/// The place in another block's shared memory where this one has `address`.
const volatile void* map_shared(const volatile void* address, unsigned rank);
/// The barrier of its threads, in two halves.
void cluster_arrive();
void cluster_wait();

/// Copies `size` bytes (4, 8 or 16) from global to shared memory, the last `zeros` of them 0. They arrive when
/// the thread waits for them: wait_copies() completes all groups but the last `kept`.
void copy_async(void* to, const void* from, unsigned size, unsigned zeros);
void commit_copies();
void wait_copies(unsigned kept);

/// What threads of the block do from here on comes after what they have done so far. Who arrives at a barrier
/// of which the engine knows nothing else calls catch_up() before.
void order_block();
void catch_up();
/// For the checks: this thread initialises a barrier whose state holds the 4 bytes at `word`, or arrives at it. What it does to
/// the state is no access, and not counted.
void initialize_barrier(const void* word);
void arrive_at_barrier(const void* word);

// An atomic operation; returns the old value. Values travel as their bits, low bytes first.
enum class AtomicType { i32, u32, i64, u64, f32, f64, u16 };
enum class AtomicOp {
  add,
  subtract,
  minimum,
  maximum,
  bit_and,
  bit_or,
  bit_xor,
  exchange,
  increment,
  decrement,
  compare_exchange,
  add_one,  // an addition of the constant one
};
uint64_t atomic(AtomicOp op, AtomicType type, void* address, uint64_t value, uint64_t compare);

/// Announces an atomic operation that the caller carries out itself, and that shared memory has no unit for.
void announce_atomic(const void* address, unsigned size);

/// Announces that an atomic operation whose scope is the system follows.
void announce_system_atomic(const void* address, unsigned size);

/// Announces that an atomic operation whose scope is the block follows, or an atomic load or store.
void announce_block_atomic(const void* address);

/// The old value of this lane's next atomic operation goes unused: simtcc puts the call in front of
/// `atomicAdd(...);` where that is a statement of its own.
[[gnu::pure]] int mark_result_unused(int call);
[[gnu::always_inline]] inline void result_unused() { in_place(mark_result_unused); }

/// All lanes of the warp name one address in this lane's next atomic operation, and `same_value`: add one
/// value. simtcc puts it around the address, where it sees that from the source.
[[gnu::pure]] int mark_same_address(int call);
[[gnu::pure]] int mark_same_address_and_value(int call);
template <bool same_value, class T>
[[gnu::always_inline]] inline T same_address(T address) {
  in_place(same_value ? mark_same_address_and_value : mark_same_address);
  return address;
}

/// A memory fence of the device's scope or the system's.
void fence();
/// One of the block's.
void fence_block();

/// Lets other lanes, warps and blocks run; a lane that waits for another must come through here.
void yield();
/// The same for a lane that waits for arrivals at a barrier in memory.
void await_arrivals();
int64_t clock();
[[noreturn]] void trap(const char* what);

}  // namespace simt::detail
