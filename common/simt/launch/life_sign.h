// What is not traced runs at the speed of the host, and a thread that loops for ever never comes back to the simulator.
// Another thread looks at such launches, and says so when no block ends.
#pragma once

#include <cstdint>

namespace simt::engine::life_sign {

// A launch begins whose blocks run on so many threads; its kernel's name.
void begin(const char* kernel, uint64_t workers);
void block_ended();
void end();

}  // namespace simt::engine::life_sign
