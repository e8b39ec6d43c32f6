/// \file
/// What the headers of CUDA's libraries (Thrust, CUB) call in the simulator: they compute on the host what the libraries compute
/// on the device, and for that follow device pointers.
#pragma once

#include <driver_types.h>

namespace simt::detail {

/// Until leave_library() the calling thread may follow device pointers. Addresses beside what is allocated are told, as in a
/// kernel; nothing is counted. In a kernel neither does anything. Calls may be nested.
/// \param library what the report's note calls it
/// \return the error that a kernel has left behind, in which case nothing is entered
cudaError_t enter_library(const char* library);
void leave_library();

/// Device memory for a library: nullptr if there is no more. Findings name the program's line that asked for it.
/// \param initialized the library writes all of it before anyone reads
void* library_allocate(std::size_t size, bool initialized);
void library_free(void* pointer);

/// Between its making and its end: see enter_library().
class LibraryScope {
 public:
  explicit LibraryScope(const char* library) : error_(enter_library(library)) {}
  ~LibraryScope() {
    if (error_ == cudaSuccess) leave_library();
  }
  LibraryScope(const LibraryScope&) = delete;
  LibraryScope& operator=(const LibraryScope&) = delete;
  cudaError_t error() const { return error_; }

 private:
  cudaError_t error_;
};

}  // namespace simt::detail
