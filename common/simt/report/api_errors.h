// Calls of the runtime that failed, as findings.
//
// In a program that ends with exit code 0 they are warnings: it may have coped. (Whether it looks at what
// calls return cannot be seen.) It has, and there is nothing to report, if it has taken the error with
// cudaGetLastError() and has not asked for its name, to print it: so does who tries what the device can do. Or if it
// has asked for the name of what the call returned, and has cleared the error then.
// A launch is another matter. What was to be computed is not there, and only cudaGetLastError() and
// cudaPeekAtLastError() tell: a launch that failed without either being called is an error, whatever the exit
// code. One that was told, after which the same line launches the kernel, was a try. What may fail in a program that
// is right is none at all: a query for something that is not ready or not supported, and memory that the device does
// not have.
#pragma once

#include <cuda_runtime_api.h>
#include <simt/simt.h>

#include <optional>
#include <string>
#include <vector>

namespace simt::device {

// Why the call that is about to fail does so: "the copy reaches 4 bytes past the end of ...". `kernel` is
// set if it is a launch, `about` the descriptions of the allocations that it leaves as they are.
void explain(std::string why, std::string kernel = {}, std::string about = {});

// A call returns an error. The caller is read off the stack.
void note_api_error(cudaError_t error);
// The program has been told the error, by cudaGetLastError() if it was taken, else by cudaPeekAtLastError().
void api_error_told(cudaError_t error, bool taken);
// The program has asked what the error is called.
void api_error_named(cudaError_t error);
// A launch of this kernel is under way.
void launch_begins(const std::string& kernel);

// The call of the runtime under way: its name, "the launch" for one of those, and where the program made it, as a return
// address.
struct Call {
  std::string name;
  uint64_t pc = 0;
};
Call call_under_way();
// The same in two parts: return addresses, and what they mean, which takes longer to find out.
std::vector<uint64_t> call_stack();
Call call_of(const std::vector<uint64_t>& stack);
// This thread works for another one, whose stack stands behind its own.
void set_stack_behind(std::vector<uint64_t> stack);
uint64_t program_caller();  // the latter alone

// The findings so far, each once. `status` is the program's exit code; while it runs there is none, and the
// errors that it has been told are its own business.
// What failed, of a launch whose error the program has not asked for; or nothing.
std::string untold_launch();
// The same of the last call that found no memory to allocate.
std::string failed_allocation();
// The same of a call that failed and spoke of this allocation.
std::string failed_call_on(const std::string& allocation);
std::vector<Finding> take_api_errors(std::optional<int> status);

}  // namespace simt::device
