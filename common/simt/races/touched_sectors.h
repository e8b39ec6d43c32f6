// How much of the device's memory a launch has touched: sectors, each once, by what the shadow has noted.
#pragma once

#include <simt/simt.h>

#include <cstdint>
#include <optional>

#include "memory/footprint.h"
#include "races/sector_records.h"

namespace simt::engine {

// Of a launch that has ended just now, and whose lanes made so many accesses. None where its
// accesses lie so far apart that to look would take longer than they did.
std::optional<TouchedSectors> touched_sectors(const Footprint& footprint, const Member& launch,
                                              uint64_t accesses);

}  // namespace simt::engine
