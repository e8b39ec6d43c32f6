// # Chapter 08: Faults
//
// Question: What comes of a rung that has something wrong with it?
// Builds on: nothing
// Size gpu: 16777216
// Size simulator: 1000
// Run: ./learn run 08
//   ./learn run 08 --rung right          a sum
//   ./learn run 08 --rung chain          8 fused multiply-adds an element
//   ./learn run 08 --rung not_a_number   one element is a NaN
//   ./learn run 08 --rung one_wrong      the last element is wrong
//   ./learn run 08 --rung unwritten      nobody writes the last element
//   ./learn run 08 --rung past_the_end   a store behind the last element
//   ./learn run 08 --rung right_once     wrong from the second launch on
//   ./learn run 08 --rung blind          a check that cannot fail
//   ./learn run 08 --rung friendless     its peer is not there
//   ./learn run 08 --rung big_block      blocks of 2048 threads
//   ./learn run 08 --rung future         for a GPU to come      [needs sm_990]
//   ./learn run 08 --rung absent         registered by nothing  [needs cub]
//   ./learn run 08 --rung demonstration  a store behind the end [raises out-of-bounds]
//   ./learn run 08 --rung far_outside    a store far outside
//   ./learn run 08 --rung after          what comes after it

#include <cstdio>

#include "lab/lab.h"

namespace {

/// c[i] = a[i] + b[i] for i below n.
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) c[i] = a[i] + b[i];
}

/// c[at] = value.
__global__ void poke(float* c, long at, float value) {
  if (threadIdx.x == 0) c[at] = value;
}

/// c[i] = a[i] after 8 fused multiply-adds.
__global__ void multiply_add(const float* a, float* c, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float x = a[i];
  for (int step = 0; step < 8; ++step) x = fmaf(x, 0.5f, 1.0f);
  c[i] = x;
}

}  // namespace

int main(int argc, char** argv) {
  return lab::run(argc, argv, [](lab::Ladder& ladder, std::size_t size) {
    ladder.require(size <= 1 << 28, "n is at most 268435456 here");
    const int n = static_cast<int>(size);
    const int blocks = lab::ceil_div(n, 256);
    // Canaries on the simulator, too; and none where a store behind the end is to be found.
    const std::size_t guard = 4096;
    lab::DeviceBuffer<float> c(size, "c", guard), copy(size, "copy", guard),
        tight(size, "tight", 0);
    const lab::Input<float> a(size, lab::RandomValue<float>{ladder.seed()}, "a");
    const lab::Input<float> b(size, lab::RandomValue<float>{ladder.seed() + 1}, "b");
    const auto x = a.view(), y = b.view();
    int launches = 0;

    const auto add_first = [&](int count) {
      add<<<blocks, 256>>>(a.data(), b.data(), c.data(), count);
    };
    const auto then_poke = [&](long at, float value) {
      add_first(n), poke<<<1, 32>>>(c.data(), at, value);
    };
    lab::Rung sum{
        .outputs = {lab::expect(c, [=] __host__ __device__(std::size_t i) { return x[i] + y[i]; })},
        .bytes = 12.0 * n,
        .limit = lab::Limit::copy};
    const lab::Problem sums(ladder, sum);

    lab::Rung right = sum;
    right.name = "right";
    right.launch = [&] { add_first(n); };
    right.peer = {.name = "cudaMemcpy",
                  .launch =
                      [&] {
                        CUDA_CHECK(cudaMemcpyAsync(copy.data(), a.data(), a.size_bytes(),
                                                   cudaMemcpyDeviceToDevice));
                      },
                  .outputs = {lab::expect(copy, a)},
                  .bytes = 8.0 * n};
    right.show = [] { std::printf("shown\n"); };
    ladder.add(right);
    ladder.add({.name = "chain",
                .launch = [&] { multiply_add<<<blocks, 256>>>(a.data(), c.data(), n); },
                .outputs = {lab::expect(c,
                                        [=] __host__ __device__(std::size_t i) {
                                          float value = x[i];
                                          for (int k = 0; k < 8; ++k)
                                            value = fmaf(value, 0.5f, 1.0f);
                                          return value;
                                        })},
                .flops = 16.0 * n,
                .limit = lab::Limit::fp32});
    sums.add("not_a_number", [&] { then_poke(n / 2, nanf("")); });
    sums.add("one_wrong", [&] { then_poke(n - 1, 9.0f); });
    sums.add("unwritten", [&] { add_first(n - 1); });
    sums.add("past_the_end", [&] { then_poke(n, 9.0f); });
    sums.add("right_once", [&] { add_first(++launches == 1 ? n : n - 1); });
    ladder.add(
        {.name = "blind", .launch = right.launch, .outputs = {lab::on_the_way(c)}, .verify = [] {
           return lab::verdict(true, "");
         }});
    sum.name = "friendless";
    sum.launch = right.launch;
    sum.peer.name = "nobody";
    ladder.add(sum);
    sums.add("big_block", [&] { add<<<1, 2048>>>(a.data(), b.data(), c.data(), n); });
    sums.add("future", right.launch);
    ladder.demonstrate("demonstration", [&] { poke<<<1, 32>>>(tight.data(), n, 1.0f); });
    sums.add("far_outside", [&] { then_poke(1L << 44, 1.0f); });
    sums.add("after", right.launch);
  });
}
