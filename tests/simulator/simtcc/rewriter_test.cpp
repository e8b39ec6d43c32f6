// Each rule of the rewriter: what it rewrites, and what looks like it and must stay.

#include "rewrite/rewriter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <string_view>

#include "rewrite/unsupported.h"

namespace {

using simtcc::rewrite;
using simtcc::Rewritten;

const std::string kUntraced = "__attribute__((no_sanitize(\"thread\"), no_sanitize_coverage))";

long lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

// The rewritten text of a source without faults. Whatever happens, no line may move.
std::string rewritten(const std::string& source) {
  const Rewritten result = rewrite(source, "test.cu");
  for (const auto& diagnostic : result.diagnostics) ADD_FAILURE() << diagnostic.text();
  EXPECT_EQ(lines(source), lines(result.text)) << source;
  return result.text;
}

// The text of the only message for a faulty source.
// (The column has tests of its own.)
std::string complaint(const std::string& source) {
  Rewritten result = rewrite(source, "test.cu");
  EXPECT_EQ(result.diagnostics.size(), 1u) << source;
  if (result.diagnostics.empty()) return "";
  EXPECT_GT(result.diagnostics[0].column, 0) << source;
  result.diagnostics[0].column = 0;
  return result.diagnostics[0].text();
}

// What `kernel<<<configuration>>>` turns into. `spelled` is the kernel where it stands, if on several
// lines.
std::string launch(const std::string& kernel, const std::string& configuration,
                   std::string spelled = "", const std::string& capture = "[&]") {
  if (spelled.empty()) spelled = kernel;
  std::string literal;
  for (const char c : kernel)
    literal += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  const std::string launcher = kernel.ends_with('>') ? "template_launcher" : "launcher";
  return "::simt::" + launcher + "(\"" + literal + "\", " + capture +
         "(auto simt_kernel) -> decltype(simt_kernel(" + kernel + ")) { return simt_kernel(" +
         kernel + "); }, " + capture + "(auto&... simt_arguments) " + kUntraced + " { " + spelled +
         "(simt_arguments...); }, ::simt::config(" + configuration + "))";
}

// Inside a function, so that lambdas may capture.
std::string in_function(const std::string& statement) { return "void f() { " + statement + " }\n"; }

void expect_launch(const std::string& before, const std::string& kernel,
                   const std::string& configuration, const std::string& after) {
  EXPECT_EQ(rewritten(in_function(before + kernel + "<<<" + configuration + ">>>" + after)),
            in_function(before + launch(kernel, configuration) + after));
}

void expect_unchanged(const std::string& source) { EXPECT_EQ(rewritten(source), source); }

// ---- launches: the kernel's expression

TEST(Launch, NamesAKernel) {
  expect_launch("", "k", "1, 32", "();");
  expect_launch("", "k", "grid, block", "(a, b + 1);");
  expect_launch("", "k", "grid, block, bytes", "(a);");
  expect_launch("", "k", "grid, block, n * sizeof(float), stream", "(a);");
}

TEST(Launch, QualifiedNames) {
  expect_launch("", "ns::k", "1, 1", "();");
  expect_launch("", "::k", "1, 1", "();");
  expect_launch("", "::a::b::k", "1, 1", "();");
  expect_launch("return ", "::k", "1, 1", "();");
  expect_launch("", "Reducer<T>::kernel", "1, 1", "();");
  expect_launch("", "Reducer<T>::template kernel<4>", "1, 1", "();");
}

TEST(Launch, TemplateArguments) {
  expect_launch("", "k<float>", "1, 1", "(p);");
  expect_launch("", "k<float, 256>", "1, 1", "(p);");
  expect_launch("", "k<(a > b), T>", "1, 1", "(p);");
  expect_launch("", "k<(a>b), T>", "1, 1", "(p);");
  expect_launch("", "k<(1 << 4), 2>", "1, 1", "(p);");
  expect_launch("", "k<1 << 4>", "1, 1", "(p);");
  expect_launch("", "k<f(a, b) >", "1, 1", "(p);");
  expect_launch("", "k<A<B<int>>>", "1, 1", "(p);");  // >>> closes three templates
  expect_launch("", "k<A<B<int> > >", "1, 1", "(p);");
  expect_launch("", "k<N < 4>", "1, 1", "(p);");
  expect_launch("", "k<sizeof(T) >= 4>", "1, 1", "(p);");
  expect_launch("", "k<decltype(a->b)>", "1, 1", "(p);");
  expect_launch("", "k<'>', \">\"_tag>", "1, 1", "(p);");
}

TEST(Launch, KernelsThroughExpressions) {
  expect_launch("", "(k<float>)", "1, 1", "(p);");
  expect_launch("", "(*pointer)", "1, 1", "(p);");
  expect_launch("", "pointer", "1, 1", "(p);");
  expect_launch("", "table[i]", "1, 1", "(p);");
  expect_launch("", "table[i][j + 1]", "1, 1", "(p);");
  expect_launch("", "pick(a, b)", "1, 1", "(p);");
  expect_launch("", "pick<int>(a, b)", "1, 1", "(p);");
  expect_launch("", "pick(a)(b)", "1, 1", "(p);");
  expect_launch("", "object.kernel", "1, 1", "(p);");
  expect_launch("", "this->kernel", "1, 1", "(p);");
  expect_launch("", "object.table[2].kernel", "1, 1", "(p);");
  expect_launch("", "this->template kernel<4>", "1, 1", "(p);");
  expect_launch("", "object.get().kernel", "1, 1", "(p);");
}

TEST(Launch, StandsInStatementsAndExpressions) {
  expect_launch("if (x) ", "k", "1, 1", "();");
  expect_launch("if (x) ", "(k)", "1, 1", "();");
  expect_launch("if (x > 0) ", "k<4>", "1, 1", "(); else g();");
  expect_launch("if (x) g(); else ", "k", "1, 1", "();");
  expect_launch("for (int i = 0; i < 4; ++i) ", "k", "1, 1", "(i);");
  expect_launch("while (x) ", "(k<2>)", "1, 1", "();");
  expect_launch("do ", "k", "1, 1", "(); while (x);");
  expect_launch("switch (x) { case 1: ", "k", "1, 1", "(); break; }");
  expect_launch("label: ", "k", "1, 1", "();");
  expect_launch("x ? ", "k", "1, 1", "() : g();");
  expect_launch("g(), ", "k", "1, 1", "();");
  expect_launch("(", "k", "1, 1", "(), g());");
  expect_launch("(void)", "(k)", "1, 1", "();");
  expect_launch("return ", "k", "1, 1", "();");
  expect_launch("auto l = [=] { ", "k", "1, 1", "(); };");
  expect_launch("CHECK((", "k", "1, 1", "(), g()));");
  expect_launch("(", "k<Ts>", "1, 1", "(), ...);");
}

TEST(Launch, SeveralInALine) {
  EXPECT_EQ(rewritten(in_function("a<<<1, 2>>>(x), b<<<3, 4>>>(y); c<<<5, 6>>>();")),
            in_function(launch("a", "1, 2") + "(x), " + launch("b", "3, 4") + "(y); " +
                        launch("c", "5, 6") + "();"));
}

TEST(Launch, InsideAnArgumentOfALaunch) {
  EXPECT_EQ(
      rewritten(in_function("a<<<1, 2>>>([] { b<<<3, 4>>>(y); return 1; }());")),
      in_function(launch("a", "1, 2") + "([] { " + launch("b", "3, 4") + "(y); return 1; }());"));
}

TEST(Launch, AtNamespaceScopeCapturesNothing) {
  EXPECT_EQ(rewritten("int x = (k<<<1, 1>>>(), 0);"),
            "int x = (" + launch("k", "1, 1", "", "[]") + "(), 0);");
}

TEST(Launch, KeepsTheTextOfTheKernel) {
  EXPECT_EQ(rewritten(in_function("k<'\\\\', \"a\">  <<<1, 1>>>();")),
            in_function(launch("k<'\\\\', \"a\">", "1, 1", "k<'\\\\', \"a\">  ") + "();"));
}

// ---- launches: the configuration and the arguments

TEST(Launch, ConfigurationWithShiftsAndComparisons) {
  expect_launch("", "k", "n >> 2, 1 << 5", "();");
  expect_launch("", "k", "1, 2>>1", "();");
  expect_launch("", "k", "n < 256 ? 1 : 2, 256", "();");
  expect_launch("", "k", "(n > 256 ? 2 : 1), 256", "();");
  expect_launch("", "k", "a < b, c", "();");
}

TEST(Launch, ConfigurationWithTemplates) {
  expect_launch("", "k", "ceil_div<int>(n, 256), 256", "();");
  expect_launch("", "k", "1, size<T>", "();");         // >>>>
  expect_launch("", "k", "1, size<A<T>>", "();");      // >>>>>
  expect_launch("", "k", "1, size<A<B<T>>>", "();");   // >>>>>>
  expect_launch("", "k", "f<A<B<T>>>(n), 32", "();");  // >>>( closes templates
  expect_launch("", "k", "size<T> >> 2, 1", "();");
  expect_launch("", "k", "X<X<int>>::v, N<4> ? 1 : 2", "();");
  expect_launch("", "k<X<X<X<int>>>::v>", "1, X<int>::v", "();");
}

TEST(Launch, ConfigurationWithBracesParenthesesAndLambdas) {
  expect_launch("", "k", "dim3{1, 2}, dim3(3, 4)", "();");
  expect_launch("", "k", "{1, 2}, {3, 4}", "();");
  expect_launch("", "k", "[&] { return a < b; }(), g(x, (y, z))", "();");
}

TEST(Launch, ArgumentsStayAsTheyAre) {
  expect_launch("", "k", "1, 1", "(f<1, 2>(x), {1, 2}, a < b, c > (d));");
  expect_launch("", "k", "1, 1", "([=] __attribute__((noinline)) (int i) { return i >> 3; }, n);");
  expect_launch("", "k", "1, 1", "(args...);");
  expect_launch("", "k", "1, 1", "(\"<<<1, 1>>>\", '<');");
}

TEST(Launch, NullBecomesNullptrWhereItIsAnArgument) {
  EXPECT_EQ(rewritten(in_function("k<<<1, 1>>>(__null, f(__null), __null);")),
            in_function(launch("k", "1, 1") + "(nullptr, f(__null), nullptr);"));
  expect_launch("", "k", "1, 1, 0, __null", "(x + __null);");
}

TEST(Launch, LinesStayWhenALaunchSpansThem) {
  EXPECT_EQ(rewritten("void f() {\n  k<\n   4>\n  <<<1,\n  2>>>\n  (a,\n  b);\n}\n"),
            "void f() {\n  " + launch("k< 4>", "1,\n  2", "k<\n   4>\n  ") + "\n  (a,\n  b);\n}\n");
}

TEST(Launch, LineMarkersInsideALaunchStay) {
  // what g++ -E prints for `NULL` in a call
  const std::string source =
      "void f() {\n k<<<1, 1, 0,\n# 5 \"test.cu\" 3 4\n     __null\n# 5 \"test.cu\"\n     "
      ">>>(x);\n}\n";
  const std::string text = rewritten(source);
  EXPECT_NE(text.find("\n# 5 \"test.cu\" 3 4\n     __null\n# 5 \"test.cu\"\n     ))(x);"),
            std::string::npos)
      << text;
}

// ---- atomics whose old value nobody looks at

std::string in_kernel(const std::string& body) {
  return "__global__ void k(int* p) { " + body + " }\n";
}

TEST(UnusedResult, OfAStatementIsMarked) {
  const std::string mark = "::simt::detail::result_unused(), ";
  for (const std::string before : {"", "int i = 0; ", "{ } ", "if (p[0]) ", "if (p[0]) { } else ",
                                   "for (int i = 0; i < 3; ++i) ", "(void)"}) {
    SCOPED_TRACE(before);
    const std::string text = rewritten(in_kernel(before + "atomicAdd(&p[p[1]], 1);"));
    const std::string kept = before == "(void)" ? mark + before : before + mark;
    EXPECT_NE(text.find(kept + "atomicAdd(&p[p[1]], 1);"), std::string::npos) << text;
  }
}

TEST(UnusedResult, IsNotWhereItIsUsed) {
  for (const std::string body :
       {"int i = atomicAdd(p, 1);", "return (int)atomicAdd(p, 1);", "p[atomicAdd(p, 1)] = 1;",
        "f(atomicAdd(p, 1));", "atomicAdd(p, 1) + 1;", "p[0] ? 1 : atomicAdd(p, 1);",
        "while (atomicAdd(p, 1));", "atomicAdd(p + atomicAdd(p, 1), 1);"}) {
    SCOPED_TRACE(body);
    EXPECT_EQ(rewritten(in_kernel(body)).find("result_unused"), std::string::npos);
  }
}

// ---- atomics of which all lanes name one address

std::string address_of(const std::string& body) {
  const std::string text = rewritten(
      "__device__ int count, sums[4]; static __device__ unsigned first = 0; __device__ int* far; "
      "__global__ void k(int* p, A a, int n) { __shared__ int s[4]; " +
      body + " }\n");
  const std::string mark = "::simt::detail::same_address<";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return "";
  std::size_t end = text.find('(', at);
  for (int open = 0; open += (text[end] == '(') - (text[end] == ')'); ++end) continue;
  return text.substr(at + mark.size(), end + 1 - at - mark.size());
}

TEST(SameAddress, IsMadeOfParametersAndTheBlock) {
  EXPECT_EQ(address_of("atomicAdd(p, 1);"), "true>(p)");
  EXPECT_EQ(address_of("int i = threadIdx.x; atomicAdd(p, i);"), "false>(p)");
  EXPECT_EQ(address_of("atomicSub(&p[blockIdx.x + n], n);"), "true>(&p[blockIdx.x + n])");
  EXPECT_EQ(address_of("atomicMax(p + 3, *p);"), "false>(p + 3)");
  EXPECT_EQ(address_of("if (n == 3) p[1] = atomicAdd(a.count, blockDim.x);"), "true>(a.count)");
  EXPECT_EQ(address_of("atomicOr(&s[0], threadIdx.x);"), "false>(&s[0])");
  EXPECT_EQ(address_of("atomicAdd(&count, 1);"), "true>(&count)");
  EXPECT_EQ(address_of("if (n) count = 0; atomicMax(&first, threadIdx.x);"), "false>(&first)");
  EXPECT_EQ(address_of("atomicAdd(&sums[blockIdx.x], n);"), "true>(&sums[blockIdx.x])");
  EXPECT_EQ(address_of("atomicAdd(sums + 1, count);"), "false>(sums + 1)");
}

TEST(SameAddress, IsSeenInPtx) {
  const std::string red = "asm volatile(\"red.global.add.u32 [%0], ";
  EXPECT_EQ(address_of(red + "1;\" :: \"l\"(p) : \"memory\");"), "true>(p)");
  EXPECT_EQ(address_of(red + "%1;\" :: \"l\"(p + n), \"r\"(n));"), "true>(p + n)");
  EXPECT_EQ(address_of(red + "%1;\" :: \"l\"(&count), \"r\"(threadIdx.x));"), "false>(&count)");
  EXPECT_EQ(address_of("asm(\"atom.add.u32 %0, [%1 + 4], %2;\" : \"=r\"(n) : \"l\"(p), \"r\"(3));"),
            "true>(p)");
  EXPECT_EQ(address_of(red + "1;\" :: \"l\"(p + threadIdx.x));"), "");
  EXPECT_EQ(address_of(red + "1; red.global.add.u32 [%0], 2;\" :: \"l\"(p));"), "");
  EXPECT_EQ(
      address_of("asm(\"{ .reg .pred q; setp.ne.s32 q, %1, 0; @q red.global.add.u32 [%0], 1; }\""
                 " :: \"l\"(p), \"r\"(n));"),
      "");
}

TEST(SameAddress, IsNotClaimedOfTheRest) {
  for (const std::string body :
       {"atomicAdd(p + threadIdx.x, 1);", "atomicAdd(&p[p[1]], 1);",
        "p += threadIdx.x; atomicAdd(p, 1);", "p = f(p); atomicAdd(p, 1);",
        "++n; atomicAdd(p + n, 1);", "n--; atomicAdd(p + n, 1);",
        "{ int* p = f(); atomicAdd(p, 1); }", "atomicAdd(f(p), 1);",
        "atomicAdd(&sums[threadIdx.x], 1);", "atomicAdd(far, 1);", "atomicAdd(&sums[count], 1);",
        "int* count = f(); atomicAdd(count, 1);", "auto& count = p[f()]; atomicAdd(&count, 1);",
        "atomicAdd(&p[threadIdx.y], 1);", "atomicAdd(q, 1);", "atomicExch(p, 1);",
        "atomicCAS(p, 1, 2);"}) {
    SCOPED_TRACE(body);
    EXPECT_EQ(address_of(body), "");
  }
}

TEST(SameAddress, IsFollowedThroughVariables) {
  EXPECT_EQ(address_of("int i = 0; atomicAdd(&p[i], 1);"), "true>(&p[i])");
  EXPECT_EQ(address_of("const int row = blockIdx.x * 2 + n; atomicAdd(&p[row], threadIdx.x);"),
            "false>(&p[row])");
  EXPECT_EQ(address_of("int* q = p + blockIdx.x; int k = 2; atomicAdd(q + k, k);"), "true>(q + k)");
  EXPECT_EQ(address_of("int* q = &s[1]; atomicMax(q, threadIdx.x);"), "false>(q)");
  EXPECT_EQ(address_of("int a = n; int b = a + 1; if (n > b) atomicAdd(p + b, 1);"),
            "true>(p + b)");
}

TEST(SameAddress, IsNotFollowedThroughWhatChanges) {
  for (const std::string body :
       {"int i = threadIdx.x / 8; atomicAdd(&p[i], 1);",
        "int i = 0; if (threadIdx.x > 3) i = 1; atomicAdd(&p[i], 1);",
        "for (int i = 0; i < n; ++i) atomicAdd(&p[i], 1);", "int i; atomicAdd(&p[i], 1);",
        "int i = n; i += threadIdx.x; atomicAdd(&p[i], 1);",
        "int i = 0; f(&i); atomicAdd(p + i, 1);", "int i = 0; f(i); atomicAdd(p + i, 1);",
        "int i = 0; g(n, i, [&i] {}); atomicAdd(p + i, 1);",
        "int i = p[threadIdx.x]; atomicAdd(p + i, 1);", "int i = f(n); atomicAdd(p + i, 1);",
        "int i = 0; { int i = threadIdx.x; atomicAdd(p + i, 1); }",
        "int a = b, b = a; atomicAdd(p + a, 1);", "int i{threadIdx.x}; atomicAdd(p + i, 1);"}) {
    SCOPED_TRACE(body);
    EXPECT_EQ(address_of(body), "");
  }
}

bool is_marked(const std::string& source) {
  return rewritten(source + "\n").find("same_address") != std::string::npos;
}

TEST(SameAddress, IsFollowedIntoFunctions) {
  const std::string add = "__device__ void add(int* p, int n) { atomicAdd(p, n); } ";
  const std::string k = "__global__ void k(int* p, int n) ";
  EXPECT_TRUE(is_marked(add + k + "{ add(p, threadIdx.x); }"));
  EXPECT_TRUE(is_marked(add + k + "{ add(&p[blockIdx.x], 1); if (n) add(p + n, 2); }"));
  EXPECT_TRUE(is_marked("__device__ void add(int*, int); " + k + "{ add(p, 1); } " + add));
  EXPECT_TRUE(is_marked(add + "__device__ void more(int* q) { add(q, 2); } " + k + "{ more(p); }"));
  EXPECT_TRUE(is_marked("template <class T> __device__ void add(T* p) { atomicAdd(p, 1); } " + k +
                        "{ add<int>(p); }"));
  EXPECT_TRUE(is_marked("__device__ int sum; __device__ void add(int n) { atomicAdd(&sum, n); }"));
  EXPECT_TRUE(is_marked(add + k + "{ __shared__ int s; add(&s, 1); }"));
}

TEST(SameAddress, IsNotFollowedIntoFunctionsThatMayHaveAnother) {
  const std::string add = "__device__ void add(int* p, int n) { atomicAdd(p, n); } ";
  const std::string k = "__global__ void k(int* p, int n) ";
  EXPECT_FALSE(is_marked(add));  // nobody calls it
  EXPECT_FALSE(is_marked(add + k + "{ add(p + threadIdx.x, 1); }"));
  EXPECT_FALSE(is_marked(add + k + "{ add(p, 1); add(p + threadIdx.x, 1); }"));
  EXPECT_FALSE(is_marked(add + k + "{ auto f = add; f(p, 1); add(p, 1); }"));
  EXPECT_FALSE(is_marked(add + "__device__ void add(float* p, int n) {} " + k + "{ add(p, 1); }"));
  EXPECT_FALSE(is_marked("__noinline__ " + add + k + "{ add(p, 1); }"));
  EXPECT_FALSE(is_marked(add + "void host(int* p) { add(p, 1); } "));
  EXPECT_FALSE(is_marked("struct S { __device__ void add(int* p) { atomicAdd(p, 1); } }; " + k +
                         "{ S().add(p); }"));
  EXPECT_FALSE(
      is_marked("__device__ void add(int* p, int n) { if (n) add(p, n - 1); atomicAdd(p, 1); } " +
                k + "{ add(p, 1); }"));
}

// ---- what is no launch

TEST(NoLaunch, LiteralsAndComments) {
  expect_unchanged("const char* s = \"k<<<1, 1>>>();\";\n");
  expect_unchanged("const char* s = R\"(k<<<1, 1>>>(); \" // \n __shared__ )\"; int i;\n");
  expect_unchanged("const char* s = u8R\"x(k<<<1, 1>>>(x)\" __shared__ int i;)x\"_suffix;\n");
  expect_unchanged(
      "auto c = '\"'; // k<<<1, 1>>>(); \" '\nauto d = L'\\''; /* __shared__ int i; \n */ int "
      "j;\n");
  expect_unchanged("int n = 1'000'000; // don't\n");
  expect_unchanged("char c = '<'; char d[] = \"\\\"<<<\";\n");
}

TEST(NoLaunch, ShiftsAndOperators) {
  expect_unchanged("void f() { x = a << b >> c; y <<= 2; z >>= 3; }\n");
  expect_unchanged("std::ostream& operator<<<int>(std::ostream&, X<int>);\n");
  expect_unchanged("template <class T> struct A : B<C<D<T>>> { E<F<G<T>>> (*f)(int); };\n");
  expect_unchanged("bool b = a < ::c;  X<::Y> y;\n");
  expect_unchanged("void f() { auto x = A<B<C<int>>>(3); }\n");
}

TEST(NoLaunch, SaysWhatIsMissing) {
  EXPECT_EQ(complaint("void f() {\n k<<<1, 1>>>;\n}"),
            "test.cu:2: error: simt: '<<<' starts a kernel launch, but no '>>>(' follows it");
  EXPECT_EQ(complaint("void f() {\n\n <<<1, 1>>>();\n}"),
            "test.cu:3: error: simt: '<<<' starts a kernel launch, but no kernel's name stands "
            "before it");
  EXPECT_EQ(complaint("void f() { return <<<1, 1>>>(); }"),
            "test.cu:1: error: simt: '<<<' starts a kernel launch, but no kernel's name stands "
            "before it");
}

// ---- __shared__

// The checks that follow a static declaration.
std::string checks(const std::string& name) {
  return " static_assert(::simt::detail::fits_shared_memory<decltype(" + name +
         ")>, \"simt: a block's static __shared__ memory holds at most 48 KiB (49152 bytes)\"); "
         "static_assert(::simt::detail::can_be_shared<decltype(" +
         name +
         ")>, \"simt: a __shared__ variable must be of a type without a destructor, and with a "
         "constructor that does nothing: shared memory is never initialised\");";
}

// Spaces do not matter: the words that go leave theirs.
std::string squeezed(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' || (!out.empty() && out.back() != ' ' && out.back() != '\n')) out += c;
  }
  return out;
}

