// CUDA arrays and texture objects.
#include "memory/textures.h"

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <utility>

#include "report/api_errors.h"
#include "report/errors.h"
#include "runtime/memory_calls.h"
#include "runtime/streams.h"
#include "streams/order.h"

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
std::string set_resource(Texture& texture, const cudaResourceDesc& resource) {
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const cudaArray* const array = resource.res.array.array;
      if (!is_array(array)) return "res.array.array is no CUDA array, or one that was freed";
      texture.format = array->format;
      texture.base = array->base;
      texture.pitch = array->pitch();
      texture.dimensions = array->height ? 2 : 1;
      texture.extent[0] = static_cast<int64_t>(array->width);
      texture.extent[1] = static_cast<int64_t>(array->rows());
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

}  // namespace

cudaError_t cudaMallocArray(cudaArray_t* to, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned flags) {
  if (!to || !format) return result(cudaErrorInvalidValue);
  if (flags != cudaArrayDefault) {
    return refuse("arrays of layers, for surfaces and for texture gather are not simulated",
                  cudaErrorNotSupported);
  }
  const uint64_t texel_bytes = simt::textures::texel_bytes(*format);
  if (texel_bytes == 0) {
    return refuse("an element has 1, 2 or 4 channels of 8, 16 or 32 bits each, all alike",
                  cudaErrorInvalidChannelDescriptor);
  }
  if (width == 0) return refuse("the width is 0");
  if (width > 131072 || height > 65536) {
    return refuse("an array of these dimensions has at most 131072" +
                  std::string(height ? " x 65536" : "") + " elements");
  }
  cudaArray array{.format = *format, .width = width, .height = height, .texel_bytes = texel_bytes};
  void* memory = nullptr;
  if (const cudaError_t error =
          simt::runtime::allocate(&memory, Kind::array, array.bytes(), SIMT_CALLER)) {
    return error;
  }
  array.base = reinterpret_cast<uint64_t>(memory);
  *to = simt::textures::add_array(array);
  return result(cudaSuccess);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (!array) return result(cudaSuccess);
  if (!is_array(array)) return no_array("the argument");
  simt::textures::remove_array(array);
  return simt::runtime::release(reinterpret_cast<void*>(array->base), Kind::array, SIMT_CALLER);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t size,
                              cudaMemcpyKind kind) {
  const simt::stream_order::BlockingCall here;
  if (!is_array(to)) return no_array("the target");
  const size_t begin = y * to->pitch() + x;
  if (begin > to->bytes() || size > to->bytes() - begin) {
    return refuse("bytes " + std::to_string(begin) + " to " + std::to_string(begin + size) +
                  " of the array, which has " + std::to_string(to->bytes()));
  }
  return copy_rows(reinterpret_cast<char*>(to->base) + begin, size, from, size, size, 1, kind);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  const simt::stream_order::BlockingCall here;
  if (!is_array(to)) return no_array("the target");
  if (x > to->pitch() || width > to->pitch() - x) {
    return refuse("bytes " + std::to_string(x) + " to " + std::to_string(x + width) +
                  " of a row of the array, which has " + std::to_string(to->pitch()));
  }
  if (y > to->rows() || height > to->rows() - y) {
    return refuse("rows " + std::to_string(y) + " to " + std::to_string(y + height) +
                  " of the array, which has " + std::to_string(to->rows()));
  }
  char* const place = reinterpret_cast<char*>(to->base) + y * to->pitch() + x;
  return copy_rows(place, to->pitch(), from, pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return enqueue(stream, cudaGraphNodeTypeMemcpy,
                 [=] { return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind); });
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
  if (!object || !resource || !how) return result(cudaErrorInvalidValue);
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (view) return refuse("views of a resource are not simulated", cudaErrorNotSupported);
  if (how->sRGB) return refuse("sRGB textures are not simulated", cudaErrorNotSupported);
  auto texture = std::make_unique<Texture>();
  texture->how = *how;
  if (std::string wrong = set_resource(*texture, *resource); !wrong.empty())
    return refuse(std::move(wrong));
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
  *object = simt::textures::add_texture(texture.get());
  if (*object == 0) return refuse("there are 65535 texture objects already");
  texture.release();  // what a number says stays known when it is destroyed
  return result(cudaSuccess);
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  if (cudaError_t error = simt::device::sticky_error()) return error;
  if (object == 0) return result(cudaSuccess);
  Texture* const found = simt::textures::find_texture(object);
  if (!found || found->object != object || found->destroyed)
    return refuse("the argument is no texture object, or one that was destroyed");
  found->destroyed = true;
  return result(cudaSuccess);
}
