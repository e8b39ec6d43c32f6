/// \file
/// A layer of a convolutional network, and cuDNN as the peer of the chapter about them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

#include "lab/buffer.h"
#include "lab/expect.h"
#include "lab/ladder.h"

struct __nv_bfloat16;

namespace lab {

/// A convolution of N images with C channels of H x W pixels each: K filters of R x S taps over the C / groups channels
/// of their group make K channels of P x Q pixels. As in every framework, the filter is not mirrored.
///
/// Arrays are float: images (N, C, H, W), filters (K, C / groups, R, S), results (N, K, P, Q).
struct Convolution {
  int n, c, h, w, k, r, s;
  int stride = 1, pad = 0, dilation = 1, groups = 1;

  __host__ __device__ int p() const { return (h + 2 * pad - dilation * (r - 1) - 1) / stride + 1; }
  __host__ __device__ int q() const { return (w + 2 * pad - dilation * (s - 1) - 1) / stride + 1; }
  /// Products that make one result.
  __host__ __device__ int terms() const { return c / groups * r * s; }
  /// Results of one filter.
  __host__ __device__ std::size_t pixels() const { return std::size_t(n) * p() * q(); }
  __host__ __device__ std::size_t inputs() const { return std::size_t(n) * c * h * w; }
  __host__ __device__ std::size_t weights() const { return std::size_t(k) * terms(); }
  __host__ __device__ std::size_t outputs() const { return pixels() * k; }
  /// Operations of the direct sum, by which rates are given whatever the algorithm.
  double flops() const { return 2.0 * static_cast<double>(outputs()) * terms(); }
  /// Bytes that must move: each array once.
  double bytes() const { return 4.0 * static_cast<double>(inputs() + weights() + outputs()); }
  /// What is wrong with it, in a line that says what is legal; empty where nothing is.
  std::string wrong() const;
};

/// The peer of that name: cuDNN's fastest algorithm for a layer in either layout of the images, NCHW or NHWC, on the FP32
/// pipes (`CUDNN_FMA_MATH`: no TF32). All algorithms that take the layer are timed when the peer is made, and those with a wrong result left out; the launch is a graph. For NHWC the
/// images are turned beforehand and the results afterwards, outside of the time. Where the build has no cuDNN the peer
/// says so.
///
/// \param out (N, K, P, Q): what a check looks at
/// \param right what has to be there
Peer cudnn(const std::string& name, const Convolution& layer, DeviceBuffer<float>& out,
           const float* in, const float* filter, const Expectation& right);
/// The same in BF16 on the tensor cores, sums in FP32, NHWC alone: images (N, H, W, C), filters (K, R, S, C / groups),
/// results (N, P, Q, K). Nothing is turned.
Peer cudnn(const std::string& name, const Convolution& layer, DeviceBuffer<__nv_bfloat16>& out,
           const __nv_bfloat16* in, const __nv_bfloat16* filter, const Expectation& right);

}  // namespace lab