void expect_shared(const std::string& declaration, const std::string& expected) {
  const std::string ahead = "__device__ void f();\n";
  EXPECT_EQ(squeezed(rewritten(ahead + "void f() {\n" + declaration + "\n}\n")),
            squeezed(rewritten(ahead) + "void f() {\n" + expected + "\n}\n"));
}

TEST(Shared, Scalars) {
  expect_shared("__shared__ int n;", "static thread_local int n{};" + checks("n"));
  expect_shared("__shared__ unsigned long long n;",
                "static thread_local unsigned long long n{};" + checks("n"));
  expect_shared("__shared__ float4 v;", "static thread_local float4 v{};" + checks("v"));
  expect_shared("__shared__ ns::Type v;", "static thread_local ns::Type v{};" + checks("v"));
  expect_shared("__shared__ ::ns::Type v;", "static thread_local ::ns::Type v{};" + checks("v"));
}

TEST(Shared, Arrays) {
  expect_shared("__shared__ float a[256];", "static thread_local float a[256]{};" + checks("a"));
  expect_shared("__shared__ float a[32][33];",
                "static thread_local float a[32][33]{};" + checks("a"));
  expect_shared("__shared__ T a[N < 4 ? 1 : f<2>()];",
                "static thread_local T a[N < 4 ? 1 : f<2>()]{};" + checks("a"));
}

