// The algorithms of Thrust that programs call, each on the host and on the device, its result compared with one worked out by
// hand.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/equal.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/logical.h>
#include <thrust/merge.h>
#include <thrust/mismatch.h>
#include <thrust/partition.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/swap.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/transform_scan.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>
#include <thrust/zip_function.h>

#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <vector>

static int failures = 0;

static void check(bool right, const char* what, int line) {
  if (right) return;
  ++failures;
  std::printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

// Vectors of the memory that a test is for.
struct OnHost {
  template <class T>
  using Vector = thrust::host_vector<T>;
};
struct OnDevice {
  template <class T>
  using Vector = thrust::device_vector<T>;
};

template <class V, class T>
static bool holds(const V& vector, std::initializer_list<T> expected, std::size_t n) {
  const thrust::host_vector<T> seen(vector.begin(), vector.begin() + n);
  std::size_t i = 0;
  bool same = n == expected.size();
  for (const T& value : expected) same = same && seen[i] == value && ++i;
  return same;
}
template <class V, class T>
static bool holds(const V& vector, std::initializer_list<T> expected) {
  return holds(vector, expected, vector.size());
}

struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};
struct AxPlusY {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct Increment {
  __host__ __device__ void operator()(int& x) const { x += 1; }
};

template <class Place>
static void elements() {
  using Ints = typename Place::template Vector<int>;
  using Floats = typename Place::template Vector<float>;
  Ints a(5), b(5);
  CHECK(holds(a, {0, 0, 0, 0, 0}));
  thrust::sequence(a.begin(), a.end());
  thrust::sequence(b.begin(), b.end(), 10, -2);
  CHECK(holds(a, {0, 1, 2, 3, 4}) && holds(b, {10, 8, 6, 4, 2}));
  Ints c(5);
  thrust::transform(a.begin(), a.end(), c.begin(), Square());
  CHECK(holds(c, {0, 1, 4, 9, 16}));
  thrust::transform(a.begin(), a.end(), b.begin(), c.begin(), thrust::plus<int>());
  CHECK(holds(c, {10, 9, 8, 7, 6}));
  thrust::transform_if(a.begin(), a.end(), c.begin(), Square(), IsOdd());
  CHECK(holds(c, {10, 1, 8, 9, 6}));
  Floats x(3, 2.0f), y(3, 1.0f);
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), AxPlusY{3});
  CHECK(holds(y, {7.0f, 7.0f, 7.0f}));
  thrust::for_each(a.begin(), a.end(), Increment());
  thrust::for_each_n(a.begin(), 2, Increment());
  CHECK(holds(a, {2, 3, 3, 4, 5}));
  thrust::fill(a.begin(), a.begin() + 2, 9);
  CHECK(thrust::fill_n(a.begin() + 3, 2, 8) == a.end());
  CHECK(holds(a, {9, 9, 3, 8, 8}));
  thrust::tabulate(a.begin(), a.end(), Square());
  CHECK(holds(a, {0, 1, 4, 9, 16}));
  thrust::replace(a.begin(), a.end(), 4, 5);
  thrust::replace_if(a.begin(), a.end(), IsOdd(), -1);
  CHECK(holds(a, {0, -1, -1, -1, 16}));
  thrust::copy(b.begin(), b.end(), a.begin());
  thrust::copy_n(b.begin() + 3, 2, a.begin());
  CHECK(holds(a, {4, 2, 6, 4, 2}));
  thrust::reverse(a.begin(), a.end());
  thrust::swap_ranges(a.begin(), a.begin() + 2, a.begin() + 3);
  CHECK(holds(a, {2, 4, 6, 2, 4}));
  thrust::adjacent_difference(b.begin(), b.end(), c.begin());
  CHECK(holds(c, {10, -2, -2, -2, -2}));
  const int places[] = {4, 0, 2};
  const Ints map(places, places + 3);
  Ints few(3);
  thrust::gather(map.begin(), map.end(), b.begin(), few.begin());
  CHECK(holds(few, {2, 10, 6}));
  thrust::scatter(few.begin(), few.end(), map.begin(), c.begin());
  CHECK(holds(c, {10, -2, 6, -2, 2}));
}

