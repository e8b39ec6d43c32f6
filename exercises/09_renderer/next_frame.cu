// # The next frame
//
// Kind: fill in
// Level: 2
// Minutes: 10
//
// The scenes of this chapter move, and the host makes each frame anew. `move` takes the circles one
// frame further where they lie. `place[i]` has the centre of circle i in x and y, its radius in z;
// w stays as it is. `velocity[i]` says how far it moves in a frame. Each thread has one circle:
//
// - gravity first: `velocity.y` falls by `gravity`, then the centre moves by the velocity;
// - a circle that then reaches below 0, y < radius, bounces: y becomes 2 * radius - y, and the sign
//   of `velocity.y` changes.
//
// Bar: a warp reads its 32 circles with 2 load requests and writes them with 2 store requests, for
// n = 4096

#include <cuda_runtime.h>

__global__ void move(float4* place, float2* velocity, int n, float gravity) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef SOLUTION
  float4 p = place[i];
  float2 v = velocity[i];
  v.y -= gravity;
  p.x += v.x;
  p.y += v.y;
  if (p.y < p.z) {
    p.y = 2 * p.z - p.y;
    v.y = -v.y;
  }
  place[i] = p;
  velocity[i] = v;
#else
  place[i].x += velocity[i].x;  // TODO: gravity, y, the bounce
#endif
}
