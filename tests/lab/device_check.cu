// What makes and compares references on a GPU, beside the same work in plain loops of the host. It prints PASS or FAIL
// for each check, and ends with 0 where none failed.
//
// On the simulator this file and GemmProblem's are compiled as for a GPU (LAB_GPU), so that the same kernels run there,
// traced: a finding fails the check, too.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/backend.h"
#include "lab/buffer.h"
#include "lab/check.h"
#include "lab/counts.h"
#include "lab/elements.h"
#include "lab/gemm.h"
#include "lab/inputs.h"
#include "lab/reference.h"
#include "lab/text.h"

static_assert(lab::references_on_device, "this program is about the device's side");

namespace {

using lab::Comparison;
using lab::Elements;
using lab::Number;
using lab::Reference;
using lab::Tolerance;

constexpr std::size_t sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 4095, 16385, 99991};

int checks = 0, failed = 0;

/// Reports a check.
/// \param wrong empty where it holds
void report(const std::string& name, std::string wrong) {
  if (lab::this_backend().name == "simulator") {
    for (const lab::Finding& one : lab::take_findings())
      wrong += " " + one.kind + ": " + one.message;
  }
  ++checks;
  failed += wrong.empty() ? 0 : 1;
  std::printf("%s  %s%s%s\n", wrong.empty() ? "PASS" : "FAIL", name.c_str(),
              wrong.empty() ? "" : ": ", wrong.c_str());
  std::fflush(stdout);
}

/// Where two arrays differ first; empty where they are the same bits.
template <class T>
std::string difference(const std::vector<T>& got, const std::vector<T>& want) {
  if (got.size() != want.size()) return lab::format("%zu of %zu", got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0) {
      return lab::format("element %zu of %zu differs", i, got.size());
    }
  }
  return "";
}

// ---- for_each, fill, fold, scan, select ----

/// Whether i begins a segment, or is selected: one in `every`; 0: never.
struct OneIn {
  std::uint64_t seed;
  unsigned every;
  __host__ __device__ bool operator()(std::size_t i) const {
    return every != 0 && lab::random_bits(seed, i) % every == 0;
  }
};

/// x -> a x + b, modulo 2^32: one after the other is associative, and not commutative.
struct Affine {
  unsigned a, b;
};
struct Then {
  __host__ __device__ Affine operator()(Affine f, Affine g) const {
    return {f.a * g.a, f.b * g.a + g.b};
  }
};
struct AffineOf {
  __host__ __device__ Affine operator()(std::size_t i) const {
    return {static_cast<unsigned>(lab::random_bits(5, i)) | 1u,
            static_cast<unsigned>(lab::random_bits(6, i))};
  }
};

std::string check_for_each(std::size_t n) {
  // Beside the n elements one that no call may touch.
  Reference<unsigned> calls(std::vector<unsigned>(n + 1, 0));
  Reference<unsigned long long> sum(std::vector<unsigned long long>(1, 0));
  unsigned* const of = calls.data();
  unsigned long long* const all = sum.data();
  lab::for_each(n, [=] __host__ __device__(std::size_t i) {
    lab::add_to(of[i], 1u);
    lab::add_to(*all, static_cast<unsigned long long>(i));
  });
  std::vector<unsigned> want(n + 1, 1);
  want[n] = 0;
  if (sum.host()[0] != n * (n - std::min<std::size_t>(n, 1)) / 2)
    return "the sum of all i is wrong";
  return difference(calls.host(), want);
}

std::string check_fill(std::size_t n) {
  Reference<double> filled(n);
  lab::fill(filled, [=] __host__ __device__(std::size_t i) {
    return 0.5 * static_cast<double>(lab::random_int(7, i)) + static_cast<double>(n);
  });
  std::vector<double> want(n);
  for (std::size_t i = 0; i < n; ++i) {
    want[i] = 0.5 * static_cast<double>(lab::random_int(7, i)) + static_cast<double>(n);
  }
  return difference(filled.host(), want);
}

std::string check_fold(std::size_t n) {
  const Affine got = lab::fold(n, Affine{1, 0}, AffineOf{}, Then{});
  Affine want{1, 0};
  for (std::size_t i = 0; i < n; ++i) want = Then{}(want, AffineOf{}(i));
  if (got.a != want.a || got.b != want.b) return "not composed in the order of the elements";
  const long long sum = lab::fold(
      n, 0LL, [=] __host__ __device__(std::size_t i) -> long long { return lab::random_int(8, i); },
      lab::plus<long long>());
  long long plain = 0;
  for (std::size_t i = 0; i < n; ++i) plain += lab::random_int(8, i);
  return sum == plain ? "" : "the sum is wrong";
}

