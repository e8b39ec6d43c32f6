// Surfaces: what kernels write into CUDA arrays of one to three dimensions, plain and in layers, beyond the edges as each
// boundary mode has it, and what textures and copies read of it afterwards. Each value is compared with what the CUDA
// programming guide says of it.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

static int failures = 0;

static void check(bool right, const char* what, int line) {
  if (right) return;
  ++failures;
  std::printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define CALL(call) check((call) == cudaSuccess, #call, __LINE__)

static cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

class Surface {
 public:
  explicit Surface(cudaArray_t array) {
    const cudaResourceDesc resource = resource_of(array);
    CALL(cudaCreateSurfaceObject(&object_, &resource));
  }
  ~Surface() { CALL(cudaDestroySurfaceObject(object_)); }
  cudaSurfaceObject_t object() const { return object_; }

 private:
  cudaSurfaceObject_t object_ = 0;
};

static cudaTextureObject_t texture_of(cudaArray_t array) {
  const cudaResourceDesc resource = resource_of(array);
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
  cudaTextureObject_t texture = 0;
  CALL(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

// ---- two dimensions: an image turned upside down, written by one kernel and read as a texture by another

__global__ void flip(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  uchar4 pixel;
  surf2Dread(&pixel, in, x * static_cast<int>(sizeof(pixel)), y);
  pixel.w = 255;
  surf2Dwrite(pixel, out, x * static_cast<int>(sizeof(pixel)), height - 1 - y);
}

__global__ void read_pixels(cudaTextureObject_t texture, uchar4* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<uchar4>(texture, x + 0.5f, y + 0.5f);
}

static bool is_flipped(uchar4 seen, int x, int y) {
  return seen.x == x && seen.y == y && seen.z == x + y && seen.w == 255;
}

static void images() {
  const int width = 45, height = 21;
  const size_t row = width * sizeof(uchar4);
  std::vector<uchar4> host(width * height), seen(width * height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) host[y * width + x] = make_uchar4(x, y, x + y, 0);
  }
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t in = nullptr, out = nullptr;
  CALL(cudaMallocArray(&in, &format, width, height, cudaArraySurfaceLoadStore));
  CALL(cudaMallocArray(&out, &format, width, height, cudaArraySurfaceLoadStore));
  CALL(cudaMemcpy2DToArray(in, 0, 0, host.data(), row, row, height, cudaMemcpyHostToDevice));
  const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
  const Surface from(in), to(out);
  flip<<<grid, block>>>(from.object(), to.object(), width, height);
  CALL(cudaMemcpy2DFromArray(seen.data(), row, out, 0, 0, row, height, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) CHECK(is_flipped(seen[(height - 1 - y) * width + x], x, y));
  }

  uchar4* pixels = nullptr;
  CALL(cudaMalloc(&pixels, row * height));
  const cudaTextureObject_t texture = texture_of(out);
  read_pixels<<<grid, block>>>(texture, pixels, width, height);
  CALL(cudaMemcpy(seen.data(), pixels, row * height, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) CHECK(is_flipped(seen[(height - 1 - y) * width + x], x, y));
  }
  CALL(cudaDestroyTextureObject(texture));
  CALL(cudaFree(pixels));
  CALL(cudaFreeArray(in));
  CALL(cudaFreeArray(out));
}

// ---- one dimension: beyond the edges

__global__ void around(cudaSurfaceObject_t line, float* zeros, float* nearest, int n) {
  const int i = threadIdx.x, x = (i - 2) * static_cast<int>(sizeof(float));
  if (i >= n + 4) return;
  zeros[i] = surf1Dread<float>(line, x, cudaBoundaryModeZero);
  nearest[i] = surf1Dread<float>(line, x, cudaBoundaryModeClamp);
}

__global__ void write_around(cudaSurfaceObject_t line, int n) {
  const int i = threadIdx.x;
  if (i < n + 4) surf1Dwrite(100.0f + i, line, (i - 2) * 4, cudaBoundaryModeZero);
}

static void edges() {
  const int n = 8;
  const float host[n] = {1, 2, 3, 4, 5, 6, 7, 8};
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CALL(cudaMallocArray(&array, &format, n, 0, cudaArraySurfaceLoadStore));
  CALL(cudaMemcpy2DToArray(array, 0, 0, host, sizeof(host), sizeof(host), 1,
                           cudaMemcpyHostToDevice));
  float* out = nullptr;
  CALL(cudaMalloc(&out, 2 * (n + 4) * sizeof(float)));
  const Surface line(array);
  around<<<1, 32>>>(line.object(), out, out + n + 4, n);
  float seen[2 * (n + 4)] = {};
  CALL(cudaMemcpy(seen, out, sizeof(seen), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n + 4; ++i) {
    const bool is_inside = i >= 2 && i < n + 2;
    CHECK(seen[i] == (is_inside ? host[i - 2] : 0));
    CHECK(seen[n + 4 + i] == host[i < 2 ? 0 : i >= n + 2 ? n - 1 : i - 2]);
  }
  write_around<<<1, 32>>>(line.object(), n);
  float back[n] = {};
  CALL(cudaMemcpy2DFromArray(back, sizeof(back), array, 0, 0, sizeof(back), 1,
                             cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) CHECK(back[i] == 102.0f + i);
  CALL(cudaFree(out));
  CALL(cudaFreeArray(array));
}

// ---- three dimensions, and layers

template <bool layered>
__global__ void fill(cudaSurfaceObject_t surface, int width, int height) {
  const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  if (x >= width || y >= height) return;
  const float value = 10000 * z + 100 * y + x;
  if (layered)
    surf2DLayeredwrite(value, surface, x * 4, y, z);
  else
    surf3Dwrite(value, surface, x * 4, y, z);
}
template <bool layered>
__global__ void add_one(cudaSurfaceObject_t surface, cudaTextureObject_t texture, float* out,
                        int width, int height) {
  const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  if (x >= width || y >= height) return;
  const float read = layered ? surf2DLayeredread<float>(surface, x * 4, y, z)
                             : surf3Dread<float>(surface, x * 4, y, z);
  const float fetched = layered ? tex2DLayered<float>(texture, x + 0.5f, y + 0.5f, z)
                                : tex3D<float>(texture, x + 0.5f, y + 0.5f, z + 0.5f);
  out[(z * height + y) * width + x] = read == fetched ? read + 1 : -1;
}

template <bool layered>
static void volumes() {
  const int width = 13, height = 7, depth = 5;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(width, height, depth);
  cudaArray_t array = nullptr;
  CALL(cudaMalloc3DArray(&array, &format, extent,
                         cudaArraySurfaceLoadStore | (layered ? cudaArrayLayered : 0)));
  const Surface surface(array);
  fill<layered><<<depth, dim3(16, 8)>>>(surface.object(), width, height);
  const cudaTextureObject_t texture = texture_of(array);
  float* out = nullptr;
  std::vector<float> seen(width * height * depth);
  CALL(cudaMalloc(&out, seen.size() * sizeof(float)));
  add_one<layered><<<depth, dim3(16, 8)>>>(surface.object(), texture, out, width, height);
  CALL(cudaMemcpy(seen.data(), out, seen.size() * sizeof(float), cudaMemcpyDeviceToHost));
  std::vector<float> copied(seen.size());
  cudaMemcpy3DParms copy = {};
  copy.srcArray = array;
  copy.dstPtr = make_cudaPitchedPtr(copied.data(), width * sizeof(float), width, height);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CALL(cudaMemcpy3D(&copy));
  for (int i = 0; i < width * height * depth; ++i) {
    const int x = i % width, y = i / width % height, z = i / (width * height);
    CHECK(copied[i] == 10000 * z + 100 * y + x && seen[i] == copied[i] + 1);
  }
  CALL(cudaDestroyTextureObject(texture));
  CALL(cudaFree(out));
  CALL(cudaFreeArray(array));
}

__global__ void fill_lines(cudaSurfaceObject_t lines, int width) {
  const int x = threadIdx.x, layer = blockIdx.x;
  if (x >= width) return;
  const int2 value = make_int2(x, layer);
  surf1DLayeredwrite(value, lines, x * static_cast<int>(sizeof(value)), layer);
}
__global__ void read_lines(cudaSurfaceObject_t lines, cudaTextureObject_t texture, int* right,
                           int width) {
  const int x = threadIdx.x, layer = blockIdx.x;
  if (x >= width) return;
  const int2 read = surf1DLayeredread<int2>(lines, x * 8, layer);
  const int2 fetched = tex1DLayered<int2>(texture, x + 0.5f, layer);
  if (read.x == x && read.y == layer && fetched.x == x && fetched.y == layer) atomicAdd(right, 1);
}

static void lines() {
  const int width = 20, layers = 3;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int2>();
  cudaArray_t array = nullptr;
  CALL(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, 0, layers),
                         cudaArraySurfaceLoadStore | cudaArrayLayered));
  const Surface surface(array);
  const cudaTextureObject_t texture = texture_of(array);
  int* right = nullptr;
  CALL(cudaMalloc(&right, sizeof(int)));
  CALL(cudaMemset(right, 0, sizeof(int)));
  fill_lines<<<layers, 32>>>(surface.object(), width);
  read_lines<<<layers, 32>>>(surface.object(), texture, right, width);
  int seen = 0;
  CALL(cudaMemcpy(&seen, right, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(seen == width * layers);
  CALL(cudaDestroyTextureObject(texture));
  CALL(cudaFree(right));
  CALL(cudaFreeArray(array));
}

// An array that was not made for surfaces takes none.
static void refused() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CALL(cudaMallocArray(&array, &format, 8, 8));
  const cudaResourceDesc resource = resource_of(array);
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource) == cudaErrorInvalidValue);
  cudaGetLastError();
  CALL(cudaFreeArray(array));
}

int main() {
  images();
  edges();
  volumes<false>();
  volumes<true>();
  lines();
  refused();
  check(cudaDeviceSynchronize() == cudaSuccess, "the device", __LINE__);
  std::printf("surfaces: %s\n", failures ? "FAILED" : "ok");
  return failures ? 1 : 0;
}
