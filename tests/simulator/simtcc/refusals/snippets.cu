// What nvcc refuses, what it takes, and what simtcc says. refusals.py reads this file. A part begins with `//- name`; the next
// line says what is expected, as for Clang's -verify, of a line and a column of the part, if anything is:
//   // expected-error@LINE:COLUMN {{the message of simtcc, without its prefix}}      nvcc refuses it, too
//   // expected-warning@LINE:COLUMN {{...}}                                          nvcc compiles it
// `alone` in front of the name: nvcc says so only where nothing else is wrong (in ptxas), so the part is compiled by itself. `ours`: the
// reason why simtcc is stricter than nvcc 13 stands in the part. All other parts are compiled together, each in a namespace of its own.

//- host function in a kernel
// expected-error@2:35 {{the host function 'half' cannot be called in the kernel 'k': write __device__ (or __host__ __device__) before it}}
int half(int x) { return x / 2; }
__global__ void k(int* p) { *p =  half(*p); }
//- host function in a device function
// expected-error@2:40 {{the host function 'half' cannot be called in the __device__ function 'quarter': write __device__ (or __host__ __device__) before it}}
int half(int x) { return x / 2; }
__device__ int quarter(int x) { return half(x) / 2; }
//- host function where it is never called
// expected-error@2:45 {{the host function 'half' cannot be called in the kernel 'k': write __device__ (or __host__ __device__) before it}}
int half(int x) { return x / 2; }
__global__ void k(int* p) { if (false) *p = half(3); }
//- host function only measured
int half(int x) { return x / 2; }
__global__ void k(int* p) { *p = sizeof(half(3)); }
//- host function in a discarded branch
int half(int x) { return x / 2; }
template <bool B> __global__ void k(int* p) { if constexpr (B) *p = half(3); else *p = 1; }
void f() { k<false><<<1, 1>>>(nullptr); }
//- host function in a chosen branch
// expected-error@2:69 {{the host function 'half' cannot be called in the kernel 'k': write __device__ (or __host__ __device__) before it}}
int half(int x) { return x / 2; }
template <bool B> __global__ void k(int* p) { if constexpr (B) *p = half(3); else *p = 1; }
void f() { k<true><<<1, 1>>>(nullptr); }
//- host function in a template that is used
// expected-error@2:57 {{the host function 'half' cannot be called in the __device__ function 'd': write __device__ (or __host__ __device__) before it}}
int half(int x) { return x / 2; }
template <class T> __device__ T d(T x) { return x + 1 + half(1); }
__global__ void k(int* p) { *p = d(3); }
//- host function in a template that is not used
int half(int x) { return x / 2; }
template <class T> __device__ T d(T x) { return half(x); }
//- host function template in a kernel
// expected-error@2:34 {{the host function 'same' cannot be called in the kernel 'k': write __device__ (or __host__ __device__) before it}}
template <class T> T same(T x) { return x; }
__global__ void k(int* p) { *p = same<int>(3); }
//- host member function in a kernel
// expected-error@2:41 {{the host function 'S::get' cannot be called in the kernel 'k': write __device__ (or __host__ __device__) before it}}
struct S { int v; int get() const { return v; } };
__global__ void k(int* p, S s) { *p = s.get(); }
//- static host member function
// expected-error@2:34 {{the host function 'S::get' cannot be called in the kernel 'k': write __device__ (or __host__ __device__) before it}}
struct S { static int get() { return 1; } };
__global__ void k(int* p) { *p = S::get(); }
//- device member function
struct S { int v; __device__ int get() const { return v; } __host__ __device__ int both() { return v; } };
__global__ void k(int* p, S s) { *p = s.get() + s.both(); }
//- host operator in a kernel
// expected-error@2:44 {{the host function 'operator+' cannot be called in the kernel 'k': write __device__ (or __host__ __device__) before it}}
struct V { int x; }; V operator+(V a, V b) { return {a.x + b.x}; }
__global__ void k(int* p, V v) { *p = (v + v).x; }
//- device operator in a kernel
struct V { int x; }; __device__ V operator+(V a, V b) { return {a.x + b.x}; }
__global__ void k(int* p, V v) { *p = (v + v).x; }
//- host constructor in a kernel
// expected-error@2:31 {{the host function 'S::S' cannot be called in the kernel 'k': write __host__ __device__ before it, as before all that a class does on both sides}}
struct S { int v; S(int x) : v(x) {} };
__global__ void k(int* p) { S s(3); *p = s.v; }
//- device constructor in a kernel
struct S { int v; __device__ S(int x) : v(x) {} };
__global__ void k(int* p) { S s(3); *p = s.v; }
//- constructor of the compiler
struct S { int v = 4; }; struct T { S a, b; T() = default; };
__global__ void k(int* p) { S s; T t; *p = s.v + t.a.v; T u = t; u = t; p[1] = u.b.v; }
//- alone constructor of the compiler around one of the host
// expected-error@2:31 {{the host function 'S::S' cannot be called in the kernel 'k': write __host__ __device__ before it, as before all that a class does on both sides}}
struct S { int v; S() : v(3) {} }; struct T { S a; };
__global__ void k(int* p) { T t; *p = t.a.v; }
//- host destructor in a kernel
// expected-error@2:47 {{the host function 'S::~S' cannot be called in the kernel 'k': write __host__ __device__ before it, as before all that a class does on both sides}}
struct S { int v; ~S() { v = 0; } };
__global__ void k(int* p) { S s{3}; *p = s.v; }
//- host assignment in a kernel
// expected-error@2:47 {{the host function 'S::operator=' cannot be called in the kernel 'k': write __host__ __device__ before it, as before all that a class does on both sides}}
struct S { int v; S& operator=(const S& o) { v = o.v; return *this; } };
__global__ void k(int* p) { S s{3}, t{4}; s = t; *p = s.v; }
//- host conversion in a kernel
// expected-error@2:43 {{the host function 'S::operator int' cannot be called in the kernel 'k': write __device__ (or __host__ __device__) before it}}
struct S { int v; operator int() const { return v; } };
__global__ void k(int* p, S s) { *p = 1 + s; }
//- lambda in a kernel
__global__ void k(int* p) { auto l = [&](int x) { p[x] = 1; }; l(3); }
//- lambda in a kernel that calls the host
// expected-error@2:53 {{the host function 'half' cannot be called in device code: write __device__ (or __host__ __device__) before it}}
int half(int x) { return x / 2; }
__global__ void k(int* p) { auto l = [&]() { return half(p[0]); }; *p = l(); }
//- lambda in a lambda in a kernel
__device__ int half(int x) { return x / 2; }
__global__ void k(int* p) { auto l = [&](int x) { auto m = [=] { return half(x); }; return m(); }; *p = l(3); }
//- device function called by a lambda of the host
// expected-error@2:39 {{the __device__ function 'half' cannot be called by host code: launch a kernel that calls it, or write __host__ __device__ before it}}
__device__ int half(int x) { return x / 2; }
int f() { auto l = [](int x) { return half(x); }; return l(3); }
//- lambdas of the device handed to a kernel
template <class F> __global__ void k(int n, F f) { f(n); }
void f(int* p, int a) {
  k<<<1, 1>>>(3, [=] __device__(int i) { p[i] = a; });
  k<<<1, 1>>>(3, [p, a] __device__(int i) mutable { p[i] += a; a++; });
  k<<<1, 1>>>(3, [p, a] __device__(int i) mutable noexcept -> void { p[i] += a; a++; });
  k<<<1, 1>>>(3, [=] __host__ __device__(int i) { auto inner = [](int j) { return 2 * j; }; p[i] = inner(i); });
}
//- function of a local class
// expected-error@1:77 {{the host function 'k::L::f' cannot be called in the kernel 'k': write __device__ (or __host__ __device__) before it}}
__global__ void k(int* p) { struct L { int f() { return 3; } }; L l; *p = l.f(); }
//- device function of a local class
__global__ void k(int* p) { struct L { __device__ int f() { return 3; } }; L l; *p = l.f(); }
//- address of a host function
// expected-error@2:45 {{the host function 'half' cannot be used in the kernel 'k': write __device__ (or __host__ __device__) before it}}
int half(int x) { return x / 2; }
__global__ void k(int* p) { int (*f)(int) = half; *p = f(3); }
//- address of a device function on the device
__device__ int half(int x) { return x / 2; }
__global__ void k(int* p) { int (*f)(int) = half; *p = f(3); }
//- address of a device function on the host
__device__ int half(int x) { return x / 2; }
void* f() { return (void*)half; }
//- host template that takes a function of the device
__device__ int half(int x) { return x / 2; }
template <int (*F)(int)> __global__ void k(int* p) { *p = F(*p); }
void f() { k<half><<<1, 1>>>(nullptr); }
//- functor of the device handed to a kernel
struct F { __device__ int operator()(int x) const { return x; } };
template <class G> __global__ void k(int* p, G g) { *p = g(3); }
void f() { k<<<1, 1>>>(nullptr, F()); }
//- functor of the host handed to a kernel
// expected-error@2:59 {{the host function 'F::operator()' cannot be called in the kernel 'k': write __device__ (or __host__ __device__) before it}}
struct F { int operator()(int x) const { return x; } };
template <class G> __global__ void k(int* p, G g) { *p =  g(3); }
void f() { k<<<1, 1>>>(nullptr, F()); }
//- extern host function
// expected-error@2:34 {{the host function 'far' cannot be called in the kernel 'k': write __device__ (or __host__ __device__) before it}}
int far(int x);
__global__ void k(int* p) { *p = far(3); }
//- device function defined later
__device__ int late(int x);
__global__ void k(int* p) { *p = late(3); }
__device__ int late(int x) { return x; }
//- recursion on the device
__device__ int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
__global__ void k(int* p) { *p = fact(5); }
//- virtual function of the device
struct A { __device__ virtual int f() { return 1; } }; struct B : A { __device__ int f() override { return 2; } };
__global__ void k(int* p) { B b; A* a = &b; *p = a->f(); }

//- device function on the host
// expected-error@2:18 {{the __device__ function 'half' cannot be called by host code: launch a kernel that calls it, or write __host__ __device__ before it}}
__device__ int half(int x) { return x / 2; }
int f() { return half(3); }
//- device function template on the host
// expected-error@2:18 {{the __device__ function 'same' cannot be called by host code: launch a kernel that calls it, or write __host__ __device__ before it}}
template <class T> __device__ T same(T x) { return x; }
int f() { return same(3); }
//- device member function on the host
// expected-error@2:23 {{the __device__ function 'S::get' cannot be called by host code: launch a kernel that calls it, or write __host__ __device__ before it}}
struct S { int v; __device__ int get() { return v; } };
int f(S s) { return s.get(); }
//- device constructor on the host
// expected-error@2:13 {{the __device__ function 'S::S' cannot be called by host code: launch a kernel that calls it, or write __host__ __device__ before it}}
struct S { int v; __device__ S(int x) : v(x) {} };
int f() { S s(3); return s.v; }
//- both sides
__host__ __device__ int half(int x) { return x / 2; }
int f() { return half(3); }
__global__ void k(int* p) { *p = half(3); }
//- a function for both sides calls one of the device
// expected-error@2:47 {{the __device__ function 'half' cannot be called by the __host__ __device__ function 'd': launch a kernel that calls it, or write __host__ __device__ before it}}
__device__ int half(int x) { return x / 2; }
__host__ __device__ int d(int x) { return 1 + half(x); }
//- the same where nvcc compiles for the device
__device__ int half(int x) { return x / 2; }
__host__ __device__ int d(int x) {
#ifdef __CUDA_ARCH__
  return half(x);
#else
  return x / 2;
#endif
}
//- the same where nvcc compiles for the host
// expected-error@6:14 {{the __device__ function 'half' cannot be called by the __host__ __device__ function 'd': launch a kernel that calls it, or write __host__ __device__ before it}}
__device__ int half(int x) { return x / 2; }
__host__ __device__ int d(int x) {
#ifdef __CUDA_ARCH__
  return x / 2;
#else
  return 2 + half(x);
#endif
}
//- a macro that is another one for each side
__device__ int half(int x) { return x / 2; }
int third(int x) { return x / 3; }
#ifdef __CUDA_ARCH__
#define PART(x) half(x)
#else
#define PART(x) third(x)
#endif
__host__ __device__ int d(int x) { return PART(x); }
//- host code where nvcc compiles for the host
void log(const char* text) { std::puts(text); }
__host__ __device__ int d(int x) {
#ifdef __CUDA_ARCH__
  if (x < 0) __trap();
#else
  if (x < 0) throw std::string("negative");
  log("d");
  std::cerr << x;
#endif
  return x;
}
__global__ void k(int* p) { *p = d(*p); }
//- a template for both sides calls one of the device
__device__ int half(int x) { return x / 2; }
template <class T> __host__ __device__ T d(T x) { return half(x); }
__global__ void k(int* p) { *p = d(3); }
//- a function for both sides calls one of the host
// expected-warning@2:43 {{the host function 'half' cannot be called in the __host__ __device__ function 'd': write __device__ (or __host__ __device__) before it}}
int half(int x) { return x / 2; }
__host__ __device__ int d(int x) { return half(x); }
//- a function for both sides calls rand
// expected-warning@1:47 {{'rand' is host code and cannot be called in the __host__ __device__ function 'd': use curand_uniform() of <curand_kernel.h>}}
__host__ __device__ int d(int x) { return x + rand(); }
//- a template for both sides calls std::max
// expected-warning@1:58 {{'std::max' is a constexpr function of the host and cannot be called in the __host__ __device__ function 'd': use max(), or compile with --expt-relaxed-constexpr}}
template <class T> __host__ __device__ T d(T x) { return std::max(x, T(1)); }
__global__ void k(int* p) { *p = d(*p); }
//- a function for both sides frees memory of the device
__host__ __device__ void d(int* p) { cudaFree(p); }
//- barrier on the host
// expected-error@1:12 {{'__syncthreads' exists in device code only and cannot be called by host code: call it in a kernel or in a __device__ function}}
void f() { __syncthreads(); }
//- barrier on both sides
// expected-error@1:32 {{'__syncthreads' exists in device code only and cannot be called by the __host__ __device__ function 'f': call it in a kernel or in a __device__ function}}
__host__ __device__ void f() { __syncthreads(); }
//- atomic on the host
// expected-error@1:18 {{'atomicAdd' exists in device code only and cannot be called by host code: call it in a kernel or in a __device__ function}}
void f(int* p) { atomicAdd(p, 1); }
//- texture read on the host
// expected-error@1:47 {{'tex2D' exists in device code only and cannot be called by host code: call it in a kernel or in a __device__ function}}
float f(cudaTextureObject_t texture) { return tex2D<float>(texture, 1, 2); }
//- fast mathematics on the host
// expected-error@1:27 {{'__expf' exists in device code only and cannot be called by host code: call it in a kernel or in a __device__ function}}
float f(float x) { return __expf(x); }
//- shuffle on the host
// expected-error@1:27 {{'__shfl_sync' exists in device code only and cannot be called by host code: call it in a kernel or in a __device__ function}}
float f(float x) { return __shfl_sync(~0u, x, 1); }
//- read-only load on the host
// expected-error@1:34 {{'__ldg' exists in device code only and cannot be called by host code: call it in a kernel or in a __device__ function}}
float f(const float* p) { return __ldg(p); }
//- bits counted on the host
// expected-error@1:23 {{'__popc' exists in device code only and cannot be called by host code: call it in a kernel or in a __device__ function}}
int f(int x) { return __popc(x); }
//- mathematics of CUDA on the host
float f(float x) { return rsqrtf(x) + fminf(x, 1) + max(1, 2); }
float4 g() { return make_float4(1, 2, 3, 4); }
//- threadIdx on the host
int f() { return threadIdx.x; }