TEST(Shared, SeveralDeclarators) {
  expect_shared("__shared__ float a[4], b, *p, (*rows)[32];",
                "static thread_local float a[4]{}, b{}, *p{}, (*rows)[32]{};" + checks("a") +
                    checks("b") + checks("p") + checks("rows"));
}

TEST(Shared, StorageClassesAnywhere) {
  expect_shared("static __shared__ int n;", "static thread_local int n{};" + checks("n"));
  expect_shared("__shared__ static int n;", "static thread_local int n{};" + checks("n"));
  expect_shared("int __shared__ n;", "static thread_local int n{};" + checks("n"));
  expect_shared("volatile __shared__ int n;",
                "static thread_local volatile int n{};" + checks("n"));
  expect_shared("__shared__ volatile int n;",
                "static thread_local volatile int n{};" + checks("n"));
  expect_shared("__device__ __shared__ int n;", "static thread_local int n{};" + checks("n"));
}

TEST(Shared, Alignment) {
  // __align__(16) is this macro
  expect_shared("__shared__ __attribute__((aligned(16))) float a[4], b;",
                "static thread_local __attribute__((aligned(16))) float a[4]{}, b{};" +
                    checks("a") + checks("b"));
  expect_shared("__attribute__((aligned(16))) __shared__ float a[4];",
                "static thread_local __attribute__((aligned(16))) float a[4]{};" + checks("a"));
  expect_shared("__shared__ float a[4] __attribute__((aligned(16)));",
                "static thread_local float a[4] __attribute__((aligned(16))){};" + checks("a"));
  // g++ refuses a standard attribute after a specifier
  expect_shared("__shared__ alignas(16) float a[4];",
                "alignas(16) static thread_local float a[4]{};" + checks("a"));
  expect_shared("alignas(16) __shared__ float a[4];",
                "alignas(16) static thread_local float a[4]{};" + checks("a"));
  expect_shared("__shared__ [[maybe_unused]] alignas(alignof(T)) T a;",
                "[[maybe_unused]] alignas(alignof(T)) static thread_local T a{};" + checks("a"));
}

