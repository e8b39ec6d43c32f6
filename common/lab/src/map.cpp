#include "lab/map.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lab/check.h"
#include "lab/text.h"

namespace lab {

MapOptions::~MapOptions() = default;

namespace detail {

void MapRungs::add(std::string_view name, std::string_view variant, Buffer& output, double bytes,
                   const std::function<void()>& launch,
                   const std::function<Comparison(const Tolerance&)>& verify,
                   const MapOptions& options) {
  Rung rung;
  rung.name = name;
  rung.variant = variant;
  rung.launch = launch;
  rung.verify = [verify, tolerance = options.tolerance] { return verify(tolerance); };
  rung.outputs.push_back(&output);
  rung.bytes = options.bytes > 0 ? options.bytes : bytes;
  rung.timed = options.timed;
  rung.show = options.show;
  rung.limit = Limit::copy;
  rung.peer = peer_of(rung.bytes);
  chapter_.add(rung);
}

void MapRungs::demonstrate(std::string_view name, Buffer& output,
                           const std::function<void()>& launch) {
  chapter_.demonstrate(name, launch, {&output});
}

// The name of the peer that moves as many bytes; makes it where it is the first.
std::string MapRungs::peer_of(double bytes) {
  const auto half = static_cast<std::size_t>(bytes / 2);
  const double times = bytes / array_bytes_;
  const std::string name =
      times == 1 ? "cudaMemcpy" : format("cudaMemcpy of %g times the bytes", times);
  if (std::find(peers_.begin(), peers_.end(), name) != peers_.end()) return name;
  peers_.push_back(name);
  const auto from = std::make_shared<DeviceBuffer<unsigned char>>(
      random_bytes(half, chapter_.seed()), "what the peer copies");
  const auto to = std::make_shared<DeviceBuffer<unsigned char>>(half, "what the peer copies to");
  chapter_.peer(
      {.name = name,
       .launch =
           [=] {
             CUDA_CHECK(cudaMemcpyAsync(to->data(), from->data(), half, cudaMemcpyDeviceToDevice));
           },
       .bytes = 2.0 * static_cast<double>(half),
       .verify = [=] { return compare(to->download(), from->download()); },
       .outputs = {to.get()}});
  return name;
}

}  // namespace detail
}  // namespace lab
