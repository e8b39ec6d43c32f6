// Ways in which a program ends, each with or without a fault: what is reported then, and the exit code.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

constexpr size_t kBytes = 64 * sizeof(int);

__global__ void fill(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}

__global__ void copy(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }

int* allocate() {
  int* memory = nullptr;
  cudaMalloc(&memory, kBytes);
  return memory;
}

int* nothing = nullptr;

// Runs a kernel on what a copy was to bring, and reads what a launch was to compute. One of the two fails.
void read_results_of_failure(bool of_copy) {
  int *in = allocate(), *out = allocate();
  std::vector<int> host(65, 1);
  const int bytes = kBytes + (of_copy ? 4 : 0);
  cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice);
  copy<<<1, of_copy ? 64 : 2048>>>(in, out);
  cudaMemcpy(host.data(), out, kBytes, cudaMemcpyDeviceToHost);
  if (host[3] == 77) std::printf("77\n");
  cudaFree(in);
  cudaFree(out);
}

void fail_in_kernel() {
  fill<<<1, 32>>>(nullptr, 32);
  cudaDeviceSynchronize();
}

__global__ void say() { printf("said\n"); }
__global__ void keep_quiet() {}
__global__ void keep_busy(int* out) { out[threadIdx.x] = 1; }

__global__ void keep_adding(float* sum) {
  for (int i = 0; i < 20000; ++i) sum[threadIdx.x] += i % 3;
}

volatile int alarms = 0;

