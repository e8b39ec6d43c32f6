// CUDA arrays, texture objects and surface objects.
#include "memory/textures.h"

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <utility>

#include "check/stream_order.h"
#include "report/api_errors.h"
#include "report/errors.h"
#include "runtime/memory_calls.h"
#include "runtime/streams.h"

using simt::device::explain;
using simt::device::result;
using simt::graphs::enqueue;
using simt::memory::Kind;
using simt::runtime::copy_rows;
using simt::textures::is_array;
using simt::textures::Texture;

namespace {

cudaError_t refuse(std::string why, cudaError_t error = cudaErrorInvalidValue) {
  explain(std::move(why));
  return result(error);
}

cudaError_t no_array(const char* what) {
  return refuse(std::string(what) + " is no CUDA array, or one that was freed",
                cudaErrorInvalidResourceHandle);
}

// ---- arrays

cudaError_t make_array(cudaArray_t* to, const cudaChannelFormatDesc* format, cudaExtent extent,
                       unsigned flags, uint64_t caller) {
  if (!to || !format) return result(cudaErrorInvalidValue);
  if (flags & (cudaArrayCubemap | cudaArrayTextureGather)) {
    return refuse("cube maps and texture gather are not simulated", cudaErrorNotSupported);
  }
  const bool is_layered = flags & cudaArrayLayered;
  if (is_layered && extent.depth == 0)
    return refuse("an array of layers has their number as its depth, which is 0");
  const uint64_t texel_bytes = simt::textures::texel_bytes(*format);
  if (texel_bytes == 0) {
    return refuse("an element has 1, 2 or 4 channels of 8, 16 or 32 bits each, all alike",
                  cudaErrorInvalidChannelDescriptor);
  }
  if (extent.width == 0 || (extent.depth && !extent.height && !is_layered))
    return refuse("the width is 0, or a height of 0 has a depth");
  const cudaExtent most = is_layered      ? cudaExtent{32768, 32768, 2048}
                          : extent.depth  ? cudaExtent{16384, 16384, 16384}
                          : extent.height ? cudaExtent{131072, 65536, 0}
                                          : cudaExtent{131072, 0, 0};
  if (extent.width > most.width || extent.height > most.height || extent.depth > most.depth) {
    return refuse("an array of these dimensions has at most " + std::to_string(most.width) +
                  (most.height ? " x " + std::to_string(most.height) : std::string()) +
                  (most.depth ? " x " + std::to_string(most.depth) : std::string()) + " elements");
  }
  cudaArray array{.format = *format,
                  .width = extent.width,
                  .height = extent.height,
                  .depth = extent.depth,
                  .flags = flags,
                  .texel_bytes = texel_bytes};
  void* memory = nullptr;
  if (const cudaError_t error =
          simt::runtime::allocate(&memory, Kind::array, array.bytes(), caller)) {
    return error;
  }
  array.base = reinterpret_cast<uint64_t>(memory);
  *to = simt::textures::add_array(array);
  return result(cudaSuccess);
}

// Copies a box of an array; `x` and `width` in bytes.
enum class Direction { to_array, from_array };
cudaError_t copy_box(Direction direction, const cudaArray* array, size_t x, size_t y, void* memory,
                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  if (!is_array(array))
    return no_array(direction == Direction::to_array ? "the target" : "the source");
  if (x > array->pitch() || width > array->pitch() - x) {
    return refuse("bytes " + std::to_string(x) + " to " + std::to_string(x + width) +
                  " of a row of the array, which has " + std::to_string(array->pitch()));
  }
  if (y > array->rows() || height > array->rows() - y) {
    return refuse("rows " + std::to_string(y) + " to " + std::to_string(y + height) +
                  " of the array, which has " + std::to_string(array->rows()));
  }
  char* const place = reinterpret_cast<char*>(array->base) + y * array->pitch() + x;
  return direction == Direction::to_array
             ? copy_rows(place, array->pitch(), memory, pitch, width, height, kind)
             : copy_rows(memory, pitch, place, array->pitch(), width, height, kind);
}

// Copies `size` bytes from (x, y) on, row after row.
cudaError_t copy_run(Direction direction, const cudaArray* array, size_t x, size_t y, void* memory,
                     size_t size, cudaMemcpyKind kind) {
  const bool to_array = direction == Direction::to_array;
  if (!is_array(array)) return no_array(to_array ? "the target" : "the source");
  const size_t begin = y * array->pitch() + x;
  if (begin > array->bytes() || size > array->bytes() - begin) {
    return refuse("bytes " + std::to_string(begin) + " to " + std::to_string(begin + size) +
                  " of the array, which has " + std::to_string(array->bytes()));
  }
  char* const place = reinterpret_cast<char*>(array->base) + begin;
  return to_array ? copy_rows(place, size, memory, size, size, 1, kind)
                  : copy_rows(memory, size, place, size, size, 1, kind);
}

// ---- texture objects

// What is wrong with the memory that a texture shall read, or nothing.
std::string wrong_memory(const void* pointer, size_t bytes) {
  if (!pointer) return "devPtr is a null pointer";
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const simt::memory::Allocation* found = simt::runtime::live_at(pointer);
  if (!found && !simt::runtime::is_variable(pointer)) return "devPtr is not device memory";
  if (address % 256 != 0 && found) return "devPtr must be the beginning of an allocation";
  if (found && bytes > found->end() - address) {
    return "the texture would read " + std::to_string(bytes) + " bytes of " +
           simt::memory::describe(*found);
  }
  return {};
}

// Where the texture reads: what is wrong with that, or nothing.
std::string set_resource(Texture& texture) {
  const cudaResourceDesc& resource = texture.resource;
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const cudaArray* const array = resource.res.array.array;
      if (!is_array(array)) return "res.array.array is no CUDA array, or one that was freed";
      texture.format = array->format;
      texture.base = array->base;
      texture.pitch = array->pitch();
      texture.slice = array->pitch() * array->rows();
      texture.dimensions = array->depth && !array->is_layered() ? 3 : array->height ? 2 : 1;
      if (array->is_layered()) texture.layers = static_cast<int64_t>(array->depth);
      texture.extent[0] = static_cast<int64_t>(array->width);
      texture.extent[1] = static_cast<int64_t>(array->rows());
      texture.extent[2] = static_cast<int64_t>(array->slices());
      break;
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      texture.format = linear.desc;
      texture.base = reinterpret_cast<uint64_t>(linear.devPtr);
      if (std::string wrong = wrong_memory(linear.devPtr, linear.sizeInBytes); !wrong.empty())
        return wrong;
      break;
    }
    case cudaResourceTypePitch2D: {
      const auto& pitched = resource.res.pitch2D;
      texture.format = pitched.desc;
      texture.base = reinterpret_cast<uint64_t>(pitched.devPtr);
      texture.pitch = pitched.pitchInBytes;
      texture.dimensions = 2;
      texture.extent[0] = static_cast<int64_t>(pitched.width);
      texture.extent[1] = static_cast<int64_t>(pitched.height);
      if (pitched.pitchInBytes % 32 != 0) return "pitchInBytes must be a multiple of 32";
      if (pitched.width == 0 || pitched.height == 0) return "the width or the height is 0";
      const size_t row = pitched.width * simt::textures::texel_bytes(pitched.desc);
      if (row > pitched.pitchInBytes) return "a row is longer than pitchInBytes";
      if (std::string wrong =
              wrong_memory(pitched.devPtr, (pitched.height - 1) * pitched.pitchInBytes + row);
          !wrong.empty()) {
        return wrong;
      }
      break;
    }
    case cudaResourceTypeMipmappedArray:
      return "mipmapped arrays are not simulated";
    default:
      return "resType is none of cudaResourceType";
  }
  texture.texel_bytes = simt::textures::texel_bytes(texture.format);
  if (texture.texel_bytes == 0)
    return "an element has 1, 2 or 4 channels of 8, 16 or 32 bits each, all alike";
  if (resource.resType == cudaResourceTypeLinear) {
    texture.extent[0] = static_cast<int64_t>(resource.res.linear.sizeInBytes / texture.texel_bytes);
    if (texture.extent[0] > int64_t{1} << 28)
      return "linear memory has at most 2^28 elements to a texture";
  }
  return {};
}

