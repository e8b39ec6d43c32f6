/// \file
/// Which block computes what, where blocks compute one item after the other: lists that the host makes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lab/lab.h"
#include "rows.h"

/// Which items a launch's blocks compute.
enum class Order {
  one_each,  ///< as many blocks as items
  as_come,   ///< as many blocks as SMs, item n by block n % blocks
  dealt      ///< as many blocks as SMs, each with as much to do
};

/// The heads that are dealt together: the best of 4 to 64 in the trials for D = 128, of 16 to 128 for D = 64.
constexpr int heads_at_once(int d) { return d == 128 ? 4 : 16; }

/// What a block computes next: the output of some queries of a head from `row0` on; nothing where head is -1.
struct Item {
  int head, row0;
};

/// All items, (rounds, blocks), head by head, in each the last rows first.
///
/// @param bm  the queries of an item
inline std::vector<Item> in_order(Heads shape, int bm, int blocks) {
  std::vector<Item> all;
  for (int head = 0; head < shape.heads; ++head) {
    for (int row = lab::ceil_div(shape.queries, bm) - 1; row >= 0; --row) {
      all.push_back({head, row * bm});
    }
  }
  all.resize(lab::ceil_div(static_cast<int>(all.size()), blocks) * blocks, Item{-1, 0});
  return all;
}

/// All items, (rounds, blocks): some heads at a time, of these the items with most tiles first, each to the block that has
/// least to do.
///
/// @param bm, bn   the queries of an item, and the keys of a tile
/// @param at_once  heads that are dealt together
inline std::vector<Item> dealt(Heads shape, int bm, int bn, bool causal, int blocks, int at_once) {
  std::vector<std::vector<Item>> of_block(blocks);
  std::vector<int> work(blocks);  // in half tiles
  for (int head0 = 0; head0 < shape.heads; head0 += at_once) {
    for (int row = lab::ceil_div(shape.queries, bm) - 1; row >= 0; --row) {
      const int last = std::min((row + 1) * bm, shape.queries) - 1;
      const int tiles = lab::ceil_div(causal ? shape.seen(last) : shape.keys, bn);
      for (int head = head0; head < std::min(shape.heads, head0 + at_once); ++head) {
        const auto least = std::min_element(work.begin(), work.end());
        *least +=
            2 * tiles + 3;  // what an item takes apart from its tiles counts as one and a half
        of_block[least - work.begin()].push_back({head, row * bm});
      }
    }
  }
  std::size_t rounds = 0;
  for (const auto& items : of_block) rounds = std::max(rounds, items.size());
  std::vector<Item> all(rounds * blocks, Item{-1, 0});
  for (int b = 0; b < blocks; ++b) {
    for (std::size_t r = 0; r < of_block[b].size(); ++r) all[r * blocks + b] = of_block[b][r];
  }
  return all;
}
