// Every counting rule as a case. The figures are those measured on an H200.
#include <gtest/gtest.h>
#include <simt/counting.h>

#include <array>

namespace {

using simt::SharedAccess;

constexpr uint32_t kAll = ~0u;

template <class F>
std::array<uint64_t, 32> addresses(unsigned size, F index) {
  std::array<uint64_t, 32> result{};
  for (unsigned lane = 0; lane < 32; ++lane) result[lane] = uint64_t{index(lane)} * size;
  return result;
}

template <class F>
unsigned load_wavefronts(unsigned size, F index, uint32_t active = kAll) {
  return simt::count_wavefronts(addresses(size, index).data(), active, size, SharedAccess::load)
      .wavefronts;
}

template <class F>
unsigned sectors(unsigned size, F index, uint32_t active = kAll) {
  return simt::count_sectors(addresses(size, index).data(), active, size);
}

TEST(Sectors, ContiguousWordsFillThem) {
  EXPECT_EQ(sectors(1, [](unsigned t) { return t; }), 1u);
  EXPECT_EQ(sectors(2, [](unsigned t) { return t; }), 2u);
  EXPECT_EQ(sectors(4, [](unsigned t) { return t; }), 4u);
  EXPECT_EQ(sectors(8, [](unsigned t) { return t; }), 8u);
  EXPECT_EQ(sectors(16, [](unsigned t) { return t; }), 16u);
}

TEST(Sectors, StridesSpreadThem) {
  EXPECT_EQ(sectors(4, [](unsigned t) { return 2 * t; }), 8u);
  EXPECT_EQ(sectors(4, [](unsigned t) { return 8 * t; }), 32u);
  EXPECT_EQ(sectors(4, [](unsigned t) { return 1024 * t; }), 32u);
}

TEST(Sectors, AnOffsetCostsOneMore) {
  EXPECT_EQ(sectors(4, [](unsigned t) { return t + 1; }), 5u);
  EXPECT_EQ(sectors(4, [](unsigned t) { return t + 8; }), 4u);
}

TEST(Sectors, OrderDoesNotMatter) {
  EXPECT_EQ(sectors(4, [](unsigned t) { return 31 - t; }), 4u);
  EXPECT_EQ(sectors(4, [](unsigned t) { return t * 5 % 32; }), 4u);
  EXPECT_EQ(sectors(4, [](unsigned) { return 7u; }), 1u);
}

TEST(Sectors, OnlyActiveLanesCount) {
  EXPECT_EQ(sectors(
                4, [](unsigned t) { return 8 * t; }, 0x1),
            1u);
  EXPECT_EQ(sectors(
                4, [](unsigned t) { return 8 * t; }, 0xaaaaaaaa),
            16u);
  EXPECT_EQ(sectors(
                4, [](unsigned t) { return 8 * t; }, 0),
            0u);
}

TEST(AtomicSectors, LanesOfOneAddressTakeTurns) {
  const auto count = [](auto index) {
    return simt::count_atomic_sectors(addresses(4, index).data(), kAll, 4);
  };
  EXPECT_EQ(count([](unsigned t) { return t; }), 4u);
  EXPECT_EQ(count([](unsigned) { return 0u; }), 32u);
  EXPECT_EQ(count([](unsigned t) { return t / 2; }), 4u);
  EXPECT_EQ(count([](unsigned t) { return 2 * t; }), 8u);
}

TEST(Wavefronts, WordsOfOneBankQueue) {
  EXPECT_EQ(load_wavefronts(4, [](unsigned t) { return t; }), 1u);
  EXPECT_EQ(load_wavefronts(4, [](unsigned t) { return 2 * t; }), 2u);
  EXPECT_EQ(load_wavefronts(4, [](unsigned t) { return 4 * t; }), 4u);
  EXPECT_EQ(load_wavefronts(4, [](unsigned t) { return 32 * t; }), 32u);
  EXPECT_EQ(load_wavefronts(4, [](unsigned t) { return 33 * t; }), 1u);
}

TEST(Wavefronts, OneWordIsBroadcast) {
  EXPECT_EQ(load_wavefronts(4, [](unsigned) { return 5u; }), 1u);
  EXPECT_EQ(load_wavefronts(4, [](unsigned t) { return t / 2; }), 1u);
  EXPECT_EQ(load_wavefronts(1, [](unsigned t) { return t; }), 1u);
  EXPECT_EQ(load_wavefronts(2, [](unsigned t) { return 4 * t; }), 2u);
}

TEST(Wavefronts, SixtyFourBitsTakeHalfWarps) {
  EXPECT_EQ(load_wavefronts(8, [](unsigned t) { return t; }), 2u);
  EXPECT_EQ(load_wavefronts(8, [](unsigned t) { return 2 * t; }), 4u);
  EXPECT_EQ(load_wavefronts(8, [](unsigned t) { return t / 2; }), 1u);
  EXPECT_EQ(load_wavefronts(
                8, [](unsigned t) { return t; }, 0x0000ffff),
            1u);
  EXPECT_EQ(load_wavefronts(8, [](unsigned t) { return t == 31 ? 16 : t / 2; }), 2u);
}

TEST(Wavefronts, HundredTwentyEightBitsTakeQuarterWarps) {
  EXPECT_EQ(load_wavefronts(16, [](unsigned t) { return t; }), 4u);
  EXPECT_EQ(load_wavefronts(16, [](unsigned t) { return 2 * t; }), 8u);
  EXPECT_EQ(load_wavefronts(16, [](unsigned t) { return 8 * t; }), 32u);
  EXPECT_EQ(load_wavefronts(16, [](unsigned t) { return t % 16 * 2; }), 8u);
  EXPECT_EQ(load_wavefronts(16, [](unsigned t) { return t / 8 * 2; }), 2u);
}

TEST(Wavefronts, TheIdealHasNoConflict) {
  const auto cost = [](unsigned size, unsigned stride) {
    return simt::count_wavefronts(addresses(size, [=](unsigned t) { return stride * t; }).data(),
                                  kAll, size, SharedAccess::load);
  };
  EXPECT_EQ(cost(4, 32).ideal, 1u);
  EXPECT_EQ(cost(8, 2).ideal, 2u);
  EXPECT_EQ(cost(16, 8).ideal, 4u);
}

TEST(Wavefronts, AtomicsServeEveryLane) {
  const auto count = [](auto index) {
    return simt::count_wavefronts(addresses(4, index).data(), kAll, 4, SharedAccess::atomic)
        .wavefronts;
  };
  EXPECT_EQ(count([](unsigned t) { return t; }), 1u);
  EXPECT_EQ(count([](unsigned) { return 0u; }), 32u);
  EXPECT_EQ(count([](unsigned t) { return t / 4; }), 4u);
  EXPECT_EQ(count([](unsigned t) { return 32 * t; }), 32u);
}

TEST(Wavefronts, NobodyCostsNothing) {
  EXPECT_EQ(load_wavefronts(
                4, [](unsigned t) { return t; }, 0),
            0u);
}

}  // namespace