TEST(Shared, DependentAndTemplateTypes) {
  expect_shared("__shared__ typename Reduce::Storage s;",
                "static thread_local typename Reduce::Storage s{};" + checks("s"));
  expect_shared(
      "__shared__ typename Reduce<T, (N > 4)>::template Rebind<U>::Storage s[2];",
      "static thread_local typename Reduce<T, (N > 4)>::template Rebind<U>::Storage s[2]{};" +
          checks("s"));
  expect_shared("__shared__ Pair<T, A<B<int>>> s;",
                "static thread_local Pair<T, A<B<int>>> s{};" + checks("s"));
  expect_shared("__shared__ decltype(x) s[2];",
                "static thread_local decltype(x) s[2]{};" + checks("s"));
}

TEST(Shared, StructsAndUnions) {
  expect_shared("__shared__ struct Point p;",
                "static thread_local struct Point p{};" + checks("p"));
  expect_shared("__shared__ struct { int x; float y[4]; } s;",
                "static thread_local struct { int x; float y[4]; } s{};" + checks("s"));
  expect_shared(
      "__shared__ union U { int x; float y; } s, t[2];",
      "static thread_local union U { int x; float y; } s{}, t[2]{};" + checks("s") + checks("t"));
}

TEST(Shared, AfterStatementsAndLabels) {
  expect_shared("if (x) g(); __shared__ int n;",
                "if (x) g(); static thread_local int n{};" + checks("n"));
  expect_shared("label: __shared__ int n;", "label: static thread_local int n{};" + checks("n"));
  expect_shared("{ __shared__ int n; }", "{ static thread_local int n{};" + checks("n") + " }");
}

TEST(Shared, AtNamespaceScope) {
  EXPECT_EQ(squeezed(rewritten("__shared__ float a[32];\n")),
            squeezed("static thread_local float a[32]{};" + checks("a") + "\n"));
}

TEST(Shared, OnSeveralLines) {
  expect_shared("__shared__\n float\n a[4],\n b;",
                "static thread_local \n float\n a[4]{},\n b{};" + checks("a") + checks("b"));
}

TEST(Shared, SizedExternIsAStaticDefinition) {  // as nvcc treats it
  expect_shared("extern __shared__ float a[64];",
                "static thread_local float a[64]{};" + checks("a"));
}

TEST(Shared, NoInitialiser) {
  const std::string expected =
      "test.cu:2: error: simt: a __shared__ variable cannot have an initialiser: each block finds "
      "its "
      "shared memory uninitialised";
  EXPECT_EQ(complaint("__device__ void f() {\n__shared__ int n = 5;\n}"), expected);
  EXPECT_EQ(complaint("__device__ void f() {\n__shared__ int n{5};\n}"), expected);
  EXPECT_EQ(complaint("__device__ void f() {\n__shared__ int a[2] = {1, 2}, b;\n}"), expected);
}

TEST(Shared, OnlyTheWord) {
  expect_unchanged("void f() { int __shared__x; int my__shared__; g(\"__shared__ int n;\"); }\n");
}

// ---- extern __shared__

// (The number that stands for the array's name is left out.)
void expect_dynamic(const std::string& declaration, const std::string& expected) {
  static const std::regex number("DynamicShared<[0-9]+ull>");
  const std::string text = rewritten("void f() {\n" + declaration + "\n}\n");
  EXPECT_TRUE(std::regex_search(text, number)) << text;
  EXPECT_EQ(squeezed(std::regex_replace(text, number, "DynamicShared")),
            squeezed("void f() {\n[[maybe_unused]] " + expected + "\n}\n"));
}

TEST(Dynamic, InAFunction) {
  expect_dynamic("extern __shared__ float s[];", "float (&s)[] = ::simt::detail::DynamicShared();");
  expect_dynamic("__shared__ extern float s[];", "float (&s)[] = ::simt::detail::DynamicShared();");
  expect_dynamic("extern volatile __shared__ int s[];",
                 "volatile int (&s)[] = ::simt::detail::DynamicShared();");
  expect_dynamic("extern __shared__ unsigned char s[];",
                 "unsigned char (&s)[] = ::simt::detail::DynamicShared();");
  expect_dynamic("extern __shared__ typename Op::Storage s[];",
                 "typename Op::Storage (&s)[] = ::simt::detail::DynamicShared();");
  expect_dynamic("extern __shared__ float tile[][33];",
                 "float (&tile)[][33] = ::simt::detail::DynamicShared();");
  expect_dynamic("extern __shared__ float* s[];",
                 "float* (&s)[] = ::simt::detail::DynamicShared();");
}

