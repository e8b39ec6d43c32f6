// What the simulator's rules say of accesses at random, one number a line: test_rules.py asks the site's WebAssembly the same.
#include <simt/counting.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

uint32_t state = 1;

// The same generator as in test_rules.py: xorshift32.
uint32_t next() {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: rules_answers COUNT\n");
    return 2;
  }
  for (int i = 0; i < std::atoi(arguments[1]); ++i) {
    const unsigned size = 1u << next() % 5;
    const uint32_t active = next() % 4 ? ~0u : next();
    const uint32_t kind = next() % 4, step = next() % 70, range = 1 + next() % 512;
    uint64_t addresses[32];
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t element = kind == 0   ? lane * step
                               : kind == 1 ? next() % range
                               : kind == 2 ? (lane ^ 1) * step + lane % 3
                                           : lane / 2 * step;
      addresses[lane] = uint64_t{element} * size;
    }
    const auto access = next() % 2 ? simt::SharedAccess::store : simt::SharedAccess::load;
    const simt::SharedCost cost = simt::count_wavefronts(addresses, active, size, access);
    std::printf("%u %u %u %u %u\n", cost.wavefronts, cost.phases, cost.ideal, cost.phase_lanes,
                simt::count_sectors(addresses, active, size));
  }
}
