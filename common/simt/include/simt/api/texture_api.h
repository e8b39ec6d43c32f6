/// \file
/// Textures and CUDA arrays: the functions of the runtime API. cuda_runtime_api.h includes this.
#pragma once

#include <driver_types.h>
#include <simt/api/texture_types.h>

/// An array of `width` elements, or of `height` rows of them. It takes memory of the device, which no pointer reaches.
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height = 0, unsigned flags = 0);
cudaError_t cudaFreeArray(cudaArray_t array);

// Copies; `x` and `width` in bytes, `y` and `height` in rows.
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t size,
                              cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr);

/// `view` must be nullptr: views are not simulated, nor are sRGB and mipmaps.
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const struct cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