TEST(Dynamic, AlignmentGoes) {
  const std::string expected = "float4 (&s)[] = ::simt::detail::DynamicShared();";
  expect_dynamic("extern __shared__ __attribute__((aligned(16))) float4 s[];", expected);
  expect_dynamic("extern __shared__ alignas(16) float4 s[];", expected);
  expect_dynamic("extern __attribute__((aligned(16))) __shared__ float4 s[];", expected);
  expect_dynamic("alignas(128) extern __shared__ float4 s[];", expected);
  expect_dynamic("extern __shared__ float4 s[] __attribute__((aligned(16)));",
                 "float4 (&s)[] = ::simt::detail::DynamicShared();");
}

TEST(Dynamic, SeveralDeclarators) {
  expect_dynamic(
      "extern __shared__ float s[], t[];",
      "float (&s)[] = ::simt::detail::DynamicShared(), (&t)[] = ::simt::detail::DynamicShared();");
}

TEST(Dynamic, AtNamespaceScopeEachUserGetsItsOwn) {
  const std::string source =
      "extern __shared__ __attribute__((aligned(16)))\n float s[];\n"
      "__device__ float g() { return s[1]; }\n"
      "__global__ void k(float* p) { p[0] = s[0]; }\n"
      "__global__ void other(float* s) { s[0] = 1; }\n"
      "__global__ void local() { __shared__ int s[4]; s[0] = 1; }\n"
      "__global__ void member(X x) { x.s[0] = 1; }\n";
  const std::string text = rewritten(source);
  const auto has = [&](const std::string& start) {
    const std::string squeezed_text = squeezed(text);
    const std::size_t at = squeezed_text.find(start + "(");
    EXPECT_NE(at, std::string::npos);
    const std::string line = squeezed_text.substr(at, squeezed_text.find('\n', at) - at);
    return line.find("DynamicShared") != std::string::npos;
  };
  EXPECT_TRUE(has(" g")) << text;
  EXPECT_TRUE(has(" k")) << text;
  EXPECT_FALSE(has(" other")) << text;
  EXPECT_FALSE(has(" local")) << text;
  EXPECT_FALSE(has(" member")) << text;
  EXPECT_EQ(text.find("extern"), std::string::npos) << text;
}

// ---- qualifiers and pragmas

TEST(Qualifiers, BecomeAttributes) {
  EXPECT_EQ(rewritten("__global__ void k();"),
            "__attribute__((noinline, used, no_instrument_function, tainted_args)) void k();");
  EXPECT_EQ(squeezed(rewritten("template <int N> __host__ __device__ inline int f();")),
            "template <int N> __attribute__((no_instrument_function, "
            "no_profile_instrument_function)) inline "
            "int f();");
  EXPECT_EQ(rewritten("__constant__ float c[4];"),
            "__attribute__((section(\"simt_constant\"))) float c[4];");
  EXPECT_EQ(rewritten("__device__ int n; __managed__ int m;"),
            " int n; __attribute__((section(\"simt_managed\"))) int m;");
  EXPECT_EQ(squeezed(rewritten("auto l = [i] __device__ () mutable { ++i; };")),
            "auto l = [i] () mutable __attribute__((no_instrument_function)) { ++i; };");
  EXPECT_EQ(rewritten("auto l = [=] __device__ (int i) { return i; };"),
            "auto l = [=] __attribute__((no_instrument_function)) (int i) { return i; };");
}

TEST(Qualifiers, ConstConstantsKeepTheirOwnSection) {
  EXPECT_EQ(rewritten("__constant__ const float c[4] = {1};"), " const float c[4] = {1};");
  EXPECT_EQ(rewritten("static const __constant__ int c = 1;"), "static const  int c = 1;");
  EXPECT_EQ(rewritten("__constant__ const float* p;"),
            "__attribute__((section(\"simt_constant\"))) const float* p;");
  EXPECT_EQ(rewritten("__constant__ A<const int> a;"),
            "__attribute__((section(\"simt_constant\"))) A<const int> a;");
}

TEST(Pragmas, NvccOnesGoAndOthersStay) {
  EXPECT_EQ(rewritten("#pragma unroll\nfor(;;);\n#pragma unroll 4\n  #pragma nounroll\n"),
            "\nfor(;;);\n\n  \n");
  EXPECT_EQ(rewritten("#pragma nv_diag_suppress 177\n#pragma hd_warning_disable\n"), "\n\n");
  expect_unchanged(
      "#pragma once\n#pragma GCC diagnostic push\n#pragma omp parallel\n#pragma unrolled\n");
  expect_unchanged("#ident \"unroll\"\n# 3 \"x.cu\"\n");
}

// ---- kernels make themselves known

std::string entry(const std::string& types, const std::string& kernel) {
  return " (void)&::simt::detail::KernelEntry<static_cast<void (*)(" + types + ")>(&" + kernel +
         ")>::registered;";
}

void expect_entry(const std::string& head, const std::string& registered) {
  const std::string text = rewritten(head + " { f(); }");
  EXPECT_EQ(text.substr(text.find('{')), "{" + registered + " f(); }") << head;
}

TEST(KernelEntry, PlainKernels) {
  expect_entry("__global__ void k()", entry("", "k"));
  expect_entry("__global__ void k(void)", entry("", "k"));
  expect_entry(
      "__global__ void k(const float* __restrict__ a, int n)",
      entry("::simt::detail::Parameter<decltype(a)>, ::simt::detail::Parameter<decltype(n)>", "k"));
  expect_entry(
      "extern \"C\" __global__ void k(float a[], unsigned int n = 3)",
      entry("::simt::detail::Parameter<decltype(a)>, ::simt::detail::Parameter<decltype(n)>", "k"));
  expect_entry("__global__ void __attribute__((noinline)) k(ns::Pair<int, 4> p)",
               entry("::simt::detail::Parameter<decltype(p)>", "k"));
  expect_entry("static __global__ void ns::k(struct Point p)",
               entry("::simt::detail::Parameter<decltype(p)>", "k"));
}

TEST(KernelEntry, Templates) {
  expect_entry("template <class T, int kN = 4> __global__ void k(T* a)",
               entry("::simt::detail::Parameter<decltype(a)>", "k<T, kN>"));
  expect_entry("template <typename... T> __global__ void k(T... a)",
               entry("::simt::detail::Parameter<decltype(a)>...", "k<T...>"));
  expect_entry("template <template <class> class C, bool kB> __global__ void k(C<int> a)",
               entry("::simt::detail::Parameter<decltype(a)>", "k<C, kB>"));
  expect_entry("template <> __global__ void k<float>(float* a)",
               entry("::simt::detail::Parameter<decltype(a)>", "k<float>"));
  expect_entry("template <class T> template <int kN> __global__ void S<T>::k(int a)",
               entry("::simt::detail::Parameter<decltype(a)>", "k<kN>"));
}

TEST(KernelEntry, HoldsTheLaunchBounds) {
  const auto bounded = [](const std::string& types, const std::string& kernel,
                          const std::string& most) {
    std::string text = entry(types, kernel);
    return text.insert(text.rfind(">::"), ", static_cast<unsigned>(" + most + ")");
  };
  expect_entry("__global__ void __launch_bounds__(64) k()", bounded("", "k", "64"));
  expect_entry("__global__ __launch_bounds__(kMost, 2) void k()", bounded("", "k", "kMost"));
  expect_entry("__launch_bounds__(sizeof(int) * 8, 1) __global__ void k()",
               bounded("", "k", "sizeof(int) * 8"));
  expect_entry("template <int kN> __global__ void __launch_bounds__(F<kN, 2>::value, kN) k(int n)",
               bounded("::simt::detail::Parameter<decltype(n)>", "k<kN>", "F<kN, 2>::value"));
  EXPECT_EQ(rewritten("__global__ void __launch_bounds__(\n256) k();"),
            "__attribute__((noinline, used, no_instrument_function, tainted_args)) void \n k();");
}