template <class Place>
static void sums() {
  using Ints = typename Place::template Vector<int>;
  const int values[] = {3, 1, 4, 1, 5, 9, 2, 6};
  const Ints a(values, values + 8);
  CHECK(thrust::reduce(a.begin(), a.end()) == 31);
  CHECK(thrust::reduce(a.begin(), a.end(), 100) == 131);
  CHECK(thrust::reduce(a.begin(), a.end(), -1, thrust::maximum<int>()) == 9);
  CHECK(thrust::transform_reduce(a.begin(), a.end(), Square(), 0, thrust::plus<int>()) == 173);
  CHECK(thrust::inner_product(a.begin(), a.end(), a.begin(), 0) == 173);
  CHECK(thrust::inner_product(a.begin(), a.end() - 1, a.begin() + 1, 0, thrust::plus<int>(),
                              thrust::not_equal_to<int>()) == 7);
  CHECK(thrust::count(a.begin(), a.end(), 1) == 2);
  CHECK(thrust::count_if(a.begin(), a.end(), IsOdd()) == 5);
  CHECK(thrust::min_element(a.begin(), a.end()) - a.begin() == 1);
  CHECK(thrust::max_element(a.begin(), a.end()) - a.begin() == 5);
  CHECK(*thrust::minmax_element(a.begin(), a.end()).second == 9);
  CHECK(!thrust::all_of(a.begin(), a.end(), IsOdd()) &&
        thrust::any_of(a.begin(), a.end(), IsOdd()));
  CHECK(thrust::none_of(a.begin() + 6, a.end(), IsOdd()));

  Ints b(8);
  thrust::inclusive_scan(a.begin(), a.end(), b.begin());
  CHECK(holds(b, {3, 4, 8, 9, 14, 23, 25, 31}));
  thrust::exclusive_scan(a.begin(), a.end(), b.begin());
  CHECK(holds(b, {0, 3, 4, 8, 9, 14, 23, 25}));
  thrust::exclusive_scan(a.begin(), a.end(), b.begin(), 10);
  CHECK(holds(b, {10, 13, 14, 18, 19, 24, 33, 35}));
  thrust::inclusive_scan(a.begin(), a.end(), b.begin(), thrust::maximum<int>());
  CHECK(holds(b, {3, 3, 4, 4, 5, 9, 9, 9}));
  thrust::transform_exclusive_scan(a.begin(), a.end(), b.begin(), Square(), 0, thrust::plus<int>());
  CHECK(holds(b, {0, 9, 10, 26, 27, 52, 133, 137}));
  b = a;
  thrust::inclusive_scan(b.begin(), b.end(), b.begin());  // in place
  CHECK(b[7] == 31);

  const int marks[] = {0, 0, 1, 1, 1, 0, 2, 2};
  const Ints keys(marks, marks + 8);
  thrust::inclusive_scan_by_key(keys.begin(), keys.end(), a.begin(), b.begin());
  CHECK(holds(b, {3, 4, 4, 5, 10, 9, 2, 8}));
  thrust::exclusive_scan_by_key(keys.begin(), keys.end(), a.begin(), b.begin(), 100);
  CHECK(holds(b, {100, 103, 100, 104, 105, 100, 100, 102}));
  Ints ends(8);
  const auto end =
      thrust::reduce_by_key(keys.begin(), keys.end(), a.begin(), ends.begin(), b.begin());
  CHECK(end.first - ends.begin() == 4 && end.second - b.begin() == 4);
  CHECK(holds(ends, {0, 1, 0, 2}, 4) && holds(b, {4, 10, 9, 8}, 4));
  // run lengths
  thrust::reduce_by_key(keys.begin(), keys.end(), thrust::constant_iterator<int>(1),
                        thrust::make_discard_iterator(), b.begin());
  CHECK(holds(b, {2, 3, 1, 2}, 4));
}

