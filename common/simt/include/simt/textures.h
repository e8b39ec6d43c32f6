/// \file
/// What kernels read textures with. Results are the hardware's, with its fractions of 8 bits; the reads are not counted.
#pragma once

#include <simt/intrinsics.h>
#include <simt/texture_types.h>

#include <cstdint>

namespace simt::detail {

/// What a kernel asks of a texture: one of the functions below, and the type of its result.
struct TextureCall {
  uint8_t dimensions;  ///< 0: tex1Dfetch
  uint8_t channels;    ///< that the result has
  bool floating;       ///< it is made of floats
  bool layered;
};
/// The four channels, each a float's or an integer's bits.
struct Texel {
  uint32_t x, y, z, w;
};
/// `layer` of an array that has layers.
Texel read_texture(cudaTextureObject_t object, TextureCall call, float x, float y, float z,
                   int layer = 0);
Texel fetch_texture(cudaTextureObject_t object, TextureCall call, int x);

template <class T>
constexpr TextureCall texture_call(int dimensions, bool layered = false) {
  using Element = TextureElement<T>;
  return {static_cast<uint8_t>(dimensions), static_cast<uint8_t>(Element::kChannels),
          Element::kKind == cudaChannelFormatKindFloat, layered};
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
  return texture_value<T>(read_texture(object, texture_call<T>(1), x, 0, 0));
}
/// A CUDA array of two dimensions, or pitched memory.
template <class T>
SIMT_INLINE T tex2D(cudaTextureObject_t object, float x, float y) {
  using namespace simt::detail;
  return texture_value<T>(read_texture(object, texture_call<T>(2), x, y, 0));
}
/// A CUDA array of three dimensions.
template <class T>
SIMT_INLINE T tex3D(cudaTextureObject_t object, float x, float y, float z) {
  using namespace simt::detail;
  return texture_value<T>(read_texture(object, texture_call<T>(3), x, y, z));
}
/// Layer `layer` of an array of layers, of one dimension or of two.
template <class T>
SIMT_INLINE T tex1DLayered(cudaTextureObject_t object, float x, int layer) {
  using namespace simt::detail;
  return texture_value<T>(read_texture(object, texture_call<T>(1, true), x, 0, 0, layer));
}
template <class T>
SIMT_INLINE T tex2DLayered(cudaTextureObject_t object, float x, float y, int layer) {
  using namespace simt::detail;
  return texture_value<T>(read_texture(object, texture_call<T>(2, true), x, y, 0, layer));
}
// There are no mipmaps: every level is the only one.
template <class T>
SIMT_INLINE T tex1DLod(cudaTextureObject_t object, float x, float) {
  return tex1D<T>(object, x);
}
template <class T>
SIMT_INLINE T tex2DLod(cudaTextureObject_t object, float x, float y, float) {
  return tex2D<T>(object, x, y);
}
template <class T>
SIMT_INLINE T tex3DLod(cudaTextureObject_t object, float x, float y, float z, float) {
  return tex3D<T>(object, x, y, z);
}
// The forms that write to where a pointer says.
template <class T>
SIMT_INLINE void tex1Dfetch(T* to, cudaTextureObject_t object, int x) {
  *to = tex1Dfetch<T>(object, x);
}
template <class T>
SIMT_INLINE void tex1D(T* to, cudaTextureObject_t object, float x) {
  *to = tex1D<T>(object, x);
}
template <class T>
SIMT_INLINE void tex2D(T* to, cudaTextureObject_t object, float x, float y) {
  *to = tex2D<T>(object, x, y);
}
template <class T>
SIMT_INLINE void tex3D(T* to, cudaTextureObject_t object, float x, float y, float z) {
  *to = tex3D<T>(object, x, y, z);
}
template <class T>
SIMT_INLINE void tex1DLayered(T* to, cudaTextureObject_t object, float x, int layer) {
  *to = tex1DLayered<T>(object, x, layer);
}
template <class T>
SIMT_INLINE void tex2DLayered(T* to, cudaTextureObject_t object, float x, float y, int layer) {
  *to = tex2DLayered<T>(object, x, y, layer);
}