// What has no name cannot be named.
TEST(KernelEntry, NotWithoutNames) {
  expect_entry("__global__ void k(int)", "");
  expect_entry("__global__ void k(const float*, int n)", "");
  expect_entry("__global__ void k(unsigned int)", "");
  expect_entry("template <class, int kN> __global__ void k(int n)", "");
  expect_entry("__global__ void k(float k)", "");
  expect_entry("__device__ void f(int n)", "");
}

// ---- the C library in kernels

TEST(LibraryFunctions, AreOthersInKernels) {
  const std::string calls = "{ p = malloc(4); free(p); std::free(p); t = clock(); }";
  const std::string text = rewritten("__device__ void f() " + calls);
  EXPECT_NE(text.find("p = ::simt::detail::device_malloc(4); ::simt::detail::device_free(p); "
                      "::simt::detail::device_free(p); t = ::simt::detail::device_clock();"),
            std::string::npos)
      << text;
  expect_unchanged("void f() " + calls);
  EXPECT_EQ(
      rewritten("__device__ void f() { a.free(p); my::malloc(4); int clock = 0; }"),
      "__attribute__((no_instrument_function)) void f() { a.free(p); my::malloc(4); int clock = "
      "0; }");
}

// ---- inline PTX (ptx_test.cpp has the instructions)

std::string in_device_code(const std::string& statement) {
  std::string text = squeezed(rewritten("__device__ void f() { " + statement + " }"));
  return text.substr(text.find('{'));
}

TEST(Ptx, CodeStandsInPlaceOfTheTextAndOperandsStay) {
  EXPECT_EQ(in_device_code("asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x));"),
            "{ ::simt::ptx::run([]([[maybe_unused]] auto& o0) __attribute__((always_inline)) { "
            "::simt::ptx::mov<::simt::ptx::u32>(o0, ::simt::ptx::laneid()); } , "
            "::simt::ptx::output<'r'>((x))); }");
  EXPECT_EQ(
      in_device_code(
          "asm volatile(\"add.s32 %0, %0, %1;\" : \"+r\"(a[i]) : \"n\"(N + 1) : \"memory\");"),
      "{ ::simt::ptx::run ([]([[maybe_unused]] auto& o0, [[maybe_unused]] auto o1) "
      "__attribute__((always_inline)) { asm volatile(\"\" ::: \"memory\"); "
      "::simt::ptx::add<::simt::ptx::s32>(o0, o0, o1); asm volatile(\"\" ::: \"memory\"); } , "
      "::simt::ptx::in_out<'r'>((a[i])) , ::simt::ptx::Constant<(::simt::ptx::s64)(N + 1)>() ); }");
}

TEST(Ptx, OtherRulesReachTheOperands) {
  EXPECT_NE(in_device_code("asm(\"mov.b32 %0, %1;\" : \"=r\"(x) : \"r\"(a << n));")
                .find("input<'r'>((a << ::simt::shift << n))"),
            std::string::npos);
}

TEST(Ptx, InstructionsKeepTheirLines) {
  const std::string text = rewritten(
      "__device__ void f() {\n asm(\"{\"\n\"trap;\"\nR\"(\n\n bar.sync 0; }\n)\"\n);\n}\n");
  std::vector<std::string> lines(1);
  for (const char c : text) c == '\n' ? lines.emplace_back() : (lines.back() += c, lines.back());
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_NE(lines[2].find("::__trap();"), std::string::npos) << text;
  EXPECT_NE(lines[5].find("::__syncthreads();"), std::string::npos) << text;
}

TEST(Ptx, OperandsThatCudaDoesNotHave) {
  const auto said = [](const std::string& statement) {
    return complaint("__device__ void f() { " + statement + " }");
  };
  EXPECT_EQ(said("asm(\"trap;\" : \"=q\"(x));"),
            "test.cu:1: error: simt: inline PTX: the constraint \"=q\" is none of h, r, l, f, d");
  EXPECT_EQ(said("asm(\"trap;\" :: \"0\"(x));"),
            "test.cu:1: error: simt: inline PTX: the constraint \"0\" is none of h, r, l, f, d, n");
  EXPECT_EQ(
      said("asm(\"trap;\" : \"r\"(x));"),
      "test.cu:1: error: simt: inline PTX: the constraint of an output begins with = or +: \"r\"");
  EXPECT_EQ(said("asm(\"trap;\" ::: \"cc\");"),
            "test.cu:1: error: simt: inline PTX: the clobber \"cc\" is not \"memory\"");
  EXPECT_EQ(
      said("asm(\"trap;\" : [out] \"=r\"(x));"),
      "test.cu:1: error: simt: inline PTX: an asm has texts, outputs, inputs and clobbers; '[' is "
      "none of these");
  EXPECT_EQ(said("asm goto(\"trap;\" :::: out);"),
            "test.cu:1: error: simt: inline PTX: asm goto is not CUDA's");
}

// ---- what is not simulated

// Each entry of the table, wherever it stands in a program.
TEST(NotSimulated, EveryNameOfTheTable) {
  for (const auto& [feature, names, instead] : simtcc::kUnsupported) {
    for (const std::string_view listed : names) {
      std::string name(listed);
      if (name.ends_with('*')) name.back() = 'X';
      const std::string told =
          "error: simt: " +
          simtcc::not_simulated(std::string(feature) + " (" + name + ") are", instead);
      EXPECT_EQ(complaint("int a;\nvoid f() { g(" + name + "); }\n"), "test.cu:2: " + told);
      EXPECT_EQ(complaint("__global__ void k() { auto x = " + name + "(); }\n"),
                "test.cu:1: " + told);
    }
  }
}

TEST(NotSimulated, CubesAndTheirLike) {
  EXPECT_EQ(complaint("# 7 \"dir/a.cu\"\n__global__ void k(cudaResourceViewDesc* t) {}\n"),
            "dir/a.cu:7: error: simt: views of texture resources (cudaResourceViewDesc) are not "
            "simulated");
  EXPECT_EQ(complaint("__global__ void k(int t) { float v =\n texCubemap<float>(t, 1, 2, 0); }\n"),
            "test.cu:2: error: simt: textures but those of tex1Dfetch(), tex1D() and "
            "tex2D() (texCubemap) are not simulated");
  EXPECT_EQ(complaint("void f() { surfCubemapwrite(v, s, x, y, 0); }"),
            "test.cu:1: error: simt: surfaces (surfCubemapwrite) are not simulated: read a "
            "texture, and write to memory of cudaMalloc()");
  EXPECT_EQ(
      complaint("cudaError_t e = cudaIpcCloseMemHandle(p);"),
      "test.cu:1: error: simt: inter-process memory (cudaIpcCloseMemHandle) are not simulated");
  EXPECT_EQ(complaint("texture<float, 2, cudaReadModeElementType> image;"),
            "test.cu:1: error: simt: texture references (texture<...>) ended with CUDA 12: make a "
            "cudaTextureObject_t with cudaCreateTextureObject(); they are not simulated");
  expect_unchanged("template <class T> struct texture {};\ntexture<float> image;\n");
  EXPECT_EQ(complaint("surface<void, cudaSurfaceType2D> image;"),
            "test.cu:1: error: simt: surface references (surface<...>) ended with CUDA 12; they "
            "and surface objects are not simulated");
  expect_unchanged("template <class T> struct surface {};\nsurface<float> image;\n");
  EXPECT_EQ(complaint("__device__ int f(int v) { return __shfl_down(v, 1); }"),
            "test.cu:1: error: simt: warp functions without a mask, which ended with Volta, "
            "(__shfl_down) "
            "are not simulated: write the one with _sync after its name, and the mask 0xffffffff "
            "first if "
            "all lanes call it");
  expect_unchanged("struct texture {}; int __allocate, cudaIp;");
  for (const char* name : {"cublasZgemm", "cublasHgemmStridedBatched", "cublasDotEx",
                           "cublasIcamax", "cublasDtrsm", "cublasLtMatmul"}) {
    EXPECT_EQ(complaint(std::string("void f() { ") + name + "(h); }"),
              std::string("test.cu:1: error: simt: routines of the library cuBLAS (") + name +
                  ") are not simulated");
  }
  expect_unchanged("void f() { cublasCreate(&h); cublasCheck(cublasSetStream(h, s)); }");
  expect_unchanged(
      "void f() { cublasSgemm(h); cublasDaxpy(h); cublasGemmEx(h); cublasIsamax(h); }");
  expect_unchanged("void f() { image.tex2D(1); texture(2); my_tex2D(3); int surface; }\n");
}

