#include "menu.h"

namespace any_shape {
template <class T, Lie A, Lie B>
cudaError_t run(const Product& g, const Cut& cut, cudaStream_t stream) {
  const long long all = 1LL * ((g.m - 1) / T::BM + 1) * ((g.n - 1) / T::BN + 1);
  const int parts = cut.cluster * cut.outer;
  cudaError_t error = start(tiles<Cluster, T, A, B>, all * parts, T::THREADS, T::bytes(parts > 1),
                            cut.cluster, stream, g, cut);
  if (error == cudaSuccess && cut.outer > 1 && cut.tickets == nullptr)
    error = start(add_parts<T::BM, T::BN>, (all * (T::BM * T::BN / 4) + 127) / 128, 128, 0, 1,
                  stream, g, cut);
  return error;
}
template <int INDEX, Lie A>
cudaError_t launch_tile(const Product& g, Lie b, const Cut& cut, cudaStream_t stream) {
  using T = std::tuple_element_t<INDEX, Tiles>;
  return b == Lie::ALONG_K ? run<T, A, Lie::ALONG_K>(g, cut, stream)
         : b == Lie::FOURS ? run<T, A, Lie::FOURS>(g, cut, stream)
                           : run<T, A, Lie::FLOATS>(g, cut, stream);
}
template cudaError_t launch_tile<TILE, Lie::LIE>(const Product&, Lie, const Cut&, cudaStream_t);

template <class T, Lie A, Lie B>
cudaError_t run_stream(const Product& g, float4* partials, unsigned* ready, cudaStream_t stream) {
  const int blocks = 132 * T::BLOCKS, tiles = ((g.m - 1) / T::BM + 1) * ((g.n - 1) / T::BN + 1);
  const int rest = tiles % blocks, cut = rest == 0 ? 0 : tiles < blocks ? rest : rest + blocks;
  const long long left = 1LL * cut * ((g.k + T::BK - 1) / T::BK);
  const Shares s{tiles,      tiles - cut, static_cast<int>(left % blocks), left / blocks, partials,
                 ready + 64, ready};
  return start(stream_k<T, A, B>, blocks, T::THREADS, T::RING, 1, stream, g, s);
}
template <int INDEX, Lie A>
cudaError_t launch_stream(const Product& g, Lie b, float4* partials, unsigned* ready,
                          cudaStream_t stream) {
  using T = std::tuple_element_t<INDEX, Tiles>;
  return b == Lie::ALONG_K ? run_stream<T, A, Lie::ALONG_K>(g, partials, ready, stream)
         : b == Lie::FOURS ? run_stream<T, A, Lie::FOURS>(g, partials, ready, stream)
                           : run_stream<T, A, Lie::FLOATS>(g, partials, ready, stream);
}
#if TILE == 0 || TILE == 2
template cudaError_t launch_stream<TILE, Lie::LIE>(const Product&, Lie, float4*, unsigned*,
                                                   cudaStream_t);
#endif
}  // namespace any_shape
