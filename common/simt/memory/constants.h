// Constant memory that nobody has written: no initialiser, and no copy to it.
//
// Its bytes are zeros then, which a kernel may live with; but a __constant__ variable is there to be copied to.
#pragma once

#include <atomic>
#include <cstdint>

namespace simt::constants {

// Are there such bytes? Known after prepare().
inline std::atomic<bool> any = false;

// Before a launch, and before a copy: looks at the program's variables, once.
void prepare();
// A copy has written there, to constant memory or elsewhere.
void note_written(uint64_t address, uint64_t size);
// A copy to a variable has failed, which is told: that its bytes are missing is no news then.
void note_failed_copy();
// Does a kernel that reads `size` bytes there find what nobody has written? Of a variable that was copied to in part: only if as many
// bytes were copied as it has elements of that size.
bool is_unwritten(uint64_t address, unsigned size);
// Has something been copied to the variable?
bool is_short(uint64_t address);

}  // namespace simt::constants