TEST(NotSimulated, SystemHeadersMaySayAnything) {
  expect_unchanged(
      "# 1 \"/usr/include/x.h\" 1 3\ntypedef int cudaResourceViewDesc;\n# 2 \"test.cu\" 2\nint "
      "i;\n");
}

TEST(NotSimulated, DynamicParallelism) {
  const std::string expected =
      "test.cu:2: error: simt: launches by kernels (dynamic parallelism) are not simulated: "
      "launch the kernel from the host, after this one";
  EXPECT_EQ(complaint("__global__ void k() {\n k<<<1, 1>>>(); }"), expected);
  EXPECT_EQ(complaint("template <class T> __device__ auto f(T t) -> decltype(t) { if (t) {\n "
                      "k<<<1, 1>>>(t); } }"),
            expected);
  EXPECT_EQ(complaint("struct S { __device__ S() : a{1}, b{2} {\n k<<<1, 1>>>(); } int a, b; };"),
            expected);
  EXPECT_EQ(complaint("void f() { run([=] __device__ (int i) {\n k<<<1, 1>>>(i); }); }"), expected);
}

// What closes all that is open at the end of a source.
std::string closing(const std::string& source) {
  std::string open;
  for (const char c : source) {
    if (c == '{' || c == '(' || c == '[') open += c == '{' ? '}' : c == '(' ? ')' : ']';
    if (c == '}' || c == ')' || c == ']') open.pop_back();
  }
  return {open.rbegin(), open.rend()};
}

TEST(NotSimulated, HostFunctionsNearDeviceOnesMayLaunch) {
  const std::string text = launch("k", "1, 1") + "();";
  for (const std::string before : {
           "__device__ int n;\nvoid f() { ", "__device__ int table[] = {1, 2};\nvoid f() { ",
           "__global__ void k();\nvoid f() { ", "__global__ void k() { }\nvoid f() { ",
           "struct S { __device__ void g() { } void f() { ",
           "struct S { __device__ S() : a{1} { } int a; void f() { ",
           "namespace n { __device__ void g() { } } void f() { ",
           "extern \"C\" { __device__ void g() { } void f() { ",
           "void f() { auto l = [] __device__ (int i) { return i; }; ",
           "void f() { g([] __device__ (int i) { return i; }, [] { ",
           "__host__ __device__ void f() { ",  // for its host side
       }) {
    const Rewritten result = rewrite(before + "k<<<1, 1>>>();" + closing(before), "test.cu");
    EXPECT_TRUE(result.diagnostics.empty()) << before;
    EXPECT_NE(result.text.find(text), std::string::npos) << result.text;
  }
}

TEST(NotSimulated, PtxInDeviceCode) {
  EXPECT_EQ(complaint("__global__ void k() { asm volatile(\"mov.u32 %0, %%pm1;\" : \"=r\"(x)); }"),
            "test.cu:1: error: simt: inline PTX: 'mov.u32' names %pm1, which is no register "
            "declared here "
            "and no special register that is simulated");
  const std::string expected = "test.cu:1: error: simt: inline PTX: brx.idx is not simulated";
  EXPECT_EQ(complaint("__global__ void f() { asm(\"\" \"brx.idx 7;\"); }"), expected);
  EXPECT_EQ(complaint("__global__ void f() { __asm__ __volatile__(R\"(brx.idx 7;)\"); }"),
            expected);
}

// Whether the function runs is known when g++ has read it.
TEST(NotSimulated, PtxInAFunctionThatAKernelMayCall) {
  const Rewritten result = rewrite("__device__ int f() {\n asm(\"brx.idx 7;\"); }", "test.cu");
  EXPECT_TRUE(result.diagnostics.empty());
  ASSERT_EQ(result.names.absent_ptx.size(), 1u);
  EXPECT_EQ(result.names.absent_ptx[0].line, 2);
  EXPECT_EQ(result.names.absent_ptx[0].message, "inline PTX: brx.idx is not simulated");
}

TEST(NotSimulated, OtherAsmStays) {
  expect_unchanged("void f() { asm volatile(\"pause\"); }\n");
  EXPECT_EQ(
      rewritten("__device__ void f() { asm volatile(\"\" ::: \"memory\"); }\n"),
      "__attribute__((no_instrument_function)) void f() { asm volatile(\"\" ::: \"memory\"); }\n");
  EXPECT_EQ(squeezed(rewritten("__host__ void f() { asm(\"nop\"); }\n")),
            "void f() { asm(\"nop\"); }\n");
  expect_unchanged("extern int x asm(\"y\");\n");
}

TEST(NotSimulated, HeadersAreReportedWhereTheyAreIncluded) {
  EXPECT_EQ(complaint("# 0 \"a.cu\"\n# 1 \"a.cu\"\nint i;\n\n# 1 \"cudnn.h\" 1 3\n"
                      "#pragma simt not_simulated \"the library cuDNN (cudnn.h) is\"\n# 4 "
                      "\"a.cu\" 2\nint j;\n"),
            "a.cu:3: error: simt: the library cuDNN (cudnn.h) is not simulated");
}

TEST(NotSimulated, OneMessageForALine) {
  EXPECT_EQ(rewrite("void f() { texCubemap(a); texCubemap(b);\n texCubemap(c); }", "a.cu")
                .diagnostics.size(),
            2u);
}

// ---- places

TEST(Places, FollowLineMarkers) {
  const Rewritten result = rewrite(
      "# 1 \"a.cu\"\n\n# 1 \"inc/b.h\" 1\nint i;\nvoid g() { texCubemap(x); }\n# 3 \"a.cu\" "
      "2\nvoid "
      "h()\n{ texCubemap(y); }\n"
      "#line 100 \"c.y\"\nvoid i() { texCubemap(z); }\n",
      "a.cu");
  ASSERT_EQ(result.diagnostics.size(), 3u);
  EXPECT_EQ(result.diagnostics[0].text().substr(0, 10), "inc/b.h:2:");
  EXPECT_EQ(result.diagnostics[1].text().substr(0, 7), "a.cu:4:");
  EXPECT_EQ(result.diagnostics[2].text().substr(0, 8), "c.y:100:");
}

TEST(Places, SurviveMultilineTokens) {
  EXPECT_EQ(complaint("const char* s = R\"(\n\n)\"; /* \n */ void f() { texCubemap(x); }"),
            "test.cu:4: error: simt: textures but those of tex1Dfetch(), tex1D() and tex2D() "
            "(texCubemap) are not simulated");
}

TEST(WideTypes, AreSeenInTheReadersCode) {
  EXPECT_TRUE(rewrite("void f(float4* p);", "a.cu").names_wide_type);
  EXPECT_TRUE(
      rewrite("struct __attribute__((aligned(16))) S { int i[4]; };", "a.cu").names_wide_type);
  EXPECT_FALSE(rewrite("void f(float3* p);", "a.cu").names_wide_type);
  EXPECT_FALSE(rewrite("const char* s = \"float4\";", "a.cu").names_wide_type);
  EXPECT_FALSE(
      rewrite("# 1 \"v.h\" 1 3\nstruct float4;\n# 1 \"a.cu\" 2\nint i;\n", "a.cu").names_wide_type);
}

