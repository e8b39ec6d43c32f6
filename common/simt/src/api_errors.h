// Calls of the runtime that failed, as findings.
//
// That a call returned an error is a finding unless the program copes with it: takes it with
// cudaGetLastError(), and ends with exit code 0. (Whether it looks at what calls return cannot be seen; an
// error that is only looked at there stays for the next cudaGetLastError().) What may fail in a program that is right is none at all: a query for something that is not
// ready or not supported, and memory that the device does not have.
#pragma once

#include <cuda_runtime_api.h>
#include <simt/simt.h>

#include <string>
#include <vector>

namespace simt::device {

// Why the call that is about to fail does so: "the copy reaches 4 bytes past the end of ...". `call` stands
// for the name of the function where that says nothing.
void explain(std::string why, std::string call = {});

// A call returns an error. The caller is read off the stack.
void note_api_error(cudaError_t error);
// The program has taken the error with cudaGetLastError().
void api_error_taken(cudaError_t error);

// Where the program called the runtime, as a return address.
uint64_t program_caller();

// The findings so far, each once.
std::vector<Finding> take_api_errors(bool ended_well);

}  // namespace simt::device
