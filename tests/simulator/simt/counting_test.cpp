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
  EXPECT_EQ(sectors(4, [](unsigned t) { return 4 * t; }), 16u);
  EXPECT_EQ(sectors(4, [](unsigned t) { return 1024 * (31 - t); }), 32u);
  const auto across =
      addresses(8, [](unsigned t) { return 3 + 4 * t; });  // 16 bytes across the ends
  EXPECT_EQ(simt::count_sectors(across.data(), kAll, 16), 33u);
  std::array<uint64_t, 32> one{};
  one.fill(24);
  EXPECT_EQ(simt::count_sectors(one.data(), kAll, 16), 2u);
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

// What an H200 counts for one warp. The first has no two lanes of one address, but more sectors than distinct ones.
TEST(AtomicSectors, LanesThatOnlyLookAlikeAreKeptApart) {
  const auto count = [](const std::array<unsigned, 32>& index) {
    return simt::count_atomic_sectors(addresses(4, [&](unsigned t) { return index[t]; }).data(),
                                      kAll);
  };
  EXPECT_EQ(
      count({454, 497, 617, 974, 728, 43,  815, 3,   445, 221, 981,  857, 792, 65,  844, 26,
             170, 307, 680, 50,  852, 810, 794, 809, 282, 67,  1013, 41,  797, 822, 169, 1021}),
      26u);
  EXPECT_EQ(count({253, 154, 89,  213, 148, 148, 235, 115, 206, 151, 174, 66,  78, 221, 147, 141,
                   212, 63,  172, 61,  68,  56,  43,  221, 159, 225, 98,  150, 7,  246, 195, 51}),
            24u);
  EXPECT_EQ(count({190, 172, 129, 34, 187, 212, 106, 30,  188, 229, 226, 43, 97,  25,  221, 147,
                   110, 73,  108, 66, 195, 240, 193, 192, 100, 39,  46,  55, 114, 169, 38,  114}),
            20u);
}