TEST(Rewriter, DeviceLambdasWithoutTheOptionAreWarnedOfOnce) {
  const auto warnings = [](const std::string& source, bool option) {
    return rewrite(source, "a.cu", false, {}, {.extended_lambda = option}).warnings;
  };
  const std::string two =
      "void f() {\n  g([=] __device__(int i) {});\n  g([] __host__ __device__ { return 1; });\n}";
  const auto told = warnings(two, false);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].text(),
            "a.cu:2:9: warning: simt: nvcc takes a lambda with __device__ only with the option "
            "--extended-lambda: compile with it");
  const std::string host = "void f() {\n  g([] __host__(int i) {});\n}";
  ASSERT_EQ(warnings(host, false).size(), 1u);
  EXPECT_EQ(warnings(host, false)[0].text(),
            "a.cu:2:8: warning: simt: nvcc takes a lambda with __host__ only with the option "
            "--extended-lambda: compile with it");
  EXPECT_TRUE(warnings("__host__ void f() { g([](int i) {}); }", false).empty());
  EXPECT_TRUE(warnings(two, true).empty());
  EXPECT_TRUE(warnings("__device__ void f() { g([=](int i) {}); }", false).empty());
  EXPECT_TRUE(warnings("# 1 \"v.h\" 1 3\n" + two, false).empty());
}

TEST(Shifts, InDeviceCodeAreThoseOfTheGpu) {
  const auto body = [](const std::string& text) {
    return rewritten("__device__ int f() {" + text + "}")
        .substr(rewritten("__device__ int f() {}").size() - 1);
  };
  EXPECT_EQ(body("return a << b;"), "return a << ::simt::shift << b;}");
  EXPECT_EQ(body("a(1)>>b[2];"), "a(1)>>::simt::shift >> b[2];}");
  EXPECT_EQ(body("a <<= b + 1;"), "a <<= ::simt::shift <<= b + 1;}");
  EXPECT_EQ(body("*a>>=b;"), "*a>>=::simt::shift >>= b;}") << "of a pointer";
  EXPECT_EQ(body("if (i < n >> s) f();"), "if (i < n >> ::simt::shift >> s) f();}");
  EXPECT_EQ(body("f(i < n, m >> (s));"), "f(i < n, m >> ::simt::shift >> (s));}");
  for (const std::string same :
       {"a << 3;", "x<y<int>> z;", "auto p = &T::operator<<;",
        "template <class T> void f(); f<a>>(b);", "constexpr int i = 1 << N;", "a <<= 2;",
        "(x << ...);", "a<b>>c; template <class T> T a;", "std::v<b>>c;",
        "struct S { int a : 3; }; a <<= b;", "Box<int, Box<x>> y;"}) {
    EXPECT_EQ(body(same), same + "}") << same;
  }
  EXPECT_EQ(rewritten("void f() { std::cout << x; }"), "void f() { std::cout << x; }");
}

TEST(Deletes, AreGivenWhatWasStored) {
  const auto device = [](const std::string& statement) {
    return rewritten("__device__ void f() { " + statement + " }\n");
  };
  const auto has = [&](const std::string& statement, const std::string& after) {
    EXPECT_NE(device(statement).find(after), std::string::npos) << device(statement);
  };
  has("delete[] p;", "{ delete[] ::simt::detail::as_stored(p); }");
  has("if (a) delete p->q[i]; else delete (T*)r;",
      "if (a) delete ::simt::detail::as_stored(p->q[i]); else delete "
      "::simt::detail::as_stored((T*)r); }");
  has("f(); (delete p);", "(delete ::simt::detail::as_stored(p));");
  has("a ? delete p : delete q;", "a ? delete p : delete ::simt::detail::as_stored(q);");
  has("void operator delete(void*);", "void operator delete(void*);");
  EXPECT_EQ(rewritten("void f() { delete p; }\n"), "void f() { delete p; }\n");
  EXPECT_EQ(device("struct S { S(const S&) = delete; };").find("as_stored"), std::string::npos);
}

TEST(LocalArrays, HandedOnWithoutAnIndexHaveZones) {
  const auto zones = [](const std::string& body,
                        const std::string& head = "__device__ int f(int n)") {
    const std::string source = head + " {" + body + "}";
    const std::string text = rewrite(source, "test.cu", true).text;
    EXPECT_EQ(rewritten(source), rewrite(source, "test.cu").text) << "not with --fast";
    std::string names;
    for (std::size_t at = 0; (at = text.find("auto& ", at)) != std::string::npos;) {
      at += 6;
      names += text.substr(at, text.find(' ', at) - at) + " ";
    }
    return names;
  };
  EXPECT_EQ(zones("int a[8]; g(a, n);"), "a ");
  EXPECT_EQ(zones("float a[2][4], x, b[3] = {1, 2}, *p = b; g(a[n], x);"), "a b ");
  EXPECT_EQ(zones("unsigned long long a[N]{}; g(&a[n]);"), "a ");
  EXPECT_EQ(zones("float4 a[2]; { g(a); }"), "a ");
  EXPECT_EQ(zones("T a[2]; g(a);", "template <class T> __device__ void f()"), "a ");
  EXPECT_EQ(zones("if (n) { int a[2]; g(a); }"), "a ");
  // Nobody else has their address; or a constructor would run; or they are no variables of the thread's own.
  for (const std::string none :
       {"int a[8]; a[n] = 1; g(a[2]);", "int a[8]; g(b.a);", "S a[2]; g(a);",
        "static int a[2]; g(a);", "const int a[] = {1}; g(a);", "int a; g(a);",
        "int (*a)[2]; g(a);", "__shared__ int a[2]; g(a);"}) {
    EXPECT_EQ(zones(none), "") << none;
  }
  // As a reference the array would be another thing.
  for (const std::string none :
       {"int a[8]; decltype(a) b; g(a);", "int a[8]; g(a, std::size(a));",
        "again: g(); int a[2]; g(a); goto again;",
        "switch (n) { case 0: g(); int a[2]; g(a); break; case 1: g(); }"}) {
    EXPECT_EQ(zones(none), "") << none;
  }
  EXPECT_EQ(zones("int a[8]; g(a);", "void f()"), "");
  EXPECT_EQ(zones("int a[8]; g(a);", "__host__ __device__ constexpr int f()"), "");
}

TEST(Statements, TheBracketThatNothingClosesIsNamed) {
  EXPECT_EQ(
      complaint("__global__ void k(int* a) {\n  if (a) {\n    a[0] = 1;\n}\nint main() {}\n"),
      "test.cu:1: error: simt: this '{' is not closed before 'main' begins in line 5: a '}' is "
      "missing");
  EXPECT_EQ(complaint("void f(int n) {\n  for (int i = 0; i < n; i++ {\n  }\n}\n"),
            "test.cu:2: error: simt: this '(' is never closed: a ')' is missing");
  EXPECT_EQ(complaint("struct S { int a; };\nint a[3;\n"),
            "test.cu:2: error: simt: this '[' is never closed: a ']' is missing");
  rewritten("const char* s = \"{ ( [\"; char c = '{'; // {\nint n = 1'000;\n");
}

TEST(Robustness, UnbalancedTextEndsAndKeepsItsLines) {
  for (const std::string source : {"void f() { (((",
                                   ")))}}}",
                                   "k<<<",
                                   "k<<<1,1>>>(",
                                   "__shared__",
                                   "__shared__ int",
                                   "extern __shared__ float s[",
                                   "\"abc",
                                   "R\"(abc",
                                   "'",
                                   "/* abc",
                                   "#",
                                   "# 1 \"",
                                   "template <",
                                   "a<b<c<<<1,1>>>()",
                                   "[[",
                                   "alignas(",
                                   "",
                                   "__device__ void f() { int a[",
                                   "__device__ void f() { int a[2] = {",
                                   "__device__ void f() { int a[2], b"}) {
    for (const bool traced : {false, true}) {
      const Rewritten result = rewrite(source, "test.cu", traced);
      EXPECT_EQ(lines(result.text), lines(source)) << source;
    }
  }
}

}  // namespace
