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
simt_same(simt/cub/block.h AS
    cub/block/block_load.cuh cub/block/block_reduce.cuh cub/block/block_scan.cuh
    cub/block/block_store.cuh cub/warp/warp_reduce.cuh cub/warp/warp_scan.cuh)
simt_same(simt/cub/block.h simt/cub/device.h AS cub/cub.cuh)
simt_same(simt/cub/device.h AS
    cub/device/device_radix_sort.cuh cub/device/device_reduce.cuh cub/device/device_scan.cuh
    cub/device/device_select.cuh)
simt_same(simt/cub/common.h AS
    cub/iterator/counting_input_iterator.cuh cub/iterator/transform_input_iterator.cuh
    cub/thread/thread_operators.cuh cub/util_type.cuh cub/version.cuh)
simt_same(cuda/atomic AS cuda/std/atomic)
simt_same(cuda/barrier AS cuda/std/barrier)
simt_same(cuda_bf16.h AS cuda_bf16.hpp)
simt_same(cuda_fp16.h AS cuda_fp16.hpp)
simt_same(cuda_pipeline_primitives.h AS cuda_pipeline.h)
simt_same(cuda_pipeline.h AS cuda_pipeline_helpers.h)
simt_same(curand_kernel.h AS
    curand_globals.h curand_normal.h curand_philox4x32_x.h curand_uniform.h)
simt_same(nvtx3/nvToolsExt.h AS nvToolsExt.h)
simt_same(simt/thrust/transform.h AS
    thrust/adjacent_difference.h thrust/fill.h thrust/for_each.h thrust/gather.h thrust/generate.h
    thrust/replace.h thrust/reverse.h thrust/scatter.h thrust/sequence.h thrust/swap.h thrust/tabulate.h
    thrust/uninitialized_copy.h thrust/uninitialized_fill.h)
simt_same(simt/thrust/iterators.h AS
    thrust/advance.h thrust/distance.h thrust/iterator/constant_iterator.h thrust/iterator/counting_iterator.h
    thrust/iterator/discard_iterator.h thrust/iterator/iterator_categories.h thrust/iterator/iterator_traits.h
    thrust/iterator/permutation_iterator.h thrust/iterator/reverse_iterator.h
    thrust/iterator/transform_iterator.h thrust/iterator/zip_iterator.h thrust/zip_function.h)
simt_same(simt/thrust/search.h AS thrust/binary_search.h thrust/equal.h thrust/find.h thrust/mismatch.h)
simt_same(simt/thrust/select.h simt/thrust/transform.h AS thrust/copy.h)
simt_same(simt/thrust/reduce.h AS
    thrust/count.h thrust/extrema.h thrust/inner_product.h thrust/logical.h thrust/reduce.h
    thrust/transform_reduce.h)
simt_same(simt/thrust/system.h AS
    thrust/detail/config.h thrust/execution_policy.h thrust/system/cuda/execution_policy.h thrust/system_error.h
    thrust/version.h)
simt_same(simt/thrust/vector.h AS
    thrust/device_allocator.h thrust/device_malloc_allocator.h thrust/system/cuda/memory.h
    thrust/universal_allocator.h)
simt_same(simt/thrust/pointer.h AS
    thrust/device_free.h thrust/device_malloc.h thrust/device_ptr.h thrust/device_reference.h thrust/memory.h)
simt_same(simt/thrust/find.h simt/thrust/placeholders.h simt/thrust/reduce.h simt/thrust/scan.h simt/thrust/transform.h simt/thrust/vector.h AS
    thrust/device_vector.h)
simt_same(simt/thrust/functional.h simt/thrust/placeholders.h AS thrust/functional.h)
simt_same(simt/thrust/find.h simt/thrust/reduce.h simt/thrust/scan.h simt/thrust/transform.h simt/thrust/vector.h AS
    thrust/host_vector.h thrust/system/cuda/vector.h thrust/universal_vector.h)
simt_same(simt/thrust/sort.h AS thrust/merge.h)
simt_same(simt/thrust/functional.h AS thrust/pair.h thrust/tuple.h)
simt_same(simt/thrust/select.h AS thrust/partition.h thrust/remove.h thrust/unique.h)
simt_same(simt/thrust/random.h iostream AS thrust/random.h)
simt_same(simt/thrust/random.h AS
    thrust/random/linear_congruential_engine.h thrust/random/normal_distribution.h
    thrust/random/uniform_int_distribution.h thrust/random/uniform_real_distribution.h)
simt_same(simt/thrust/scan.h AS thrust/scan.h thrust/transform_scan.h)
simt_same(simt/thrust/sort.h iostream AS thrust/sort.h)
simt_same(simt/thrust/placeholders.h simt/thrust/transform.h AS thrust/transform.h)

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
simt_refused(cudnn.h "the library cuDNN" is)
simt_refused(cufft.h "the library cuFFT" is)
simt_refused(cusolverDn.h "the library cuSOLVER" is)
simt_refused(cusparse.h "the library cuSPARSE" is)
simt_refused(nccl.h "the library NCCL" is)
simt_refused(nvml.h "the library NVML" is)
simt_refused(nvrtc.h "compilation at run time" is)
simt_refused(thrust/complex.h "complex numbers of Thrust" are)
simt_refused(thrust/set_operations.h "sets of Thrust" are)
simt_refused(thrust/shuffle.h "shuffles of Thrust" are)

# A name that is no more in this list is no more a header.
get_property(written GLOBAL PROPERTY simt_headers)
file(GLOB_RECURSE there ${SIMT_HEADERS}/*)
list(REMOVE_ITEM there ${written})
if(there)
  file(REMOVE ${there})
endif()