TEST(AtomicSectors, LanesOfOneAddressTakeTurns) {
  const auto count = [](auto index) {
    return simt::count_atomic_sectors(addresses(4, index).data(), kAll);
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
  EXPECT_EQ(load_wavefronts(4, [](unsigned t) { return 12 * t; }), 4u);
  EXPECT_EQ(load_wavefronts(4, [](unsigned t) { return 6 * (31 - t); }), 2u);
  EXPECT_EQ(load_wavefronts(4, [](unsigned t) { return 64 * t; }), 32u);
  EXPECT_EQ(load_wavefronts(1, [](unsigned t) { return 3 + 8 * t; }), 2u);
  EXPECT_EQ(load_wavefronts(1, [](unsigned t) { return 2 * t; }), 1u);
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

simt::SharedCost cost_of(unsigned size, auto index, uint32_t active, SharedAccess access) {
  return simt::count_wavefronts(addresses(size, index).data(), active, size, access);
}

TEST(Wavefronts, TheIdealIsWhatTheBytesFill) {
  const auto same = [](unsigned t) { return t; };
  // Half of the lanes ask for 128 bytes: one wavefront, though they stand in both halves of the warp.
  EXPECT_EQ(cost_of(8, same, 0xaaaaaaaa, SharedAccess::load).ideal, 1u);
  EXPECT_EQ(cost_of(8, same, 0xaaaaaaaa, SharedAccess::store).ideal, 1u);
  EXPECT_EQ(cost_of(16, same, 0xaaaaaaaa, SharedAccess::store).ideal, 2u);
  // Pairs two apart merge into one phase with a conflict; the ideal knows nothing of that.
  const auto pairs = cost_of(
      8, [](unsigned t) { return t / 2 * 2; }, kAll, SharedAccess::load);
  EXPECT_EQ(pairs.wavefronts, 2u);
  EXPECT_EQ(pairs.phases, 1u);
  EXPECT_EQ(pairs.ideal, 2u);
}

TEST(Wavefronts, NsightMergesEachHalfOfALoadOf128Bits) {
  const auto one_broken = [](unsigned t) { return t == 31 ? 16 : t / 2; };
  const auto cost = cost_of(16, one_broken, kAll, SharedAccess::load);
  EXPECT_EQ(cost.wavefronts, 4u);
  EXPECT_EQ(cost.reported, 3u);
}

TEST(Wavefronts, NsightJoinsTwoPhasesOnlyWhereOnePassIsLeft) {
  // Lanes 0 and 6, at two words of one bank, and lane 16: no lane's partner takes part, so all agree.
  const auto cost = cost_of(
      8, [](unsigned t) -> unsigned { return t == 6    ? 16
                                             : t == 16 ? 1
                                                       : 0; },
      1u | 1u << 6 | 1u << 16, SharedAccess::load);
  EXPECT_EQ(cost.wavefronts, 2u);
  EXPECT_EQ(cost.reported, 3u);
}

TEST(Wavefronts, CompareExchangeTakesTwoForEachLane) {
  const auto cost = [](unsigned size, auto index) {
    return cost_of(size, index, kAll, SharedAccess::compare_exchange);
  };
  EXPECT_EQ(cost(4, [](unsigned t) { return t; }).wavefronts, 2u);
  EXPECT_EQ(cost(4, [](unsigned) { return 0u; }).wavefronts, 64u);
  EXPECT_EQ(cost(4, [](unsigned) { return 0u; }).ideal, 2u);
  EXPECT_EQ(cost(8, [](unsigned t) { return t; }).wavefronts, 4u);
  EXPECT_EQ(cost(8, [](unsigned) { return 0u; }).ideal, 4u);
}

TEST(Wavefronts, CountingUpMergesLanesOfOneWord) {
  const auto count = [](auto index) {
    return cost_of(4, index, kAll, SharedAccess::increment).wavefronts;
  };
  EXPECT_EQ(count([](unsigned) { return 0u; }), 1u);
  EXPECT_EQ(count([](unsigned t) { return t / 2; }), 1u);
  EXPECT_EQ(count([](unsigned t) { return 32 * t; }), 32u);
}

// Rounds until all lanes have succeeded, and their loads' and attempts' wavefronts.
struct Spin {
  unsigned rounds = 0, loads = 0, attempts = 0;
  bool operator==(const Spin&) const = default;
};
Spin spin(unsigned size, auto index) {
  const auto all = addresses(size, index);
  Spin sum;
  for (uint32_t left = kAll; left;) {
    const simt::SpinRound round = simt::count_spin_round(all.data(), left, size);
    ++sum.rounds;
    sum.loads += round.load.wavefronts;
    sum.attempts += round.wavefronts;
    left &= ~round.done;
  }
  return sum;
}

TEST(SpinRounds, OneLaneOfABankSucceeds) {
  EXPECT_EQ(spin(4, [](unsigned t) { return t; }), (Spin{1, 1, 2}));
  EXPECT_EQ(spin(4, [](unsigned) { return 0u; }), (Spin{32, 32, 64}));
  EXPECT_EQ(spin(4, [](unsigned t) { return t / 2; }), (Spin{2, 2, 4}));
  EXPECT_EQ(spin(4, [](unsigned t) { return 32 * t; }), (Spin{32, 528, 64}));
}

TEST(SpinRounds, HalfWarpsTryApartAt64Bits) {
  EXPECT_EQ(spin(8, [](unsigned t) { return t; }), (Spin{1, 2, 4}));
  // While lanes of both halves are left an attempt takes four wavefronts, then two.
  EXPECT_EQ(spin(8, [](unsigned) { return 0u; }), (Spin{32, 32, 96}));
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

template <class From, class To>
simt::CopyCost copy(unsigned size, From from, To to, uint32_t active = kAll, uint32_t zeros = 0) {
  return simt::count_copy(addresses(size, from).data(), addresses(size, to).data(), active, zeros,
                          size);
}
template <unsigned n>
constexpr auto stride = [](unsigned t) { return n * t; };

TEST(Copies, LanesMeetInABankOnEitherSide) {
  EXPECT_EQ(copy(4, stride<1>, stride<1>).wavefronts, 1u);
  EXPECT_EQ(copy(4, stride<2>, stride<1>).wavefronts, 2u);
  EXPECT_EQ(copy(4, stride<1>, stride<8>).wavefronts, 8u);
  EXPECT_EQ(copy(4, stride<1>, stride<33>).wavefronts, 1u);
  EXPECT_EQ(copy(4, stride<32>, stride<33>).wavefronts, 32u);
  EXPECT_EQ(copy(8, stride<1>, stride<1>).wavefronts, 2u);
  EXPECT_EQ(copy(8, stride<8>, stride<1>).wavefronts, 16u);
  EXPECT_EQ(copy(8, stride<1>, stride<17>).wavefronts, 2u);
  EXPECT_EQ(copy(8, stride<1>, stride<1>, 0xffff).wavefronts, 1u);
}

TEST(Copies, OneWordForAllLanesIsNoBroadcast) {
  const auto cost = copy(4, stride<0>, stride<1>);
  EXPECT_EQ(cost.sectors, 1u);
  EXPECT_EQ(cost.wavefronts, 32u);
  EXPECT_EQ(cost.ideal, 1u);
  EXPECT_EQ(copy(8, stride<0>, stride<1>).wavefronts, 32u);
}

TEST(Copies, SixteenBytesMoveLineByLine) {
  EXPECT_EQ(copy(16, stride<1>, stride<1>).wavefronts, 4u);
  EXPECT_EQ(copy(16, stride<1>, stride<1>, 0xaaaaaaaa).wavefronts, 4u);
  EXPECT_EQ(copy(16, stride<1>, stride<1>, 0xffff).wavefronts, 2u);
  for (const auto& cost : {copy(16, stride<2>, stride<1>), copy(16, stride<0>, stride<1>),
                           copy(16, stride<1>, stride<2>), copy(16, stride<1>, stride<9>)}) {
    EXPECT_EQ(cost.wavefronts, 32u);
    EXPECT_EQ(cost.ideal, 4u);
  }
}

TEST(Copies, LanesThatMeetOnBothSidesWaitForAllOfThem) {
  // Rows of 8 words into rows of 9: in the last row three lanes share a bank with the first row, and one each with the
  // other rows. The fullest bank has 4 lanes, but these lanes have to do with 5.
  const auto rows = [](unsigned columns, unsigned pitch) {
    return copy(
        4, [=](unsigned t) { return t / 8 * columns + t % 8; },
        [=](unsigned t) { return t / 8 * pitch + t % 8; });
  };
  EXPECT_EQ(rows(64, 8).wavefronts, 4u);
  EXPECT_EQ(rows(64, 9).wavefronts, 5u);
  EXPECT_EQ(rows(65, 9).wavefronts, 4u);
  EXPECT_EQ(rows(65, 10).wavefronts, 5u);
}

TEST(Copies, SixteenBytesMoveWholeSectorsAndHalvesApart) {
  EXPECT_EQ(copy(16, stride<2>, stride<2>).wavefronts, 8u);  // lower halves: one pass for each line
  EXPECT_EQ(copy(16, stride<3>, stride<3>).wavefronts, 24u);  // lower and upper ones: two
  const auto shifted = [](unsigned t) { return t + 1; };
  EXPECT_EQ(copy(16, shifted, stride<1>, 0xff).wavefronts,
            3u);  // upper to lower, lower to upper, the next line
  // Halves that go an even number of sectors go together, and those that go an odd one.
  EXPECT_EQ(copy(16, stride<1>, stride<3>).wavefronts, 24u);
  EXPECT_EQ(copy(16, stride<2>, stride<1>, 0xf).wavefronts, 4u);
}

TEST(Copies, ASwizzleOfSixteenBytesCostsNothing) {
  const auto row = [](unsigned t) { return t / 8 * 64 + t % 8; };
  EXPECT_EQ(copy(16, row, [](unsigned t) { return t / 8 * 8 + (t % 8 ^ t / 8); }).wavefronts, 4u);
  EXPECT_EQ(copy(16, row, [](unsigned t) { return t / 8 * 9 + t % 8; }).wavefronts,
            10u);  // and a pad does
}

TEST(Copies, ZerosAreApartButOfSixteenBytes) {
  const auto filled = [](unsigned size, auto to, uint32_t zeros) {
    const auto cost = copy(size, stride<1>, to, kAll, zeros);
    return std::array{cost.sectors, cost.wavefronts, cost.ideal};
  };
  EXPECT_EQ(filled(4, stride<1>, kAll), (std::array{0u, 1u, 1u}));
  EXPECT_EQ(filled(4, stride<2>, kAll << 1), (std::array{1u, 3u, 2u}));
  EXPECT_EQ(filled(8, stride<2>, kAll), (std::array{0u, 4u, 2u}));
  EXPECT_EQ(filled(16, stride<1>, kAll), (std::array{0u, 4u, 4u}));
  EXPECT_EQ(filled(16, stride<1>, kAll << 5), (std::array{3u, 4u, 4u}));
  EXPECT_EQ(filled(16, stride<2>, kAll << 1), (std::array{1u, 32u, 4u}));
}

TEST(Copies, SectorsOfSixteenBytesCountWhereTheyAreWritten) {
  EXPECT_EQ(copy(16, stride<1>, stride<1>).sectors, 16u);
  EXPECT_EQ(copy(16, stride<2>, stride<1>).sectors, 16u);  // 32 in global memory
  EXPECT_EQ(copy(16, stride<0>, stride<1>).sectors, 16u);  // 1
  EXPECT_EQ(copy(16, stride<1>, stride<2>).sectors, 32u);  // 16
  EXPECT_EQ(copy(16, stride<8>, stride<1>).sectors, 32u);
  EXPECT_EQ(copy(16, stride<1>, stride<1>, 0xaaaaaaaa).sectors, 16u);
}

TEST(Copies, SectorsOfSmallerPiecesAreThoseOfALoad) {
  EXPECT_EQ(copy(4, stride<8>, stride<1>).sectors, 32u);
  EXPECT_EQ(copy(4, stride<1>, stride<32>).sectors, 4u);
  EXPECT_EQ(copy(8, stride<0>, stride<1>).sectors, 1u);
}

TEST(Wavefronts, NobodyCostsNothing) {
  EXPECT_EQ(load_wavefronts(
                4, [](unsigned t) { return t; }, 0),
            0u);
}

}  // namespace
