#include "menu.h"

namespace any_shape {
template <class T, bool A_K, bool B_K>
cudaError_t run(const Product& g, const Cut& cut, cudaStream_t stream) {
  const long long all = 1LL * ((g.m - 1) / T::BM + 1) * ((g.n - 1) / T::BN + 1);
  const int parts = cut.cluster * cut.outer;
  cudaError_t error =
      start(tiles<Cluster, T, A_K, B_K>, all * parts, T::THREADS, T::bytes(parts > 1), cut.cluster, stream, g, cut);
  if (error == cudaSuccess && cut.outer > 1 && cut.tickets == nullptr)
    error = start(add_parts<T::BM, T::BN>, (all * (T::BM * T::BN / 4) + 127) / 128, 128, 0, 1, stream, g, cut);
  return error;
}

template <class T, bool A_K, bool B_K>
cudaError_t run_stream(const Product& g, float4* partials, unsigned* ready, cudaStream_t stream) {
  const int blocks = 132 * T::BLOCKS, tiles = ((g.m - 1) / T::BM + 1) * ((g.n - 1) / T::BN + 1);
  const int rest = tiles % blocks, cut = rest == 0 ? 0 : tiles < blocks ? rest : rest + blocks;
  const long long left = 1LL * cut * ((g.k + T::BK - 1) / T::BK);
  const Shares s{tiles, tiles - cut, static_cast<int>(left % blocks), left / blocks, partials, ready + 64, ready};
  return start(stream_k<T, A_K, B_K>, blocks, T::THREADS, T::RING, 1, stream, g, s);
}

template <int INDEX>
cudaError_t launch_stream(const Product& g, bool a_k, bool b_k, float4* partials, unsigned* ready, cudaStream_t stream) {
  using T = std::tuple_element_t<INDEX, Tiles>;
  if constexpr (T::BM * T::BN < 8192) {
    return cudaErrorInvalidValue;
  } else {
    if (a_k)
      return b_k ? run_stream<T, true, true>(g, partials, ready, stream) : run_stream<T, true, false>(g, partials, ready, stream);
    return b_k ? run_stream<T, false, true>(g, partials, ready, stream) : run_stream<T, false, false>(g, partials, ready, stream);
  }
}
template cudaError_t launch_stream<TILE>(const Product&, bool, bool, float4*, unsigned*, cudaStream_t);

template <int INDEX>
cudaError_t launch(const Product& g, bool a_k, bool b_k, const Cut& cut, cudaStream_t stream) {
  using T = std::tuple_element_t<INDEX, Tiles>;
  if (a_k) return b_k ? run<T, true, true>(g, cut, stream) : run<T, true, false>(g, cut, stream);
  return b_k ? run<T, false, true>(g, cut, stream) : run<T, false, false>(g, cut, stream);
}
template cudaError_t launch<TILE>(const Product&, bool, bool, const Cut&, cudaStream_t);
}  // namespace any_shape
