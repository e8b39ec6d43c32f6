#include <algorithm>

#include "menu.h"
#include "ws.cuh"

namespace any_shape {
template <class T, Lie A, Lie B>
cudaError_t run_ws(const Product& g, bool two, float* partials, int* ready, cudaStream_t stream) {
  const ws::Plan plan(g.m, g.n, g.k, T::BM, T::BN, 132, two);
  return g.c_vec ? start(ws::shares<T, A, B, true>, 132, ws::block_threads, T::shared_bytes, 1,
                         stream, g, plan, partials, ready)
                 : start(ws::shares<T, A, B, false>, 132, ws::block_threads, T::shared_bytes, 1,
                         stream, g, plan, partials, ready);
}
template <bool BIG, Lie A>
cudaError_t launch_ws(const Product& g, Lie b, bool two, float* partials, int* ready,
                      cudaStream_t stream) {
  using T = std::conditional_t<BIG, ws::Large, ws::Small>;
  return b == Lie::ALONG_K ? run_ws<T, A, Lie::ALONG_K>(g, two, partials, ready, stream)
         : b == Lie::FOURS ? run_ws<T, A, Lie::FOURS>(g, two, partials, ready, stream)
                           : run_ws<T, A, Lie::FLOATS>(g, two, partials, ready, stream);
}
template cudaError_t launch_ws<LARGE, Lie::LIE>(const Product&, Lie, bool, float*, int*,
                                                cudaStream_t);
}  // namespace any_shape
