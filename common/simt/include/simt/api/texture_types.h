/// \file
/// Textures and CUDA arrays: the types of the runtime API.
#pragma once

#include <vector_types.h>

#include <cstddef>

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3,
};
/// The bits of each channel of an element; 0 for one that it lacks.
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};

#define cudaArrayDefault 0x00

enum cudaResourceType {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3,
};
/// What a texture reads from.
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      struct cudaArray* array;
    } array;
    struct {
      struct cudaMipmappedArray* mipmap;
    } mipmap;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width;   ///< elements
      std::size_t height;  ///< rows
      std::size_t pitchInBytes;
    } pitch2D;
  } res;
  unsigned int flags;
};

enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3,
};
enum cudaTextureFilterMode {
  cudaFilterModePoint = 0,
  cudaFilterModeLinear = 1,
};
enum cudaTextureReadMode {
  cudaReadModeElementType = 0,
  cudaReadModeNormalizedFloat = 1,
};
/// How a texture is read.
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int seamlessCubemap;
};
using cudaTextureObject_t = unsigned long long;

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return {16, 0, 0, 0, cudaChannelFormatKindFloat};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return {16, 16, 0, 0, cudaChannelFormatKindFloat};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return {16, 16, 16, 16, cudaChannelFormatKindFloat};
}

namespace simt::detail {

/// What an element type of textures is made of; other types have no members.
template <class T>
struct TextureElement {};

#define SIMT_TEXTURE_ELEMENTS(scalar, name, kind)             \
  template <>                                                 \
  struct TextureElement<scalar> {                             \
    using Scalar = scalar;                                    \
    static constexpr int kChannels = 1;                       \
    static constexpr cudaChannelFormatKind kKind = kind;      \
  };                                                          \
  template <>                                                 \
  struct TextureElement<name##1> : TextureElement<scalar> {}; \
  template <>                                                 \
  struct TextureElement<name##2> : TextureElement<scalar> {   \
    static constexpr int kChannels = 2;                       \
  };                                                          \
  template <>                                                 \
  struct TextureElement<name##4> : TextureElement<scalar> {   \
    static constexpr int kChannels = 4;                       \
  };
SIMT_TEXTURE_ELEMENTS(signed char, char, cudaChannelFormatKindSigned)
SIMT_TEXTURE_ELEMENTS(unsigned char, uchar, cudaChannelFormatKindUnsigned)
SIMT_TEXTURE_ELEMENTS(short, short, cudaChannelFormatKindSigned)
SIMT_TEXTURE_ELEMENTS(unsigned short, ushort, cudaChannelFormatKindUnsigned)
SIMT_TEXTURE_ELEMENTS(int, int, cudaChannelFormatKindSigned)
SIMT_TEXTURE_ELEMENTS(unsigned, uint, cudaChannelFormatKindUnsigned)
SIMT_TEXTURE_ELEMENTS(float, float, cudaChannelFormatKindFloat)
#undef SIMT_TEXTURE_ELEMENTS
template <>
struct TextureElement<char> : TextureElement<signed char> {};

}  // namespace simt::detail

/// The description of elements of type T: a number of 8, 16 or 32 bits, or a vector of 1, 2 or 4.
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Element = simt::detail::TextureElement<T>;
  constexpr int kBits = 8 * sizeof(typename Element::Scalar);
  constexpr int n = Element::kChannels;
  return {kBits, n > 1 ? kBits : 0, n > 2 ? kBits : 0, n > 2 ? kBits : 0, Element::kKind};
}