template <class Place>
static void order() {
  using Ints = typename Place::template Vector<int>;
  const int values[] = {3, 1, 4, 1, 5, 9, 2, 6};
  Ints a(values, values + 8);
  thrust::sort(a.begin(), a.end());
  CHECK(holds(a, {1, 1, 2, 3, 4, 5, 6, 9}) && thrust::is_sorted(a.begin(), a.end()));
  thrust::stable_sort(a.begin(), a.end(), thrust::greater<int>());
  CHECK(holds(a, {9, 6, 5, 4, 3, 2, 1, 1}) && !thrust::is_sorted(a.begin(), a.end()));
  a.assign(values, values + 8);
  Ints where(8);
  thrust::sequence(where.begin(), where.end());
  thrust::stable_sort_by_key(a.begin(), a.end(), where.begin());
  CHECK(holds(where, {1, 3, 6, 0, 2, 4, 7, 5}));
  thrust::sort_by_key(where.begin(), where.end(), a.begin(), thrust::less<int>());
  CHECK(holds(a, {3, 1, 4, 1, 5, 9, 2, 6}));

  thrust::sort(a.begin(), a.end());
  CHECK(thrust::lower_bound(a.begin(), a.end(), 1) == a.begin());
  CHECK(thrust::upper_bound(a.begin(), a.end(), 1) - a.begin() == 2);
  CHECK(thrust::binary_search(a.begin(), a.end(), 6) &&
        !thrust::binary_search(a.begin(), a.end(), 7));
  const int wanted[] = {0, 1, 7, 10};
  const Ints many(wanted, wanted + 4);
  Ints found(4);
  thrust::lower_bound(a.begin(), a.end(), many.begin(), many.end(), found.begin());
  CHECK(holds(found, {0, 0, 7, 8}));
  thrust::upper_bound(a.begin(), a.end(), many.begin(), many.end(), found.begin());
  CHECK(holds(found, {0, 2, 7, 8}));
  thrust::binary_search(a.begin(), a.end(), many.begin(), many.end(), found.begin());
  CHECK(holds(found, {0, 1, 0, 0}));

  CHECK(thrust::unique(a.begin(), a.end()) - a.begin() == 7);
  CHECK(holds(a, {1, 2, 3, 4, 5, 6, 9}, 7));
  const int others[] = {2, 3, 8};
  const Ints b(others, others + 3);
  Ints out(10);
  CHECK(thrust::merge(a.begin(), a.begin() + 7, b.begin(), b.end(), out.begin()) == out.end());
  CHECK(holds(out, {1, 2, 2, 3, 3, 4, 5, 6, 8, 9}));
  CHECK(thrust::equal(b.begin(), b.end(), b.begin()) &&
        !thrust::equal(b.begin(), b.end(), a.begin()));
  CHECK(thrust::mismatch(b.begin(), b.end(), a.begin() + 1).first - b.begin() == 2);
  CHECK(thrust::find(b.begin(), b.end(), 8) - b.begin() == 2);
  CHECK(thrust::find(b.begin(), b.end(), 7) == b.end());
  CHECK(thrust::find_if(b.begin(), b.end(), IsOdd()) - b.begin() == 1);
}

template <class Place>
static void selection() {
  using Ints = typename Place::template Vector<int>;
  const int values[] = {3, 1, 4, 1, 5, 9, 2, 6};
  const int marks[] = {0, 1, 1, 0, 0, 1, 0, 1};
  Ints a(values, values + 8), out(8);
  const Ints stencil(marks, marks + 8);
  CHECK(thrust::copy_if(a.begin(), a.end(), out.begin(), IsOdd()) - out.begin() == 5);
  CHECK(holds(out, {3, 1, 1, 5, 9}, 5));
  CHECK(thrust::copy_if(a.begin(), a.end(), stencil.begin(), out.begin(), IsOdd()) - out.begin() ==
        4);
  CHECK(holds(out, {1, 4, 9, 6}, 4));
  CHECK(thrust::remove_copy_if(a.begin(), a.end(), out.begin(), IsOdd()) - out.begin() == 3);
  CHECK(holds(out, {4, 2, 6}, 3));
  a.erase(thrust::remove_if(a.begin(), a.end(), IsOdd()), a.end());
  CHECK(holds(a, {4, 2, 6}));
  a.assign(values, values + 8);
  a.resize(thrust::remove(a.begin(), a.end(), 1) - a.begin());
  CHECK(holds(a, {3, 4, 5, 9, 2, 6}));
  CHECK(thrust::stable_partition(a.begin(), a.end(), IsOdd()) - a.begin() == 3);
  CHECK(holds(a, {3, 5, 9, 4, 2, 6}));
  CHECK(thrust::partition(a.begin(), a.end(), thrust::placeholders::_1 > 4) - a.begin() == 3);
  const int keys[] = {1, 1, 2, 2, 2, 1};
  Ints k(keys, keys + 6), v(values, values + 6);
  const auto end = thrust::unique_by_key(k.begin(), k.end(), v.begin());
  CHECK(end.first - k.begin() == 3 && end.second - v.begin() == 3);
  CHECK(holds(k, {1, 2, 1}, 3) && holds(v, {3, 4, 9}, 3));
}

