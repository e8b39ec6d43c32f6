// What a simulated program reads from its environment, told once: `simtcc --help` and docs/simulator.md show this table.
#pragma once

#include <string_view>

namespace simt::settings {

struct Setting {
  std::string_view variable, value, effect;
};

inline constexpr Setting kTable[] = {
    {"SIMT_JSON", "FILE",
     "writes launches, counts, counts by line and findings to `FILE`, also when there are "
     "findings"},
    {"SIMT_THREADS", "n", "how many CPU threads run blocks; all cores by default"},
    {"SIMT_BLOCKS", "n",
     "counts and checks about `n` blocks of each launch, spread over the grid; all run. The trace "
     "says how many were counted. `all`: all blocks of each launch"},
    {"SIMT_FULL", "n",
     "once the launches of one kernel with one grid and block have made `n` accesses (without it "
     "2^26), 4 blocks of each further one are counted and checked, and from twice as many on a "
     "single one, unless `SIMT_BLOCKS` says otherwise: programs that measure launch the same "
     "thing hundreds of times"},
    {"SIMT_COMPILED", "FILE",
     "`FILE` has the kernels as `nvcc` compiles them (`./learn explain` writes it): what they "
     "count for goes to `FILE.counts`"},
    {"SIMT_DEVICES", "n",
     "how many devices there are, from 1 to 16; 1 without it. All are alike, and each can open its "
     "memory to the others"},
    {"SIMT_LEAKS", "1", "memory that is never freed is an error"},
    {"SIMT_AHEAD", "0", "the lanes wait at every load: slower, and the counts are the same"},
    {"SIMT_STEPS", "n",
     "after how many steps of a warp, between barriers and at no new address, a kernel counts as "
     "hanging, or after 16 times as many if it does not touch memory; 2^24 without it"},
    {"SIMT_RECORD", "n",
     "the trace has the first `n` steps of block 0 of each launch: accesses, basic blocks entered "
     "and "
     "barriers, with warp, line and lanes"},
    {"SIMT_STACK", "n",
     "bytes of stack of each CUDA thread, at least 65536; if it is not set, 128 KiB, or 576 KiB "
     "for a kernel with large arrays of its own"},
};

}  // namespace simt::settings
