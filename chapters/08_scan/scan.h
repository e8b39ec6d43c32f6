/// \file
/// What the rungs of chapter 08 run on and are checked with: inputs, outputs, references, and CUB as the peer.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/cub.h"
#include "lab/lab.h"

/// A sparse matrix in device memory: row r has the values starts[r] to starts[r + 1] - 1.
struct SparseMatrix {
  const unsigned* starts;   ///< rows + 1
  const unsigned* columns;  ///< of each value
  const unsigned* values;
  unsigned rows;
  std::size_t n;  ///< values
};

/// Segments of an array in device memory, marked in two ways.
struct Segments {
  const unsigned char* heads;  ///< 1 where a segment begins, else 0
  const unsigned* keys;        ///< a segment begins where the key is not that of the element before
};

/// Blocks that cover n elements with tiles; one for no elements, which finds nothing to do.
inline unsigned blocks_for(std::size_t n, std::size_t tile) {
  return static_cast<unsigned>(std::max<std::size_t>(lab::ceil_div(n, tile), 1));
}

/// Four elements from i on; zeros from n on.
__device__ inline uint4 load4(const unsigned* in, std::size_t i, std::size_t n) {
  if (i + 4 <= n) return *reinterpret_cast<const uint4*>(in + i);
  return {i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0};
}

/// Writes those of the four elements from i on that come before n.
__device__ inline void store4(unsigned* out, std::size_t i, std::size_t n, uint4 four) {
  if (i + 4 <= n) {
    *reinterpret_cast<uint4*>(out + i) = four;
    return;
  }
  if (i < n) out[i] = four.x;
  if (i + 1 < n) out[i + 1] = four.y;
  if (i + 2 < n) out[i + 2] = four.z;
}

/// The ladder of this chapter: `main` makes one, and each `add` registers a rung.
class Scans {
 public:
  using Values = std::vector<unsigned>;
  using Launch = std::function<void(unsigned* out, const unsigned* in)>;
  using Segmented =
      std::function<void(unsigned* out, const unsigned* in, const Segments& segments)>;
  using Sparse = std::function<void(unsigned* y, const SparseMatrix& a, const unsigned* x)>;
  using Keep = std::function<void(unsigned* out, unsigned* size, const unsigned* in)>;
  using Indexed = std::function<void(unsigned* out, const unsigned* in, const unsigned* index)>;
  using Scatter =
      std::function<void(unsigned* sums, const unsigned* index, const unsigned* values)>;

  static constexpr unsigned SUMS = 65536;  ///< results of a rung of `add_scatter`

  Scans(lab::Chapter& chapter, std::size_t n)
      : n(n),
        chapter_(chapter),
        d_in_(n, "in"),
        d_out_(n, "out"),
        d_size_(1, "size"),
        in_(lab::random_values<unsigned>(n, 2 * chapter.seed())) {
    d_in_.upload(in_);
    const auto out = device(n, "what CUB scans");
    add_peer("CUB", 8, lab::cub_exclusive_sum(out->data(), std::as_const(d_in_).data(), n),
             [=, this] { return lab::compare(out->download(), scanned(no_head, false)); },
             {out.get()});
    for (const auto& add_rungs : lab::detail::rungs_of<Scans>()) add_rungs(*this);
  }
  Scans(const Scans&) = delete;
  Scans& operator=(const Scans&) = delete;

  /// Whether any of these rungs is asked for: what only they need is not allocated otherwise.
  bool wants(std::initializer_list<std::string_view> rungs) const {
    return std::any_of(rungs.begin(), rungs.end(), [&](auto rung) { return chapter_.wants(rung); });
  }

  /// Registers a scan of the whole array.
  void add(std::string_view name, std::string_view variant, bool inclusive, const Launch& launch) {
    add_rung(name, variant, "CUB", 8, launch, [=, this] { return scanned(no_head, inclusive); });
  }

  /// Says why a rung cannot run.
  void skip(std::string_view name, const std::string& reason) { chapter_.skip(name, reason); }

  /// Registers a kernel that scans each run of `length` elements by itself.
  void add_runs(std::string_view name, std::string_view variant, std::size_t length, bool inclusive,
                const Launch& launch) {
    add_rung(name, variant, "", 8, launch, [=, this] {
      return scanned([=](std::size_t i) { return i % length == 0; }, inclusive);
    });
  }