struct LengthOfPair {
  __host__ __device__ float operator()(const thrust::tuple<float, float>& p) const {
    return sqrtf(thrust::get<0>(p) * thrust::get<0>(p) + thrust::get<1>(p) * thrust::get<1>(p));
  }
};
struct AddInPlace {
  template <class Tuple>
  __host__ __device__ void operator()(Tuple t) const {
    thrust::get<2>(t) = thrust::get<0>(t) + thrust::get<1>(t);
  }
};
struct Swapped {
  __host__ __device__ thrust::tuple<int, int> operator()(thrust::tuple<int, int> t) const {
    return thrust::make_tuple(thrust::get<1>(t), thrust::get<0>(t));
  }
};

template <class Place>
static void iterators() {
  using Ints = typename Place::template Vector<int>;
  using Floats = typename Place::template Vector<float>;
  const thrust::counting_iterator<int> from(1);
  CHECK(thrust::reduce(from, from + 100) == 5050);
  CHECK(thrust::transform_reduce(from, from + 4, Square(), 0, thrust::plus<int>()) == 30);
  const auto squares = thrust::make_transform_iterator(from, Square());
  CHECK(squares[3] == 16 && thrust::reduce(squares, squares + 4) == 30);

  Floats x(3), y(3), z(3);
  x[0] = 3, x[1] = 5, x[2] = 8;
  y[0] = 4, y[1] = 12, y[2] = 15;
  const auto points = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
  thrust::transform(points, points + 3, z.begin(), LengthOfPair());
  CHECK(holds(z, {5.0f, 13.0f, 17.0f}));
  thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin(), z.begin())),
                   thrust::make_zip_iterator(thrust::make_tuple(x.end(), y.end(), z.end())),
                   AddInPlace());
  CHECK(holds(z, {7.0f, 17.0f, 23.0f}));
  thrust::transform(points, points + 3, z.begin(), thrust::make_zip_function(AxPlusY{2}));
  CHECK(holds(z, {10.0f, 22.0f, 31.0f}));

  const int first[] = {2, 1, 2, 1}, second[] = {7, 9, 3, 4};
  Ints a(first, first + 4), b(second, second + 4);
  const auto pairs = thrust::make_zip_iterator(a.begin(), b.begin());
  thrust::sort(pairs, pairs + 4);
  CHECK(holds(a, {1, 1, 2, 2}) && holds(b, {4, 9, 3, 7}));
  thrust::transform(pairs, pairs + 4, pairs, Swapped());
  CHECK(holds(a, {4, 9, 3, 7}) && holds(b, {1, 1, 2, 2}));
  // where the largest is
  using Best = thrust::tuple<int, int>;
  const auto indexed = thrust::make_zip_iterator(a.begin(), from);
  CHECK(thrust::get<1>(Best(*thrust::max_element(indexed, indexed + 4))) == 2);

  const int places[] = {3, 0};
  const Ints map(places, places + 2);
  const auto chosen = thrust::make_permutation_iterator(a.begin(), map.begin());
  CHECK(thrust::reduce(chosen, chosen + 2) == 11);
  thrust::fill(chosen, chosen + 2, 0);
  CHECK(holds(a, {0, 9, 3, 0}));
  thrust::transform(from, from + 4, a.begin(), Square());
  CHECK(holds(a, {1, 4, 9, 16}));
  thrust::copy(a.rbegin(), a.rend(), b.begin());
  CHECK(holds(b, {16, 9, 4, 1}));

  using namespace thrust::placeholders;
  thrust::transform(a.begin(), a.end(), b.begin(), a.begin(), 2 * _1 - _2 % 5);
  CHECK(holds(a, {1, 4, 14, 31}));
  CHECK(thrust::count_if(a.begin(), a.end(), _1 > 3 && _1 < 20) == 2);
}

template <class Place>
static void everything() {
  elements<Place>();
  sums<Place>();
  order<Place>();
  selection<Place>();
  iterators<Place>();
}

int main() {
  everything<OnHost>();
  everything<OnDevice>();
  // A sum of floats that one after the other would lose: each 1 is less than half of the last place of 2^25.
  const int n = 1 << 18;
  const thrust::device_vector<float> ones(n, 1.0f / 3);
  const float sum = thrust::reduce(ones.begin(), ones.end());
  CHECK(std::fabs(sum / n * 3 - 1) < 1e-5f);
  std::printf("thrust algorithms: %s\n", failures ? "FAILED" : "ok");
  return failures ? 1 : 0;
}
