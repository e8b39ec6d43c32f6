// What is not traced runs at the speed of the host, and a thread that loops for ever never comes back to the simulator.
// Another thread looks at such launches, says so when no block ends, and ends those that stand still.
#pragma once

#include <cstdint>

namespace simt::engine::life_sign {

// A launch begins whose blocks run on so many threads; its kernel's name. `times` the usual patience.
void begin(const char* kernel, uint64_t workers, uint64_t times);
void block_ended();
void end();

}  // namespace simt::engine::life_sign
