// The portable kernels of any.cuh on the simulator, on products that leave no tile whole:
//
//   build/simulator/bin/simtcc -std=c++20 -O1 tools/measure/any_shape/simulated.cu -o simulated && ./simulated
//
// Each result is compared with a sum in double precision; a race, a read out of bounds or of shared memory that nobody
// has written, or a barrier that some threads miss ends it with a finding. Exit code 0: all are right.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "any.cuh"

using namespace any_shape;

namespace {

int wrong_runs = 0;

/// A buffer in device memory, with the host's copy.
struct Matrix {
  std::vector<float> host;
  float* device = nullptr;
  Matrix(size_t floats, bool random) : host(floats, NAN) {
    unsigned state = 12345 + static_cast<unsigned>(floats);
    for (float& x : host) {
      state = state * 1664525 + 1013904223;
      if (random) x = static_cast<float>(static_cast<int>(state >> 21) - 1024) / 1024;
    }
    if (cudaMalloc(&device, floats * sizeof(float)) != cudaSuccess) std::abort();
    cudaMemcpy(device, host.data(), floats * sizeof(float), cudaMemcpyHostToDevice);
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { cudaFree(device); }
  void fetch() {
    cudaMemcpy(host.data(), device, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  }
};

struct Shape {
  int m, n, k, gap, offset;  // gap: floats behind each row; offset: from an aligned address
};

/// Room for partial sums and tickets, 0 as every launch leaves them.
struct Room {
  float4* partials;
  unsigned* tickets;
  Room() {
    cudaMalloc(&partials, 1 << 22);
    cudaMalloc(&tickets, 4096);
    cudaMemset(tickets, 0, 4096);
  }
  ~Room() { cudaFree(partials), cudaFree(tickets); }
};

/// Computes one product and compares. launch(product, room) launches it.
template <Lie A, Lie B, class Launch>
void check(const char* name, const Shape& s, Launch launch) {
  constexpr bool A_K = A == Lie::ALONG_K, B_K = B == Lie::ALONG_K;
  const size_t lda = static_cast<size_t>((A_K ? s.k : s.m) + s.gap),
               off = static_cast<size_t>(s.offset);
  const size_t ldb = static_cast<size_t>((B_K ? s.k : s.n) + s.gap),
               ldc = static_cast<size_t>(s.n + s.gap);
  Matrix a(off + lda * (A_K ? s.m : s.k), true), b(off + ldb * (B_K ? s.n : s.k), true);
  Matrix c(off + ldc * s.m, false);
  Room room;
  launch(Product{s.m, s.n, s.k, 2, a.device + off, lda, b.device + off, ldb, 0, c.device + off, ldc,
                 (off | ldc) % 4 == 0},
         room);
  c.fetch();
  std::vector<unsigned> tickets(1024);
  cudaMemcpy(tickets.data(), room.tickets, 4096, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (const unsigned ticket : tickets) wrong += ticket != 0;  // the next launch counts on it
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) {
      double sum = 0;
      for (int l = 0; l < s.k; ++l)
        sum += double(a.host[off + (A_K ? i * lda + l : l * lda + i)]) *
               b.host[off + (B_K ? j * ldb + l : l * ldb + j)];
      wrong += !(std::fabs(2 * sum - c.host[off + i * ldc + j]) < 1e-4);
    }
  }
  std::printf("%-12s %d x %d x %d: %s\n", name, s.m, s.n, s.k, wrong == 0 ? "right" : "WRONG");
  wrong_runs += wrong > 0 || cudaGetLastError() != cudaSuccess;
}

template <class T, Lie A, Lie B>
void one(const Shape& s, int outer, bool two_steps) {
  check<A, B>(
      outer == 1  ? "tiles"
      : two_steps ? "two steps"
                  : "tickets",
      s, [&](const Product& g, Room& room) {
        const Cut cut{1, outer, room.partials, two_steps ? nullptr : room.tickets};
        const unsigned all =
            static_cast<unsigned>(((s.m - 1) / T::BM + 1) * ((s.n - 1) / T::BN + 1));
        cudaFuncSetAttribute(tiles<Alone, T, A, B>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             T::bytes(outer > 1));
        tiles<Alone, T, A, B>
            <<<all* static_cast<unsigned>(outer), T::THREADS, T::bytes(outer > 1)>>>(g, cut);
        if (two_steps) add_parts<T::BM, T::BN><<<all*(T::BM * T::BN / 4 / 128), 128>>>(g, cut);
      });
}

template <class T, Lie A, Lie B>
void stream(const Shape& s, int blocks) {
  check<A, B>("stream_k", s, [&](const Product& g, Room& room) {
    const int all = ((s.m - 1) / T::BM + 1) * ((s.n - 1) / T::BN + 1), rest = all % blocks;
    const int cut = rest == 0 ? 0 : all < blocks ? rest : rest + blocks;
    const long long left = 1LL * cut * ((s.k - 1) / T::BK + 1);
    const Shares shares{all,
                        all - cut,
                        static_cast<int>(left % blocks),
                        left / blocks,
                        room.partials,
                        room.tickets,
                        room.tickets + blocks};
    cudaFuncSetAttribute(stream_k<T, A, B>, cudaFuncAttributeMaxDynamicSharedMemorySize, T::RING);
    stream_k<T, A, B><<<static_cast<unsigned>(blocks), T::THREADS, T::RING>>>(g, shares);
  });
}

/// Thin products: m rows; B lies along n or along k.
template <int MT, bool VEC>
void thin(const Shape& s, int outer) {
  const auto run = [&](auto along_k) {
    constexpr bool K = decltype(along_k)::value;
    check<Lie::ALONG_K, K ? Lie::ALONG_K : Lie::FLOATS>(
        K ? "thin_rows" : "thin_columns", s, [&](const Product& g, Room& room) {
          const Thin t{g.m, g.n,   g.k,    g.alpha, g.a,   g.lda, 1,
                       g.b, g.ldb, g.beta, g.c,     g.ldc, 1,     g.c_vec};
          const Cut cut{1, outer, room.partials, room.tickets};
          if constexpr (K) {
            constexpr int WK = MT > 8 ? 2 : 4;  // more chunks of x would not fit into 48 KiB
            thin_rows<Alone, MT, 4, 2, WK, VEC>
                <<<static_cast<unsigned>((s.n - 1) / 8 + 1) * outer, 64 * WK>>>(t, cut);
          } else {
            thin_columns<Alone, MT, 8, 8, VEC>
                <<<static_cast<unsigned>((s.n - 1) / 32 + 1) * outer, 256>>>(t, cut);
          }
        });
  };
  run(std::false_type{});
  run(std::true_type{});
}

}  // namespace

int main() {
  using Small = Tile<32, 32, 4, 4, 2, 1, 4, 8>;
  using Middle = Tile<64, 64, 8, 4, 2, 2, 4, 5>;
  using Large = Tile<128, 128, 8, 8, 4, 2, 4, 2>;
  one<Middle, Lie::ALONG_K, Lie::FOURS>({65, 68, 37, 4, 0}, 1, false);
  one<Middle, Lie::FLOATS, Lie::ALONG_K>({65, 70, 37, 3, 0}, 1, false);
  one<Middle, Lie::ALONG_K, Lie::ALONG_K>({63, 33, 129, 2, 1}, 3, false);
  one<Middle, Lie::FLOATS, Lie::FLOATS>({63, 33, 129, 2, 1}, 3, true);
  one<Large, Lie::ALONG_K, Lie::FLOATS>({129, 70, 20, 1, 0}, 1, false);
  one<Small, Lie::FOURS, Lie::FOURS>({36, 32, 3, 0, 0}, 1, false);
  one<Small, Lie::ALONG_K, Lie::FOURS>({33, 32, 0, 4, 0}, 1, false);
  stream<Middle, Lie::ALONG_K, Lie::FLOATS>({165, 170, 137, 3, 0}, 5);
  stream<Middle, Lie::FLOATS, Lie::ALONG_K>({65, 70, 137, 3, 0}, 7);
  stream<Small, Lie::FLOATS, Lie::FLOATS>({133, 131, 33, 3, 0}, 16);
  thin<1, false>({1, 70, 301, 1, 1}, 2);
  thin<4, true>({3, 36, 300, 4, 0}, 1);
  thin<16, false>({13, 21, 77, 0, 0}, 3);
  return wrong_runs > 0;
}