std::string check_scan(std::size_t n, bool inclusive, unsigned every) {
  const OneIn is_head{9, every};
  const lab::RandomValue<unsigned> element{10};
  Reference<unsigned> scanned(n);
  if (every == 0) {
    lab::scan(scanned, inclusive, element);
  } else {
    lab::scan(scanned, inclusive, element, is_head);
  }
  std::vector<unsigned> want(n);
  unsigned sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (is_head(i)) sum = 0;
    want[i] = inclusive ? sum + element(i) : sum;
    sum += element(i);
  }
  return difference(scanned.host(), want);
}

std::string check_select(std::size_t n, unsigned every) {
  const OneIn keep{11, every};
  const lab::RandomValue<unsigned> element{12};
  Reference<unsigned> selected(std::vector<unsigned>(n, 4711));
  const std::size_t count = lab::select(selected, n, keep, element);
  std::vector<unsigned> want;
  for (std::size_t i = 0; i < n; ++i) {
    if (keep(i)) want.push_back(element(i));
  }
  if (count != want.size()) return lab::format("%zu where %zu are right", count, want.size());
  want.resize(n, 4711);  // what lies behind them stays
  return difference(selected.host(), want);
}

template <class T>
void check_random(const char* name) {
  std::string wrong;
  for (const std::size_t n : sizes) {
    if (wrong.empty()) {
      const lab::Input<T> in(n, lab::RandomValue<T>{13});
      wrong = difference(in.host(), lab::random_values<T>(n, 13));
    }
  }
  report(std::string("random_value<") + name + ">", wrong);
}

void check_references() {
  const auto of_all_sizes = [](const std::string& name, const auto& check) {
    std::string wrong;
    for (const std::size_t n : sizes) {
      if (wrong.empty()) wrong = check(n);
      if (!wrong.empty()) {
        wrong = lab::format("n = %zu: ", n) + wrong;
        break;
      }
    }
    report(name, wrong);
  };
  of_all_sizes("for_each", check_for_each);
  of_all_sizes("fill", check_fill);
  of_all_sizes("fold", check_fold);
  for (const unsigned every : {0u, 1u, 2u, 7u, 1000u}) {
    const std::string of = lab::format(" of one in %u", every);
    for (const bool inclusive : {true, false}) {
      of_all_sizes((inclusive ? "inclusive scan, heads" : "exclusive scan, heads") + of,
                   [&](std::size_t n) { return check_scan(n, inclusive, every); });
    }
    of_all_sizes("select" + of, [&](std::size_t n) { return check_select(n, every); });
  }
  check_random<float>("float");
  check_random<double>("double");
  check_random<int>("int");
  check_random<unsigned>("unsigned");
  check_random<std::uint64_t>("uint64_t");
  check_random<__half>("half");
  check_random<__nv_bfloat16>("bfloat16");
  std::string wrong;
  for (const std::size_t n : sizes) {
    const lab::Input<std::uint8_t> bytes(n, lab::RandomByte{14});
    if (wrong.empty()) wrong = difference(bytes.host(), lab::random_bytes(n, 14));
  }
  report("random_byte", wrong);
}

// ---- comparisons ----

