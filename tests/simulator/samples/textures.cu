// Textures as teaching programs read them: linear memory, pitched memory and CUDA arrays of one and two dimensions,
// filtered and not, with every way of treating the edge. Each value is compared with what the CUDA programming guide
// says of it.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static int failures = 0;

static void check(bool right, const char* what, int line) {
  if (right) return;
  ++failures;
  std::printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define CALL(call) check((call) == cudaSuccess, #call, __LINE__)

// ---- linear memory

__global__ void fetch(cudaTextureObject_t texture, float* out, int first, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(texture, first + i);
}
__global__ void fetch_pixels(cudaTextureObject_t texture, uchar4* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<uchar4>(texture, i);
}
__global__ void fetch_fractions(cudaTextureObject_t texture, float4* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float4>(texture, i);
}

static cudaTextureDesc plain() {
  cudaTextureDesc how;
  std::memset(&how, 0, sizeof(how));
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModePoint;
  how.readMode = cudaReadModeElementType;
  return how;
}

static void linear_memory() {
  const int n = 300;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = 0.5f * i;
  float *in = nullptr, *out = nullptr;
  CALL(cudaMalloc(&in, n * sizeof(float)));
  CALL(cudaMalloc(&out, n * sizeof(float)));
  CALL(cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof(resource));
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = in;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = n * sizeof(float);
  const cudaTextureDesc how = plain();
  cudaTextureObject_t texture = 0;
  CALL(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  fetch<<<2, 160>>>(texture, out, -10, n);  // ten elements before the beginning
  std::vector<float> seen(n);
  CALL(cudaMemcpy(seen.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(seen[i] == (i < 10 ? 0.0f : 0.5f * (i - 10)));
  fetch<<<2, 160>>>(texture, out, 10, n);  // and behind the end
  CALL(cudaMemcpy(seen.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(seen[i] == (i + 10 < n ? 0.5f * (i + 10) : 0.0f));

  // What is written between two launches is seen.
  CALL(cudaMemset(in, 0, n * sizeof(float)));
  fetch<<<2, 160>>>(texture, out, 10, n);
  CALL(cudaMemcpy(seen.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(seen[i] == 0);
  CALL(cudaDestroyTextureObject(texture));
  CALL(cudaFree(in));
  CALL(cudaFree(out));
}

static void bytes() {
  const int n = 16;
  std::vector<uchar4> host(n);
  for (int i = 0; i < n; ++i) host[i] = make_uchar4(i, 2 * i, 255 - i, 255);
  uchar4 *in = nullptr, *out = nullptr;
  float4* fractions = nullptr;
  CALL(cudaMalloc(&in, n * sizeof(uchar4)));
  CALL(cudaMalloc(&out, n * sizeof(uchar4)));
  CALL(cudaMalloc(&fractions, n * sizeof(float4)));
  CALL(cudaMemcpy(in, host.data(), n * sizeof(uchar4), cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = in;
  resource.res.linear.desc = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
  resource.res.linear.sizeInBytes = n * sizeof(uchar4);
  cudaTextureDesc how = plain();
  cudaTextureObject_t elements = 0, normalized = 0;
  CALL(cudaCreateTextureObject(&elements, &resource, &how, nullptr));
  how.readMode = cudaReadModeNormalizedFloat;
  CALL(cudaCreateTextureObject(&normalized, &resource, &how, nullptr));
  fetch_pixels<<<1, 32>>>(elements, out, n);
  fetch_fractions<<<1, 32>>>(normalized, fractions, n);
  std::vector<uchar4> seen(n);
  std::vector<float4> parts(n);
  CALL(cudaMemcpy(seen.data(), out, n * sizeof(uchar4), cudaMemcpyDeviceToHost));
  CALL(cudaMemcpy(parts.data(), fractions, n * sizeof(float4), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    CHECK(seen[i].x == i && seen[i].y == 2 * i && seen[i].z == 255 - i && seen[i].w == 255);
    CHECK(std::fabs(parts[i].y - 2 * i / 255.0f) < 1e-6f && parts[i].w == 1.0f);
  }
  cudaDestroyTextureObject(elements);
  cudaDestroyTextureObject(normalized);
  cudaFree(in);
  cudaFree(out);
  cudaFree(fractions);
}

// ---- one dimension: filters and edges

__global__ void line(cudaTextureObject_t texture, const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1D<float>(texture, x[i]);
}

static std::vector<float> read_line(cudaArray_t array, cudaTextureDesc how,
                                    const std::vector<float>& x) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t texture = 0;
  CALL(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  float *places = nullptr, *out = nullptr;
  const size_t size = x.size() * sizeof(float);
  CALL(cudaMalloc(&places, size));
  CALL(cudaMalloc(&out, size));
  CALL(cudaMemcpy(places, x.data(), size, cudaMemcpyHostToDevice));
  line<<<1, 64>>>(texture, places, out, static_cast<int>(x.size()));
  std::vector<float> seen(x.size());
  CALL(cudaMemcpy(seen.data(), out, size, cudaMemcpyDeviceToHost));
  cudaFree(places);
  cudaFree(out);
  cudaDestroyTextureObject(texture);
  return seen;
}

static void edges_and_filters() {
  const float values[] = {10, 20, 30, 40};
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CALL(cudaMallocArray(&array, &format, 4));
  CALL(cudaMemcpyToArray(array, 0, 0, values, sizeof(values), cudaMemcpyHostToDevice));
  cudaTextureDesc how = plain();
  using List = std::vector<float>;
  CHECK(read_line(array, how, {-5, 0, 0.99f, 1, 3.5f, 4, 9}) == (List{10, 10, 10, 20, 40, 40, 40}));
  how.addressMode[0] = cudaAddressModeBorder;
  CHECK(read_line(array, how, {-0.1f, 0, 3.9f, 4}) == (List{0, 10, 40, 0}));
  how.addressMode[0] = cudaAddressModeWrap;  // without normalized coordinates this is clamping
  CHECK(read_line(array, how, {-1, 4.5f}) == (List{10, 40}));
  how.normalizedCoords = 1;
  CHECK(read_line(array, how, {-0.25f, 0, 0.5f, 1.0f, 1.25f, 2.6f}) ==
        (List{40, 10, 30, 10, 20, 30}));
  how.addressMode[0] = cudaAddressModeMirror;
  CHECK(read_line(array, how, {-0.1f, -0.3f, 1.1f, 1.3f, 2.1f}) == (List{10, 20, 40, 30, 10}));
  how.addressMode[0] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.normalizedCoords = 0;
  // Element i is at i + 0.5; between two of them the fraction has 8 bits.
  CHECK(read_line(array, how, {0.5f, 1, 1.5f, 2.25f, 0, 4}) == (List{10, 15, 20, 27.5f, 10, 40}));
  CHECK(read_line(array, how, {0.5f + 1 / 256.0f, 0.5f + 1.25f / 256, 0.5f + 1.75f / 256}) ==
        (List{10 + 10 / 256.0f, 10 + 10 / 256.0f, 10 + 20 / 256.0f}));
  how.addressMode[0] = cudaAddressModeBorder;
  CHECK(read_line(array, how, {0, 4}) == (List{5, 20}));
  how.addressMode[0] = cudaAddressModeWrap;
  how.normalizedCoords = 1;
  CHECK(read_line(array, how, {0, 1}) == (List{25, 25}));
  cudaFreeArray(array);
}

// ---- two dimensions

__global__ void plane(cudaTextureObject_t texture, float* out, int width, int height, float dx,
                      float dy) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, x + dx, y + dy);
}

// The five points of the heat equation, with the edges clamped.
__global__ void heat(cudaTextureObject_t in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float centre = tex2D<float>(in, x, y);
  const float around = tex2D<float>(in, x, y - 1) + tex2D<float>(in, x - 1, y) +
                       tex2D<float>(in, x + 1, y) + tex2D<float>(in, x, y + 1);
  out[y * width + x] = centre + 0.25f * (around - 4 * centre);
}

static void planes() {
  const int width = 37, height = 19;
  std::vector<float> host(width * height), seen(width * height);
  for (int i = 0; i < width * height; ++i) host[i] = static_cast<float>(i * 7 % 23);
  const auto at = [&](int x, int y) {
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return host[y * width + x];
  };
  const size_t row = width * sizeof(float);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CALL(cudaMallocArray(&array, &format, width, height));
  CALL(cudaMemcpy2DToArray(array, 0, 0, host.data(), row, row, height, cudaMemcpyHostToDevice));
  float *pitched = nullptr, *out = nullptr;
  size_t pitch = 0;
  CALL(cudaMallocPitch(&pitched, &pitch, row, height));
  CALL(cudaMemcpy2D(pitched, pitch, host.data(), row, row, height, cudaMemcpyHostToDevice));
  CALL(cudaMalloc(&out, host.size() * sizeof(float)));
  const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);

  for (const bool is_array : {true, false}) {
    cudaResourceDesc resource = {};
    if (is_array) {
      resource.resType = cudaResourceTypeArray;
      resource.res.array.array = array;
    } else {
      resource.resType = cudaResourceTypePitch2D;
      resource.res.pitch2D.devPtr = pitched;
      resource.res.pitch2D.desc = format;
      resource.res.pitch2D.width = width;
      resource.res.pitch2D.height = height;
      resource.res.pitch2D.pitchInBytes = pitch;
    }
    cudaTextureDesc how = plain();
    cudaTextureObject_t points = 0, linear = 0;
    CALL(cudaCreateTextureObject(&points, &resource, &how, nullptr));
    how.filterMode = cudaFilterModeLinear;
    CALL(cudaCreateTextureObject(&linear, &resource, &how, nullptr));
    plane<<<grid, block>>>(linear, out, width, height, 1.0f, 0.75f);
    CALL(cudaMemcpy(seen.data(), out, seen.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const float expected =
            0.375f * (at(x, y) + at(x + 1, y)) + 0.125f * (at(x, y + 1) + at(x + 1, y + 1));
        CHECK(std::fabs(seen[y * width + x] - expected) < 1e-5f);
      }
    }
    heat<<<grid, block>>>(points, out, width, height);
    CALL(cudaMemcpy(seen.data(), out, seen.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const float around = at(x, y - 1) + at(x - 1, y) + at(x + 1, y) + at(x, y + 1);
        CHECK(seen[y * width + x] == at(x, y) + 0.25f * (around - 4 * at(x, y)));
      }
    }
    cudaDestroyTextureObject(points);
    cudaDestroyTextureObject(linear);
  }

  cudaFreeArray(array);
  cudaFree(pitched);
  cudaFree(out);
}

int main() {
  linear_memory();
  bytes();
  edges_and_filters();
  planes();
  check(cudaDeviceSynchronize() == cudaSuccess, "the device", __LINE__);
  std::printf("textures: %s\n", failures ? "FAILED" : "ok");
  return failures ? 1 : 0;
}
