#include "lab/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace lab {

std::string advice(cudaError_t error) {
  switch (error) {
    case cudaErrorNoKernelImageForDevice:
      return "The program holds no code for this GPU: its kernels did not run. Configure again "
             "with -DCMAKE_CUDA_ARCHITECTURES=native, or with the GPU's own compute capability.";
    case cudaErrorNoDevice:
      return "No NVIDIA GPU is visible. Run on the simulator: ./learn run --backend simulator.";
    case cudaErrorInsufficientDriver:
      return "No NVIDIA driver is loaded, or it is older than the CUDA toolkit. Update the driver, "
             "or run on the simulator: ./learn run --backend simulator.";
    case cudaErrorMemoryAllocation:
      return "The memory does not suffice: choose a smaller --size.";
    case cudaErrorInvalidConfiguration:
      return "A block has at most 1024 threads and no dimension of block or grid may be 0; "
             "gridDim.y and gridDim.z are at most 65535.";
    case cudaErrorLaunchOutOfResources:
      return "The block needs more registers or shared memory than an SM has: use fewer threads, "
             "or bound them with __launch_bounds__.";
    case cudaErrorInvalidValue:
      return "An argument is out of range: a null or foreign pointer, a size beyond the "
             "allocation, a block of more than 1024 threads, or more dynamic shared memory than "
             "the kernel asked for with cudaFuncSetAttribute.";
    case cudaErrorIllegalAddress:
      return "An earlier kernel read or wrote outside of its memory. ./learn explain names the "
             "line; on a GPU compute-sanitizer does.";
    case cudaErrorMisalignedAddress:
      return "An earlier kernel accessed a vector type at an address that is no multiple of its "
             "size.";
    case cudaErrorLaunchFailure:
      return "An earlier kernel died. ./learn explain names the line; on a GPU compute-sanitizer "
             "does.";
    case cudaErrorLaunchTimeout:
      return "An earlier kernel ran too long for a GPU that also drives a display.";
    default:
      return "";
  }
}

namespace {

/// How many `ThrowInstead` scopes this thread is in.
thread_local int throw_depth = 0;

/// Throws the failure, or reports it and ends the program.
template <class F>
[[noreturn]] void end_with(const F& failure) {
  if (throw_depth > 0) throw failure;
  std::fflush(stdout);
  std::fprintf(stderr, "ERROR %s\n", failure.what());
  std::exit(1);
}

}  // namespace

namespace detail {

ThrowInstead::ThrowInstead() { ++throw_depth; }
ThrowInstead::~ThrowInstead() { --throw_depth; }

void fail(const std::string& message) { end_with(Failure(message)); }

std::string describe(cudaError_t error) {
  std::string text = std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error) + ".";
  if (const std::string help = advice(error); !help.empty()) text += " " + help;
  return text;
}

}  // namespace detail

void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  end_with(CudaFailure(std::string(file) + ":" + std::to_string(line) + ": " + call +
                           " failed with " + detail::describe(error),
                       error));
}

}  // namespace lab