/// Two arrays, and what a comparison has to find.
template <class G, class W>
struct Case {
  std::vector<G> got = {};
  std::vector<W> want = {};
  std::size_t mismatches = 0, first = Comparison::none;
  double max_error = 0;
  Tolerance tolerance = {};
  std::vector<double> allowed = {};
  std::size_t cols = 0, ld = 0;
  std::vector<int> rows = {};
  Number got_type = lab::number_of<G>(), want_type = lab::number_of<W>();
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// What is wrong with what a comparison found.
std::string differs(const char* side, const Comparison& found, std::size_t mismatches,
                    std::size_t first, double max_error) {
  if (found.pass != (mismatches == 0)) return lab::format("%s: pass is wrong; ", side);
  if (found.mismatches != mismatches || found.first_mismatch != first) {
    return lab::format("%s: %zu mismatches, the first at %zu, where %zu and %zu are right; ", side,
                       found.mismatches, found.first_mismatch, mismatches, first);
  }
  if (same(found.max_error, max_error)) return "";
  return lab::format("%s: error %g where %g is right; ", side, found.max_error, max_error);
}

/// A comparison on the device, the same on the host, and what both have to find.
template <class G, class W>
std::string wrong_with(const Case<G, W>& what) {
  const lab::DeviceBuffer<G> got(what.got, "got");
  const lab::DeviceBuffer<W> want(what.want, "want");
  const lab::DeviceBuffer<double> allowed(what.allowed, "allowed");
  const lab::DeviceBuffer<int> rows(what.rows, "rows");
  const std::size_t n = what.cols == 0 ? what.got.size() : what.want.size();
  const auto elements = [&](const G* data, const int* of) {
    return Elements{data, what.got_type, n, what.cols, what.ld, what.rows.empty() ? nullptr : of};
  };
  const bool each = !what.allowed.empty();
  const Comparison device = lab::compare_on_device(elements(got.data(), rows.data()),
                                                   {want.data(), what.want_type, what.want.size()},
                                                   what.tolerance, each ? allowed.data() : nullptr);
  const Comparison host =
      lab::compare_on_host(elements(what.got.data(), what.rows.data()),
                           {what.want.data(), what.want_type, what.want.size()}, what.tolerance,
                           each ? what.allowed.data() : nullptr);
  std::string wrong = differs("device", device, what.mismatches, what.first, what.max_error) +
                      differs("host", host, what.mismatches, what.first, what.max_error);
  if (device.text != host.text) wrong += "'" + device.text + "' and '" + host.text + "'; ";
  if (!same(device.tolerance, host.tolerance) || device.size != host.size) wrong += "they differ";
  return wrong;
}

template <class G, class W>
void check(const std::string& name, const Case<G, W>& what) {
  report("compare: " + name, wrong_with(what));
}

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr float nan_float = std::numeric_limits<float>::quiet_NaN();

/// One element, as one and as the other.
template <class G, class W>
void check_one(const std::string& name, G got, W want, bool pass, double max_error,
               Number got_type = lab::number_of<G>(), Number want_type = lab::number_of<W>()) {
  Case<G, W> what{.got = {got}, .want = {want}};
  what.got_type = got_type;
  what.want_type = want_type;
  what.max_error = max_error;
  if (!pass) what.mismatches = 1, what.first = 0;
  check(name, what);
}

void check_values() {
  const auto inf = static_cast<float>(infinite);
  const double not_a_number = nan_float;
  check_one("a NaN in the result", nan_float, 1.0f, false, not_a_number);
  check_one("a NaN in the reference", 1.0f, nan_float, false, not_a_number);
  check_one("NaN and NaN", nan_float, nan_float, false, not_a_number);
  check_one("equal infinities", inf, inf, true, 0);
  check_one("an infinity and its negative", inf, -inf, false, infinite);
  check_one("an infinity in the result", inf, 1.0f, false, infinite);
  check_one("0 and -0", 0.0f, -0.0f, true, 0);
  check_one("float and double", 0.5f, 0.75, false, 0.25);

  constexpr std::int64_t large = std::int64_t{1} << 53;
  check_one("int64 beyond 2^53", large, large + 1, false, 1);
  check_one("uint64 beyond 2^53", ~std::uint64_t{0}, ~std::uint64_t{0} - 1, false, 1);
  check_one("uint64 and a negative int64", ~std::uint64_t{0}, std::int64_t{-1}, false, 0x1p64);
  check_one("a negative int32 and uint32", -1, 0xFFFFFFFFu, false, 4294967296.0);
  check_one("a negative int8 and uint8", std::int8_t{-1}, std::uint8_t{255}, false, 256);
  check_one("int16 and uint16", std::int16_t{300}, std::uint16_t{300}, true, 0);
  check_one("int and double", 3, 3.5, false, 0.5);
  check_one("int64 and double beyond 2^32", std::int64_t{1} << 40, 0x1p40, true, 0);
  check_one("a negative int64 and double", -(std::int64_t{1} << 40), -0x1p40, true, 0);

  // Every pattern of 16 bits, beside the conversion of CUDA's header.
  for (const bool brain : {false, true}) {
    Case<std::uint16_t, float> all;
    all.got_type = brain ? Number::bf16 : Number::f16;
    for (unsigned bits = 0; bits < 65536; ++bits) {
      const auto pattern = static_cast<std::uint16_t>(bits);
      float value = 0;
      if (brain) {
        __nv_bfloat16 number;
        std::memcpy(static_cast<void*>(&number), &pattern, sizeof number);
        value = __bfloat162float(number);
      } else {
        __half number;
        std::memcpy(static_cast<void*>(&number), &pattern, sizeof number);
        value = __half2float(number);
      }
      if (std::isnan(value)) continue;  // equal to nothing
      all.got.push_back(pattern);
      all.want.push_back(value);
    }
    check(brain ? "every bfloat16" : "every half", all);
  }
  const std::uint16_t one_half = 0x3C00, one_brain = 0x3F80;
  check_one("half and 1.5", one_half, 1.5f, false, 0.5, Number::f16);
  check_one("bfloat16 and 1.5", one_brain, 1.5f, false, 0.5, Number::bf16);
  check_one("a half that is NaN", std::uint16_t{0x7E00}, 1.0f, false, not_a_number, Number::f16);
}

void check_tolerances() {
  const Tolerance relative{.absolute = 0, .relative = 0.25, .basis = "a test"};
  check("a relative tolerance", Case<double, double>{.got = {1.25, -5, 0, 2.75},
                                                     .want = {1, -4, 0, 2},
                                                     .mismatches = 1,
                                                     .first = 3,
                                                     .max_error = 0.75,
                                                     .tolerance = relative});
  check("a relative tolerance of an infinity", Case<double, double>{.got = {1},
                                                                    .want = {infinite},
                                                                    .mismatches = 1,
                                                                    .first = 0,
                                                                    .max_error = infinite,
                                                                    .tolerance = relative});
  const std::vector<double> allowed{0.5, 1, 0.125, 0};
  check("a tolerance for each element", Case<float, double>{.got = {1.5f, 2, 3.25f, 4},
                                                            .want = {1, 1, 3, 4},
                                                            .mismatches = 1,
                                                            .first = 2,
                                                            .max_error = 0.25,
                                                            .allowed = allowed});
  const Comparison empty =
      lab::compare_on_device({nullptr, Number::f32, 0}, {nullptr, Number::f32, 0}, {});
  report("compare: nothing", empty.pass || empty.text.find("empty") == std::string::npos
                                 ? "passes: " + empty.text
                                 : "");
  const lab::DeviceBuffer<float> some(std::vector<float>{1, 2, 3}, "some");
  const Comparison other =
      lab::compare_on_device({some.data(), Number::f32, 3}, {some.data(), Number::f32, 2}, {});
  report("compare: other sizes",
         other.pass || other.text != "the result has 3 elements, the reference 2"
             ? "says: " + other.text
             : "");
  const Comparison loose =
      lab::compare_on_device({some.data(), Number::f32, 3}, {some.data(), Number::f32, 3},
                             Tolerance{.absolute = nan_float});
  report("compare: a tolerance that is NaN", loose.pass ? "passes" : "");
}

void check_places() {
  // One wrong element, and two, wherever they are.
  std::string wrong;
  for (const std::size_t n : sizes) {
    if (n == 0) continue;
    const std::vector<float> want = lab::random_floats(n, 15);
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      Case<float, float> what{.got = want, .want = want, .mismatches = 1, .first = at};
      what.got[at] += 2;
      what.max_error = std::abs(static_cast<double>(what.got[at]) - static_cast<double>(want[at]));
      if (at != n - 1) {
        what.got[n - 1] = nan_float;
        what.mismatches = 2;
        what.max_error = nan_float;
      }
      if (wrong.empty()) wrong = wrong_with(what);
    }
    if (wrong.empty()) wrong = wrong_with(Case<float, float>{.got = want, .want = want});
  }
  report("compare: wrong elements first, in the middle and last", wrong);