cudaError_t add(unsigned long long* object, std::unique_ptr<Texture> texture) {
  *object = simt::textures::add_texture(texture.get());
  if (*object == 0) return refuse("there are 65535 texture and surface objects already");
  texture.release();  // what a number says stays known when it is destroyed
  return result(cudaSuccess);
}

// The texture or the surface of that number, or nullptr.
Texture* find(unsigned long long object, bool surface) {
  Texture* const found = simt::textures::find_texture(object);
  return found && found->is_surface == surface ? found : nullptr;
}

cudaError_t destroy(unsigned long long object, bool surface) {
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (object == 0) return result(cudaSuccess);
  Texture* const found = find(object, surface);
  if (!found || found->object != object || found->destroyed) {
    return refuse(std::string("the argument is no ") + (surface ? "surface" : "texture") +
                  " object, or one that was destroyed");
  }
  found->destroyed = true;
  return result(cudaSuccess);
}

cudaError_t resource_of(cudaResourceDesc* resource, unsigned long long object, bool surface) {
  const Texture* const found = find(object, surface);
  if (!resource || !found) return result(cudaErrorInvalidValue);
  *resource = found->resource;
  return result(cudaSuccess);
}

}  // namespace

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned flags) {
  return make_array(array, format, {width, height, 0}, flags, SIMT_CALLER);
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  return make_array(array, format, extent, flags, SIMT_CALLER);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (!array) return result(cudaSuccess);
  if (!is_array(array)) return no_array("the argument");
  simt::textures::remove_array(array);
  return simt::runtime::release(reinterpret_cast<void*>(array->base), Kind::array, SIMT_CALLER);
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  if (!is_array(array)) return no_array("the argument");
  if (format) *format = array->format;
  if (extent) *extent = {array->width, array->height, array->depth};
  if (flags) *flags = array->flags;
  return result(cudaSuccess);
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  if (!is_array(array)) return no_array("the argument");
  if (!format) return result(cudaErrorInvalidValue);
  *format = array->format;
  return result(cudaSuccess);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t size,
                              cudaMemcpyKind kind) {
  const simt::stream_order::BlockingCall here;
  return copy_run(Direction::to_array, to, x, y, const_cast<void*>(from), size, kind);
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t size,
                                cudaMemcpyKind kind) {
  const simt::stream_order::BlockingCall here;
  return copy_run(Direction::from_array, from, x, y, to, size, kind);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                   size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpyToArray(to, x, y, from, size, kind); });
}
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpyFromArray(to, from, x, y, size, kind); });
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  const simt::stream_order::BlockingCall here;
  return copy_box(Direction::to_array, to, x, y, const_cast<void*>(from), pitch, width, height,
                  kind);
}
cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  const simt::stream_order::BlockingCall here;
  return copy_box(Direction::from_array, from, x, y, to, pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind); });
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind); });
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t from_x, size_t from_y,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  const simt::stream_order::BlockingCall here;
  if (!is_array(to)) return no_array("the target");
  char* const place = reinterpret_cast<char*>(to->base) + to_y * to->pitch() + to_x;
  if (to_x + width > to->pitch() || to_y + height > to->rows())
    return refuse("the copy would go past the end of the target");
  return copy_box(Direction::from_array, from, from_x, from_y, place, to->pitch(), width, height,
                  kind);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
  if (!object || !resource || !how) return result(cudaErrorInvalidValue);
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (view) return refuse("views of a resource are not simulated", cudaErrorNotSupported);
  if (how->sRGB) return refuse("sRGB textures are not simulated", cudaErrorNotSupported);
  auto texture = std::make_unique<Texture>();
  texture->resource = *resource;
  texture->how = *how;
  if (std::string wrong = set_resource(*texture); !wrong.empty()) return refuse(std::move(wrong));
  const bool has_floats = texture->format.f == cudaChannelFormatKindFloat;
  // Integers of 32 bits stay what they are.
  texture->floating =
      has_floats || (how->readMode == cudaReadModeNormalizedFloat && texture->format.x < 32);
  if (how->filterMode == cudaFilterModeLinear && !texture->floating && texture->dimensions != 0) {
    return refuse(
        "linear filtering takes floats: a texture of floats, or of 8 or 16 bits with "
        "cudaReadModeNormalizedFloat",
        cudaErrorInvalidFilterSetting);
  }
  return add(object, std::move(texture));
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  if (!object || !resource) return result(cudaErrorInvalidValue);
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (resource->resType != cudaResourceTypeArray)
    return refuse("a surface accesses a CUDA array: resType must be cudaResourceTypeArray");
  auto surface = std::make_unique<Texture>();
  surface->resource = *resource;
  surface->is_surface = true;
  if (std::string wrong = set_resource(*surface); !wrong.empty()) return refuse(std::move(wrong));
  if (!(resource->res.array.array->flags & cudaArraySurfaceLoadStore)) {
    return refuse(
        "the array was not made for surfaces: give cudaMallocArray() the flag "
        "cudaArraySurfaceLoadStore");
  }
  return add(object, std::move(surface));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) { return destroy(object, false); }
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { return destroy(object, true); }
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  return resource_of(resource, object, false);
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return resource_of(resource, object, true);
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* how, cudaTextureObject_t object) {
  const Texture* const texture = find(object, false);
  if (!how || !texture) return result(cudaErrorInvalidValue);
  *how = texture->how;
  return result(cudaSuccess);
}
