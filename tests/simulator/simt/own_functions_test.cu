// A library built with warp_own_functions() runs its own inline functions, not a program's traced copies of them; what
// else C++ has in common to both stays so. libsimt.a is such a library: its hooks run on the stacks of lanes.
#include <gtest/gtest.h>
#include <simt/simt.h>

#include <typeinfo>

#include "own_functions.h"

// Device code to the compiler, as the simulator's hooks are: the library's sum of both.
extern "C" __device__ int own_sum(const own::Pair& pair);

namespace {

__global__ void add(const own::Pair* pair, int* out) { *out = own_sum(*pair); }

class OwnFunctions : public testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(simt::take_findings().empty()); }
};

TEST_F(OwnFunctions, OfTheLibraryAreNotTraced) {
  own::Pair* pair = nullptr;
  int* out = nullptr;
  cudaMallocManaged(&pair, sizeof(own::Pair));
  cudaMallocManaged(&out, sizeof(int));
  *pair = {3, 4};
  EXPECT_EQ(own::sum(*pair), 7);  // the program's copy, which is traced
  add<<<1, 1>>>(pair, out);
  cudaDeviceSynchronize();
  EXPECT_EQ(*out, 7);
  const simt::Counts counts = simt::launch(simt::launch_count() - 1).counts;
  EXPECT_EQ(counts.global_load_requests, 0u);
  EXPECT_EQ(counts.global_store_requests, 1u);
  cudaFree(pair);
  cudaFree(out);
}

TEST_F(OwnFunctions, ExceptionsAndTypesAreCommon) {
  EXPECT_THROW(own::refuse(), own::Refused);
  try {
    own::refuse();
  } catch (const std::exception& error) {
    EXPECT_EQ(typeid(error), typeid(own::Refused));
  }
  EXPECT_TRUE(own::is_square(own::Square()));
  EXPECT_FALSE(own::is_square(own::Shape()));
  EXPECT_EQ(own::corners(own::Square()), 4);
}

TEST_F(OwnFunctions, VariablesAreCommon) {
  EXPECT_EQ(own::variable(), &own::shared_variable);
  EXPECT_EQ(own::counter(), &own::shared_counter());
}

}  // namespace
