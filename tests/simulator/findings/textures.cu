// Textures and CUDA arrays that are used wrongly.
#include "planted.h"

namespace {

constexpr int kN = 256;

__global__ void read_elements(cudaTextureObject_t texture, float* out) {
  const int i = threadIdx.x;
  out[i] = tex1Dfetch<float>(texture, i);  // fault: texture_destroyed // fault: texture_of_freed
}

cudaTextureObject_t texture_of(const OnDevice<float>& data, size_t bytes = kN * sizeof(float)) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data.data();
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = bytes;
  const cudaTextureDesc how = {};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);  // fault: texture_past_end
  return texture;
}

void texture_destroyed(bool fixed) {
  const OnDevice<float> data(kN, 1.0f), out(kN);
  const cudaTextureObject_t texture = texture_of(data);
  if (!fixed) cudaDestroyTextureObject(texture);
  read_elements<<<1, kN>>>(texture, out.data());
  if (fixed) cudaDestroyTextureObject(texture);
}

void texture_of_freed(bool fixed) {
  const OnDevice<float> out(kN);
  cudaTextureObject_t texture = 0;
  {
    const OnDevice<float> data(kN, 1.0f);
    texture = texture_of(data);
    if (fixed) read_elements<<<1, kN>>>(texture, out.data());
  }
  if (!fixed) read_elements<<<1, kN>>>(texture, out.data());
  cudaDestroyTextureObject(texture);
}

void texture_past_end(bool fixed) {
  const OnDevice<float> data(kN, 1.0f);
  const cudaTextureObject_t texture = texture_of(data, kN * sizeof(float) + (fixed ? 0 : 4));
  if (fixed) cudaDestroyTextureObject(texture);
}

template <class T>
__global__ void read_centre(cudaTextureObject_t texture, T* out) {
  *out = tex2D<T>(texture, 3.5f, 1.5f);  // fault: texture_of_other_type
}

struct Array {
  Array() {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    cudaMallocArray(&handle, &format, 8, 4);  // fault: array_never_freed
  }
  cudaArray_t handle = nullptr;
};

void texture_of_other_type(bool fixed) {
  const Array array;
  const std::vector<unsigned char> host(32, 7);
  cudaMemcpy2DToArray(array.handle, 0, 0, host.data(), 8, 8, 4, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array.handle;
  cudaTextureDesc how = {};
  if (fixed) how.readMode = cudaReadModeNormalizedFloat;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  const OnDevice<float> out(1);
  read_centre<<<1, 1>>>(texture, out.data());
  cudaDestroyTextureObject(texture);
  cudaFreeArray(array.handle);
}

void copy_beside_array(bool fixed) {
  const Array array;
  const std::vector<unsigned char> host(32, 7);
  const size_t width = fixed ? 8 : 9;
  cudaMemcpy2DToArray(array.handle, 0, 0, host.data(), width, width, 2,  // fault: copy_beside_array
                      cudaMemcpyHostToDevice);
  cudaFreeArray(array.handle);
}

void array_as_pointer(bool fixed) {
  const Array array;
  const std::vector<unsigned char> host(32, 7);
  if (!fixed)
    cudaMemcpy(array.handle, host.data(), 32, cudaMemcpyHostToDevice);  // fault: array_as_pointer
  cudaFreeArray(array.handle);
}

void array_never_freed(bool fixed) {
  const Array array;
  if (fixed) cudaFreeArray(array.handle);
}

}  // namespace

const std::vector<Planted> kTextures = {
    {"texture_destroyed", "trap", texture_destroyed, false},
    {"texture_of_freed", "trap", texture_of_freed, false},
    {"texture_past_end", "api-error", texture_past_end, false},
    {"texture_of_other_type", "trap", texture_of_other_type, false},
    {"copy_beside_array", "api-error", copy_beside_array, false},
    {"array_as_pointer", "api-error", array_as_pointer, false},
    {"array_never_freed", "leak", array_never_freed, false},
};
