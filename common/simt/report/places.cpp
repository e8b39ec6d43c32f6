#include "report/places.h"

#include <sys/mman.h>

#include "base/stack_regions.h"
#include "base/text.h"
#include "memory/allocations.h"
#include "program/program_image.h"
#include "program/symbols.h"

namespace simt::device {

std::string place_and_call(uint64_t pc) {
  const symbols::Location call = symbols::call_around(pc);
  return symbols::locate(pc).text() +
         (call.line > 0 ? " (called from " + call.short_text() + ")" : "");
}

bool is_host_memory(uint64_t address) {
  if (address < 4096 || memory::in_arena(address)) return false;
  unsigned char resident;
  void* const page = reinterpret_cast<void*>(address & ~uint64_t{4095});
  return mincore(page, 1, &resident) == 0;
}

std::string into(const memory::Allocation& allocation, uint64_t address) {
  const uint64_t offset = address - allocation.base;
  return (offset ? plural(offset, "byte") + " into " : "at the start of ") +
         memory::describe(allocation);
}

std::string shared_place(const engine::Fault& fault) {
  const std::string whose = fault.rank < 0
                                ? std::string()
                                : " of block " + std::to_string(fault.rank) + " of the cluster";
  if (!fault.variable) {
    return "byte " + std::to_string(fault.address) + " of the " + (fault.limit ? "dynamic " : "") +
           "shared memory" + whose;
  }
  return fault.variable->name + " in shared memory" + whose + ", byte " +
         std::to_string(fault.address - fault.variable->begin);
}

bool is_as_many_bytes_as_threads(const engine::Fault& fault) {
  const memory::Allocation* found = memory::find_below(fault.address);
  const uint64_t x = fault.block.x, thread = fault.thread.x;
  if (!found || found->freed || x == 0 || fault.size < 2) return false;
  const uint64_t element = (fault.address - found->base) / fault.size;
  const uint64_t width = element < thread ? 0 : (element - thread) / x;  // of a block
  if (width * x + thread != element || width <= thread) return false;
  const uint64_t threads = width * fault.grid.x;
  return found->size <= threads && threads < found->size + width;
}

Place place_of(uint64_t address) {
  static constexpr uint64_t kFar = uint64_t{1} << 31;
  static constexpr const char* kWrapped =
      "an index that has wrapped around: an unsigned one that went below 0, or an int that "
      "overflowed";
  if (address < 4096) {
    return {"address " + std::to_string(address) + ", a null pointer",
            {},
            "a pointer that was never set, or a cudaMalloc that failed"};
  }
  const bool is_host = is_host_memory(address);
  if (!is_host && !memory::in_arena(address)) {
    return {"an address where nothing is, neither memory of the device nor of the host",
            {},
            "a pointer that was never set, a number taken for one, or an index that is far off"};
  }
  if (engine::stack_regions::hold(address)) {
    return {"a variable or an array of another thread's own, of which each thread has one",
            "memory of another thread's own",
            "its address was handed to another thread, or kept from one kernel to the next. Let "
            "threads of a block share an array in __shared__ memory, all others in memory of "
            "cudaMalloc"};
  }
  if (is_host) {
    return {
        "host memory that the device cannot reach", "host memory",
        "the address of a variable, what malloc() or new returned, or the data() of a std::vector "
        "was handed to the kernel, perhaps within a struct. A kernel may use what cudaMalloc "
        "returned, or pinned and managed memory; copy the data with cudaMemcpy first"};
  }
  const memory::Allocation* below = memory::find_below(address);
  const memory::Allocation* above = memory::find_above(address);
  if (below && below->freed && address < below->end()) {
    return {into(*below, address), memory::describe(*below),
            "it is freed before the last kernel that uses it, or a copy of the pointer lives on"};
  }
  if (below && address < below->end()) {
    const std::string allocation = memory::describe(*below);
    static const std::string kNoMultiple =
        "a size that is no multiple of what is read or written at once";
    // Of 4 bytes each it is no array.
    return {"across the end of " + allocation, allocation,
            below->size % 4 ? kCountsElements + (", or " + kNoMultiple) : kNoMultiple};
  }
  if (below && (!above || address - below->end() <= above->base - address)) {
    const std::string allocation = memory::describe(*below);
    const uint64_t past = address - below->end();
    return {
        (past ? plural(past, "byte") + " past the end" : std::string("just past the end")) +
            " of " + allocation,
        allocation,
        past >= kFar
            ? kWrapped
            : "a guard such as `if (i < n)` is missing or tests another bound, an index has a row "
              "length that is not the array's, or the size of the allocation is a number of "
              "elements and not of bytes"};
  }
  if (above) {
    const std::string allocation = memory::describe(*above);
    const uint64_t before = above->base - address;
    const std::string where = plural(before, "byte") + " before the start of " + allocation;
    if (before >= kFar) return {where, allocation, kWrapped};
    // Less than twice as many elements as there are: it may be the array in front that is meant.
    if (below && !below->freed && address - below->end() < below->size) {
      return {where + ", and " + plural(address - below->end(), "byte") + " past the end of " +
                  memory::describe(*below),
              allocation,
              "of the former an index below 0, such as that of in[i - 1] where i is 0, of the "
              "latter a guard such as `if (i < n)` that is missing"};
    }
    return {where, allocation, "an index below 0, such as that of in[i - 1] where i is 0"};
  }
  return {"device memory that nothing has allocated", {}, kWrapped};
}

std::string holder_of(uint64_t address) {
  if (const memory::Allocation* found = memory::find(address)) return memory::describe(*found);
  const symbols::Variable* variable = symbols::find_variable(address);
  const std::string kind =
      engine::is_constant(address) ? "__constant__ variable" : "__device__ variable";
  return variable ? "the " + kind + " " + variable->name : "a " + kind;
}

std::string closed_memory(const engine::Fault& fault, const std::string& allocation) {
  const memory::Allocation* const found = memory::find(fault.address);
  const std::string mine = std::to_string(fault.device);
  const std::string other = std::to_string(found ? found->device : 0);
  return ": " + allocation + " is memory of device " + other + ", to which device " + mine +
         " has no access. Call cudaDeviceEnablePeerAccess(" + other + ", 0) once, with device " +
         mine +
         " as the current one: it opens one direction, and the other takes a call of its own. "
         "cudaDeviceCanAccessPeer() tells whether the two can.";
}

std::string race_of_devices(const engine::Fault& race, const std::string& allocation) {
  return " of a kernel of device " + std::to_string(race.other_device) +
         ", which runs at the same time: both touch the same bytes of " + allocation +
         ", and nothing orders the two. Usual cause: a kernel that does not wait for the other "
         "device's flag, a flag that is set before the data is written, or one without the scope "
         "of "
         "the system. Write the data, then __threadfence_system(), then the flag; or let the flag "
         "be "
         "a cuda::atomic_ref with cuda::thread_scope_system, stored with memory_order_release and "
         "loaded with memory_order_acquire.";
}

}  // namespace simt::device
