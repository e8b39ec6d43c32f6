#include "lab/map.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <string>

#include "lab/check.h"
#include "lab/peers.h"
#include "lab/text.h"

namespace lab {

MapOptions::~MapOptions() = default;

namespace detail {

void MapRungs::add(std::string_view name, std::string_view variant, const Expectation& output,
                   double bytes, const std::function<void()>& launch, const MapOptions& options) {
  Rung rung;
  rung.name = name;
  rung.variant = variant;
  rung.launch = launch;
  rung.outputs = {output};
  rung.bytes = options.bytes > 0 ? options.bytes : bytes;
  rung.timed = options.timed;
  rung.show = options.show;
  rung.limit = Limit::copy;
  rung.peer = peer_of(rung.bytes);
  ladder_.add(rung);
}

void MapRungs::leave_out(std::string_view name, std::string_view variant) {
  ladder_.add({.name = std::string(name), .variant = std::string(variant)});
}

// The peer that moves as many bytes; made where it is the first.
const Peer& MapRungs::peer_of(double bytes) {
  for (const auto& [moves, peer] : peers_) {
    if (moves == bytes) return peer;
  }
  const double times = bytes / array_bytes_;
  Peer peer = memcpy_peer(static_cast<std::size_t>(bytes / 2), ladder_.seed());
  if (times != 1) peer.name += format(" of %g times the bytes", times);
  return peers_.emplace_back(bytes, std::move(peer)).second;
}

}  // namespace detail
}  // namespace lab