  /// Registers inclusive scans of segments, of which one begins in 2, 100 or 100,000 elements on average, or in none.
  /// \param by_key whether the launch reads the keys, otherwise it reads the heads
  void add_segmented(std::string_view name, bool by_key, const Segmented& launch) {
    if (!wants({name})) return;
    for (const unsigned every : {2u, 100u, 100000u, 0u}) {
      const std::shared_ptr<Marked> marked = segments(every);
      const auto want = [=, this] {
        return scanned([&](std::size_t i) { return marked->host[i] != 0; }, true);
      };
      const std::string peer = by_key ? "CUB by key, " + marked->name : "";
      if (by_key) {
        const auto out = device(n, "what CUB scans");
        add_peer(peer, 12, lab::cub_sum_by_key(out->data(), marked->keys->data(), d_in_.data(), n),
                 [=] { return lab::compare(out->download(), want()); }, {out.get()});
      }
      const auto run = [=](unsigned* out, const unsigned* in) {
        launch(out, in, {marked->heads->data(), marked->keys->data()});
      };
      add_rung(name, (by_key ? "keys, " : "flags, ") + marked->name, peer, by_key ? 12 : 9, run,
               want);
    }
  }

  /// Registers y = A x for a matrix of n values, whose rows are mostly short and sometimes long.
  void add_sparse(std::string_view name, std::string_view variant, const Sparse& launch) {
    if (!wants({name})) return;
    const std::shared_ptr<Matrix> a = matrix();
    chapter_.add({.name = std::string(name),
                  .launch = [=] { launch(a->y->data(), a->on_device, a->x->data()); },
                  .verify = [=] { return lab::compare(a->y->download(), a->want); },
                  .bytes = 8.0 * static_cast<double>(n) + 12.0 * a->on_device.rows,
                  .limit = lab::Limit::copy,
                  .variant = std::string(variant),
                  .outputs = {a->y.get()}});
  }

  /// Registers a kernel that keeps the even elements.
  void add_compaction(std::string_view name, const Keep& launch) {
    if (!wants({name})) return;
    const auto want = std::make_shared<Values>();
    std::copy_if(in_.begin(), in_.end(), std::back_inserter(*want),
                 [](unsigned v) { return v % 2 == 0; });
    const auto out = device(n, "what CUB selects"), size = device(1, "how many CUB selects");
    add_peer("CUB Select", 4, lab::cub_select_even(out->data(), size->data(), d_in_.data(), n),
             [=] { return compare_kept(*out, *size, *want); }, {out.get(), size.get()});
    add_keeping(name, "", "CUB Select", launch, std::as_const(d_in_).data(), want);
  }

  /// Registers a kernel that finds all i with in[i] == in[i + 1], on inputs where there are none, one in 16, one in
  /// 2, and as many as there can be.
  void add_repeats(std::string_view name, const Keep& launch) {
    if (!wants({name})) return;
    for (const unsigned one_in : {0u, 16u, 2u, 1u}) {
      const std::shared_ptr<Repeats> some = repeats(one_in);
      const std::string peer = "CUB Select, " + some->name;
      add_keeping(name, some->name, peer, launch, some->in->data(), some->want);
    }
  }

  /// Registers a kernel that permutes: by indices in ascending order, by those whose runs of eight, which fill a
  /// sector, are in random order, and by those that are all in random order.
  void add_permutation(std::string_view name, bool by_gather, const Indexed& launch) {
    if (!wants({name})) return;
    for (const unsigned together : {0u, 8u, 1u}) {
      const std::shared_ptr<Order> order = permutation(together);
      const std::string by = by_gather ? "gather" : "scatter";
      const std::string peer = "Thrust " + by + ", " + order->name;
      const auto out = device(n, "what Thrust permutes");
      const auto want = [=, this] {
        Values result(n);
        lab::in_parallel(n, [&](std::size_t first, std::size_t last) {
          for (std::size_t i = first; i < last; ++i) {
            result[by_gather ? i : order->host[i]] = in_[by_gather ? order->host[i] : i];
          }
        });
        return result;
      };
      add_peer(peer, 12,
               (by_gather ? lab::thrust_gather : lab::thrust_scatter)(out->data(), d_in_.data(),
                                                                      order->index->data(), n),
               [=] { return lab::compare(out->download(), want()); }, {out.get()});
      const auto run = [=](unsigned* out, const unsigned* in) {
        launch(out, in, order->index->data());
      };
      add_rung(name, "by=" + by + ", " + order->name, peer, 12, run, want);
    }
  }