  // Rows with gaps, which hold anything; and some of the rows alone.
  constexpr std::size_t rows = 37, cols = 45, ld = 53;
  for (const bool some : {false, true}) {
    Case<float, double> what{.cols = cols, .ld = ld};
    if (some) what.rows = {0, 5, 6, 30, 36};
    what.got.assign((rows - 1) * ld + cols, nan_float);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t col = 0; col < cols; ++col) {
        what.got[row * ld + col] = lab::random_float(16, row * cols + col);
      }
    }
    for (std::size_t i = 0; i < (some ? what.rows.size() : rows); ++i) {
      const std::size_t row = some ? static_cast<std::size_t>(what.rows[i]) : i;
      for (std::size_t col = 0; col < cols; ++col) {
        what.want.push_back(lab::random_float(16, row * cols + col));
      }
    }
    check(some ? "some rows with gaps" : "rows with gaps", what);
    const std::size_t row = some ? 3 : 30;  // of the reference
    what.got[30 * ld + 44] = 7;
    what.mismatches = 1;
    what.first = row * cols + 44;
    what.max_error = std::abs(7 - what.want[what.first]);
    check(some ? "a wrong element in some rows" : "a wrong element in rows", what);
    if (some) continue;
    const lab::DeviceBuffer<float> got(what.got, "got");
    const lab::DeviceBuffer<double> want(what.want, "want");
    const Comparison found =
        lab::compare_on_device({got.data(), Number::f32, what.want.size(), cols, ld},
                               {want.data(), Number::f64, what.want.size()}, {});
    report("compare: names row and column",
           found.text.ends_with("; that is row 30, column 44") ? "" : found.text);
  }
}

