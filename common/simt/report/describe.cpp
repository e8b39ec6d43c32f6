#include "report/describe.h"

#include <cstdio>
#include <string_view>

#include "base/lane_simd.h"
#include "base/text.h"
#include "memory/allocations.h"
#include "program/program_image.h"
#include "program/symbols.h"
#include "report/api_errors.h"
#include "report/clusters.h"
#include "report/copies.h"
#include "report/hangs.h"
#include "report/places.h"
#include "report/source.h"

namespace simt::device {
namespace {

std::string mask_text(uint64_t mask) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08x", static_cast<unsigned>(mask));
  return text;
}

// Of a race between two threads of a block.
std::string usual_cause(engine::Fault::Cause cause, const char* otherwise) {
  switch (cause) {
    case engine::Fault::Cause::update:
      return "several threads that each read an element, change it and write it back, so that "
             "changes are lost. Let atomicAdd(), or another atomic function, do it in one step, "
             "give each thread an element of its own, or let one thread do it for all.";
    case engine::Fault::Cause::lock:
      return "a lock without fences: it keeps other threads out, and orders nothing that they have "
             "read or written. Put a __threadfence_block() after it is taken and before it is "
             "given back (__threadfence() where blocks share it), or let atomicAdd() do all.";
    case engine::Fault::Cause::in_place:
      return "an array that is changed in place while other threads still read its old elements. "
             "Let each thread read all that it needs into variables, then wait at a "
             "__syncthreads(), or at a __syncwarp() where only one warp comes, then write; or "
             "write to a second array.";
    case engine::Fault::Cause::scope:
      return "an atomic operation with the scope of the block (atomicAdd_block(), "
             "thread_scope_block, .cta), which holds among threads of one block only. Let it have "
             "the scope of the device: atomicAdd(), thread_scope_device, .gpu.";
    case engine::Fault::Cause::barrier:
    case engine::Fault::Cause::stage_in_use:
    case engine::Fault::Cause::source_in_use:
      return cause_at_engine(cause);
    case engine::Fault::Cause::no_bytes:
    case engine::Fault::Cause::parity:
    case engine::Fault::Cause::store_under_way:
    case engine::Fault::Cause::store_read:
    case engine::Fault::Cause::not_begun:
    case engine::Fault::Cause::exited:
    case engine::Fault::Cause::unknown:
      break;
  }
  return otherwise;
}

}  // namespace

