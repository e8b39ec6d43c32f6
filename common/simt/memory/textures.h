// CUDA arrays and texture objects: which there are, and what a read of one gives.
#pragma once

#include <simt/api/texture_types.h>

#include <atomic>
#include <cstdint>

// What cudaMallocArray() returns points to. The elements lie in memory of the device, row by row.
struct cudaArray {
  uint64_t base = 0;
  cudaChannelFormatDesc format{};
  uint64_t width = 0, height = 0;  // elements; an array of one dimension has no height
  uint64_t texel_bytes = 0;

  uint64_t pitch() const { return width * texel_bytes; }
  uint64_t rows() const { return height ? height : 1; }
  uint64_t bytes() const { return pitch() * rows(); }
};

namespace simt::textures {

// Bytes of an element, or 0 where no texture has such elements.
uint64_t texel_bytes(const cudaChannelFormatDesc& format);

// Makes the array known, and forgets it. A handle is an address of the host's that nobody else gets.
cudaArray* add_array(const cudaArray& array);
void remove_array(cudaArray* array);
// Is it one that has not been freed?
bool is_array(const void* handle);

// One texture object, ready to be read.
struct Texture {
  cudaTextureObject_t object = 0;
  cudaTextureDesc how{};
  cudaChannelFormatDesc format{};
  uint64_t base = 0;
  uint64_t pitch = 0;          // bytes
  int64_t extent[2] = {1, 1};  // elements
  int dimensions = 0;          // 0: linear memory
  uint64_t texel_bytes = 0;
  bool floating = false;  // reads give floats
  std::atomic<bool> destroyed{false};
  mutable std::atomic<uint64_t> checked{
      0};  // memory::version() when the memory was last seen to be there
};

// Keeps a texture, whose number it gives and returns; 0 where there are too many.
cudaTextureObject_t add_texture(Texture* texture);
// The texture of that number, destroyed ones too; nullptr where there never was one.
Texture* find_texture(cudaTextureObject_t object);

// The four channels of a read, one of which `texture.floating` tells.
struct Channels {
  float floats[4];
  int64_t integers[4];
};
// The element at `x`; zeros outside of the memory.
Channels fetch(const Texture& texture, int64_t x);
// At the coordinates, one for each dimension: filtered, and treated at the edges, as the texture says.
Channels read(const Texture& texture, const float (&coordinates)[2]);

}  // namespace simt::textures