//- kernel called
// expected-error@2:12 {{the kernel 'k' is called without a launch: write 'k<<<blocks, threads>>>(...)'}}
__global__ void k(int* p) {}
void f() { k(nullptr); }
//- kernel called by a kernel
// expected-error@2:34 {{the kernel 'k' cannot be called by device code: write __device__ in place of __global__ if it is to be a function}}
__global__ void k(int* p) {}
__global__ void parent(int* p) { k(p); }
//- kernel template called
// expected-error@2:12 {{the kernel 'k' is called without a launch: write 'k<<<blocks, threads>>>(...)'}}
template <class T> __global__ void k(T* p) {}
void f() { k<int>(nullptr); }
//- plain function launched
// expected-error@2:12 {{the function 'k' is no kernel and cannot be launched: write __global__ before it}}
void k(int* p) {}
void f() { k<<<1, 1>>>(nullptr); }
//- plain function template launched
// expected-error@2:12 {{the function 'k' is no kernel and cannot be launched: write __global__ before it}}
template <class T> void k(T* p) {}
void f() { k<int><<<1, 1>>>(nullptr); }
//- device function launched
// expected-error@2:12 {{the __device__ function 'k' is no kernel and cannot be launched: write __global__ in place of __device__}}
__device__ void k(int* p) {}
void f() { k<<<1, 1>>>(nullptr); }
//- lambda launched
// expected-error@1:39 {{a lambda is no kernel and cannot be launched: write a kernel that takes it as a parameter and calls it}}
void f() { auto k = [](int* p) { };  k<<<1, 1>>>(nullptr); }
//- functor launched
// expected-error@2:18 {{an object is no kernel and cannot be launched: write a kernel that takes it as a parameter and calls it}}
struct S { __device__ void operator()(int*) {} };
void f() { S k; k<<<1, 1>>>(nullptr); }
//- pointer to a kernel launched
__global__ void k(int* p) {}
void f() { void (*q)(int*) = k; q<<<1, 1>>>(nullptr); auto r = &k; r<<<1, 1>>>(nullptr); }
//- kernel declared and launched
__global__ void k(int* p);
void f() { k<<<1, 1>>>(nullptr); }

//- kernel with a value
// expected-error@1:12 {{the kernel 'k' returns void: write 'void' in place of 'int', and hand results over through memory}}
__global__ int k(int* p) { return 1; }
//- kernel with a float4
// expected-error@1:31 {{a kernel returns void: write '__global__ void' in place of '__global__ float4', and hand results over through memory}}
__global__ float4 k(int* p) { return {}; }
//- kernel with a pointer
// expected-error@1:12 {{the kernel 'k' returns void: write 'void' in place of 'float', and hand results over through memory}}
__global__ float* k(float* p) { return p; }
//- kernel with auto
// expected-error@1:12 {{the kernel 'k' returns void: write void in place of auto}}
__global__ auto k(int* p) {}
//- kernel with a reference to a temporary
// expected-error@1:22 {{the kernel 'k' cannot take a reference to a temporary of the host: pass the value}}
__global__ void k(int&& p) {}
//- kernel with an ellipsis
// expected-error@1:26 {{the kernel 'k' cannot take a variable number of arguments: name its parameters}}
__global__ void k(int n, ...) {}
//- kernel in a class
// expected-error@1:23 {{the kernel 'k' cannot be a member of a class: move it out of the class, and hand it the object as a parameter}}
struct S { __global__ void k(int* p) {} };
//- static kernel in a class
// expected-error@1:30 {{the kernel 'k' cannot be a member of a class: move it out of the class, and hand it the object as a parameter}}
struct S { static __global__ void k(int* p) {} };
//- kernel as a friend
struct S { friend __global__ void k(S s); int v; };
__global__ void k(S s) {}
//- kernel and host
// expected-error@1:21 {{the kernel 'k' cannot be __host__ as well: take that qualifier away}}
__host__ __global__ void k(int* p) {}
//- kernel and device
// expected-error@1:23 {{the kernel 'k' cannot be __device__ as well: take that qualifier away}}
__device__ __global__ void k(int* p) {}
//- constexpr kernel
// expected-error@1:12 {{the kernel 'k' cannot be constexpr: take that word away}}
__global__ constexpr void k(int* p) {}
//- device variable in a class
// expected-error@1:30 {{a member of a class cannot be __device__: declare the variable outside of the class}}
struct S { static __device__ int count; };
//- constant in a class
// expected-error@1:32 {{a member of a class cannot be __constant__: declare the variable outside of the class}}
struct S { static __constant__ float taps[3]; };
//- variables of the device beside a class
struct S { static __device__ int of(int x) { return x; } __device__ operator int() const { return 1; } static constexpr int n = 3; };
__device__ int hits; __constant__ float weights[3];
__global__ void k(int* p) { *p = S::of(hits) + S() + S::n + static_cast<int>(weights[0]); }
//- shared array beside the kernel
__shared__ int tile_of_all[32];
__global__ void k(int* p) { tile_of_all[threadIdx.x] = 1; __syncthreads(); p[threadIdx.x] = tile_of_all[31 - threadIdx.x]; }
//- alignment in nvcc's own words
struct __builtin_align__(16) S { int a[4]; };
static_assert(alignof(S) == 16, "");
__global__ void k(S* p) { p->a[0] = 1; }
//- kernel of C
extern "C" __global__ void of_c(int* p) { *p = 1; }
//- kernel with launch bounds
__global__ void __launch_bounds__(256, 2) k(int* p) { *p = 1; }
//- kernel with default arguments
__global__ void k(int* p, int n = 3) { *p = n; }
void f() { k<<<1, 1>>>(nullptr); }
//- kernel with a parameter that is no plain data
struct V { __host__ __device__ V(const V& o) : a(o.a) {} int a; };
__global__ void k(V v) {}
//- alone 32764 bytes of parameters
struct B { char a[32764]; };
__global__ void k(B b) {}
//- alone 32768 bytes of parameters
// expected-error@2:32 {{a kernel's parameters take at most 32764 bytes: pass a pointer to device memory in place of the data}}
struct B { char a[32764]; };
__global__ void k(B b, int n) {}
//- ours reference to a variable of the host
// expected-error@4:24 {{the kernel takes a reference to a variable of the host, which a GPU cannot read: take the parameter by value, or as a pointer to device memory}}
// nvcc hands over the address, which a GPU cannot read.
__global__ void k(int& n) { n = 1; }
void f() {
  int n = 3;  (void)n; k<<<1, 1>>>(n);
}
//- reference to managed memory
__global__ void k(int& n) { n = 1; }
void f(int* managed) { k<<<1, 1>>>(*managed); }

//- launch with another type
// expected-error@2:22 {{argument 1 of the launch is 'float*', and the kernel 'k' takes 'double*'}}
__global__ void k(double* p) {}
void f(float* p) {   k<<<1, 1>>>(p); }
//- launch with too few arguments
// expected-error@2:23 {{the launch has 1 argument, and the kernel 'k' takes 2: k(double*, int)}}
__global__ void k(double* p, int n) {}
void f(double* p) {   k<<<1, 1>>>(p); }
//- launch without arguments
// expected-error@2:21 {{the launch has 0 arguments, and the kernel 'k' takes 4: k(double*, const double*, int, float)}}
__global__ void k(double* p, const double* q, int n, float s) {}
void f(double* p) { k<<<1, 1>>>(); }
//- launch with too few arguments in several lines
// expected-error@2:28 {{the launch has 3 arguments, and the kernel 'k' takes 4: k(double*, double, char, int)}}
__global__ void k(double* p, double d, char c, int n) {}
void f(double* p, int i) { k<<<dim3(1, 1), 1>>>(
  p,  // (the result, or what
  double((i, 2)), ','); }
//- launch of a template with too few arguments
// expected-error@3:32 {{the launch has 2 arguments, and the kernel 'k' takes 4}}
template <class T>
__global__ void k(T* p, const T* q, int n, T s) {}
void f(double* p, double* q) { k<<<1, 1>>>(p, q); }
//- launch with a call that misses an argument
// expected-error@3:53 {{no matching function for call to 'g(int)'}}
template <class T> __host__ T g(T a, T b) { return a; }
__global__ void k(int n) {}
void f() {                             k<<<1, 1>>>(g(1)); }
//- launch by a pointer with too few arguments
// expected-error@2:50 {{the launch has 1 argument, and the kernel 'g' takes more}}
__global__ void k(double* p, int n) {}
void f(double* p, void (*g)(double*, int)) {     g<<<1, 1>>>(p); }
//- alone cudaLaunchKernelEx with too few arguments
// expected-error@2:62 {{cudaLaunchKernelEx takes the configuration, the kernel, and one argument for each parameter of the kernel}}
__global__ void k(double* p, int n) {}
void f() { cudaLaunchConfig_t config = {}; cudaLaunchKernelEx(&config, k, (double*)nullptr); }
//- launch with too many arguments
// expected-error@2:21 {{the launch has 3 arguments, and the kernel 'k' takes 2}}
__global__ void k(double* p, int n) {}
void f(double* p) { k<<<1, 1>>>(p, 1, 2); }
//- launch with an integer for a pointer
// expected-error@2:24 {{this argument of the launch is 'int', and the kernel 'k' takes 'double*'}}
__global__ void k(double* p) {}
void f() { k<<<1, 1>>>(5); }
//- launch with a pointer to constants
// expected-error@2:38 {{this argument of the launch is 'const float*', and the kernel 'k' takes 'float*'}}
__global__ void k(float* p) {}
void f(const float* p) { k<<<1, 1>>>(p); }
//- launch with values that convert
__global__ void k(const double* p, float x, long n) {}
void f(double* p) { k<<<1, 1>>>(p, 1, 'c'); k<<<1, 1>>>(nullptr, 2.5, 3u); }
//- ours launch with one value
// expected-error@4:14 {{a launch takes the number of blocks and the number of threads of a block: write 'k<<<blocks, threads>>>(...)'}}
// nvcc 13 takes it; the versions before do not.
__global__ void k(int* p) {}

void f() {  k<<<1>>>(nullptr); }
//- launch with five values
// expected-error@2:14 {{a launch takes at most four values: k<<<blocks, threads, bytes of shared memory, stream>>>}}
__global__ void k(int* p) {}
void f() {  k<<<1, 1, 0, 0, 1>>>(nullptr); }
//- launch with four values
__global__ void k(int* p) {}
void f() { k<<<dim3(1, 2), dim3(3), 16, 0>>>(nullptr); }
//- launch with braces
__global__ void k(int* p) {}
void f() { k<<<{1, 2}, {3, 4, 5}>>>(nullptr); }
//- value of a launch
// expected-error@2:24 {{a launch has no value: hand results over through memory}}
__global__ void k(int* p) {}
int f() { return       k<<<1, 1>>>(nullptr); }

//- variable of the host read
// expected-error@2:34 {{the host's variable 'count' cannot be used in the kernel 'k': pass its value as an argument, or declare it __device__ or __constant__}}
int count;
__global__ void k(int* p) { *p = count; }
//- variable of the host written
// expected-error@2:29 {{the host's variable 'total' cannot be used in the kernel 'k': pass its value as an argument, or declare it __device__ or __constant__}}
float total;
__global__ void k(int* p) { total = 1; }
//- array of the host
// expected-error@2:36 {{the host's variable 'table' cannot be used in the kernel 'k': pass its value as an argument, or declare it __device__ or __constant__}}
float table[4] = {1, 2, 3, 4};
__global__ void k(float* p) { *p = table[threadIdx.x]; }
//- constant of the host
const int kSize = 5; const float kPi = 3.14f; constexpr double kE = 2.7; enum { kLimit = 7 };
__global__ void k(float* p) { *p = kSize + kPi + kE + kLimit; }
//- constant of the host by its address
// expected-error@2:42 {{the host's variable 'kWidth' cannot be used in the kernel 'k': pass its value as an argument, or declare it __device__ or __constant__}}
const int kWidth = 5;
__global__ void k(const int** p) { *p = &kWidth; }
//- array of constants of the host
// expected-error@2:36 {{the host's variable 'kTaps' cannot be used in the kernel 'k': pass its value as an argument, or declare it __device__ or __constant__}}
constexpr float kTaps[3] = {1, 2, 1};
__global__ void k(float* p) { *p = kTaps[threadIdx.x]; }
//- static member of the host
// expected-error@2:37 {{the host's variable 'shared_by_all' cannot be used in the kernel 'k': pass its value as an argument, or declare it __device__ or __constant__}}
struct S { static int shared_by_all; }; int S::shared_by_all;
__global__ void k(int* p) { *p = S::shared_by_all; }
//- constant member
struct S { static constexpr int n = 4; static const int m = 5; };
__global__ void k(int* p) { int a[S::n]; a[0] = S::m; *p = a[0]; }
//- variables of the device
__device__ int d_count; __constant__ float d_table[4]; __managed__ int d_managed; __device__ float *d_pointer;
__global__ void k(float* p) { *p = d_count + d_table[1] + d_managed + *d_pointer; d_count = 3; }
void f() { d_managed = 3; cudaMemcpyToSymbol(d_table, nullptr, 4); }
//- extern variable of the device
extern __device__ int d_far;
__device__ int d_far = 4;
__global__ void k(int* p) { *p = d_far; }
//- variable of the host in a function for both sides
// expected-error@2:43 {{the host's variable 'level' cannot be used in the __host__ __device__ function 'd': pass its value as an argument, or declare it __device__ or __constant__}}
int level;
__host__ __device__ int d(int x) { return level; }
__global__ void k(int* p) { *p = d(3); }
//- static variable of a kernel
__global__ void k(int* p) { static int calls = 3; p[1] = calls++; }
//- static variable with a value of run time
// expected-error@1:48 {{a static variable of device code cannot be initialised with a value that is known only at run time: assign it in the first thread, or make it no static}}
__global__ void k(int* p) { static int calls = p[0]; p[1] = calls; }

