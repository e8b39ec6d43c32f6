#include "memory/textures.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

namespace simt::textures {
namespace {

std::mutex mutex;  // of what follows

std::set<const void*>& arrays() {
  static auto& all = *new std::set<const void*>;
  return all;
}

// The number of a texture is its place here, and above that how often the place was taken before. A place is
// free again when its texture has been destroyed; whoever keeps the old number is told.
constexpr unsigned kPlaceBits = 16;
constexpr uint64_t kPlaces = uint64_t{1} << kPlaceBits;
std::atomic<Texture*> places[kPlaces];
uint64_t next_place = 1;

// Bits of a channel.
int bits_of(const cudaChannelFormatDesc& format, int channel) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  return bits[channel];
}

float from_half(uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  float value;
  if (exponent == 31) {
    value = mantissa ? NAN : INFINITY;
  } else {
    value = exponent ? std::ldexp(1024.0f + static_cast<float>(mantissa), exponent - 25)
                     : std::ldexp(static_cast<float>(mantissa), -24);
  }
  return half >> 15 ? -value : value;
}

// What lies there, as the texture reads it.
Channels element(const Texture& texture, uint64_t address) {
  Channels result{};
  const cudaChannelFormatDesc& format = texture.format;
  for (int c = 0; c < 4; ++c) {
    const int bits = bits_of(format, c);
    if (bits == 0) break;
    uint32_t raw = 0;
    std::memcpy(&raw, reinterpret_cast<const void*>(address), static_cast<size_t>(bits / 8));
    address += static_cast<uint64_t>(bits / 8);
    if (format.f == cudaChannelFormatKindFloat) {
      if (bits == 16) {
        result.floats[c] = from_half(static_cast<uint16_t>(raw));
      } else {
        std::memcpy(&result.floats[c], &raw, sizeof(raw));
      }
      continue;
    }
    const bool is_signed = format.f == cudaChannelFormatKindSigned;
    const int unused = 32 - bits;
    result.integers[c] = is_signed ? static_cast<int32_t>(raw << unused) >> unused : int64_t{raw};
    if (!texture.floating) continue;
    const double most = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
    result.floats[c] =
        static_cast<float>(std::max(static_cast<double>(result.integers[c]) / most, -1.0));
  }
  return result;
}

// The index that stands for `i` of `n`, or -1 for the border.
int64_t addressed(int64_t i, int64_t n, cudaTextureAddressMode mode, bool normalized) {
  if (i >= 0 && i < n) return i;
  const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  if (mode == cudaAddressModeBorder) return -1;
  if (mode == cudaAddressModeWrap && normalized) return modulo(i, n);
  if (mode == cudaAddressModeMirror && normalized) {
    const int64_t j = modulo(i, 2 * n);
    return j < n ? j : 2 * n - 1 - j;
  }
  return std::clamp<int64_t>(i, 0, n - 1);
}

Channels texel(const Texture& texture, const int64_t (&index)[2]) {
  uint64_t address = texture.base;
  const uint64_t strides[] = {texture.texel_bytes, texture.pitch};
  for (int d = 0; d < texture.dimensions; ++d) {
    const int64_t i = addressed(index[d], texture.extent[d], texture.how.addressMode[d],
                                texture.how.normalizedCoords != 0);
    if (i < 0) {
      Channels border{};
      for (int c = 0; c < 4; ++c) {
        border.floats[c] = texture.how.borderColor[c];
        border.integers[c] = static_cast<int64_t>(texture.how.borderColor[c]);
      }
      return border;
    }
    address += static_cast<uint64_t>(i) * strides[d];
  }
  return element(texture, address);
}

}  // namespace

uint64_t texel_bytes(const cudaChannelFormatDesc& format) {
  int channels = 0;
  while (channels < 4 && bits_of(format, channels) != 0) ++channels;
  for (int c = 0; c < 4; ++c) {
    if (bits_of(format, c) != (c < channels ? format.x : 0)) return 0;
  }
  if (channels == 0 || channels == 3) return 0;
  const bool is_float = format.f == cudaChannelFormatKindFloat;
  if (!is_float && format.f != cudaChannelFormatKindSigned &&
      format.f != cudaChannelFormatKindUnsigned) {
    return 0;
  }
  if (format.x != 32 && format.x != 16 && (format.x != 8 || is_float)) return 0;
  return static_cast<uint64_t>(channels * format.x / 8);
}

cudaArray* add_array(const cudaArray& array) {
  auto* handle = new cudaArray(array);
  const std::lock_guard lock(mutex);
  arrays().insert(handle);
  return handle;
}

// The handle itself stays: no later array gets its address, and a freed one is known as such.
void remove_array(cudaArray* array) {
  const std::lock_guard lock(mutex);
  arrays().erase(array);
}

bool is_array(const void* handle) {
  const std::lock_guard lock(mutex);
  return arrays().contains(handle);
}

cudaTextureObject_t add_texture(Texture* texture) {
  const std::lock_guard lock(mutex);
  for (uint64_t tried = 1; tried < kPlaces; ++tried) {
    const uint64_t place = next_place;
    next_place = next_place + 1 == kPlaces ? 1 : next_place + 1;
    const Texture* const before = places[place];
    if (before && !before->destroyed) continue;
    texture->object = before ? before->object + kPlaces : place;
    places[place] = texture;
    return texture->object;
  }
  return 0;
}

Texture* find_texture(cudaTextureObject_t object) {
  Texture* const found = places[object % kPlaces];
  return found && found->object >= object ? found : nullptr;
}

Channels fetch(const Texture& texture, int64_t x) {
  if (x < 0 || x >= texture.extent[0]) return {};
  return element(texture, texture.base + static_cast<uint64_t>(x) * texture.texel_bytes);
}

Channels read(const Texture& texture, const float (&coordinates)[2]) {
  constexpr double kFar = 1e12;
  const bool is_linear = texture.how.filterMode == cudaFilterModeLinear;
  int64_t first[2] = {0, 0};
  float fraction[2] = {0, 0};
  for (int d = 0; d < texture.dimensions; ++d) {
    double x = coordinates[d];
    if (!(x >= -kFar && x <= kFar)) x = std::isnan(x) ? 0 : std::copysign(kFar, x);
    if (texture.how.normalizedCoords) x *= static_cast<double>(texture.extent[d]);
    if (is_linear) x -= 0.5;
    const double below = std::floor(x);
    first[d] = static_cast<int64_t>(below);
    // 9 bits, 8 of them behind the point: 1 is among the values
    if (is_linear) fraction[d] = static_cast<float>(std::nearbyint((x - below) * 256) / 256);
  }
  if (!is_linear) return texel(texture, first);
  Channels sum{};
  for (int corner = 0; corner < 1 << texture.dimensions; ++corner) {
    int64_t index[2] = {0, 0};
    float weight = 1;
    for (int d = 0; d < texture.dimensions; ++d) {
      const bool is_second = corner >> d & 1;
      index[d] = first[d] + is_second;
      weight *= is_second ? fraction[d] : 1 - fraction[d];
    }
    if (weight == 0) continue;
    const Channels value = texel(texture, index);
    for (int c = 0; c < 4; ++c) sum.floats[c] += weight * value.floats[c];
  }
  return sum;
}

}  // namespace simt::textures