// ---- products ----

/// What is wrong with the reference of a product, which three loops compute here.
template <class T>
std::string wrong_product(const lab::GemmCase& what) {
  lab::GemmProblemOf<T> problem(what, 3);
  const lab::GemmOf<T> g = problem.gemm();
  const auto number = [](T x) { return static_cast<double>(static_cast<float>(x)); };
  const auto wide = [](int x) { return static_cast<std::size_t>(x); };
  const auto fetch = [&](const T* from, int rows, int cols, int ld) {
    std::vector<T> all(wide(rows - 1) * wide(ld) + wide(cols));
    CUDA_CHECK(cudaMemcpy(all.data(), from, all.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return all;
  };
  problem.prepare();
  if (what.alpha != 0 && problem.verify().pass) return "passes with nothing written";
  const std::vector<T> a = fetch(g.a, g.m, g.k, g.lda), b = fetch(g.b, g.k, g.n, g.ldb);
  std::vector<T> c = fetch(g.c, g.m, g.n, g.ldc);
  for (std::size_t i = 0; i < wide(g.m); ++i) {
    for (std::size_t j = 0; j < wide(g.n); ++j) {
      double sum = 0;
      for (std::size_t l = 0; l < wide(g.k); ++l) {
        sum += number(a[i * wide(g.lda) + l]) * number(b[l * wide(g.ldb) + j]);
      }
      sum *= static_cast<double>(g.alpha);
      T& out = c[i * wide(g.ldc) + j];
      if (g.beta != 0) sum += static_cast<double>(g.beta) * number(out);
      out = static_cast<T>(static_cast<float>(sum));
    }
  }
  const auto verify = [&] {
    CUDA_CHECK(cudaMemcpy(g.c, c.data(), c.size() * sizeof(T), cudaMemcpyHostToDevice));
    return problem.verify();
  };
  const Comparison right = verify();
  if (!right.pass) return right.text;
  // No sum here exceeds 64, whose rounding to float is at most 2^-19, and to BF16 2^-3.
  if (right.max_error > (sizeof(T) == 4 ? 0x1p-19 : 0x1p-3))
    return lab::format("off by %g", right.max_error);
  const std::size_t last = c.size() - 1;
  const T kept = c[last];
  c[last] = static_cast<T>(static_cast<float>(kept) + 1);
  const Comparison wrong = verify();
  if (wrong.pass || wrong.mismatches != 1) return "a wrong last element: " + wrong.text;
  c[last] = kept;
  if (g.ldc == g.n || g.m == 1) return "";
  c[wide(g.n)] = T(0.0f);  // behind the first row
  const Comparison gap = verify();
  return gap.pass ? "a write into a gap passes" : "";
}

void check_products() {
  for (const lab::GemmCase& what : {
           lab::GemmCase{.m = 1, .n = 1, .k = 1},
           lab::GemmCase{.m = 33,
           .n = 17,
           .k = 129,
           .alpha = -0.5f,
           .beta = 0.5f,
           .lda = 131,
           .ldb = 20,
           .ldc = 23,
           .offset_a = 1,
           .offset_b = 3,
           .offset_c = 2},
           lab::GemmCase{.m = 127, .n = 65, .k = 31, .beta = 1, .lda = 32, .ldb = 65, .ldc = 68},
           lab::GemmCase{.m = 257, .n = 129, .k = 63, .ldc = 131, .offset_c = 1},
           lab::GemmCase{.m = 3, .n = 257, .k = 2, .alpha = 0, .beta = -0.5f},
       }) {
    report("product, " + lab::to_string(what), wrong_product<float>(what));
    report("product in BF16, " + lab::to_string(what), wrong_product<__nv_bfloat16>(what));
  }
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("SKIP  there is no GPU\n");
    return 77;
  }
  check_references();
  check_values();
  check_tolerances();
  check_places();
  check_products();
  std::printf("%d checks, %d FAIL\n", checks, failed);
  return failed == 0 ? 0 : 1;
}
