// Bodies that attract each other: positions go through shared memory tile by tile, the mass in the fourth
// component. Energy is kept by a symplectic step, and the forces are those of a double loop on the host.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int kBlock = 64;
constexpr float kSoftening = 1e-2f;

__device__ float3 attract(float3 acceleration, float4 me, float4 other) {
  const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening);
  const float s = other.w * inverse * inverse * inverse;
  return make_float3(acceleration.x + s * dx, acceleration.y + s * dy, acceleration.z + s * dz);
}

__global__ void __launch_bounds__(kBlock)
    step(const float4* __restrict__ from, float4* __restrict__ to, float3* velocity, int n,
         float dt) {
  __shared__ float4 tile[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const float4 me = i < n ? from[i] : make_float4(0, 0, 0, 0);
  float3 acceleration = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += kBlock) {
    const int other = first + threadIdx.x;
    tile[threadIdx.x] = other < n ? from[other] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < kBlock; ++j) acceleration = attract(acceleration, me, tile[j]);
    __syncthreads();
  }
  if (i >= n) return;
  float3 v = velocity[i];
  v = make_float3(v.x + dt * acceleration.x, v.y + dt * acceleration.y, v.z + dt * acceleration.z);
  velocity[i] = v;
  to[i] = make_float4(me.x + dt * v.x, me.y + dt * v.y, me.z + dt * v.z, me.w);
}

int main() {
  const int n = 200;
  const float dt = 0.001f;
  std::vector<float4> bodies(n);
  for (int i = 0; i < n; ++i) {
    const auto part = [i](int prime) { return static_cast<float>(i * prime % 199) / 100.0f - 1; };
    bodies[i] = make_float4(part(7), part(31), part(113), 0.5f + i % 3);
  }
  float4 *from, *to;
  float3* velocity;
  cudaMalloc(&from, n * sizeof(float4));
  cudaMalloc(&to, n * sizeof(float4));
  cudaMalloc(&velocity, n * sizeof(float3));
  cudaMemcpy(from, bodies.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
  cudaMemset(velocity, 0, n * sizeof(float3));
  step<<<(n + kBlock - 1) / kBlock, kBlock>>>(from, to, velocity, n, dt);
  std::vector<float4> moved(n);
  cudaMemcpy(moved.data(), to, n * sizeof(float4), cudaMemcpyDeviceToHost);

  bool right = cudaGetLastError() == cudaSuccess;
  for (int i = 0; i < n; ++i) {
    double a[3] = {0, 0, 0};
    for (int j = 0; j < n; ++j) {
      const double d[3] = {double(bodies[j].x) - bodies[i].x, double(bodies[j].y) - bodies[i].y,
                           double(bodies[j].z) - bodies[i].z};
      const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + kSoftening;
      for (int k = 0; k < 3; ++k) a[k] += bodies[j].w * d[k] / (r2 * std::sqrt(r2));
    }
    const double want = bodies[i].x + double(dt) * dt * a[0];
    right = right && std::fabs(moved[i].x - want) < 1e-5 && moved[i].w == bodies[i].w;
  }
  std::printf("nbody: %s\n", right ? "ok" : "FAILED");
  cudaFree(from);
  cudaFree(to);
  cudaFree(velocity);
  return right ? 0 : 1;
}
