#include <algorithm>
#include <string>

#include "menu.h"
#include "ws.cuh"

namespace any_shape {
template <class T, bool A_K, bool B_K>
cudaError_t run_ws(const Product& g, bool two, float* partials, int* ready, cudaStream_t stream) {
  const ws::Plan plan(g.m, g.n, g.k, T::BM, T::BN, 132, share);
  return start(ws::shares<T, A_K, B_K>, 132, ws::block_threads, T::shared_bytes, 1, stream, g, plan, partials, ready);
}
template <class T>
cudaError_t by_layout(const Product& g, bool a_k, bool b_k, bool two, float* partials, int* ready, cudaStream_t stream) {
  if (a_k)
    return b_k ? run_ws<T, true, true>(g, two, partials, ready, stream)
               : run_ws<T, true, false>(g, two, partials, ready, stream);
  return b_k ? run_ws<T, false, true>(g, two, partials, ready, stream)
             : run_ws<T, false, false>(g, two, partials, ready, stream);
}
cudaError_t WS_NAME(const Product& g, bool a_k, bool b_k, bool two, float* partials, int* ready, cudaStream_t stream) {
  return by_layout<ws::WS_TILE>(g, a_k, b_k, two, partials, ready, stream);
}
}  // namespace any_shape