Finding describe(const engine::Fault& fault, const std::string& kernel, int launch) {
  using Kind = engine::Fault::Kind;
  const symbols::Location& at = symbols::locate(fault.pc);
  const symbols::Location& other = symbols::locate(fault.other_pc);
  Finding f;
  f.kernel = kernel;
  f.file = at.file;
  f.line = at.line;
  f.block = fault.block;
  f.thread = fault.thread;
  f.launch = launch;
  f.address = fault.address;
  const std::string access = (fault.atomic  ? "atomic operation on "
                              : fault.store ? "write of "
                                            : "read of ") +
                             plural(fault.size, "byte");
  const auto place = [is_at_engine = is_at_engine(fault)](uint64_t pc) {
    return is_at_engine ? place_and_call(pc) : symbols::locate(pc).text();
  };
  const std::string where = " at " + place(fault.pc) + " in " + kernel + ", block " +
                            text(fault.block) + ", thread " + text(fault.thread);
  const std::string others = fault.lanes <= 1 ? ""
                             : !fault.again
                                 ? " (and " + plural(fault.lanes - 1, "more lane") + " of its warp)"
                                 : " (and " + std::to_string(fault.lanes - 1) + " times more)";
  if (describe_in_cluster(fault, access + where, f)) return f;
  switch (fault.kind) {
    case Kind::none:
    case Kind::absent_block:
      break;
    case Kind::out_of_bounds: {
      const Place place = place_of(fault.address);
      const memory::Allocation* found = memory::find(fault.address);
      const bool is_host = is_host_memory(fault.address);
      f.kind = is_host                 ? "device-access"
               : found && found->freed ? "use-after-free"
                                       : "out-of-bounds";
      f.allocation = place.allocation;
      const std::string failed =
          fault.address < 4096 ? failed_allocation() : failed_call_on(f.allocation);
      f.message = access + where + others + ": " + (is_host ? "the address is " : "") + place.text +
                  (!failed.empty() ? ". Before the launch " + failed
                                   : ". Usual cause: " + (is_as_many_bytes_as_threads(fault)
                                                              ? std::string(kCountsElements)
                                                              : place.cause)) +
                  ".";
      break;
    }
    case Kind::closed_memory:
      f.kind = "peer-access";
      f.allocation = holder_of(fault.address);
      f.message = access + where + others + closed_memory(fault, f.allocation);
      break;
    case Kind::shared_out_of_bounds:
      f.kind = "out-of-bounds";
      if (fault.text) {
        // The array that it missed: the one before it, or else the one behind.
        const symbols::SharedVariable* missed = fault.variable;
        for (const symbols::SharedVariable& variable : symbols::shared_variables()) {
          if (fault.variable) break;
          if (variable.begin <= fault.address || !missed) missed = &variable;
        }
        f.allocation = "the " + plural(missed->end - missed->begin, "byte") + " of " +
                       missed->name + " in shared memory";
        const bool behind = fault.address >= missed->begin;
        f.message =
            access + where + others + ": " +
            (behind ? plural(fault.address + fault.size - missed->end, "byte") + " past the end of "
                    : plural(missed->begin - fault.address, "byte") + " before the start of ") +
            f.allocation +
            ". Usual cause: an index that is one too large, the index within the whole grid where "
            "threadIdx.x is meant, a block that is larger than the tile, or a tile with a border.";
        break;
      }
      f.allocation = "dynamic shared memory";
      f.message = access + where + others + ": byte " + std::to_string(fault.address) +
                  " of the block's dynamic shared memory, which has " +
                  plural(fault.limit, "byte") +
                  ". The third argument of <<<>>> says how many there are: it counts bytes, not "
                  "elements, and of all arrays together.";
      break;
    case Kind::array_out_of_bounds: {
      const auto index = static_cast<int64_t>(fault.address);
      f.kind = "out-of-bounds";
      f.address = 0;
      f.allocation = "an array of type " + std::string(fault.text);
      f.message = "index " + std::to_string(index) + " of " + f.allocation + where +
                  ": it has the " + plural(fault.size, "element") + " from 0 to " +
                  std::to_string(fault.size - 1) +
                  ". Usual cause: an index that is one too large, or data that is no valid index.";
      break;
    }
    case Kind::local_out_of_bounds: {
      // The address counts from the start of the array.
      const auto offset = static_cast<int64_t>(fault.address);
      f.kind = "out-of-bounds";
      f.address = 0;
      f.allocation = std::string(fault.text) + ", an array of the thread's own with " +
                     plural(fault.limit, "byte");
      f.message =
          access + where + ": " +
          (offset < 0
               ? plural(static_cast<uint64_t>(-offset), "byte") + " before the start of "
               : plural(fault.address + fault.size - fault.limit, "byte") + " past the end of ") +
          f.allocation +
          ". Usual cause: a function that is given a pointer to the array, and a length that is "
          "larger, or a loop that goes up to i <= n.";
      break;
    }
    case Kind::constant_write:
      f.kind = "constant-write";
      f.message =
          access + where +
          ": a __constant__ variable cannot be written by a kernel. The host sets it with "
          "cudaMemcpyToSymbol() before the launch; what kernels write is a __device__ variable.";
      break;
    case Kind::constant_uninitialized:
      f.kind = "uninitialized-constant";
      f.severity = Severity::warning;
      f.allocation = holder_of(fault.address);
      f.message =
          access + where + others + ": " +
          (fault.other_store
               ? "nothing has been copied there, " + f.allocation +
                     "; what was copied to the variable is as many bytes as it has elements. "
                     "cudaMemcpyToSymbol() counts bytes: multiply by sizeof."
               : "nothing has ever been copied to " + f.allocation +
                     ", and it has no initialiser. Copy to it with cudaMemcpyToSymbol() before the "
                     "launch.");
      break;
    case Kind::shared_uninitialized:
      f.kind = "uninitialized-shared";
      if (fault.text) {
        f.message =
            access + where + others +
            (std::string_view(fault.text) == "bulk" ? early_bulk_access(fault, shared_place(fault))
                                                    : early_read(fault, shared_place(fault)));
        f.address = 0;
        break;
      }
      f.message = access + where + others + ": no thread of the block has written there, " +
                  shared_place(fault) + ". Shared memory holds what an earlier block left. " +
                  (fault.cause == engine::Fault::Cause::barrier
                       ? "A barrier has to be initialized: let one thread call init(), and call "
                         "__syncthreads() after that."
                   : fault.atomic
                       ? "Set every counter to 0 first, by as many threads as there are, and call "
                         "__syncthreads() after that."
                       : "Usual cause: a tile that is not filled up to its edge, because the "
                         "threads there have no element to load, or a missing initialisation.");
      f.address = 0;
      break;
    case Kind::global_uninitialized: {
      const memory::Allocation* found = memory::find(fault.address);
      if (found) f.allocation = memory::describe(*found);
      f.kind = "uninitialized-global";
      f.severity = Severity::warning;
      const std::string failed = failed_call_on(f.allocation);
      f.follows_failure = !failed.empty();
      f.message = access + where + others + ": nothing has been written there yet, " +
                  (found ? into(*found, fault.address) : std::string("in device memory")) +
                  ". cudaMalloc does not clear memory. " +
                  (failed.empty() ? "Usual cause: " : "The cause: " + failed + ".") +
                  (!failed.empty() ? std::string()
                   : found && found->row_bytes < found->pitch
                       ? "a cudaMemcpy that takes the rows for one piece. They have " +
                             plural(found->row_bytes, "byte") + " and begin " +
                             plural(found->pitch, "byte") +
                             " apart: copy them with cudaMemcpy2D(), which is told both."
                       : std::string("a cudaMemcpy or cudaMemset that is missing, or that counts "
                                     "elements where it should count bytes."));
      break;
    }
    case Kind::global_race: {
      f.allocation = holder_of(fault.address);
      const dim3 extent = fault.grid;
      const uint3 other_block{static_cast<unsigned>(fault.other_block % extent.x),
                              static_cast<unsigned>(fault.other_block / extent.x % extent.y),
                              static_cast<unsigned>(fault.other_block / extent.x / extent.y)};
      f.kind = "global-race";
      if (fault.text) {
        f.message = "asynchronous copy of " + plural(fault.size, "byte") + where +
                    outdated_source(fault, f.allocation);
        break;
      }
      if (fault.same_block) {
        f.message =
            access + where + " races with the " + (fault.other_store ? "write" : "read") + " at " +
            other.text() + " by thread " + text(fault.other_thread) +
            " of the same block: both touch the same bytes of " + f.allocation +
            ", and nothing orders the two. Usual cause: " +
            usual_cause(fault.cause,
                        "threads that share an element which each was to have for itself: give "
                        "each its own index (blockIdx.x * blockDim.x + threadIdx.x), add with "
                        "atomicAdd(), or part the phases by a __syncthreads().");
        break;
      }
      if (fault.cause == engine::Fault::Cause::store_under_way ||
          fault.cause == engine::Fault::Cause::store_read) {
        f.message = access + where + store_under_way(fault, text(other_block), f.allocation);
        break;
      }
      if (fault.other_device >= 0) {
        f.message = access + where + " races with the " + (fault.other_store ? "write" : "read") +
                    " at " + other.text() + " by block " + text(other_block) +
                    race_of_devices(fault, f.allocation);
        break;
      }
      f.message =
          access + where + " races with the " + (fault.other_store ? "write" : "read") + " at " +
          other.text() + " by block " + text(other_block) + ": both touch the same bytes of " +
          f.allocation + ", and blocks run in any order. Usual cause: " +
          usual_cause(
              fault.cause,
              ((has_barrier_between(at, other)
                    ? "a __syncthreads() that is meant for all blocks, and waits for its "
                      "own alone (make two launches of it), "
                    : "") +
               std::string(
                   "an index that leaves out blockIdx.x * blockDim.x, a result that several "
                   "blocks add to without an atomic operation, an array that is read and "
                   "overwritten in one launch, or a __threadfence() that is missing before "
                   "the flag is set."))
                  .c_str());
      break;
    }
    case Kind::misaligned: {
      const memory::Allocation* found = memory::find(fault.address);
      if (found) f.allocation = memory::describe(*found);
      f.kind = "misaligned-access";
      f.message = access + where + others + ": the address is not a multiple of " +
                  (fault.address % fault.size ? plural(fault.size, "byte")
                                              : std::string("what its type is aligned to")) +
                  (found ? ", " + into(*found, fault.address) : "") +
                  ". A type such as double or float4 needs an address that is a multiple of its "
                  "size. Usual cause: a pointer to smaller elements, cast after it was moved by "
                  "some of them, or rows whose length is no multiple of the larger type.";
      break;
    }
    case Kind::shared_race:
      f.kind = "shared-race";
      if (fault.text) {
        f.message =
            access + where +
            (std::string_view(fault.text) == "bulk" ? early_bulk_access(fault, shared_place(fault))
                                                    : early_write(fault, shared_place(fault)));
        f.address = 0;
        break;
      }
      f.message = std::string(fault.atomic  ? "atomic operation"
                              : fault.store ? "write"
                                            : "read") +
                  where + " races with the " + (fault.other_store ? "write" : "read") + " at " +
                  place(fault.other_pc) + " by thread " + text(fault.other_thread) +
                  " of the same block: both touch " + shared_place(fault) +
                  ", and nothing orders the two. Usual cause: " +
                  usual_cause(fault.cause,
                              at.line == other.line && fault.store != fault.other_store
                                  ? "a missing __syncthreads(), or within a warp __syncwarp(). An "
                                    "array that is changed in place needs it between reading and "
                                    "writing: let each thread read into variables first."
                                  : "a missing __syncthreads(), or within a warp __syncwarp().");
      f.address = 0;
      break;
    case Kind::proxy_fence:
      f.kind = "missing-proxy-fence";
      f.message =
          "asynchronous read of " + shared_place(fault) + where + ": it may miss the write at " +
          place(fault.other_pc) + " by thread " + text(fault.other_thread) +
          ". The copy engine and wgmma access shared memory past the way of plain loads and "
          "stores: let each thread that has written execute fence.proxy.async after that, "
          "then come to the barrier behind which the copy is asked for.";
      f.address = 0;
      break;
    case Kind::pending_register:
      f.kind = "pending-register";
      f.message = std::string(fault.store ? "write" : "read") + where + pending_register(fault);
      f.address = 0;
      break;
    case Kind::other_swizzle: {
      const auto name = [](unsigned bytes) {
        return bytes ? "a swizzle of " + plural(bytes, "byte") : std::string("no swizzle");
      };
      f.kind = "wrong-swizzle";
      f.message =
          "wgmma" + where + ": its descriptor says " + name(fault.size) + ", but " +
          shared_place(fault) + " was filled by the bulk copy at " + place(fault.other_pc) +
          " with " + name(fault.lanes) +
          ". Both have to be the same: bits 62 and 63 of the descriptor (1: 128 bytes, 2: 64, "
          "3: 32, 0: none) and the tensor map's.";
      f.address = 0;
      break;
    }
    case Kind::barrier_divergence:
      f.kind = "barrier-divergence";
      if (fault.text) {
        f.message = "thread " + text(fault.thread) + " of block " + text(fault.block) +
                    " calls a warp function at " + at.text() + " in " + kernel + " with the mask " +
                    mask_text(fault.address) + ", while thread " + text(fault.other_thread) +
                    " of the same block waits at the barrier at " + other.text() +
                    ", and neither can go on. Every lane in the mask must make the call: let the "
                    "mask name those that do, or take the call out of the condition.";
        f.address = 0;
        break;
      }
      f.message =
          "thread " + text(fault.thread) + " of block " + text(fault.block) + " waits at " +
          at.text() + " in " + kernel + ", while thread " + text(fault.other_thread) +
          " of the same block waits at the barrier at " + other.text() +
          ". All threads of a block that have not exited must reach the same __syncthreads(): take "
          "it out of the condition, or out of the loop that some threads leave earlier.";
      break;
    case Kind::exited_thread: {
      const symbols::Location& before = symbols::locate(fault.address);
      const int line = line_of_return(other, before, at);
      const std::string& file = symbols::is_library_file(other.file) ? before.file : other.file;
      f.kind = "barrier-divergence";
      f.severity = Severity::warning;
      f.message =
          "thread " + text(fault.thread) + " of block " + text(fault.block) + " has exited" +
          (line ? ", by the return at " + symbols::Location{file, line}.text() + "," : "") +
          " before the barrier at " + at.text() + " in " + kernel +
          ", which other threads of its block reach. A GPU opens the barrier without it, but CUDA "
          "promises that only where all threads of a block come. " +
          (line
               ? "Let those threads stay, and skip only"
               : "Usual cause: a __syncthreads() within an `if`, in a loop that some threads leave "
                 "earlier, or after a `return`. Let all threads come to it, and let the condition "
                 "skip only") +
          " what they would load, compute and store.";
      f.address = 0;
      break;
    }
    case Kind::grid_barrier:
      f.kind = "barrier-divergence";
      f.message = "block " + text(fault.block) + " waits at the barrier of the grid at " +
                  at.text() + " in " + kernel +
                  ", which another block has left without reaching it. All blocks must reach every "
                  "grid.sync(): take it out of the condition.";
      break;
    case Kind::invalid_mask: {
      const std::string mask = mask_text(fault.address);
      f.kind = "invalid-mask";
      if (fault.text && std::string_view(fault.text) == "width") {
        f.message = std::string("shuffle") + where + ": the width must be 1, 2, 4, 8, 16 or 32.";
      } else if (fault.text) {
        f.message = std::string("warp function") + where + ": the mask " + mask +
                    " does not name the calling lane. Write 0xffffffff where all 32 lanes make the "
                    "call; a mask for some of them belongs inside of a condition that lets only "
                    "these through.";
      } else {
        f.message = std::string("warp function") + where + others + ": the mask " + mask +
                    " names lanes that never come here. Every lane in the mask must make the call.";
      }
      f.address = 0;
      break;
    }
    case Kind::exited_lane:
      f.kind = "invalid-mask";
      f.message =
          "warp function" + where + ": the mask " + mask_text(fault.address) + " names thread " +
          text(fault.other_thread) +
          (fault.text ? ", whose value it asks for and which has exited"
                      : ", which goes on without making the call, and exits") +
          ". Usual cause: a full mask inside of `if (i < n)`, or after an early return. Let all "
          "lanes make the call, those without an element with a value that does not matter, "
          "or take the mask from __ballot_sync() ahead of the condition.";
      f.address = 0;
      break;
    case Kind::absent_lane:
      f.kind = "invalid-mask";
      f.severity = Severity::warning;
      if (fault.text) {
        f.message = "shuffle" + where + ": it brings the value of lane " +
                    std::to_string(fault.limit) + ", which takes no part (the mask is " +
                    mask_text(fault.address) +
                    "), so it is undefined, here 0, and what comes of it is stored. Use it only "
                    "where the other lane takes part, or let all 32 lanes come, those without an "
                    "element with one that changes nothing (-FLT_MAX for a maximum).";
        f.address = 0;
        break;
      }
      f.message = "shuffle" + where + others + ": it asks for the value of lane " +
                  std::to_string(fault.limit) + ", which the mask " + mask_text(fault.address) +
                  " does not name, so what comes is undefined. Usual cause: lane 0 taken for the "
                  "first lane of a group that it is not in: that is __ffs(mask) - 1.";
      f.address = 0;
      break;
    case Kind::hang:
      describe_hang(fault, kernel, f);
      break;
    case Kind::trap: {
      const memory::Allocation* found = fault.address ? memory::find(fault.address) : nullptr;
      if (found) f.allocation = memory::describe(*found);
      f.kind = "trap";
      f.message = std::string(fault.text ? fault.text : "trap") + where +
                  (!found                         ? std::string()
                   : found->base == fault.address ? ": " + memory::describe(*found)
                                                  : ": " + into(*found, fault.address)) +
                  ".";
      break;
    }
    case Kind::assertion:
      f.kind = "trap";
      f.message = "the assertion `" + std::string(fault.text) + "` failed" + where + ".";
      break;
    case Kind::crash:
      f.kind = is_host_memory(fault.address) ? "device-access" : "out-of-bounds";
      f.allocation = place_of(fault.address).allocation;
      f.message = (fault.text ? fault.text : "access") + where + ": " +
                  place_of(fault.address).text + ". Usual cause: " +
                  (fault.text ? "a string of the host, a literal too, that was handed to the "
                                "kernel: copy its characters with cudaMemcpy first"
                              : place_of(fault.address).cause) +
                  ".";
      break;
    case Kind::stack_overflow:
      f.kind = "stack-overflow";
      f.message =
          "thread " + text(fault.thread) + where.substr(0, where.rfind(", thread")) +
          " has used up its stack. Usual cause: a recursion that does not end, or arrays of "
          "a thread's own that are too large: CUDA allows 512 KiB of them. (SIMT_STACK=n "
          "sets the bytes of a thread's stack.)";
      break;
    case Kind::division_by_zero:
      f.kind = "division-by-zero";
      f.severity = Severity::warning;
      f.message = "integer division by zero" + where +
                  ". A GPU does not trap: the quotient, or the remainder, has all bits set, as -1 "
                  "has. Usual cause: a size or a count that is 0, or a divisor that was never set.";
      break;
  }
  return f;
}

}  // namespace simt::device
