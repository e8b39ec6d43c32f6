/// \file
/// What kernels read textures with. Results are the hardware's, with its fractions of 8 bits; the reads are not counted.
#pragma once

#include <simt/api/texture_types.h>
#include <simt/intrinsics.h>

#include <cstdint>

namespace simt::detail {

/// What a kernel asks of a texture: one of the functions below, and the type of its result.
struct TextureCall {
  uint8_t dimensions;  ///< 0: tex1Dfetch
  uint8_t channels;    ///< that the result has
  bool floating;       ///< it is made of floats
};
/// The four channels, each a float's or an integer's bits.
struct Texel {
  uint32_t x, y, z, w;
};
Texel read_texture(cudaTextureObject_t object, TextureCall call, float x, float y);
Texel fetch_texture(cudaTextureObject_t object, TextureCall call, int x);

template <class T>
constexpr TextureCall texture_call(int dimensions) {
  using Element = TextureElement<T>;
  return {static_cast<uint8_t>(dimensions), static_cast<uint8_t>(Element::kChannels),
          Element::kKind == cudaChannelFormatKindFloat};
}
template <class T>
SIMT_INLINE T texture_value(Texel texel) {
  using Scalar = typename TextureElement<T>::Scalar;
  const auto value = [](uint32_t bits) __attribute__((always_inline)) {
    if constexpr (std::is_floating_point_v<Scalar>)
      return __builtin_bit_cast(float, bits);
    else
      return static_cast<Scalar>(bits);
  };
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value(texel.x));
  } else if constexpr (TextureElement<T>::kChannels == 1) {
    return T{value(texel.x)};
  } else if constexpr (TextureElement<T>::kChannels == 2) {
    return T{value(texel.x), value(texel.y)};
  } else {
    return T{value(texel.x), value(texel.y), value(texel.z), value(texel.w)};
  }
}

}  // namespace simt::detail

/// Element `x` of linear memory; 0 outside of it.
template <class T>
SIMT_INLINE T tex1Dfetch(cudaTextureObject_t object, int x) {
  using namespace simt::detail;
  return texture_value<T>(fetch_texture(object, texture_call<T>(0), x));
}
/// A CUDA array of one dimension at `x`.
template <class T>
SIMT_INLINE T tex1D(cudaTextureObject_t object, float x) {
  using namespace simt::detail;
  return texture_value<T>(read_texture(object, texture_call<T>(1), x, 0));
}
/// A CUDA array of two dimensions, or pitched memory.
template <class T>
SIMT_INLINE T tex2D(cudaTextureObject_t object, float x, float y) {
  using namespace simt::detail;
  return texture_value<T>(read_texture(object, texture_call<T>(2), x, y));
}