// Signals that come while a kernel runs.
bool is_alarmed() {
  std::signal(SIGALRM, [](int) { alarms = alarms + 1; });
  float* sum = nullptr;
  cudaMalloc(&sum, kBytes);
  cudaMemset(sum, 0, kBytes);
  const itimerval often{{0, 1000}, {0, 1000}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  keep_adding<<<1, 16>>>(sum);
  cudaDeviceSynchronize();
  setitimer(ITIMER_REAL, &never, nullptr);
  cudaFree(sum);
  return alarms > 0;
}

struct Owner {
  int* memory = nullptr;
  ~Owner() { cudaFree(memory); }
};
Owner global_owner;

void leak_at_six_places() {
  int* memory = nullptr;
  cudaMalloc(&memory, 1);
  cudaMalloc(&memory, 2);
  cudaMalloc(&memory, 3);
  cudaMallocHost(&memory, 4);
  cudaMallocManaged(&memory, 5);
  cudaMalloc(&memory, 6);
}

void read_unwritten(int launches) {
  int *in = allocate(), *out = allocate();
  for (int i = 0; i < launches; ++i) copy<<<1, 64>>>(in, out);
  cudaFree(in);
  cudaFree(out);
}

cudaError_t fail_to_copy() {
  int* memory = allocate();
  const std::vector<int> host(65);
  const cudaError_t error =
      cudaMemcpy(memory, host.data(), 65 * sizeof(int), cudaMemcpyHostToDevice);
  cudaFree(memory);
  return error;
}

void fail_to_launch() {
  int* memory = allocate();
  fill<<<1, 1025>>>(memory, 64);
  cudaFree(memory);
}

void write_past_end() {
  int* memory = allocate();
  fill<<<1, 96>>>(memory, 96);
}

// A program that copies data to the device and lets a kernel compute: what does it take back?
enum class Back { nothing, before, result, text, wrongly, in_two_steps, by_library };
void compute(Back back) {
  int* memory = allocate();
  std::vector<int> host(64, 1);
  cudaMemcpy(memory, host.data(), kBytes, cudaMemcpyHostToDevice);
  if (back == Back::before) cudaMemcpy(host.data(), memory, kBytes, cudaMemcpyDeviceToHost);
  fill<<<1, 64>>>(memory, 64);
  if (back == Back::result) cudaMemcpy(host.data(), memory, kBytes, cudaMemcpyDeviceToHost);
  if (back == Back::wrongly) cudaMemcpy(memory, host.data(), kBytes, cudaMemcpyDeviceToHost);
  if (back == Back::in_two_steps) {
    int* last = allocate();
    cudaMemcpy(last, memory, kBytes, cudaMemcpyDeviceToDevice);
    cudaMemcpy(host.data(), last, kBytes, cudaMemcpyDeviceToHost);
    cudaFree(last);
  }
  if (back == Back::by_library) {
    cublasHandle_t library;
    cublasCreate(&library);
    float sum = 0;  // of the host
    cublasSasum(library, 64, reinterpret_cast<const float*>(memory), 1, &sum);
    cublasDestroy(library);
  }
  if (back == Back::text) say<<<1, 1>>>();
  cudaDeviceSynchronize();
  cudaFree(memory);
}

// A copy within the device, under a direction that says otherwise: the runtime goes by the addresses.
bool copies_under(cudaMemcpyKind direction) {
  int *from = allocate(), *to = allocate();
  int host[64] = {1, 2, 3}, back[64] = {};
  cudaMemcpy(from, host, kBytes, cudaMemcpyHostToDevice);
  const cudaError_t error = cudaMemcpy(to, from, kBytes, direction);
  cudaMemcpy(back, to, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(from);
  cudaFree(to);
  return error == cudaSuccess && back[2] == 3;
}

int run(std::string_view how) {
  if (how == "frees") {
    int* memory = allocate();
    fill<<<1, 64>>>(memory, 64);
    cudaFree(memory);
  } else if (how == "forgets_result") {
    compute(Back::nothing);
  } else if (how == "forgets_result_and_fails") {
    compute(Back::nothing);
    return 3;
  } else if (how == "copies_too_early") {
    compute(Back::before);
  } else if (how == "copies_result") {
    compute(Back::result);
  } else if (how == "copies_back_wrongly") {
    compute(Back::wrongly);
  } else if (how == "reads_what_no_copy_brought" || how == "reads_what_no_launch_computed") {
    read_results_of_failure(how == "reads_what_no_copy_brought");
  } else if (how == "copies_result_in_two_steps") {
    compute(Back::in_two_steps);
  } else if (how == "copies_result_by_library") {
    compute(Back::by_library);
  } else if (how == "copies_under_another_direction") {
    return copies_under(cudaMemcpyHostToDevice) ? 0 : 3;
  } else if (how == "copies_within_the_device") {
    return copies_under(cudaMemcpyDeviceToDevice) ? 0 : 3;
  } else if (how == "fails_once_it_has_waited") {
    write_past_end();
    const cudaError_t launched = cudaGetLastError(), waited = cudaDeviceSynchronize();
    return launched == cudaSuccess && waited != cudaSuccess && cudaGetLastError() == waited ? 0 : 3;
  } else if (how == "prints_result") {
    compute(Back::text);
  } else if (how == "leaks") {
    allocate();
  } else if (how == "leaks_three_times") {
    for (int i = 0; i < 3; ++i) allocate();
  } else if (how == "leaks_at_six_places") {
    leak_at_six_places();
  } else if (how == "leaks_and_exits") {
    allocate();
    std::exit(0);
  } else if (how == "leaks_and_fails") {
    allocate();
    return 3;
  } else if (how == "leaks_and_leaves") {
    allocate();
    _exit(0);
  } else if (how == "leaks_until_reset") {
    allocate();
    cudaDeviceReset();
  } else if (how == "frees_after_main") {
    global_owner.memory = allocate();
  } else if (how == "leaks_after_error") {
    write_past_end();
  } else if (how == "reads_unwritten") {
    read_unwritten(1);
  } else if (how == "reads_unwritten_thrice") {
    read_unwritten(3);
  } else if (how == "ignores_copy") {
    fail_to_copy();
  } else if (how == "takes_copy") {
    fail_to_copy();
    cudaGetLastError();
  } else if (how == "takes_copy_and_names_it") {
    fail_to_copy();
    cudaGetErrorString(cudaGetLastError());
  } else if (how == "names_copy_and_takes_it") {
    std::printf("%s\n", cudaGetErrorString(fail_to_copy()));
    cudaGetLastError();
  } else if (how == "names_one_copy_of_two") {
    for (int i = 0; i < 2; ++i) {
      const cudaError_t error = fail_to_copy();
      if (i == 0) std::printf("%s\n", cudaGetErrorString(error));
      if (i == 0) cudaGetLastError();
    }
  } else if (how == "ignores_copy_and_fails") {
    fail_to_copy();
    return 3;
  } else if (how == "ignores_launch") {
    fail_to_launch();
  } else if (how == "takes_launch") {
    fail_to_launch();
    cudaGetLastError();
  } else if (how == "takes_launch_and_names_it") {
    fail_to_launch();
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  } else if (how == "names_launch_and_takes_it") {
    fail_to_launch();
    std::printf("%s\n", cudaGetErrorName(cudaPeekAtLastError()));
    cudaGetLastError();
  } else if (how == "peeks_at_launch") {
    fail_to_launch();
    cudaPeekAtLastError();
  } else if (how == "takes_one_launch_of_two") {
    for (int i = 0; i < 2; ++i) {
      fail_to_launch();
      if (i == 0) cudaGetLastError();
    }
  } else if (how == "leaves_after_error") {
    fail_in_kernel();
    _exit(0);
  } else if (how == "quits_after_error") {
    fail_in_kernel();
    std::quick_exit(0);
  } else if (how == "aborts_after_error") {
    fail_in_kernel();
    std::abort();
  } else if (how == "terminates_after_error") {
    fail_in_kernel();
    std::raise(SIGTERM);
  } else if (how == "launches_in_a_child") {
    keep_quiet<<<4, 32>>>();
    cudaDeviceSynchronize();
    const pid_t child = fork();
    if (child == 0) {
      keep_quiet<<<4, 32>>>();
      _exit(cudaGetLastError() == cudaErrorInitializationError ? 0 : 4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  } else if (how == "throws_after_error") {
    fail_in_kernel();
    throw 1;
  } else if (how == "crashes_after_error") {
    fail_in_kernel();
    return *static_cast<volatile int*>(nothing);
  } else if (how == "crashes_after_copy") {
    int there = 0;
    cudaMemcpy(nothing, &there, sizeof(there), cudaMemcpyHostToHost);
    return *static_cast<volatile int*>(nothing);
  } else if (how == "prints") {
    say<<<1, 1>>>();
  } else if (how == "prints_and_waits") {
    say<<<1, 1>>>();
    cudaDeviceSynchronize();
  } else if (how == "prints_and_launches") {
    say<<<1, 1>>>();
    keep_quiet<<<1, 1>>>();
  } else if (how == "launches_all_blocks") {
    keep_busy<<<0x7fffffff, 64>>>(allocate());
  } else if (how == "looks_up_a_name") {
    // Frees what it has to say of the second at the third.
    for (const char* name : {"main", "no such name", "none either"}) dlsym(RTLD_DEFAULT, name);
    keep_quiet<<<4, 32>>>();
  } else if (how == "is_alarmed") {
    return is_alarmed() ? 0 : 3;
  } else if (how == "aborts") {
    std::abort();
  } else if (how == "takes_launch_and_aborts") {
    fail_to_launch();
    if (cudaGetLastError() != cudaSuccess) std::abort();
  } else if (how == "takes_launch_and_fails") {
    fail_to_launch();
    return cudaGetLastError() == cudaSuccess ? 0 : 3;
  } else {
    std::fprintf(stderr, "endings: there is no way called %s\n", how.data());
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(argc > 1 ? argv[1] : ""); }
