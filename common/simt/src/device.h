// The state of the simulated device: errors, launches and findings.
#pragma once

#include <cuda_runtime_api.h>
#include <simt/simt.h>

#include "engine.h"

namespace simt::device {

// The limits of the simulated device, those of compute capability 9.0.
inline constexpr int kMultiprocessors = 8;
inline constexpr int kThreadsPerMultiprocessor = 2048;
inline constexpr int kBlocksPerMultiprocessor = 32;
inline constexpr size_t kSharedPerBlock = 48 * 1024;
inline constexpr size_t kSharedPerBlockOptin = 227 * 1024;
inline constexpr size_t kSharedPerMultiprocessor = 228 * 1024;
inline constexpr size_t kSharedReserved = 1024;  // what the system keeps for itself in every block

// Blocks of so many threads that a multiprocessor holds at once; 0 if it cannot hold one.
int resident_blocks(int block_size, size_t shared);

// Notes `error` for cudaGetLastError() and returns it. If a kernel has failed, its error instead: it
// sticks until the device is reset.
cudaError_t result(cudaError_t error);
cudaError_t sticky_error();
cudaError_t exchange_last_error(cudaError_t error);  // of those that do not stick
void set_sticky_error(cudaError_t error);
void clear_errors();

// Dynamic shared memory beyond 48 KiB has to be asked for.
void allow_dynamic_shared(const void* kernel, size_t bytes);
size_t allowed_dynamic_shared(const void* kernel);

// Records a finding, prints it, and makes the process fail, if it is an error and nobody takes it.
void report(Finding finding);

// Records what has not been freed: warnings, or errors if SIMT_LEAKS asks for them.
void report_leaks();
bool leaks_are_errors();

// A fault of a lane in words.
Finding describe(const engine::Fault& fault, const std::string& kernel, int launch);

// The host has crashed: if something was found before, says so and ends the process as its findings do.
void end_after_crash();

// Writes the trace to the file that SIMT_JSON names, and says what was found. Called at exit.
void write_trace();

}  // namespace simt::device
