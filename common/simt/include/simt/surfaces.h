/// \file
/// What kernels access surfaces with. The accesses are carried out, and not counted.
#pragma once

#include <simt/intrinsics.h>
#include <simt/texture_types.h>

#include <cstdint>
#include <type_traits>

namespace simt::detail {

/// What a kernel asks of a surface: one of the functions below, and the size of its value.
struct SurfaceCall {
  uint8_t dimensions;
  bool layered;
  bool write;
  uint8_t bytes;
  cudaSurfaceBoundaryMode mode;
};
/// Copies the element at byte `x` of a row to or from `value`; `z` is the plane or the layer.
void access_surface(cudaSurfaceObject_t object, SurfaceCall call, void* value, int x, int y, int z);

/// The types that surfaces are accessed with: those of textures, and numbers of 64 bits.
template <class T, class = void>
inline constexpr bool is_surface_element =
    std::is_same_v<T, long long> || std::is_same_v<T, unsigned long long> ||
    std::is_same_v<T, longlong1> || std::is_same_v<T, ulonglong1> || std::is_same_v<T, longlong2> ||
    std::is_same_v<T, ulonglong2>;
template <class T>
inline constexpr bool is_surface_element<T, std::void_t<typename TextureElement<T>::Scalar>> = true;

template <class T>
constexpr SurfaceCall surface_call(int dimensions, bool layered, bool write,
                                   cudaSurfaceBoundaryMode mode) {
  static_assert(is_surface_element<T>,
                "simt: a surface is accessed with numbers of 8 to 64 bits, or vectors of 1, 2 or 4 "
                "of them, of up to 16 bytes");
  return {static_cast<uint8_t>(dimensions), layered, write, sizeof(T), mode};
}

}  // namespace simt::detail

#define SIMT_LIST(...) __VA_ARGS__
// NAMEread<T>(surface, x in bytes, ...), the same to where a pointer says, and NAMEwrite(value, surface, x in bytes, ...).
#define SIMT_SURFACE(name, dimensions, layered, parameters, arguments, x, y, z)                  \
  template <class T>                                                                             \
  SIMT_INLINE T name##read(cudaSurfaceObject_t surface, SIMT_LIST parameters,                    \
                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                \
    using namespace simt::detail;                                                                \
    T value;                                                                                     \
    access_surface(surface, surface_call<T>(dimensions, layered, false, mode), &value, x, y, z); \
    return value;                                                                                \
  }                                                                                              \
  template <class T>                                                                             \
  SIMT_INLINE void name##read(T* to, cudaSurfaceObject_t surface, SIMT_LIST parameters,          \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {             \
    *to = name##read<T>(surface, SIMT_LIST arguments, mode);                                     \
  }                                                                                              \
  template <class T>                                                                             \
  SIMT_INLINE void name##write(T value, cudaSurfaceObject_t surface, SIMT_LIST parameters,       \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {            \
    using namespace simt::detail;                                                                \
    access_surface(surface, surface_call<T>(dimensions, layered, true, mode), &value, x, y, z);  \
  }
SIMT_SURFACE(surf1D, 1, false, (int x), (x), x, 0, 0)
SIMT_SURFACE(surf2D, 2, false, (int x, int y), (x, y), x, y, 0)
SIMT_SURFACE(surf3D, 3, false, (int x, int y, int z), (x, y, z), x, y, z)
SIMT_SURFACE(surf1DLayered, 1, true, (int x, int layer), (x, layer), x, 0, layer)
SIMT_SURFACE(surf2DLayered, 2, true, (int x, int y, int layer), (x, y, layer), x, y, layer)
#undef SIMT_SURFACE
#undef SIMT_LIST