//- std::vector made in a kernel
// expected-error@1:46 {{'std::vector::vector' is host code and cannot be called in the kernel 'k': use an array, or pass a pointer to memory of cudaMalloc()}}
__global__ void k(int* p) { std::vector<int> v; v.push_back(1); *p = v[0]; }
//- std::vector as a parameter
// expected-error@1:41 {{'std::vector::operator[]' is host code and cannot be called in the kernel 'k': use an array, or pass a pointer to memory of cudaMalloc()}}
__global__ void k(std::vector<int> v) { v[0] = 1; }
//- std::string in a kernel
// expected-error@1:42 {{'std::string::string' is host code and cannot be called in the kernel 'k': use an array of char}}
__global__ void k(char* p) { std::string s("abc"); p[0] = s[0]; }
//- std::cout in a kernel
// expected-error@1:34 {{'std::cout' is host code and cannot be used in the kernel 'k': use printf()}}
__global__ void k(int* p) { std::cout << *p; }
//- std::cout with a text
// expected-error@1:34 {{'std::cout' is host code and cannot be used in the kernel 'k': use printf()}}
__global__ void k(int* p) { std::cout << "p"; }
//- puts
// expected-error@1:29 {{'puts' is host code and cannot be called in the kernel 'k': use printf()}}
__global__ void k(int* p) { puts("p"); }
//- a line of printf, which g++ reads as puts
#define SAY(what) printf(what "\n")
__global__ void k(const char* p) { printf("p\n"); printf("p"); printf("%s\n", p); printf("%c", *p); printf("\n"); std::printf("q\n"); SAY("r"); }
//- puts beside printf
// expected-error@1:44 {{'puts' is host code and cannot be called in the kernel 'k': use printf()}}
__global__ void k(int* p) { printf("p\n"); puts("p"); }
//- literal operator
// expected-error@2:39 {{the constexpr function 'operator""_b' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
constexpr unsigned operator""_b(unsigned long long v) { return v; }
__global__ void k(unsigned* p) { *p = 5_b; }
//- literal operator of what g++ works out
// expected-error@3:41 {{the constexpr function 'operator""_c' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
constexpr int operator""_b(unsigned long long v) { return v; }
constexpr int operator""_c(char v) { return v; }
__global__ void k(int* p) { *p = 0x1F + 'x'_c; }
//- literal operator that stands apart
// expected-error@2:34 {{the constexpr function 'operator""_length' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
constexpr int operator"" _length(const char*, size_t n) { return n; }
__global__ void k(int* p) { *p = "abc"_length; }
//- literal operator for an array
// expected-error@2:35 {{the constexpr function 'operator""_b' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
constexpr int operator""_b(unsigned long long v) { return v; }
__global__ void k(int* p) { int q[2_b]; q[0] = *p; *p = q[0]; }
//- literal operator on the host
constexpr int operator""_b(unsigned long long v) { return v; }
__global__ void k(int* p) { *p = 1'000; }
void f(int* p) { k<<<1, 5_b>>>(p); }
//- literal operator for both
__host__ __device__ constexpr unsigned operator""_b(unsigned long long v) { return v; }
__global__ void k(unsigned* p) { *p = 5_b; }
//- fprintf
// expected-error@1:29 {{'stderr' is host code and cannot be used in the kernel 'k': use printf()}}
__global__ void k(int* p) { fprintf(stderr, "p"); }
//- snprintf
// expected-error@1:30 {{'snprintf' is host code and cannot be called in the kernel 'k': call it on the host, or write a __device__ function that does the same}}
__global__ void k(char* p) { snprintf(p, 3, "%d", threadIdx.x); }
//- throw
// expected-error@1:44 {{device code cannot throw: write an error code to memory, or call __trap()}}
__global__ void k(int* p) { if (p[0] == 0) throw 1; }
//- throw on both sides
// expected-error@1:50 {{device code cannot throw: write an error code to memory, or call __trap()}}
__host__ __device__ void d(int* p) { if (p == 0) throw 1; }
//- throw where the host compiles
__host__ __device__ void d(int* p) {
#ifndef __CUDA_ARCH__
  if (p == 0) throw 1;
#endif
}
//- try
// expected-error@1:29 {{device code has no exceptions: take the try block away}}
__global__ void k(int* p) { try { *p = 1; } catch (...) { *p = 2; } }
//- throw in an unused template
template <class T> __device__ int d(T x) { throw 1; }
//- typeid
// expected-error@1:42 {{device code has no type information at run time: write a virtual function or a tag in place of typeid}}
__global__ void k(const char** p) { *p = typeid(int).name(); }
//- dynamic_cast
// expected-error@2:34 {{device code has no type information at run time: write a virtual function or a tag in place of dynamic_cast}}
struct A { __device__ virtual void f() {} }; struct B : A {};
__global__ void k(A* a) { B* b = dynamic_cast<B*>(a); b->f(); }
//- exit
// expected-error@1:29 {{'exit' is host code and cannot be called in the kernel 'k': use return, or __trap() to stop the grid}}
__global__ void k(int* p) { exit(0); }
//- abort
// expected-error@1:29 {{'abort' is host code and cannot be called in the kernel 'k': use return, or __trap() to stop the grid}}
__global__ void k(int* p) { abort(); }
//- rand
// expected-error@1:34 {{'rand' is host code and cannot be called in the kernel 'k': use curand_uniform() of <curand_kernel.h>}}
__global__ void k(int* p) { *p = rand(); }
//- time
// expected-error@1:35 {{'time' is host code and cannot be called in the kernel 'k': use clock64()}}
__global__ void k(long* p) { *p = time(nullptr); }
//- chrono
// expected-error@1:30 {{'now' is host code and cannot be called in the kernel 'k': use clock64()}}
__global__ void k(long* p) { std::chrono::steady_clock::now(); }
//- strlen
// expected-error@1:34 {{'strlen' is host code and cannot be called in the kernel 'k': call it on the host, or write a __device__ function that does the same}}
__global__ void k(char* p) { *p= strlen(p); }
//- strcmp
// expected-error@1:35 {{'strcmp' is host code and cannot be called in the kernel 'k': call it on the host, or write a __device__ function that does the same}}
__global__ void k(char* p) { *p = strcmp(p, p + 1); }
//- copies of memory
__global__ void k(char* p) { memcpy(p, p + 8, 4); memset(p, 0, 3); }
//- std::sort
// expected-error@1:29 {{'std::sort' is host code and cannot be called in the kernel 'k': call it on the host, or write a __device__ function that does the same}}
__global__ void k(int* p) { std::sort(p, p + 3); }
//- std::swap
// expected-error@1:29 {{'std::swap' is host code and cannot be called in the kernel 'k': swap by way of a variable of your own}}
__global__ void k(int* p) { std::swap(p[0], p[1]); }
//- std::accumulate
// expected-error@1:34 {{'std::accumulate' is host code and cannot be called in the kernel 'k': call it on the host, or write a __device__ function that does the same}}
__global__ void k(int* p) { *p = std::accumulate(p, p + 3, 0); }
//- std::function
// expected-error@1:52 {{'std::function::function' is host code and cannot be called in the kernel 'k': use a template parameter for what is called}}
__global__ void k(int* p) {   std::function<int()> f; }
//- std::unique_ptr
// expected-error@1:38 {{'std::make_unique' is host code and cannot be called in the kernel 'k': use an array, or pass a pointer to memory of cudaMalloc()}}
__global__ void k(int* p) { auto q = std::make_unique<int>(3); *p = *q; }
//- std::to_string
// expected-error@1:38 {{'std::to_string' is host code and cannot be called in the kernel 'k': use an array of char}}
__global__ void k(int* p) { auto s = std::to_string(*p); }
//- cudaMemcpy in a kernel
// expected-error@1:29 {{'cudaMemcpy' is host code and cannot be called in the kernel 'k': copy in a loop, or on the host}}
__global__ void k(int* p) { cudaMemcpy(p, p, 4, cudaMemcpyDeviceToDevice); }
//- ours cudaMalloc in a kernel
// expected-error@1:38 {{'cudaMalloc' is host code and cannot be called in the kernel 'k': allocate before the launch, or call malloc(), which kernels have, too}}
__global__ void k(int** p) { int* q; cudaMalloc(&q, 4); *p = q; }
//- cudaFree in a kernel
// expected-error@1:29 {{'cudaFree' is host code and cannot be called in the kernel 'k': call it on the host, or free() for what malloc() returned here}}
__global__ void k(int* p) { cudaFree(p); }
//- cudaMemsetAsync in a kernel
// expected-error@1:29 {{'cudaMemsetAsync' is host code and cannot be called in the kernel 'k': set it in a loop, or on the host}}
__global__ void k(int* p) { cudaMemsetAsync(p, 0, 4); }
//- malloc in a kernel, cudaGetLastError beside it for the host
__host__ __device__ int ask(int* p) {
#ifndef __CUDA_ARCH__
  return cudaGetLastError();
#endif
  return *p;
}
__global__ void k(int** p) { *p = (int*)malloc(4); **p = ask(*p); }
//- cudaDeviceSynchronize in a kernel
// expected-error@1:29 {{'cudaDeviceSynchronize' is host code and cannot be called in the kernel 'k': call it on the host, before or after the launch}}
__global__ void k(int* p) { cudaDeviceSynchronize(); }
//- sqrtl
// expected-error@1:35 {{'sqrtl' is host code and cannot be called in the kernel 'k': call it on the host, or write a __device__ function that does the same}}
__global__ void k(float* p) { *p= sqrtl(*p); }
//- std::riemann_zeta
// expected-error@1:37 {{'std::riemann_zeta' is host code and cannot be called in the kernel 'k': call it on the host, or write a __device__ function that does the same}}
__global__ void k(double* p) { *p = std::riemann_zeta(*p); }
//- std::hypot of three
// expected-error@1:36 {{'std::hypot' is host code and cannot be called in the kernel 'k': call it on the host, or write a __device__ function that does the same}}
__global__ void k(float* p) { *p = std::hypot(*p, *p, *p); }
//- mathematics of std
__global__ void k(float* p) { *p = std::sin(*p) + std::sqrt(*p) + std::abs(*p) + std::pow(*p, 2) + std::fma(*p, *p, *p) + std::isnan(*p) + std::hypot(*p, *p) + std::floor(*p); }
//- mathematics of C
__global__ void k(double* p) { *p = sin(*p) + sqrtf(*p) + fabs(*p) + pow(*p, 2) + erfinv(*p) + isinf(*p) + cyl_bessel_i0(*p) + j0(*p) + tgammaf(*p) + abs(-3); }
//- what C has on the device
__global__ void k(char* p) { printf("%p", p); void* q = malloc(4); free(q); assert(p); p[0] = clock(); }
//- new and delete
__global__ void k(int* p) { int* a = new int[4]; a[0] = 1; *p = a[0]; delete[] a; new (p) int(3); }
//- std::move and std::forward
template <class T> __device__ void d(T&& x) { int y = std::forward<T>(x); y = std::move(y); }
__global__ void k(int* p) { d(*p); d(3); }
//- std::initializer_list
__device__ int d(std::initializer_list<int> l) { return *l.begin() + l.size(); }
__global__ void k(int* p) { *p = d({1, 2, 3}); }
//- types of std
__global__ void k(int* p) { std::size_t n = std::is_same_v<int, int> ? 1 : 2; *p = n; std::array<int, 3> a{}; (void)a; }
//- sizeof with std
__global__ void k(int* p) { *p = sizeof(std::declval<int>()) + alignof(std::vector<int>); }

//- constexpr function
// expected-error@2:34 {{the constexpr function 'twice' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
constexpr int twice(int x) { return 2 * x; }
__global__ void k(int* p) { *p = twice(*p); }
//- constexpr function of a constant
// expected-error@2:34 {{the constexpr function 'twice' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
constexpr int twice(int x) { return 2 * x; }
__global__ void k(int* p) { *p = twice(4); }
//- constexpr function for an array
// expected-error@2:35 {{the constexpr function 'twice' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
constexpr int twice(int x) { return 2 * x; }
__global__ void k(int* p) { int a[twice(4)]; a[0] = 1; *p = a[0]; }
//- constexpr function for shared memory
// expected-error@2:46 {{the constexpr function 'twice' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
constexpr int twice(int x) { return 2 * x; }
__global__ void k(int* p) { __shared__ int a[twice(4)]; a[0] = 1; *p = a[0]; }
//- constexpr function in a static assertion
// expected-error@2:43 {{the constexpr function 'twice' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
constexpr int twice(int x) { return 2 * x; }
__global__ void k(int* p) { static_assert(twice(2) == 4, ""); *p = 1; }
//- constexpr function template
// expected-error@2:34 {{the constexpr function 'twice' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
template <class T> constexpr T twice(T x) { return 2 * x; }
__global__ void k(int* p) { *p = twice(4); }
//- constexpr function in a template
// expected-error@2:50 {{the constexpr function 'twice' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
constexpr int twice(int x) { return 2 * x; }
template <class T> __global__ void k(T* p) { p = twice(4) + p; *p = 1; }
void f() { k<int><<<1, 1>>>(nullptr); }
//- constexpr function in an unused template
constexpr int twice(int x) { return 2 * x; }
template <class T> __global__ void k(T* p) { *p = twice(4); }
//- constexpr function only measured
constexpr int twice(int x) { return 2 * x; }
__global__ void k(int* p) { decltype(twice(3)) x = sizeof(twice(3)); *p = x; }
//- constexpr function outside of kernels
constexpr int twice(int x) { return 2 * x; }
constexpr int kTwice = twice(4);
__global__ void k(int* p) { *p = kTwice; }
//- constexpr function for both sides
__host__ __device__ constexpr int twice(int x) { return 2 * x; }
__global__ void k(int* p) { constexpr int n = twice(4); *p = n + twice(*p); }
//- constexpr function of the device on the host
// expected-error@2:23 {{the __device__ function 'twice' cannot be called by host code: launch a kernel that calls it, or write __host__ __device__ before it}}
__device__ constexpr int twice(int x) { return 2 * x; }
int f(int x) { return twice(x); }
//- constexpr lambda in a kernel
__global__ void k(int* p) { auto l = [](int x) constexpr { return x; }; *p = l(3); }
//- constexpr member
// expected-error@2:41 {{the constexpr function 'S::value' is one of the host and cannot be called in the kernel 'k': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
struct S { int v; constexpr int value() const { return v; } };
__global__ void k(int* p, S s) { *p = s.value(); }
//- std::max
// expected-error@1:34 {{'std::max' is a constexpr function of the host and cannot be called in the kernel 'k': use max(), or compile with --expt-relaxed-constexpr}}
__global__ void k(int* p) { *p = std::max(*p, 3); }
//- std::min of constants
// expected-error@1:34 {{'std::min' is a constexpr function of the host and cannot be called in the kernel 'k': use min(), or compile with --expt-relaxed-constexpr}}
__global__ void k(int* p) { *p = std::min(4, 3); }
//- std::numeric_limits
// expected-error@1:66 {{'std::numeric_limits::max' is a constexpr function of the host and cannot be called in the kernel 'k': use a constant (FLT_MAX, INT_MAX) or cuda::std::numeric_limits, or compile with --expt-relaxed-constexpr}}
__global__ void k(float* p) { *p =   std::numeric_limits<float>::max(); }
//- std::array
// expected-error@1:51 {{'std::array::operator[]' is a constexpr function of the host and cannot be called in the kernel 'k': use its namesake in cuda::std, or compile with --expt-relaxed-constexpr}}
__global__ void k(int* p) { std::array<int, 3> a; a[0] = 1; *p = a[0]; }
//- std::clamp
// expected-error@1:34 {{'std::clamp' is a constexpr function of the host and cannot be called in the kernel 'k': use its namesake in cuda::std, or compile with --expt-relaxed-constexpr}}
__global__ void k(int* p) { *p = std::clamp(*p, 1, 2); }
//- a constexpr function on both sides
// expected-warning@2:43 {{the constexpr function 'twice' is one of the host and cannot be called in the __host__ __device__ function 'd': write __host__ __device__ before it, or compile with --expt-relaxed-constexpr}}
constexpr int twice(int x) { return 2 * x; }
__host__ __device__ int d(int x) { return twice(x); }

//- alone shared arrays of 64 KB in sum
// expected-error@1:17 {{the static __shared__ variables of the kernel 'k' take 64000 bytes, and a block has 49152: use less, or dynamic shared memory}}
__global__ void k(float* p) {
  __shared__ float a[8000], b[8000];
  a[threadIdx.x] = *p; b[threadIdx.x] = a[3]; __syncthreads();
  *p = b[threadIdx.x + 1] + a[threadIdx.x];
}
//- alone shared arrays of 64 KB by way of a function
// expected-error@6:17 {{the static __shared__ variables of the kernel 'k' take 64000 bytes, and a block has 49152: use less, or dynamic shared memory}}
__device__ float part(float* p) {
  __shared__ float a[8000];
  a[threadIdx.x] = *p; __syncthreads();
  return a[threadIdx.x + 1];
}
__global__ void k(float* p) {
  __shared__ float b[8000];
  b[threadIdx.x] = part(p); __syncthreads();
  *p = b[threadIdx.x + 1];
}
//- alone shared arrays of 48 KB in sum
__global__ void k(float* p) {
  __shared__ float a[6144], b[6144];
  a[threadIdx.x] = *p; b[threadIdx.x] = a[3]; __syncthreads();
  *p = b[threadIdx.x + 1] + a[threadIdx.x];
}
__global__ void l(float* p) {
  __shared__ float a[12288];
  a[threadIdx.x] = *p; __syncthreads();
  *p = a[threadIdx.x + 1];
}
//- alone missing semicolon after a launch
// expected-error@3:28 {{expected ';' before 'n'}}
__global__ void k(int* p) {}
void f(int n) {
    k<<<1,     1>>>(nullptr)
  n = 3;
}
//- alone unknown kernel
// expected-error@1:12 {{'no_such_kernel_here' was not declared in this scope}}
void f() { no_such_kernel_here<<<1, 1>>>(3); }
//- alone CUDA_CHECK
// expected-error@1:12 {{'CUDA_CHECK' is not declared: write #include "lab/lab.h" at the top, or a macro of your own that looks at the returned cudaError_t}}
void f() { CUDA_CHECK(cudaDeviceSynchronize()); }
//- kernels by variables
__global__ void k(int* p) { *p = 1; }
void (*pointer)(int*) = k; void (*table[])(int*) = {nullptr, k}; struct { void (*f)(int*); } object = {&k};
void f(int* p) { pointer<<<1, 1>>>(p); table[1]<<<1, 1>>>(p); object.f<<<1, 1>>>(p); (*pointer)<<<1, 1>>>(p); }
template <class T> void g(T* p) { pointer<<<1, 1>>>(p); table[1]<<<1, 1>>>(p); object.f<<<1, 1>>>(p); }
void h(int* p) { g(p); }
//- launches with blanks between their brackets
template <int N> struct A { static constexpr int value = N; };
template <class T> __global__ void k(T* p) { *p = 1; }
void f(int* p) {
  k << <1, 1 >> > (p);
  k<int><< <A<1>::value, 1>> >(p);
  k << <1, 8 >> 3
    >> > (p);
  k<decltype(A<A<1>::value>::value + 0)>	<<  < dim3(1), dim3(1), 0, 0 >>	>(nullptr);
  k<<<1, 1 >> > (p); k << <1, 1>>>(p);
}
//- kernel of a launch with blanks that takes something else
// expected-error@2:12 {{argument 1 of the launch is 'const char [2]', and the kernel 'k' takes 'int*'}}
__global__ void k(int* p) { *p = 1; }
void f() { k << <1, 1 >> > ("x"); }
//- value of a launch with blanks
// expected-error@2:20 {{a launch has no value: hand results over through memory}}
__global__ void k(int* p) { *p = 1; }
void f() { int i = k << <1, 1 >> > (nullptr); }
//- alone closing digraphs
__global__ void k(int* p) { p[0:> = 1; %>
void f(int* p) { k<<<1, 1>>>(p); }
//- alone digraphs
%:define SIZE 4
__global__ void k(int* p) <% int a<:SIZE:>; a<:0:> = 1; p<:0:> = a<:0:>; %>
struct B <%%>; template <class T> struct W <% T t; %>;
__global__ void l(int* p) <% extern __shared__ int s<::>; s<:0:> = 1; p<:0:> = s<:0:>; W<::B> w; (void)w; %>
void f() <% k<<<1, 1>>>(nullptr); l<<<1, 1, 4>>>(nullptr); %>
//- names in other scripts
__device__ int size(int ñ) { int größe = ñ; return größe; }
//- kernel with letters of other scripts
// expected-error@1:17 {{the name of a function of the device cannot have letters beyond ASCII: rename it}}
__global__ void größe(int* p) { *p = 3; }
//- device lambda that captures by reference
// expected-error@4:19 {{a __device__ lambda cannot capture by reference, as the variables are the host's: write [=], and hand over pointers to device memory for what it shall change}}
template <class F> __global__ void k(F f) { f(); }
void f() {
  int x = 1;
  k<<<1, 1>>>([=, &x] __device__() { x = 2; });
}
//- lambda of the device that refers to its function's variables
__global__ void k(int* p) { int x = 1; auto l = [&] __device__(int y) { x += y; }; l(2); *p = x; }
//- two types of one dynamic array
// expected-error@2:51 {{'s' is an array of int here and of float in line 1: extern __shared__ arrays of one name are one array, so let each type have a name of its own}}
__global__ void a(float* p) { extern __shared__ float s[]; s[0] = 1; *p = s[0]; }
__global__ void b(int* p) { extern __shared__ int s[]; s[0] = 1; *p = s[0]; }
//- one type of dynamic arrays in several words
__global__ void a(unsigned* p) { extern __shared__ unsigned s[]; s[0] = 1; *p = s[0]; }
__global__ void b(unsigned* p) { extern __shared__ __align__(16) unsigned int s[]; s[0] = 1; *p = s[0]; }
//- dynamic arrays of templates
template <class T> __global__ void a(T* p) { extern __shared__ char s[]; p[0] = reinterpret_cast<T*>(s)[0]; }
//- device variable with a value of run time
// expected-error@2:16 {{the variable 'computed' of the device cannot be initialised with what is computed at run time, by a function or a constructor: give it a constant, or set it with cudaMemcpyToSymbol()}}
int f() { return 3; }
__device__ int computed = f();
__global__ void k(int* p) { *p = computed; }
//- device variable with a constructor
// expected-error@2:14 {{the variable 'constructed' of the device cannot be initialised with what is computed at run time, by a function or a constructor: give it a constant, or set it with cudaMemcpyToSymbol()}}
struct S { int a; __host__ __device__ S() : a(2) {} };
__device__ S constructed;
__global__ void k(int* p) { *p = constructed.a; }
//- device variables with constants
struct S { int a = 3; };
__device__ int one(int i) { return i; }
__device__ S s;
__device__ float4 v = {1, 2, 3, 4};
__constant__ dim3 d(3);
__device__ int (*op)(int) = one;
struct Raw { Raw() = default; __host__ __device__ Raw(int x) : v(x) {} int v; };
__device__ Raw raw[3];
__device__ const float two_rows[2] = {sizeof(S) * 2.5f, 1};
__global__ void k(int* p) { *p = op(s.a) + d.x + static_cast<int>(v.x + two_rows[0]) + raw[1].v; }
//- host that reads a device variable
// expected-warning@2:18 {{host code has a variable 'tally' of its own, not that of the device: copy from that with cudaMemcpyFromSymbol(), to it with cudaMemcpyToSymbol(), or declare it __managed__}}
__device__ int tally;
int f() { return tally; }
//- host that writes to a device array
// expected-warning@2:12 {{host code has a variable 'tallies' of its own, not that of the device: copy from that with cudaMemcpyFromSymbol(), to it with cudaMemcpyToSymbol(), or declare it __managed__}}
__constant__ float tallies[4];
void f() { tallies[1] = 2; }
//- host that names a device variable
__device__ int tally_both;
__managed__ int tally_managed;
__device__ const int kSize = 4;
int f(int tally_both) { return tally_both + tally_managed + kSize; }
void g(int h) { cudaMemcpyToSymbol(tally_both, &h, sizeof(tally_both)); void* p; cudaGetSymbolAddress(&p, tally_both); tally_managed = 2; }
//- lines of streams in a kernel
// expected-error@1:34 {{'std::cout' is host code and cannot be used in the kernel 'k': use printf()}}
__global__ void k(int* p) { std::cout << "thread " << threadIdx.x << ' ' << *p << std::endl; }
//- stream shifted by what it does not take
// expected-error@2:38 {{no match for 'operator<<' (operand types are 'std::basic_ostream<char>' and 'S')}}
struct S {};
__global__ void k() { std::cout << S{}; }
//- launch with two brackets
// expected-error@2:15 {{a launch is written with three brackets: add<<<blocks, threads>>>(...)}}
__global__ void add(int* p) { *p = 1; }
void f() { add<<1, 32>>(nullptr); }
//- rarer enumerators of the runtime
static_assert(cudaGraphNodeTypeConditional == 13 && cudaGraphNodeTypeExtSemaphoreWait == 9, "");
static_assert(cudaFuncAttributeClusterDimMustBeSet == 10 && cudaFuncAttributeNonPortableClusterSizeAllowed == 14, "");
static_assert(cudaFuncAttributeClusterSchedulingPolicyPreference == 15, "");
static_assert(cudaMemLocationTypeNone == 0 && cudaMemAllocationTypeManaged == 2 && cudaMemHandleTypeFabric == 8, "");
static_assert(cudaLaunchAttributeMemSyncDomain == 10 && cudaLaunchAttributeNvlinkUtilCentricScheduling == 16, "");
static_assert(cudaLaunchAttributePreferredClusterDimension == 11 && cudaDevP2PAttrOnlyPartialNativeAtomicSupported == 5, "");
//- asm operand of another type
// expected-error@1:79 {{inline PTX: the type of an operand of asm does not match its constraint: h is an integer of 16 bits, r of 32, l of 64 or a pointer, f is a float, d a double}}
__global__ void k(float* p, unsigned* o) { asm("mov.b32 %0, %1;" : "=r"(*o) : "r"(*p)); }
//- asm operand of another size
// expected-error@1:76 {{inline PTX: the type of an operand of asm does not match its constraint: h is an integer of 16 bits, r of 32, l of 64 or a pointer, f is a float, d a double}}
__global__ void k(double d, float* p) { asm("mov.b32 %0, %1;" : "=f"(*p) : "f"(d)); }
//- asm constant that is none
// expected-error@1:82 {{'n' is not a constant expression}}
__global__ void k(unsigned* o, int n) { asm("mov.u32 %0, %1;" : "=r"(*o) : "n"(n)); }
//- asm constraint of g++
// expected-error@1:69 {{inline PTX: the constraint "0" is none of h, r, l, f, d, n}}
__global__ void k(unsigned* o) { asm("mov.u32 %0, %1;" : "=r"(*o) : "0"(*o)); }
//- asm clobber of g++
// expected-error@1:69 {{inline PTX: the clobber "r1" is not "memory"}}
__global__ void k(unsigned* o) { asm("mov.u32 %0, 1;" : "=r"(*o) :: "r1"); }
//- alone PTX that has no such instruction
// expected-error@1:38 {{inline PTX: 'foo' is no instruction of PTX}}
__global__ void k(unsigned* o) { asm("foo.u32 %0, %0;" : "+r"(*o)); }
//- alone PTX with an operand too many
// expected-error@1:38 {{inline PTX: 'mul.lo.u32' takes 3 operands, not 4}}
__global__ void k(unsigned* o) { asm("mul.lo.u32 %0, %0, %0, %0;" : "+r"(*o)); }
//- alone PTX without a rounding modifier
// expected-error@1:35 {{inline PTX: 'fma.f32' needs a rounding modifier: .rn}}
__global__ void k(float* p) { asm("fma.f32 %0, %0, %0, %0;" : "+f"(*p)); }
//- alone PTX with a register of another type
// expected-error@1:48 {{inline PTX: 'add.u32' cannot take its operands: operand 2 is of type .f32}}
__global__ void k(float* p, unsigned* o) { asm("add.u32 %0, %1, 1;" : "=r"(*o) : "f"(*p)); }
//- alone PTX that declares a register twice in a function
// expected-error@3:7 {{inline PTX: the register 't' is declared twice in this function: put the PTX in braces, "{ .reg ... }"}}
__global__ void k(unsigned* o) {
  asm(".reg .u32 t; mov.u32 t, 1; mov.u32 %0, t;" : "=r"(*o));
  asm(".reg .u32 t; mov.u32 t, 2; mov.u32 %0, t;" : "=r"(o[1]));
}
//- alone PTX that declares a register in a function inlined twice
// expected-error@2:7 {{inline PTX: the register 't' is declared twice in a function that inlines this one twice: put the PTX in braces, "{ .reg ... }"}}
__device__ __forceinline__ unsigned twice(unsigned x) {
  asm(".reg .u32 t; add.u32 t, %0, %0; mov.u32 %0, t;" : "+r"(x));
  return x;
}
__global__ void k(unsigned* o) { o[0] = twice(o[0]) + twice(o[1]); }
//- PTX that declares its registers in braces
__device__ __forceinline__ unsigned tripled(unsigned x) {
  asm("{ .reg .u32 t; add.u32 t, %0, %0; mov.u32 %0, t; }" : "+r"(x));
  return x;
}
__global__ void k(unsigned* o) {
  o[0] = tripled(o[0]) + tripled(o[1]);
  asm("{ .reg .u32 t; mov.u32 t, 1; mov.u32 %0, t; }" : "=r"(o[2]));
}
//- PTX with a register in a function inlined once
__device__ __forceinline__ unsigned doubled(unsigned x) {
  asm(".reg .u32 t; add.u32 t, %0, %0; mov.u32 %0, t;" : "+r"(x));
  return x;
}
__global__ void k(unsigned* o) { o[0] = doubled(o[0]); }
__global__ void l(unsigned* o) { o[0] = doubled(o[0]); }
namespace inner {
__global__ void m(unsigned* o) { o[0] = doubled(o[0]); }
__global__ void n(unsigned* o) { o[0] = doubled(o[0]); }
}
//- references to rvalues, and
template <class T> __device__ int first(T&& a, int (&&b)[2]) { return a + b[0]; }
__global__ void k(int* p, int i, int j) {
  int&& r = i + 1;
  bool both = i && j, of[] = {i && j, r && j};
  auto f = [](int&& x, int&&) { return x; };
  *p = first(1, {2, 3}) + both + of[0] + f(1, 2) + (i &&j);
}
//- alone PTX without a semicolon
// expected-error@1:38 {{inline PTX: a ';' is missing at the end}}
__global__ void k(unsigned* o) { asm("add.u32 %0, %0, 1" : "+r"(*o)); }
//- alone PTX with modifiers that do not go together
// expected-error@1:50 {{inline PTX: 'ld.volatile.global.ca.u32' cannot have .volatile and .ca}}
__global__ void k(unsigned* o) { unsigned x; asm("ld.volatile.global.ca.u32 %0, [%1];" : "=r"(x) : "l"(o)); *o = x + 1; }
//- alone PTX with an undeclared register
// expected-error@1:38 {{inline PTX: 'add.u32' names 't', which is no register declared here}}
__global__ void k(unsigned* o) { asm("add.u32 %0, %0, t;" : "+r"(*o)); }
//- alone cp.async.cg of 8 bytes
// expected-error@1:56 {{inline PTX: cp.async.ca copies 4, 8 or 16 bytes, cp.async.cg 16}}
__global__ void k(unsigned s, float* p) { asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" :: "r"(s), "l"(p), "n"(8)); }
//- ours PTX that is not simulated
// expected-error@2:38 {{inline PTX: fns.b32 is not simulated}}
// Nobody has asked for it.
__global__ void k(unsigned* o) { asm("fns.b32 %0, %0, 1, 1;" : "+r"(*o)); }
//- ours a matrix instruction of another shape
// expected-error@2:45 {{inline PTX: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 is not simulated: of the matrix instructions there are mma.m16n8k16 of .bf16 and .f16, mma.m16n8k8 of .tf32 and mma.m16n8k32 of .s8, A .row and B .col, summed up in .f32 or .s32, and ldmatrix, stmatrix and movmatrix of .m8n8 and .b16}}
// Those that chapters use.
__global__ void k(double* o) { asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%2}, {%0, %1};" : "+d"(o[0]), "+d"(o[1]) : "d"(o[2])); }
//- PTX in functions that nothing calls
__device__ void f(unsigned* o) { asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(o[0]) : "r"(o[1])); }
__device__ inline void g(unsigned* o) { asm volatile("no.such %0;" : "=r"(o[0])); }
template <class T> __device__ void h(T* o) { asm volatile("fns.b32 %0, %0, 1, 1;" : "+r"(*o)); f(o); }
__global__ void k(unsigned* o) { *o = 1; }
//- ours PTX in a function that a kernel calls by way of another
// expected-error@2:47 {{inline PTX: fns.b32 is not simulated}}
// Nobody has asked for it.
__device__ void f(unsigned* o) { asm volatile("fns.b32 %0, %0, 1, 1;" : "+r"(*o)); *o = 1; }
template <class T> __device__ void g(T* o) { auto l = [&] { f(o); }; l(); }
__global__ void k(unsigned* o) { g(o); }
//- alone cp.async.commit
// expected-error@1:47 {{inline PTX: 'cp.async.commit' is spelled cp.async.commit_group}}
__global__ void k(unsigned* o) { asm volatile("cp.async.commit;"); }
//- alone PTX of a type that does not exist
// expected-error@1:53 {{inline PTX: 'ld.global.v8.f31' has .f31 where its type stands}}
__global__ void k(float* p) { float a; asm volatile("ld.global.v8.f31 %0, [%1];" : "=f"(a) : "l"(p)); *p = a; }
//- barriers of a part of the block
__global__ void k(int* p, int half) {
  if (threadIdx.x < 32) asm volatile("bar.arrive 1, 64;" ::: "memory"); else asm volatile("bar.sync 1, 64;" ::: "memory");
  asm volatile("barrier.sync %0, %1;" :: "r"(half + 2), "n"(64) : "memory");
  asm volatile("bar.sync 5;" ::: "memory");
}
//- alone barrier to arrive at without a number of threads
// expected-error@1:42 {{inline PTX: 'bar.arrive' takes 2 operands, not 1}}
__global__ void k(int* p) { asm volatile("bar.arrive 1;" ::: "memory"); }
//- end of the thread in PTX
__global__ void k(int* p) { *p = 1; asm volatile("exit;"); *p = 2; asm volatile("ret;"); }
//- ours return from a function in PTX
// expected-error@2:42 {{inline PTX: 'ret' returns from a function that the compiler may have inlined: write 'return;' in C++, or exit to end the thread}}
// nvcc ends the kernel there if it has inlined the function, and returns from the function if not.
__device__ void f(int* p) { asm volatile("ret;"); *p = 2; }
__global__ void k(int* p) { f(p); }
//- ours surfaces
// expected-error@2:34 {{surfaces (surf2Dread) are not simulated: read a texture, and write to memory of cudaMalloc()}}
// No chapter has any.
__global__ void k(int* p) { *p = surf2Dread<int>(1, 0, 0); }
//- launch in a kernel
// expected-error@2:30 {{launches by kernels (dynamic parallelism) are not simulated: launch the kernel from the host, after this one}}
__global__ void c(int* p) { *p = 1; }
__global__ void k(int* p) { c<<<1, 1>>>(p); }
//- PTX by macro in a template
#define LOAD(to, from) asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(to) : "l"(from))
template <int N> __device__ float sum(const float* p) { float s = 0, x; for (int i = 0; i < N; ++i) { LOAD(x, p + i); s += x; } return s; }
__global__ void k(float* p) { *p = sum<4>(p + 1); }
//- asm on the host
void f() { asm volatile("nop"); }
//- shuffle of numbers
enum E { A };
__global__ void k(int* p, float* f, char* c, bool* b) {
  *p = __shfl_sync(~0u, A, 0); *f = __shfl_up_sync(~0u, *f, 1); *c = __shfl_down_sync(~0u, *c, 1); *b = __shfl_xor_sync(~0u, *b, 1);
}
//- shuffle of a pointer
// expected-error@1:49 {{no matching function for call to '__shfl_sync(unsigned int, int*&, int)'}}
__global__ void k(int* p) { int* q = __shfl_sync(~0u, p, 0); *q = 1; }
//- shuffle of a struct
// expected-error@1:53 {{no matching function for call to '__shfl_down_sync(unsigned int, float2&, int)'}}
__global__ void k(float2* p) { *p = __shfl_down_sync(~0u, *p, 1); }
//- match of numbers
__global__ void k(unsigned* p, float f, long long i) { *p = __match_any_sync(~0u, f) + __match_any_sync(~0u, i); }
//- match of a pointer
// expected-error@1:55 {{no matching function for call to '__match_any_sync(unsigned int, unsigned int*&)'}}
__global__ void k(unsigned* p) { *p = __match_any_sync(~0u, p); }
//- load through the cache of numbers and vectors
__global__ void k(const float4* p, const char2* c, const double* d, float* o) { *o = __ldg(p).x + __ldg(c).y + __ldcs(d); __stcg(o, *o); }
//- load through the cache of a struct
// expected-error@2:52 {{no matching function for call to '__ldg(const S*&)'}}
struct S { int a, b; };
__global__ void k(const S* p, int* o) { S s = __ldg(p); *o = s.a; }
//- load through the cache of a float3
// expected-error@1:42 {{no matching function for call to '__ldg(float3*&)'}}
__global__ void k(float3* p) { *p = __ldg(p); }
//- load through the cache of a bool
// expected-error@1:40 {{no matching function for call to '__ldg(bool*&)'}}
__global__ void k(bool* p) { *p = __ldg(p); }
//- load through the cache of a pointer
// expected-error@1:48 {{no matching function for call to '__ldg(int* const*&)'}}
__global__ void k(int* const* p) { **p = *__ldg(p); }
//- store through the cache of a struct
// expected-error@2:33 {{no matching function for call to '__stcs(S*&, S&)'}}
struct S { int a; };
__global__ void k(S* p) { __stcs(p, *p); }
//- vector in parentheses
// expected-error@1:37 {{float4 has no constructor before C++20: write make_float4(...) or float4{...}}}
__global__ void k(float4* p) { *p = float4(1, 2, 3, 4); }
//- variable of a vector type in parentheses
// expected-error@1:32 {{float4 has no constructor before C++20: write make_float4(...) or float4{...}}}
__global__ void k(float4* p) { float4 v(1.0f); *p = v; }
//- vector of one number
// expected-error@1:42 {{'float' does not become a float4: write make_float4(...) with all of its members}}
__global__ void k(float* p) { float4 v = 1.0f; *p = v.x; }
//- number for a parameter that is a vector
// expected-error@2:43 {{'int' does not become a int2: write make_int2(...) with all of its members}}
__device__ int f(int2 v) { return v.x; }
__global__ void k(int* p, int n) { *p = f(n); }
//- vector of named members
__global__ void k(float4* p) { float4 v = {.x = 1, .z = 2}; *p = v; p[1] = float4{.y = p->x}; uchar4 c{.x = 1, .y = 2, .z = 3, .w = 4}; p->x = c.w; }
//- vectors one after another in one brace
__constant__ float2 corners[] = {0, 0, 1, 0, 1, 1};
__global__ void k(float4* p) { float4 v = {1.0f}; const float4 t[2] = {1, 2, 3, 4, -5, 6}; *p = t[1]; p[1] = v; p->x = corners[2].x; static_assert(sizeof(corners) == 24, ""); }
//- vector in braces, or copied
__global__ void k(float4* p) { *p = float4{1, 2, 3, 4}; p[1] = float4(p[2]); p[3] = float4(); }
//- array of a variable length in a kernel
// expected-error@1:44 {{an array of device code has a length that is known when it is compiled: make the length a constant, or the array dynamic shared memory}}
__global__ void k(float* p, int n) { float s[n]; s[0] = *p; *p = s[n - 1]; }
//- array of a variable length in a function for both
// expected-error@1:40 {{an array of device code has a length that is known when it is compiled: make the length a constant, or the array dynamic shared memory}}
__host__ __device__ int f(int n) { int a[n]; a[0] = n; return a[0]; }
//- array of a variable length on the host alone
__host__ __device__ int f(int n) {
#ifdef __CUDA_ARCH__
  return n;
#else
  int a[n]; a[0] = n; return a[0];
#endif
}
int g(int n) { int a[n]; a[0] = n; return a[0] + f(n); }
__host__ __device__ int h(int n) { constexpr int m = 3; int a[m]; a[0] = n; return a[0]; }
//- unroll by a number of run time
// expected-error@3:3 {{the number of `#pragma unroll n` is known only at run time: write a constant, or take the number away}}
__global__ void k(int n, int* p) {
#pragma unroll n
  for (int i = 0; i < n; ++i) p[i] = i;
}
//- unroll by a variable
// expected-error@4:3 {{the number of `#pragma unroll m` is known only at run time: write a constant, or take the number away}}
__device__ void f(int* p) {
  int m = 4;
#pragma unroll (m)
  for (int i = 0; i < m; ++i) p[i] = i;
}
//- unroll by constants
const int number = 4; enum { kUnroll = 3 };
template <int n> __device__ void f(int* p) {
#pragma unroll n
  for (int i = 0; i < n; ++i) p[i] = i;
}
template <class T> __device__ void g(T* p) { f<3>(p); }
__global__ void k(int n, int* p) {
  const int local = 2; { int number = n; p[0] = number; }
#pragma unroll number
  for (int i = 0; i < n; ++i) p[i] = i;
#pragma unroll local
  for (int i = 0; i < n; ++i) p[i] = i;
#pragma unroll kUnroll
  for (int i = 0; i < n; ++i) p[i] = i;
#pragma unroll local * 2
  for (int i = 0; i < n; ++i) p[i] = i;
#pragma unroll
  for (int i = 0; i < n; ++i) g(p);
}
void host(int n, int* p) {
#pragma unroll n
  for (int i = 0; i < n; ++i) p[i] = i;
}
//- array of a constant length in a kernel
__global__ void k(float* p) { const int n = 4; float s[n]; s[0] = *p; *p = s[n - 1]; }
//- thread_local variable in a kernel
// expected-error@1:29 {{device code has no thread_local variables: a local variable is each thread's own}}
__global__ void k(int* p) { thread_local int x; *p = x; }
//- kernel that is noexcept
// expected-error@1:26 {{the kernel 'k' cannot be noexcept: take that word away}}
__global__ void k(int n) noexcept {}
//- kernel redeclared as a host function
// expected-error@2:6 {{'k' was declared as a kernel before (line 1): write __global__ here as well, or give the function another name}}
__global__ void k(int* p, int n);
void k(int* q, int m) { *q = m; }
//- host function redeclared as a kernel
// expected-error@2:36 {{'k' was declared without __global__ before (line 1): write it there as well, or give the kernel another name}}
template <class T> void k(T* p);
template <class T> __global__ void k(T* p) { *p = 1; }
//- kernel redeclared as a device function
// expected-error@2:17 {{'k' was declared as a kernel before (line 1): write __global__ here as well, or give the function another name}}
__global__ void k(int* p);
__device__ void k(int* p) { *p = 1; }
//- other functions of a kernel's name
__global__ void k(int* p) { *p = 1; }
__global__ void k(int* p);
void k(float* p) { *p = 1; }
template <class T> void k(T* p, int n) { *p = n; }
namespace other { void k(int* p) { *p = 1; } }
struct S { void k(int* p) { *p = 1; } };
//- address of a built-in variable
// expected-error@1:49 {{'threadIdx' has no address, as it stands in registers: copy it to a variable of your own, 'auto copy = threadIdx;'}}
__global__ void k(int* p) { const unsigned* t = &threadIdx.x; *p = *t; }
//- references to built-in variables, and masks of them
__device__ void f(const unsigned& x, int* p) { *p = x; }
__global__ void k(int* p) { const auto& t = threadIdx; f(blockIdx.x, p); *p += t.x & threadIdx.x; if (*p && threadIdx.x) *p = (*p) & blockDim.x; }
//- launch bounds of a device function
// expected-error@1:29 {{__launch_bounds__ is for kernels: take it away, or write __global__ before the function}}
__device__ __launch_bounds__(128) int f(int x) { return x; }
//- launch bounds of a host function
// expected-error@1:23 {{__launch_bounds__ is for kernels: take it away, or write __global__ before the function}}
void __launch_bounds__(128) f(int x) {}
//- launch bounds without a number
// expected-error@1:34 {{__launch_bounds__ takes the most threads of a block, and if need be the fewest blocks of a multiprocessor and the most of a cluster: write __launch_bounds__(256)}}
__global__ void __launch_bounds__() k(int* p) { *p = 1; }
//- launch bounds wherever they may stand
constexpr int kMost = 256;
__launch_bounds__(128) __global__ void k(int* p) { *p = 1; }
template <int N> __global__ __launch_bounds__(N, 2) void l(int* p) { *p = N; }
__global__ void m(int* p) __launch_bounds__(kMost);
__global__ void m(int* p) { *p = 1; }
//- grid constant of a device function
// expected-error@1:42 {{__grid_constant__ is for parameters of kernels: take it away from this function's}}
__device__ int f(const __grid_constant__ int x) { return x; }
//- grid constant that is not const
// expected-error@1:37 {{a parameter with __grid_constant__ is const, and no reference: write 'const __grid_constant__' and the type}}
__global__ void k(__grid_constant__ int x, int* p) { *p = x; }
//- grid constants
struct S { int a[4]; };
__global__ void k(const __grid_constant__ S s, __grid_constant__ const int n, int* p) { *p = s.a[n]; }
template <class T> __global__ void l(const __grid_constant__ T t, T* p) { *p = t; }
void f() { l<<<1, 1>>>(3, (int*)nullptr); k<<<1, 1>>>(S{}, 1, nullptr); }
//- lambda of the host handed to a kernel
// expected-error@1:58 {{a lambda of the host cannot be called in the kernel 'k': write '[=] __device__ (...)', and compile with --extended-lambda}}
template <class F> __global__ void k(int* p, F f) { *p = f(3); }
void f(int* p) { auto l = [](int x) { return x + 1; }; k<<<1, 1>>>(p, l); }
//- variable of the host by way of a template's parameter
// expected-error@2:58 {{the host's variable 'x' cannot be used in the __device__ function 'f': pass its value as an argument, or declare it __device__ or __constant__}}
struct S { static int x; static constexpr int y = 3; }; int S::x = 3;
template <class T> __device__ int f() { return T::y + T::x; }
__global__ void k(int* p) { *p = f<S>(); }
//- alone complex numbers of the standard library
// expected-error@2:80 {{'std::operator*<float>' is host code and cannot be called in the kernel 'k': call it on the host, or write a __device__ function that does the same}}
#include <complex>
__global__ void k(std::complex<float>* a, std::complex<float>* b) { *a = *a * *b; }
//- braces as arguments of a template
namespace n {
struct P { int x, y; };
template <class T, int N = 3> __global__ void t(T* d, const P p, float4 v = {1, 2, 3, 4}) { *d = p.x + v.w + N; }
}
template <class T> __global__ void w(T* d, dim3 q) { *d = q.y; }
template <class T> void run(T* d, int a) { n::t<<<1, 1>>>(d, {3, a}); w<<<1, 1>>>(d, {1, 2}); }
void f(int* d) { n::t<<<1, 1>>>(d, {3, 2}); n::t<<<1, 1>>>(d, {}, {0, 1, 2, 3}); using namespace n; t<int><<<{1, 1}, {1}>>>(d, {3}); run(d, 1); }
//- ours braces for a type that the template leaves open
// expected-error@3:33 {{what stands in braces has a type that the template 'u' leaves open: write the type before the brace}}
// nvcc takes T from the other argument.
template <class T> __global__ void u(T* d, T x) { *d = x; }
void f(int* d) { u<<<1, 1>>>(d, {7}); }
//- automatic device variable
// expected-error@1:40 {{a __device__ variable stands outside of functions: declare it there, or take the qualifier away for a variable of each thread's own}}
__global__ void k(int* p) { __device__ int c; c = *p; *p = c; }
//- automatic constant
// expected-error@1:42 {{a __constant__ variable stands outside of functions: declare it there, or take the qualifier away for a variable of each thread's own}}
__global__ void k(int* p) { __constant__ int c = 3; *p = c; }
//- static device variable of a kernel, and a qualified member
struct S { __device__ int weight; };
__global__ void k(int* p, S s) { static __device__ int c; c = *p; *p = c + s.weight; }
//- alone limits of cuda::std
#include <cuda/std/limits>
__global__ void k(int* p) { *p = cuda::std::numeric_limits<int>::lowest() + cuda::std::numeric_limits<short>::max(); }
//- variables that are set before they are read
__device__ void fill(float* a) { a[0] = 1; }
__device__ void set(int& a) { a = 1; }
__global__ void k(float* p, int n) {
  float a, b, c[3], d[2], sum; int e, f;
  a = p[0]; set(e); fill(d);
  for (int i = 0; i < 3; ++i) c[i] = p[i];
  if (n > 1) b = a; else b = c[1];
  for (int i = 0; i < n; ++i) { if (i > 0) sum += p[i]; else sum = p[0]; }
  switch (n) { case 1: f = 1; break; default: f = 2; }
  for (int i = 0; i < n; ++i) { float best; if (i == 0) best = 1; else best = 2; p[i] = best; }
  *p = a + b + c[0] + d[0] + e + sum + f;
}
//- result by value
// expected-warning@1:52 {{'r' is a copy of what the launch hands over, and nobody reads what the kernel writes to it: for a result take a pointer to device memory, 'int* r'}}
__global__ void k(int* p, int r) { if (p[0] > 0) { r = p[0]; } }
//- parameter that is changed and read
__global__ void k(int* p, int n, unsigned long long a) { n /= 2; p[0] = n; *(int*)a = 1; for (; n > 0; --n) p[n] = n; }
//- barrier that is not called
// expected-warning@1:37 {{'__syncthreads' is only named here, and not called: write '__syncthreads();'}}
__global__ void k(int* p) { *p = 1; __syncthreads; *p = 2; }
//- ones by bytes
// expected-warning@1:49 {{cudaMemset() sets bytes, so no int becomes 1: each is 16843009. Let a kernel fill the array, or copy the values to it}}
void f(int n) { int* d = nullptr; cudaMemset(d, 1, n * sizeof(int)); }
//- bytes that are meant
void f(char* c, int* d, int n) { cudaMemset(c, 1, n); cudaMemset(d, 0, n); cudaMemset(d, 0xff, n); cudaMemset(d, -1, n); cudaMemset(d, 127, n); }
//- two dynamic arrays of one type
// expected-warning@3:25 {{'b' begins where 'a' does, as all extern __shared__ arrays of a block are one piece of memory: declare one, and let 'b' point past the elements of 'a'}}
__global__ void k(int* p) {
  extern __shared__ int a[];
  extern __shared__ int b[];
  a[0] = b[0] = *p;
}
//- shared variable of a host function
// expected-error@1:38 {{a __shared__ variable cannot stand in a function of the host: declare it in a kernel or in a __device__ function}}
void tile_on_the_host() { __shared__ int tile[3]; tile[0] = 1; }
//- shared variables of functions of the device
__device__ int f(); int f() { __shared__ int tile[3]; tile[0] = 1; return tile[0]; }
struct S { __device__ int get() const; }; int S::get() const { __shared__ int tile[3]; tile[0] = 1; return tile[0]; }
__global__ void k(int* p) { auto inner = [=] { __shared__ int tile[3]; tile[0] = 1; return tile[0]; }; *p = inner(); }
//- device variable that is thread_local
// expected-error@1:1 {{a __device__ variable cannot be thread_local: take that word away, as all threads share the variable}}
thread_local __device__ int count;
//- constant written in a kernel
// expected-error@2:23 {{the __constant__ variable 'limit' cannot be changed in device code: set it on the host with cudaMemcpyToSymbol(), or declare it __device__}}
__constant__ int limit;
__global__ void k() { limit = 3; }
//- constants read, copied and hidden
__constant__ float taps[4]; struct Setup { int width, height; }; __constant__ Setup setup;
__device__ void f(float x) { taps[threadIdx.x] += x; setup.width = 3; }
__device__ void g(Setup* x, Setup y) { setup = *x; setup = y; setup = Setup{1, 2}; }
__constant__ int limit; __constant__ int* target;
__global__ void k(int* p) { int copy = limit; copy += limit; *p = copy; *target = limit; }
__global__ void q(int* p) { int limit = 1; limit = *p; *p = limit; }
//- operator as a kernel
// expected-error@1:30 {{an operator cannot be a kernel: give the kernel a name}}
struct X {}; __global__ void operator+(X, X) {}
//- kernel with an initializer_list
// expected-error@1:24 {{the kernel 'k' cannot take a parameter of type 'initializer_list': pass a pointer to device memory and a length}}
__global__ void k(std::initializer_list<int> l, int* p) { *p = l.size(); }
//- kernel with a value by another name of its type
// expected-error@1:51 {{a kernel returns void: write '__global__ void' in place of '__global__ Result', and hand results over through memory}}
using Result = int; __global__ Result k(int* p) { *p = 1; return 1; }
//- device lambdas in public functions
template <class F> __global__ void run(F f) { f(0); }
class Runner { int value; enum { kNone };
 public: struct Part { void go() { run<<<1, 1>>>([] __device__ (int i) { return i; }); } };
  void go() { if (value) run<<<1, 1>>>([*this] __device__ (int i) { return i; }); } };
void host() { run<<<1, 1>>>([] __device__ (int i) { return i; }); }
//- lambda of the host as an argument of a kernel that does not call it
// expected-error@2:30 {{a lambda of the host cannot be an argument of the kernel template 'measure': write '[=] __device__ (...)', and compile with --extended-lambda}}
template <class F> __global__ void measure(F f) { (void)sizeof(f); }
void f() { measure<<<1, 1>>>([](int i) { return i; }); }
//- variable with a lambda of the host as an argument of a kernel
// expected-error@3:28 {{a lambda of the host cannot be an argument of the kernel template 'measure_two': write '[=] __device__ (...)', and compile with --extended-lambda}}
template <class T, class F> __global__ void measure_two(T* p, const F f) { (void)sizeof(f); }
void f(int* p) { const auto twice = [](int i) -> int { return i + i; };
  measure_two<<<1, 1>>>(p, twice); }
//- lambdas that kernels take
template <class F> __global__ void measure_any(F f) { (void)sizeof(f); }
template <class T> __global__ void kp(T* p, T (*f)(T), int (*g)(int)) { (void)sizeof(f); }
__global__ void kf(int (*f)(int)) { (void)sizeof(f); }
void f(int* p) { auto on_host = [](int i) { return i; }; int n = on_host(1); auto a = [=] __device__ (int i) { return i + n; }; 
  measure_any<<<1, 1>>>(a); measure_any<<<1, 1>>>([=] __host__ __device__ (int i) { return i + n; }); measure_any<<<1, 1>>>(on_host(1)); measure_any<<<1, 1>>>([](int i) { return i; }(1));
  kp<int><<<1, 1>>>(p, [](int i) { return i; }, [](int i) { return i; }); kf<<<1, 1>>>([](int i) { return i; }); kf<<<1, 1>>>(on_host);
  measure_any<<<1, 1>>>(+on_host); { int on_host = 1; measure_any<<<1, 1>>>(on_host); } kp<<<1, 1>>>(p, +on_host, on_host); }
template <class T> void never_used() { measure_any<<<1, 1>>>([](T i) { return i; }); }
//- static variable of the host in a device lambda
// expected-error@2:91 {{the static variable 'counter' of the host cannot be used in device code: copy it into a variable that the lambda captures}}
template <class F> __global__ void run(F f, int* p) { *p = f(1); }
void f(int* p) { static int counter = 3; run<<<1, 1>>>([] __device__ (int i) { return i + counter; }, p); }
//- static variable of a template of the host in a lambda for both
// expected-error@4:60 {{the static variable 'counter' of the host cannot be used in device code: copy it into a variable that the lambda captures}}
template <class F> __global__ void run(F f, int* p) { *p = f(1); }
template <class T> void f(T* p) {
  static T counter = 3;
  auto next = [=] __host__ __device__ (int i) { return i + counter; };
  run<<<1, 1>>>(next, p); }
void g(int* p) { f(p); }
//- array of constants of the host in a device lambda
// expected-error@2:102 {{the static variable 'table' of the host cannot be used in device code: copy it into a variable that the lambda captures}}
template <class F> __global__ void run(F f, int* p) { *p = f(1); }
void f(int* p) { static constexpr int table[] = {1, 2}; run<<<1, 1>>>([] __device__ (int i) { return table[i]; }, p); }
//- static variables that device lambdas can name
template <class F> __global__ void run(F f, int* p) { *p = f(1); }
int on_host() { static int calls; auto next = [] { return ++calls; }; return next() + [] __host__ () { return ++calls; }(); }
__device__ int on_device() { static int calls; auto next = [] { return ++calls; }; return next(); }
__device__ int of_device; 
void f(int* p) { static int counter; static const int number = 3; static constexpr double real = 1.5; static int* at = &of_device; (void)at;
  run<<<1, 1>>>([=] __device__ (int i) { static int own; return i + number + int(real) + int(sizeof(counter)) + ++own + on_device() + of_device; }, p);
  int copy = counter; run<<<1, 1>>>([=] __device__ (int i) { return i + copy; }, p); }
//- private name of a public type
template <class T> __global__ void k(T x) {}
struct P { int v; }; class A { using Private = P; void f(); };
void A::f() { k<<<1, 1>>>(Private{1}); }
//- public type behind a private one
template <class T> __global__ void k(T x) {}
class A { struct P { int v; }; struct Q { int v; }; public: struct R { P p; }; struct S : Q {}; void f(); };
void A::f() { k<<<1, 1>>>(R{}); k<<<1, 1>>>(S{}); }
//- public type in a struct that goes on in private
template <class T> __global__ void k(T x) {}
class A; struct B { struct P { int v; }; void f(); private: int n; }; struct C : private B { void g(); };
void B::f() { k<<<1, 1>>>(P{1}); }
void C::g() { k<<<1, 1>>>(P{1}); }
//- value of a private enum as a template argument
template <int N> __global__ void k(int n) {}
template <auto N> __global__ void ka(int n) {}
class A { enum M { a, b }; struct P { static __device__ int g() { return 1; } }; void f(); };
void A::f() { k<b><<<1, 1>>>(1); k<sizeof(P)><<<1, 1>>>(1); ka<b><<<1, 1>>>(1); ka<&P::g><<<1, 1>>>(1); }
//- lambda in a function with a private parameter
template <class T> __global__ void k(T x) {}
class A { struct P { int v; }; public: void f(P p); };
void A::f(P p) { int n = p.v; k<<<1, 1>>>([=] __device__ () { return n; }); }
//- types of one name, private in one class alone
template <class T> __global__ void k(T x) {}
namespace n { class A { struct P { int v; }; }; } class A { public: struct P { int v; }; };
template <class T> class B { struct P { T v; }; }; template <> class B<int> { public: struct P { int v; }; };
void f() { k<<<1, 1>>>(A::P{1}); k<<<1, 1>>>(B<int>::P{1}); }
//- private type as the type of a member that a kernel names
template <class T> __global__ void k(T* x, typename T::R y) {}
class A { struct P { int v; }; public: struct Q { using R = P; }; void f(); };
void A::f() { k<<<1, 1>>>(static_cast<Q*>(nullptr), P{1}); }
//- kernel and function of one name in two namespaces of a namespace
namespace a::b { __global__ void k(int* p) { *p = 1; } }
namespace a::c { void k(int* p) { *p = 1; } }
//- references that are restricted in a kernel template
template <class T> __global__ void k(T& __restrict__ r, const T* __restrict__ p) { r = *p; }
void f(int* p) { k<<<1, 1>>>(*p, p); }
//- types with names as template arguments of kernels
template <class T, int N, class... A> __global__ void k(T value, int* p, A... a) { *p = value.x + N + (0 + ... + a); }
template <class F> __global__ void run(F f, int* p) { *p = f(1); }
namespace { struct Hidden { int x; }; } struct Zone { struct Zip { int x; }; }; typedef struct { int x; } Named;
struct L10Z { int x; };
__device__ int inside(int x) { struct Local { int x; }; auto twice = [](auto t) { return t.x + t.x; }; return twice(Local{x}); }
void host(int* p) { using Alias = Zone::Zip; k<Hidden, 10><<<1, 1>>>(Hidden{1}, p); k<Zone::Zip, -1><<<1, 1>>>(Alias{}, p, 1, 'Z');
  k<Named, 'Z'><<<1, 1>>>(Named{1}, p); k<L10Z, 12><<<1, 1>>>(L10Z{}, p, L10Z{}.x); run<<<1, 1>>>([=] __device__ (int i) { return i; }, p); }
//- device lambdas in other functions
template <class F> __global__ void run(F f) { f(0); }
auto host(int n) -> int { run<<<1, 1>>>([a = n] __device__ (auto i) { return i + a; }); return n; }
struct Runner { Runner() { go(); } auto go() -> void { auto in = [] { run<<<1, 1>>>([] __device__ (int i) { return i; }); }; in(); } };
template <auto N> void host() { run<<<1, 1>>>([] __device__ (int i) mutable { return i + N; }); }
template void host<3>();
//- device variable in a function of the host
// expected-error@1:32 {{a __device__ variable stands outside of functions: declare it there, or take the qualifier away for a variable of each thread's own}}
int host() { static __device__ int x; return sizeof(x); }
//- constant in a function of the host
// expected-error@1:34 {{a __constant__ variable stands outside of functions: declare it there, or take the qualifier away for a variable of each thread's own}}
int host() { static __constant__ int x = 1; return sizeof(x); }
//- static variables of the device in device code
__global__ void k(int* p) { static __device__ int visits; static int turns; *p = ++visits + ++turns; }
__device__ int f() { static __device__ int calls; return ++calls; }
//- registers and bounds of a kernel
// expected-error@1:50 {{a kernel has __launch_bounds__ or __maxnreg__, and not both: take one away}}
__global__ void __launch_bounds__(64) __maxnreg__(32) k(int* p) { *p = 1; }
//- registers of a device function
// expected-error@1:28 {{__maxnreg__ is for kernels: take it away, or write __global__ before the function}}
__device__ void __maxnreg__(32) f(int* p) { *p = 1; }
//- registers below 1
// expected-error@1:28 {{__maxnreg__ takes the most registers of a thread, one number above 0: write __maxnreg__(64)}}
__global__ void __maxnreg__(0) k(int* p) { *p = 1; }
//- registers of a kernel
constexpr int kMost = 40;
__global__ void __maxnreg__(32) k(int* p) { *p = 1; }
template <int N> __global__ void __maxnreg__(N) q(int* p) { *p = 1; }
__global__ void __maxnreg__(kMost + 8) r(int* p) { *p = 1; }
void host(int* p) { q<64><<<1, 1>>>(p); }
//- array without elements in a kernel
// expected-error@1:33 {{the array 'a' of device code has no element: give it one at least, or take the array away}}
__global__ void k(int* p) { int a[0]; *p = sizeof(a); }
//- shared array without elements
// expected-error@1:46 {{the array 'a' of device code has no element: give it one at least, or take the array away}}
__global__ void k(int* p) { __shared__ float a[0]; *p = sizeof(a); }
//- arrays without elements of the host, and at the end of a class
struct List { int n; int values[0]; };
int host() { int none[0]; return sizeof(none); }
__global__ void k(List* list, int* p) { int first[1] = {}; first[0] = list->n; *p = first[0]; }
//- dynamic array of a template with two types
// expected-error@2:23 {{'s' has had another type before: extern __shared__ arrays of one name are one array, also in a template. Declare 'extern __shared__ __align__(16) unsigned char bytes[];' and let 'T* s = reinterpret_cast<T*>(bytes);' follow}}
template <class T> __global__ void k(T* p) {
  extern __shared__ T s[];
  s[threadIdx.x] = p[threadIdx.x];
}
void f() { k<<<1, 2, 8>>>((float*)nullptr); k<<<1, 2, 16>>>((double*)nullptr); }
//- a template's dynamic array of one type
template <class T> __global__ void k(T* p) { extern __shared__ T s[]; s[threadIdx.x] = p[threadIdx.x]; }
__global__ void l(float* p) { extern __shared__ float s[]; s[threadIdx.x] = p[threadIdx.x]; }
namespace inner { __global__ void l(double* p) { extern __shared__ double s[]; s[threadIdx.x] = p[threadIdx.x]; } }
void f() { k<<<1, 2, 8>>>((float*)nullptr); }
//- a template's dynamic array that another kernel has
// expected-error@3:30 {{'s' has had another type before: extern __shared__ arrays of one name are one array, also in a template. Declare 'extern __shared__ __align__(16) unsigned char bytes[];' and let 'T* s = reinterpret_cast<T*>(bytes);' follow}}
struct Item { int a; };
__global__ void l(float* p) { extern __shared__ float s[]; s[threadIdx.x] = p[threadIdx.x]; }
__global__ void k(Item* p) { extern __shared__ Item s[]; s[threadIdx.x] = p[threadIdx.x]; }
//- alone ours index of a thread in a host function
// expected-error@2:26 {{'threadIdx' exists in device code only, and this function runs on the host: write __global__ or __device__ before the function, or hand the value over}}
// nvcc compiles it, and the program does not link
int f(int* p) { return p[threadIdx.x]; }
//- blockDim of the host's own
int f(int n) { dim3 blockDim(16, 16), gridDim(n / blockDim.x); return gridDim.x * blockDim.y; }
int g(dim3 blockIdx) { return blockIdx.x; }
//- threadIdx in a function for both
__host__ __device__ int f() { return threadIdx.x; }
__global__ void k(int* p) { p[0] = f(); }
//- a number assigned in a condition
// expected-warning@1:42 {{'=' sets the variable here, it does not compare: write '==' for 'is equal to'}}
__global__ void k(int* p, int n) { if (n = 0) *p = 1; }
//- a result taken in a condition
int f(int* p) { cudaError_t e; if (e = cudaGetLastError()) return e; if (int n = 3) return n; while ((*p = 1)) break; return 0; }
//- semicolon behind if
// expected-warning@1:46 {{the ';' ends this 'if', so what follows is done in either case: take the ';' away}}
__global__ void k(int* p, int n) { if (n > 3); *p = 1; }
//- semicolon behind for
// expected-warning@1:65 {{the ';' is all that this 'for' repeats, and what follows is done once: take the ';' away}}
__global__ void k(int* p, int n) { int i = 0; for (; i < n; i++); { p[i] = 1; } }
//- loops and branches of nothing
#define SAY(x)
__global__ void k(int* p, int n) { if (n > 3) SAY(n); for (; n < *p; n++); if (n > 4); else *p = 1; while (atomicAdd(p, 1) < 3); { n = 1; } *p = n; }
//- extents in parentheses
// expected-warning@2:19 {{'(2, 2)' is '2' to C++, the last of its values: write 'dim3(2, 2)'}}
__global__ void k(int* p) { *p = 1; }
void f() { k<<<1, (2, 2)>>>(nullptr); }
//- alone constants of 80000 bytes
// expected-error@1:20 {{with 'table' the __constant__ variables take 80000 bytes, and a GPU has 65536: let kernels read large tables from memory of cudaMalloc()}}
__constant__ float table[20000];
__global__ void k(float* p) { p[0] = table[threadIdx.x]; }
//- tile without __shared__
// expected-warning@6:12 {{each thread has an array 'tile' of its own, and has set only tile[i]: for one that the block shares write '__shared__ int tile[256];'}}
__global__ void k(const int* in, int* out) {
  int tile[256];
  const int i = threadIdx.x;
  tile[i] = in[i];
  __syncthreads();
  out[i] = tile[255 - i];
}
//- sum without __shared__
// expected-warning@6:44 {{each thread has an array 's' of its own, and has set only s[threadIdx.x]: for one that the block shares write '__shared__ float s[256];'}}
__global__ void k(const float* in, float* out) {
  float s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = s[0];
}
//- histogram without __shared__
// expected-warning@5:57 {{each thread has an array 'bins' of its own, and has set only bins[threadIdx.x]: for one that the block shares write '__shared__ int bins[256];'}}
__global__ void k(const int* in, int* out, int n) {
  int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256) atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x];
}
//- tile of a product without __shared__
// expected-warning@9:41 {{each thread has an array 'a' of its own, and has set only a[threadIdx.y][threadIdx.x]: for one that the block shares write '__shared__ float a[16][16];'}}
__global__ void k(const float* in, float* out, int n) {
  float a[16][16];
  __shared__ float b[16][16];
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    a[threadIdx.y][threadIdx.x] = in[t + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = in[t + threadIdx.y];
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += a[threadIdx.y][j] * b[j][threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.y * 16 + threadIdx.x] = sum;
}
//- arrays of a thread's own beside a barrier
__global__ void k(const float* in, float* out, int n) {
  __shared__ float tile[256];
  float own[8], few[2], last[4], all[256];
  const int i = threadIdx.x, slot = i % 4;
  few[0] = in[i];
  few[1] = in[i + 1];
  for (int j = 0; j < 8; ++j) own[j] = in[i + j];
  last[slot] = in[i];
  all[threadIdx.x] = in[i];
  tile[threadIdx.x] = few[i & 1];
  __syncthreads();
  float sum = tile[255 - i] + last[i % 4] + all[i];
  for (int j = 0; j < 8; ++j) sum += own[j] + few[j & 1];
  out[i] = sum;
}
//- device lambda that names a variable ahead of if constexpr
template <class F> __global__ void each(F f) { f(threadIdx.x); }
template <bool B> void f(int* d, int most) {
  each<<<1, 32>>>([=] __device__(int i) { if (i > most) d[i] = 1; if constexpr (B) { d[i] = most; } });
  each<<<1, 32>>>([d, most] __device__(int i) { if constexpr (B) d[i] = 1; else d[i] = most; });
}
void g() { f<true>(nullptr, 3); }
//- initial values of members in shared memory
// expected-warning@2:46 {{shared memory is never initialised: a GPU does not store the initial values of the members of 's', such as that of 'low'. Let the threads store them, with a __syncthreads() after it}}
struct Range { int n; void f(int a = 3); static constexpr int kMost = 3; int low = 7; };
__global__ void k(int* p) { __shared__ Range s[4]; s[0].n = 1; *p = s[0].n; }
//- members without initial values in shared memory
struct Width { int n; enum { a = 3 }; using T = int; static constexpr int kMost = 3; __device__ void f(int b = 3) { int c = b; n = c; }};
struct Whole { int n; bool operator=(int) = delete; };
__global__ void k(int* p) { __shared__ Width s[4]; s[0].n = 1; *p = s[0].n; }
//- min and max of mixed integers
__global__ void k(long* p, unsigned long n, long long* q) { p[0] = max(0l, n) + max(n, 3l) + min(2ull, q[0]); atomicAnd(q, ~1ll); atomicOr(q, 1ll); atomicXor(q, 2ll); }
void f(volatile int* v) { cudaMalloc(&v, 4); }
//- max is no constant
// expected-error@1:22 {{call to non-'constexpr' function 'int max(int, int)'}}
constexpr int n = max(3, 4);
//- virtual functions of the same side
struct A { __host__ __device__ virtual int f(); virtual int g(int) { return 1; } __device__ virtual int h() = 0; __host__ virtual void i() {} };
struct B : A { __device__ __host__ int f() override { return 2; } int g(int a) final { return a; } __device__ int h() { return 3; } void i() override {} };
__host__ __device__ int A::f() { return 1; }
//- destructor of the compiler
struct A { __device__ virtual ~A() {} }; struct B : A { int v; };
struct C { virtual ~C() {} }; struct D : C { ~D() override = default; };
struct E { __host__ __device__ virtual ~E() {} }; struct F : E { int v; }; struct G : F { __host__ __device__ ~G() {} };
struct H { __device__ virtual ~H() = default; }; struct I : H { __device__ ~I() {} };
//- function of another side that overrides none
struct A { virtual int f() { return 1; } virtual int g(int) { return 1; } int h() { return 1; } virtual int i(int) { return 1; } };
struct B : A { __device__ int f(int a) { return a; } __device__ int f() const { return 1; } __device__ int g(float) { return 2; } __device__ int h() { return 2; } template <class T> __device__ int i(T a) { return a; } };
struct C { __device__ int f() { return 1; } }; struct D : A, C { int v; };
namespace inner { struct A { __device__ virtual int f() { return 1; } }; struct E : A { __device__ int f() override { return 2; } }; }
//- override of a base that the instance chooses
template <class T> struct B { virtual int f() { return 1; } }; template <> struct B<float> { __device__ virtual int f() { return 1; } };
template <class T> struct D : B<T> { __device__ int f() { return 2; } };
struct E : B<float> { __device__ int f() override { return 2; } };
D<float> d;
//- shared variable of both sides
// expected-error@1:46 {{the __shared__ variable 'a' cannot stand in a __host__ __device__ function: take __host__ away, or put #ifdef __CUDA_ARCH__ around what only the device does}}
__host__ __device__ int f() { __shared__ int a[2]; a[0] = 3; return a[0]; }
//- shared variable of a template of both sides
// expected-error@1:75 {{the __shared__ variable 'a' cannot stand in a __host__ __device__ function: take __host__ away, or put #ifdef __CUDA_ARCH__ around what only the device does}}
template <class T> struct S { __host__ __device__ T f(T t) { __shared__ T a[2]; a[0] = t; return a[0]; } };
//- shared variable of a lambda of both sides
// expected-error@2:78 {{the __shared__ variable 'a' cannot stand in a __host__ __device__ function: take __host__ away, or put #ifdef __CUDA_ARCH__ around what only the device does}}
template <class F> __global__ void k(F f) { f(threadIdx.x); }
void f(int* p) { k<<<1, 1>>>([=] __host__ __device__(int i) { __shared__ int a; a = i; *p = a; }); }
//- shared variable of both sides ahead of a branch
// expected-error@2:18 {{the __shared__ variable 'a' cannot stand in a __host__ __device__ function: take __host__ away, or put #ifdef __CUDA_ARCH__ around what only the device does}}
__host__ __device__ int f() {
  __shared__ int a;
#ifdef __CUDA_ARCH__
  a = 3; return a;
#else
  return 0;
#endif
}
//- shared variable of the device's branch
__host__ __device__ int f() {
#if __CUDA_ARCH__ >= 700
  __shared__ int a[2]; a[0] = 3; return a[0];
#else
  return 0;
#endif
}
#ifdef __CUDA_ARCH__
__host__ __device__ int g() { __shared__ int a; a = 3; return a; }
#endif
//- shared variable of a lambda of the device
template <class F> __global__ void k(F f) { f(threadIdx.x); }
void f(int* p) { k<<<1, 1>>>([=] __device__(int i) { __shared__ int a; a = i; *p = a; }); }
__host__ __device__ int g() { auto l = [] __device__ { __shared__ int a; a = 1; return a; }; return sizeof(l); }
__global__ void h(int* p) { auto l = [] { __shared__ int a; a = 1; return a; }; *p = l(); }
//- dynamic shared memory of both sides
__host__ __device__ int f() { extern __shared__ int a[]; a[0] = 3; return a[0]; }
//- static variable of both sides with a value of run time
// expected-error@1:51 {{a static variable of device code cannot be initialised with a value that is known only at run time: assign it in the first thread, or make it no static}}
__host__ __device__ int f(int n) { static int v = n; return v; }
//- initial values that the compiler knows
const float half = 0.5f; constexpr double own(double x) { return x; }
constexpr double cbrt(double x) { return x; }
__constant__ float a = half * 2; __device__ float b[2] = {INFINITY, std::numeric_limits<float>::max()}; __device__ double c = own(2.0) + cbrt(8.0);
__device__ int d = sizeof(sqrtf(2.0f)), e = std::abs(-2), g = std::max(1, 2); __device__ bool h = std::isnan(2.0);
__device__ decltype(sinf(1.0f)) i = 1; typedef float (*F)(float); __device__ F j = sqrtf;
template <class T> __device__ T k = sqrtf(2.0f); const float l = sqrtf(2.0f);
//- static variables of the host's branch
__host__ __device__ int f(int n) {
#ifdef __CUDA_ARCH__
  return n;
#else
  static int v = n; return v;
#endif
}
float g() { static float c = sqrtf(2.0f); return c; }
template <class T> __device__ T h() { static T c = sqrtf(2.0f); return c; }
__device__ float i() { static constexpr float c = 3; static float d = c * 2; return d; }
//- constexpr functions in initial values of the device
constexpr float own() { return 1; } struct S { float v[2]; };
__device__ float a[2] = {own(), std::numeric_limits<float>::max()}; __constant__ S b = {{own(), 2}};
//- qualifiers that go together
__managed__ const int* v; __device__ __managed__ int w; __constant__ __device__ int u; __device__ const __constant__ int y = 1;
__global__ void k(int* p) { __shared__ __device__ int z; z = 1; *p = z; }
//- extern variable of the device that nothing defines
// expected-warning@1:23 {{without -rdc=true nvcc makes 'only_declared' a variable of this file alone: take extern away if it is one, or compile all files with -rdc=true}}
extern __device__ int only_declared; __global__ void k() { only_declared = 3; }
//- extern constant of the device
// expected-warning@1:27 {{without -rdc=true nvcc makes 'declared_constant' a variable of this file alone: take extern away if it is one, or compile all files with -rdc=true}}
__constant__ extern float declared_constant[4]; void f(float* p) { cudaMemcpyToSymbol(declared_constant, p, 16); }
//- extern variables of the device with a definition
extern __device__ int defined_later; __global__ void k() { defined_later = 3; } __device__ int defined_later = 2;
__device__ int defined_before; extern __device__ int defined_before;
extern __device__ int without_extent[];
//- kernel's qualifier at a variable
// expected-warning@1:12 {{nvcc takes no notice of __global__ here, as this declares no function: take it away}}
__global__ int counter, *other;
//- kernel's qualifier at a type
// expected-warning@1:20 {{nvcc takes no notice of __global__ here, as this declares no function: take it away}}
typedef __global__ void (*K)(int);
//- shared function
// expected-warning@1:12 {{nvcc takes no notice of __shared__ here, as this declares no variable of its own: take it away}}
__shared__ void f() {}
//- shared result
// expected-warning@1:23 {{nvcc takes no notice of __shared__ here, as this declares no variable of its own: take it away}}
__device__ __shared__ int* f(int* p) { return p; }
//- shared parameter
// expected-warning@1:29 {{nvcc takes no notice of __shared__ here, as this declares no variable of its own: take it away}}
__device__ int f(__shared__ int* p) { return *p; }
//- constant parameter
// expected-warning@1:38 {{nvcc takes no notice of __constant__ here, as this declares no variable of its own: take it away}}
__global__ void k(const __constant__ int* p, int* q) { *q = *p; }
//- shared member
// expected-warning@1:26 {{nvcc takes no notice of __shared__ here, as this declares no variable of its own: take it away}}
struct Tile { __shared__ float v[32]; }; __global__ void k(float* p) { Tile t; t.v[0] = 1; *p = t.v[0]; }
//- shared type
// expected-warning@1:20 {{nvcc takes no notice of __shared__ here, as this declares no variable of its own: take it away}}
typedef __shared__ int Tile[4]; __global__ void k(int* p) { Tile t; t[0] = 1; *p = t[0]; }
//- shared name of a type
// expected-warning@1:25 {{nvcc takes no notice of __shared__ here, as this declares no variable of its own: take it away}}
using Tile = __shared__ int;
//- shared type of a conversion
// expected-warning@1:51 {{nvcc takes no notice of __shared__ here, as this declares no variable of its own: take it away}}
__global__ void k(void* p) { int* q = (__shared__ int*)p; *q = 1; }
//- shared argument of a template
// expected-warning@1:80 {{nvcc takes no notice of __shared__ here, as this declares no variable of its own: take it away}}
template <class T> struct W { T v; }; __global__ void k(int* p) { W<__shared__ int> w; w.v = 3; *p = w.v; }
//- shared variables of unusual types
template <class T> struct W { using type = T; };
__shared__ float (*rows)[32]; static __shared__ int (*function)(int); __shared__ typename W<float>::type plain;
__global__ void k(int* p) { auto l = [&](int i) { __shared__ int a[32]; a[i] = p[i]; return a[i]; }; *p = l(([] { __shared__ int b; b = 1; return b; })()); }
extern "C" __global__ void c(int) {} extern "C" { __global__ void d(int); }
//- device lambda called by the host
// expected-error@2:67 {{a __device__ lambda cannot be called by host code: hand it to a kernel that calls it}}
template <class F> __global__ void k(F f, int* p) { *p = f(1); }
int f() { auto g = [] __device__(int i) { return i + 1; }; return g(3); }
//- lambda for both called by the host
template <class F> __global__ void k(F f, int* p) { *p = f(1); }
int f(int* p) { auto g = [] __host__ __device__(int i) { return i + 1; }; k<<<1, 1>>>(g, p); return g(3); }
//- device lambda measured by the host
template <class F> __global__ void k(F f, int* p) { *p = f(1); }
int f() { auto g = [] __device__(int i) -> int { return i + 1; }; return sizeof(g(3)); }
//- device lambda called by a template of the host
// expected-warning@1:47 {{a __device__ lambda cannot be called by host code: hand it to a kernel that calls it}}
template <class F> int call(F f) { return 1 + f(3); }
int f() { auto g = [] __device__(int i) { return i + 1; }; return call(g); }
//- lambda for both that calls a device function
// expected-error@2:53 {{the __device__ function 'half' cannot be called by a __host__ __device__ lambda: launch a kernel that calls it, or write __host__ __device__ before it}}
__device__ int half(int x) { return x / 2; }
void f() { auto g = [] __host__ __device__(int i) { half(i); }; g(3); }
//- lambda for both that calls a device function in a template
// expected-error@2:80 {{the __device__ function 'half' cannot be called by a __host__ __device__ lambda: launch a kernel that calls it, or write __host__ __device__ before it}}
__device__ int half(int x) { return x / 2; }
template <class T> int f(T t) { return [=] __host__ __device__(int i) { return half(i) + t; }(3); }
int g() { return f(2); }
//- lambda for both that calls functions for both
__host__ __device__ int half(int x) { return x / 2; }
template <class T> __host__ __device__ T twice(T x) { return x * 2; }
void f() { auto g = [] __host__ __device__(int i) { return half(i) + twice(i) + (int)sqrtf(i); }; g(3); }
//- device lambdas in public functions outside of their class
template <class F> void apply(F) {}
class Steps { void run(int n); int n; public: void run(); struct Part { void run(); }; };
void Steps::run() { apply([] __device__(int i) { return i; }); }
void Steps::Part::run() { apply([] __device__(int i) { return i; }); }
template <template <class> class C> struct T { void run() { apply([] __device__(int i) { return i; }); } };
//- constexpr ahead of __global__
// expected-error@1:1 {{the kernel 'k' cannot be constexpr: take that word away}}
constexpr __global__ void k() {}
//- kernel with throw()
// expected-error@1:21 {{the kernel 'k' cannot have 'throw()': take that away}}
__global__ void k() throw() {}
//- kernel with its bounds behind the parameters
// expected-error@1:44 {{__launch_bounds__ stands ahead of the kernel's name: write '__global__ void __launch_bounds__(...) kernel(...) {'}}
__global__ void k(int* p) __launch_bounds__(128) { *p = 1; }
//- kernels with their bounds elsewhere
__global__ void a(int* p) __launch_bounds__(128);
__global__ void a(int* p) { *p = 1; }
__launch_bounds__(128) __global__ void b(int* p) { *p = 1; }
__global__ __launch_bounds__(128) void c(int* p) { *p = 1; }
template <class T> __global__ void d(T* p) __launch_bounds__(128) { *p = 1; }
//- generic lambdas of one side
void f() { auto g = [] __device__(auto i) { return i; }; auto h = [] __host__ __device__(int i) -> auto { auto j = i; return j; }; h(3); }
__device__ void d() { auto g = [] __host__ __device__(auto i) { return i; }; g(3); }
//- device lambdas in other lambdas
void f() { auto g = [](int n) { auto h = [=] __device__(int i) { return i + n; }; }; g(3); }
void g() { auto g = [] __device__(auto n) { auto h = [=] __device__(int i) { return i + n; }; h(3); }; }
void h() { auto g = [] __device__(int n) { auto h = [=] __host__ __device__(int i) { return i + n; }; h(3); }; }
void i() { auto g = [] __host__ __device__(int n) { auto h = [=](int i) { return i + n; }; h(3); }; g(3); }
__global__ void k() { auto g = [](auto n) { auto h = [=] __device__(int i) { return i + n; }; h(3); }; g(3); }
//- device lambdas beside a pack
template <class... Ts> void f(Ts... ts) { auto g = [=] __device__() { return sizeof...(ts) + sizeof...(Ts); }; }
void g() { f(1, 2); auto h = [] __device__(auto... ts) { return (0 + ... + ts); }; }
template <class... Ts> __global__ void k(Ts... ts) { auto f = [=] __device__() { return (0 + ... + ts); }; f(); }
//- device lambdas in other templates
template <class T, std::enable_if_t<std::is_integral<T>::value, int> N = 0> void f(T n) { auto g = [=] __device__(int i) { return i + n; }; }
template <class T, class = void> struct S { void f(T n) { auto g = [=] __device__(int i) { return i + n; }; } };
template <class T> struct S<T, int> { void f(T n) { auto g = [=] __device__(int i) { return i + n; }; } };
template <int (*F)(int)> void h() { auto g = [=] __device__(int i) { return i; }; }
template <class> struct R { struct I { void f() { auto g = [=] __device__(int i) { return i; }; } }; };
int one(int);
void g() { f(3); S<int>().f(3); S<int, int>().f(3); h<one>(); R<int>::I().f(); }
//- device lambdas that capture other types
void f() { struct P { int a; } p{3}; int a = p.a; auto g = [=] __device__(int i) { P q{a}; return q.a + (int)sizeof(p); }; }
void g() { struct P { int a; } p{3}; auto g = [a = p.a] __device__(int p) { return a + p; }; enum { N = 3 }; auto h = [=] __device__(int p) { return N; }; }
void h() { struct N { int next; }; int next = 3; auto g = [=] __device__(int p) { return next; }; { struct next {}; } }
class S { using P = int; enum { N = 4 }; struct Q { int a; }; Q q; public: struct R { int a; };
  void f(R r) { P p = 3; auto g = [=] __device__(int i) { Q q{i}; return p + N + r.a + q.a; }; }
  void h() { auto g = [*this] __device__() { return q.a; }; } };
//- device lambdas in templates with other types
template <class F> __global__ void k(F f, int* p) { *p = f(1); }
template <class T> void f(T t, int* p) { k<<<1, 1>>>([] __device__(int i) { return i; }, p); }
namespace { struct P { int a; }; }
void g(int* p) { f(P{3}, p); f([] __device__(int i) { return i; }, p); auto h = [=] { k<<<1, 1>>>([] __device__(int i) { return i; }, p); }; h(); }
//- lambda with its qualifiers behind the parameters
// expected-error@1:42 {{the qualifiers of a lambda stand ahead of its parameters: write '[=] __device__ (...)'}}
void f() { auto g = [](int i) __device__ { return i; }; }
//- kernel with a pack that is not the last
// expected-error@1:20 {{the kernel 'k' has template parameters behind a pack: write the pack 'Ts' last}}
template <class... Ts, class U> __global__ void k(U u, Ts... ts) {}
//- kernel with a pack that is the last
template <template <class...> class C, class U, class... Ts> __global__ void k(C<U> u, Ts... ts) {}
//- launch bounds of a string
// expected-error@1:35 {{__launch_bounds__ takes whole numbers: write __launch_bounds__(256)}}
__global__ void __launch_bounds__("128") k() {}
//- shared variable with a value in parentheses
// expected-error@1:38 {{a __shared__ variable cannot have an initialiser: each block finds its shared memory uninitialised}}
__global__ void k() { __shared__ int a(3); }
//- shared array without a size
// expected-error@1:38 {{a __shared__ array has a size, or is 'extern' and gets its size from the launch: write one of them}}
__global__ void k() { __shared__ int a[]; a[0] = 1; }
//- static shared member
// expected-error@1:30 {{a member of a class cannot be __shared__: declare the variable in the kernel}}
struct S { static __shared__ float v[32]; };
//- kernel defined as a friend
// expected-error@1:30 {{the kernel 'k' cannot be defined where it is declared a friend: define it outside of the class}}
struct S { friend __global__ void k(S s) {} };
//- kernel declared a friend
struct S { friend __global__ void k(S s); };
__global__ void k(S s) {}
//- fmax of a float and an integer
// expected-error@1:36 {{'std::fmax' is a constexpr function of the host and cannot be called in the kernel 'k': kernels have it for floats or doubles, not for integers or a mix: convert first, as in fmaxf(x, 0.0f) or sqrtf(float(n)), or compile with --expt-relaxed-constexpr}}
__global__ void k(float* p) { *p = fmax(*p, 0); }
//- fmin of a float and a double
// expected-error@1:36 {{'std::fmin' is a constexpr function of the host and cannot be called in the kernel 'k': kernels have it for floats or doubles, not for integers or a mix: convert first, as in fmaxf(x, 0.0f) or sqrtf(float(n)), or compile with --expt-relaxed-constexpr}}
__global__ void k(float* p) { *p = fmin(*p, 1.0); }
//- sqrt of an integer
// expected-error@1:43 {{'std::sqrt' is a constexpr function of the host and cannot be called in the kernel 'k': kernels have it for floats or doubles, not for integers or a mix: convert first, as in fmaxf(x, 0.0f) or sqrtf(float(n)), or compile with --expt-relaxed-constexpr}}
__global__ void k(float* p, int n) { *p = sqrt(n); }
//- std::fmod of a float and an integer
// expected-error@1:36 {{'std::fmod' is a constexpr function of the host and cannot be called in the kernel 'k': kernels have it for floats or doubles, not for integers or a mix: convert first, as in fmaxf(x, 0.0f) or sqrtf(float(n)), or compile with --expt-relaxed-constexpr}}
__global__ void k(float* p) { *p = std::fmod(*p, 2); }
//- mathematics of one type, and pow of any
__global__ void k(float* p, int n) { *p = pow(*p, 2) + sqrtf(float(n)) + fmax(*p, 0.0f) + fmin(2.0, 1.0) + abs(n); }
