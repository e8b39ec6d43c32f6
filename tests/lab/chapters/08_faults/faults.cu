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
#include <vector>

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
  lab::Chapter chapter(argc, argv);
  chapter.require(chapter.size().n <= 1 << 28, "n is at most 268435456 here");
  const int n = static_cast<int>(chapter.size().n);
  const int blocks = lab::ceil_div(n, 256);

  const auto host_a = lab::random_floats(chapter.size().n, chapter.seed());
  const auto host_b = lab::random_floats(chapter.size().n, chapter.seed() + 1);
  std::vector<float> sums(host_a.size()), chains(host_a.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = host_a[i] + host_b[i];
    chains[i] = host_a[i];
    for (int step = 0; step < 8; ++step) chains[i] = fmaf(chains[i], 0.5f, 1.0f);
  }

  const std::size_t guard = 4096;  // on the simulator, too
  lab::DeviceBuffer<float> a(host_a, "a", guard), b(host_b, "b", guard),
      c(host_a.size(), "c", guard);
  lab::DeviceBuffer<float> copy(host_a.size(), "copy", guard);
  lab::DeviceBuffer<float> tight(host_a.size(), "tight", 0);
  int launches = 0;

  const auto add_all = [&] { add<<<blocks, 256>>>(a.data(), b.data(), c.data(), n); };
  const auto add_rung = [&](const char* name, std::function<void()> launch) {
    return lab::Rung{.name = name,
                     .launch = std::move(launch),
                     .verify = [&] { return lab::compare(c.download(), sums); },
                     .bytes = 12.0 * n,
                     .limit = lab::Limit::copy,
                     .outputs = {&c}};
  };

  chapter.peer({.name = "cudaMemcpy",
                .launch =
                    [&] {
                      CUDA_CHECK(cudaMemcpyAsync(copy.data(), a.data(), a.size_bytes(),
                                                 cudaMemcpyDeviceToDevice));
                    },
                .bytes = 8.0 * n,
                .verify = [&] { return lab::compare(copy.download(), host_a); },
                .outputs = {&copy}});

  lab::Rung right = add_rung("right", add_all);
  right.peer = "cudaMemcpy";
  right.show = [] { std::printf("shown\n"); };
  chapter.add(right);
  chapter.add({.name = "chain",
               .launch = [&] { multiply_add<<<blocks, 256>>>(a.data(), c.data(), n); },
               .verify = [&] { return lab::compare(c.download(), chains); },
               .flops = 16.0 * n,
               .limit = lab::Limit::fp32,
               .outputs = {&c}});
  chapter.add(
      add_rung("not_a_number", [&] { add_all(), poke<<<1, 32>>>(c.data(), n / 2, nanf("")); }));
  chapter.add(add_rung("one_wrong", [&] { add_all(), poke<<<1, 32>>>(c.data(), n - 1, 9.0f); }));
  chapter.add(
      add_rung("unwritten", [&] { add<<<blocks, 256>>>(a.data(), b.data(), c.data(), n - 1); }));
  chapter.add(add_rung("past_the_end", [&] { add_all(), poke<<<1, 32>>>(c.data(), n, 9.0f); }));
  chapter.add(add_rung("right_once", [&] {
    add<<<blocks, 256>>>(a.data(), b.data(), c.data(), ++launches == 1 ? n : n - 1);
  }));
  lab::Rung blind = add_rung("blind", add_all);
  blind.verify = [] { return lab::verdict(true, ""); };
  chapter.add(blind);
  lab::Rung friendless = add_rung("friendless", add_all);
  friendless.peer = "nobody";
  chapter.add(friendless);
  chapter.add(add_rung("big_block", [&] { add<<<1, 2048>>>(a.data(), b.data(), c.data(), n); }));
  chapter.add(add_rung("future", add_all));
  chapter.demonstrate("demonstration", [&] { poke<<<1, 32>>>(tight.data(), n, 1.0f); });
  chapter.add(
      add_rung("far_outside", [&] { add_all(), poke<<<1, 32>>>(c.data(), 1L << 44, 1.0f); }));
  chapter.add(add_rung("after", add_all));
  return chapter.run();
}
