# Headers of the toolkit whose names are all that a program needs of them: each includes one of the simulator's, or says that it is
# not simulated. They are written here, into SIMT_HEADERS, which simtcc searches after include/ and ahead of the system's folders,
# where a CUDA Toolkit may have put headers that only nvcc can read.
set(SIMT_HEADERS ${CMAKE_BINARY_DIR}/headers)
function(simt_header name text)
  file(CONFIGURE OUTPUT ${SIMT_HEADERS}/${name} CONTENT "#pragma once\n${text}" @ONLY)
  set_property(GLOBAL APPEND PROPERTY simt_headers ${SIMT_HEADERS}/${name})
endfunction()

# simt_same(HEADERS... AS NAMES...): who includes one of the names gets the headers.
function(simt_same)
  list(FIND ARGN AS at)
  list(SUBLIST ARGN 0 ${at} headers)
  math(EXPR at "${at} + 1")
  list(SUBLIST ARGN ${at} -1 names)
  list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n")
  string(JOIN "" text ${headers})
  foreach(name ${names})
    simt_header(${name} "${text}")
  endforeach()
endfunction()

# What simtcc says at the line that includes it: WHAT (NAME) is not simulated, or are.
function(simt_refused name what)
  simt_header(${name} "#pragma simt not_simulated \"${what} (${name}) ${ARGN}\"\n")
endfunction()

simt_same(cuda_runtime.h AS
    builtin_types.h channel_descriptor.h common_functions.h crt/common_functions.h crt/device_double_functions.h
    crt/device_functions.h crt/host_config.h crt/host_defines.h crt/math_functions.h crt/sm_70_rt.h
    crt/sm_80_rt.h crt/sm_90_rt.h cuda_device_runtime_api.h cuda_profiler_api.h cuda_stdint.h
    device_atomic_functions.h device_atomic_functions.hpp device_double_functions.h device_functions.h
    device_types.h driver_functions.h host_config.h math_functions.h sm_20_atomic_functions.h
    sm_20_atomic_functions.hpp sm_20_intrinsics.h sm_20_intrinsics.hpp sm_30_intrinsics.h sm_30_intrinsics.hpp
    sm_32_atomic_functions.h sm_32_intrinsics.h sm_32_intrinsics.hpp sm_35_atomic_functions.h sm_35_intrinsics.h
    sm_60_atomic_functions.h sm_60_atomic_functions.hpp sm_61_intrinsics.h sm_61_intrinsics.hpp
    surface_functions.h surface_indirect_functions.h surface_types.h texture_fetch_functions.h
    texture_indirect_functions.h texture_types.h vector_functions.hpp)
simt_same(cuda/atomic AS cuda/std/atomic)
simt_same(cuda/barrier AS cuda/std/barrier)
simt_same(cuda_bf16.h AS cuda_bf16.hpp)
simt_same(cuda_fp16.h AS cuda_fp16.hpp)
simt_same(cuda_pipeline_primitives.h AS cuda_pipeline.h)
simt_same(cuda_pipeline.h AS cuda_pipeline_helpers.h)
# cuda::std is std: host and device code are the same here.
foreach(name
    algorithm array bit bitset cassert cfloat chrono climits cmath concepts cstddef cstdint cstdlib cstring
    ctime exception initializer_list iterator limits memory numbers numeric optional ranges ratio
    source_location string_view tuple type_traits utility variant version)
  simt_same(cuda/std/detail_std.h ${name} AS cuda/std/${name})
endforeach()

simt_refused(cuda/annotated_ptr "annotated pointers" are)
simt_refused(cuda/discard_memory "discarding memory" is)
simt_refused(cuda/latch "latches" are)
simt_refused(cuda/mdspan "multidimensional views" are)
simt_refused(cuda/memory_resource "memory resources" are)
simt_refused(cuda/semaphore "semaphores" are)
simt_refused(cuda/std/complex "complex numbers of libcu++" are)
simt_refused(cuda/std/expected "expected values" are)
simt_refused(cuda/std/inplace_vector "vectors in place" are)
simt_refused(cuda/std/latch "latches" are)
simt_refused(cuda/std/linalg "linear algebra" is)
simt_refused(cuda/std/mdspan "multidimensional views" are)
simt_refused(cuda/std/semaphore "semaphores" are)
simt_refused(cuda/std/span "spans of libcu++" are)
simt_refused(cuda/stream_ref "references to streams" are)
simt_refused(cudaTypedefs.h "the driver API" is)
simt_refused(cuda_fp8.h "8-bit floating-point numbers" are)
simt_refused(cuda_gl_interop.h "graphics interoperability" is)
simt_refused(nvrtc.h "compilation at run time" is)