  /// Registers sums[index[i]] += in[i], for indices below SUMS of which all are as frequent, a few are frequent and
  /// most are rare, or all are equal.
  void add_scatter(std::string_view name, std::string_view by, const Scatter& launch) {
    if (!wants({name})) return;
    for (const char* const which : {"uniform", "skewed", "equal"}) {
      const std::shared_ptr<Targets> to = targets(which);
      const std::string peer = "CUB sort and reduce, " + to->name;
      chapter_.add({.name = std::string(name),
                    .launch =
                        [=, this] {
                          launch(to->sums->data(), to->index->data(), std::as_const(d_in_).data());
                        },
                    .verify = [=] { return lab::compare(to->sums->download(), to->want); },
                    .bytes = 8.0 * static_cast<double>(n) + 4.0 * SUMS,
                    .peer = peer,
                    .limit = lab::Limit::copy,
                    .variant = std::string(by) + ", " + to->name,
                    .outputs = {to->sums.get()}});
    }
  }

  /// Registers a demonstration.
  void demonstrate(std::string_view name, const Launch& launch) {
    chapter_.demonstrate(name, [=, this] { launch(d_out_.data(), std::as_const(d_in_).data()); },
                         {&d_out_});
  }

  /// Device memory that lives as long as the ladder; its contents are whatever was there.
  unsigned* scratch(std::size_t elements) {
    scratch_.push_back(device(elements, "scratch"));
    return scratch_.back()->data();
  }

  const std::size_t n;  ///< elements

 private:
  using Device = std::shared_ptr<lab::DeviceBuffer<unsigned>>;

  struct Marked {
    std::string name;
    std::vector<unsigned char> host;
    std::unique_ptr<lab::DeviceBuffer<unsigned char>> heads;
    Device keys;
  };
  struct Matrix {
    Device starts, columns, values, x, y;
    SparseMatrix on_device;
    Values want;
  };
  struct Repeats {
    std::string name;
    Device in;
    std::shared_ptr<Values> want;
  };

  struct Order {
    std::string name;
    Values host;
    Device index;
  };
  struct Targets {
    std::string name;
    Device index, sums;
    Values want;
  };

  static Device device(std::size_t elements, std::string_view name) {
    return std::make_shared<lab::DeviceBuffer<unsigned>>(elements, name);
  }
  static Device device(const Values& values, std::string_view name) {
    return std::make_shared<lab::DeviceBuffer<unsigned>>(values, name);
  }
  static bool no_head(std::size_t) { return false; }

  /// The scan of the input, which starts anew where `is_head` says so.
  template <class IsHead>
  Values scanned(IsHead is_head, bool inclusive) const {
    Values result(n);
    unsigned sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (is_head(i)) sum = 0;
      result[i] = inclusive ? sum + in_[i] : sum;
      sum += in_[i];
    }
    return result;
  }

  /// Registers a peer, or why it is missing.
  void add_peer(const std::string& name, double bytes_each, const lab::CubLaunch& run,
                std::function<lab::Comparison()> verify, std::vector<lab::Buffer*> outputs) {
    if (!run) {
      chapter_.skip_peer(name, lab::why_no_cub);
      return;
    }
    chapter_.peer({.name = name,
                   .launch = [run] { run(nullptr); },
                   .bytes = bytes_each * static_cast<double>(n),
                   .verify = std::move(verify),
                   .outputs = std::move(outputs)});
  }

  void add_rung(std::string_view name, std::string_view variant, std::string_view peer,
                double bytes_each, const Launch& launch, std::function<Values()> want) {
    chapter_.add({.name = std::string(name),
                  .launch = [=, this] { launch(d_out_.data(), std::as_const(d_in_).data()); },
                  .verify =
                      [=, this, id = ++rungs_] {
                        if (wanted_by_ != id) wanted_ = want();  // a rung is checked several times
                        wanted_by_ = id;
                        return lab::compare(d_out_.download(), wanted_);
                      },
                  .bytes = bytes_each * static_cast<double>(n),
                  .peer = std::string(peer),
                  .limit = lab::Limit::copy,
                  .variant = std::string(variant),
                  .outputs = {&d_out_}});
  }

  /// Whether the first `size` elements of `out`, and no more, are what was wanted.
  static lab::Comparison compare_kept(const lab::DeviceBuffer<unsigned>& out,
                                      const lab::DeviceBuffer<unsigned>& size, const Values& want) {
    const unsigned kept = size.download().front();
    if (kept != want.size()) {
      return lab::verdict(false, lab::format("size is %u, not %zu", kept, want.size()));
    }
    if (want.empty()) return lab::verdict(true, "nothing is kept");
    Values got = out.download();
    got.resize(kept);
    return lab::compare(got, want);
  }

  void add_keeping(std::string_view name, std::string_view variant, std::string_view peer,
                   const Keep& launch, const unsigned* in, std::shared_ptr<Values> want) {
    chapter_.add({.name = std::string(name),
                  .launch = [=, this] { launch(d_out_.data(), d_size_.data(), in); },
                  .verify = [=, this] { return compare_kept(d_out_, d_size_, *want); },
                  .bytes = 4.0 * static_cast<double>(n + want->size()),
                  .peer = std::string(peer),
                  .limit = lab::Limit::copy,
                  .variant = std::string(variant),
                  .outputs = {&d_out_, &d_size_}});
  }

  std::shared_ptr<Marked> segments(unsigned every) {
    const std::string name = every == 0 ? "one" : "every=" + std::to_string(every);
    for (const auto& known : marked_) {
      if (known->name == name) return known;
    }
    const auto made = std::make_shared<Marked>();
    made->name = name;
    made->host.resize(n);
    Values keys(n);
    for (std::size_t i = 0; i < n; ++i) {
      made->host[i] =
          i == 0 || (every > 0 && lab::random_bits(chapter_.seed() + 100, i) % every == 0);
      keys[i] = i == 0 ? 0 : keys[i - 1] + made->host[i];
    }
    made->heads = std::make_unique<lab::DeviceBuffer<unsigned char>>(made->host, "heads");
    made->keys = device(keys, "keys");
    marked_.push_back(made);
    return made;
  }

  std::shared_ptr<Matrix> matrix() {
    if (matrix_) return matrix_;
    const auto a = std::make_shared<Matrix>();
    const std::uint64_t seed = chapter_.seed() + 200;
    Values starts{0}, columns(n), x;
    while (starts.back() < n) {
      const std::size_t row = starts.size() - 1;
      const std::size_t length = row % 64 == 63 ? 512 : lab::random_bits(seed, row) % 8;
      starts.push_back(static_cast<unsigned>(std::min(n, starts.back() + length)));
    }
    const std::size_t rows = starts.size() - 1;
    x = lab::random_values<unsigned>(rows, seed + 1);
    a->want.resize(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t k = starts[row]; k < starts[row + 1]; ++k) {
        columns[k] = static_cast<unsigned>(lab::random_bits(seed + 2, k) % rows);
        a->want[row] += in_[k] * x[columns[k]];
      }
    }
    a->starts = device(starts, "starts");
    a->columns = device(columns, "columns");
    a->values = device(in_, "values");
    a->x = device(x, "x");
    a->y = device(rows, "y");
    a->on_device = {a->starts->data(), a->columns->data(), a->values->data(),
                    static_cast<unsigned>(rows), n};
    matrix_ = a;
    return a;
  }

  std::shared_ptr<Repeats> repeats(unsigned one_in) {
    const std::string name =
        "density=" + std::string(one_in < 2 ? "" : "1/") + std::to_string(one_in);
    for (const auto& known : repeats_) {
      if (known->name == name) return known;
    }
    const auto made = std::make_shared<Repeats>();
    made->name = name;
    Values in(n);
    for (std::size_t i = 0; i < n; ++i) {
      // Of values from 0 to k - 1, one in k equals the one before.
      in[i] = one_in == 0 ? static_cast<unsigned>(i)
                          : static_cast<unsigned>(lab::random_bits(chapter_.seed(), i) % one_in);
    }
    made->in = device(in, "in");
    made->want = std::make_shared<Values>();
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (in[i] == in[i + 1]) made->want->push_back(static_cast<unsigned>(i));
    }
    repeats_.push_back(made);

    const auto out = device(n, "what CUB selects"), size = device(1, "how many CUB selects");
    add_peer("CUB Select, " + name, 4,
             lab::cub_select_repeats(out->data(), size->data(), made->in->data(), n),
             [=] { return compare_kept(*out, *size, *made->want); }, {out.get(), size.get()});
    return made;
  }

  /// Element i of a random permutation of the numbers below `size`: rounds of a Feistel network, which permute a power
  /// of four, until the number is below `size`.
  static std::size_t shuffled(std::size_t i, std::size_t size, std::uint64_t seed) {
    const int half = (std::bit_width(size - 1) + 1) / 2;
    const std::size_t mask = (std::size_t{1} << half) - 1;
    do {
      std::size_t left = i >> half, right = i & mask;
      for (unsigned round = 0; round < 4; ++round) {
        left ^= lab::random_bits(seed + round, right) & mask;
        std::swap(left, right);
      }
      i = left << half | right;
    } while (i >= size);
    return i;
  }

  /// A random permutation that keeps runs of this many elements together; 0: nothing moves.
  std::shared_ptr<Order> permutation(unsigned together) {
    const std::string name = together == 0 ? "ordered" : together == 1 ? "random" : "sectors";
    for (const auto& known : orders_) {
      if (known->name == name) return known;
    }
    const auto made = std::make_shared<Order>();
    made->name = name;
    made->host.resize(n);
    const std::size_t runs = together == 0 ? 0 : n / together;
    lab::in_parallel(n, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        // What is left behind the last run stays where it is.
        const bool moves = i < runs * together;
        const std::size_t from =
            moves ? shuffled(i / together, runs, chapter_.seed() + 300) * together + i % together
                  : i;
        made->host[i] = static_cast<unsigned>(from);
      }
    });
    made->index = device(made->host, "index");
    orders_.push_back(made);
    return made;
  }

  std::shared_ptr<Targets> targets(std::string_view which) {
    const std::string name(which);
    for (const auto& known : targets_) {
      if (known->name == name) return known;
    }
    const auto made = std::make_shared<Targets>();
    made->name = name;
    Values index(n);
    lab::in_parallel(n, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const unsigned bits = static_cast<unsigned>(lab::random_bits(chapter_.seed() + 400, i));
        // Skewed: index k has a share of about 1 / k.
        const unsigned below = 1u << bits % 16;
        index[i] = which == "uniform" ? bits % SUMS
                   : which == "equal" ? SUMS / 3
                                      : below - 1 + (bits >> 4) % below;
      }
    });
    made->want.resize(SUMS);
    for (std::size_t i = 0; i < n; ++i) made->want[index[i]] += in_[i];
    made->index = device(index, "index");
    made->sums = device(SUMS, "sums");
    targets_.push_back(made);

    const auto sums = device(SUMS, "what CUB sums");
    add_peer("CUB sort and reduce, " + name, 8,
             lab::cub_scatter_add(sums->data(), SUMS, made->index->data(), d_in_.data(), n),
             [=] { return lab::compare(sums->download(), made->want); }, {sums.get()});
    return made;
  }

  lab::Chapter& chapter_;
  lab::DeviceBuffer<unsigned> d_in_, d_out_, d_size_;
  const Values in_;
  std::vector<Device> scratch_;
  std::vector<std::shared_ptr<Marked>> marked_;
  std::shared_ptr<Matrix> matrix_;
  std::vector<std::shared_ptr<Repeats>> repeats_;
  std::vector<std::shared_ptr<Order>> orders_;
  std::vector<std::shared_ptr<Targets>> targets_;
  Values wanted_;  // by the rung that was checked last
  int wanted_by_ = 0, rungs_ = 0;
};
