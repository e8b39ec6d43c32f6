# Headers of libraries, by their other names: see the simulator's own headers.cmake.
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

simt_refused(cudnn.h "the library cuDNN" is)
simt_refused(cufft.h "the library cuFFT" is)
simt_refused(cusolverDn.h "the library cuSOLVER" is)
simt_refused(cusparse.h "the library cuSPARSE" is)
simt_refused(nccl.h "the library NCCL" is)
simt_refused(nvml.h "the library NVML" is)
simt_refused(thrust/complex.h "complex numbers of Thrust" are)
simt_refused(thrust/set_operations.h "sets of Thrust" are)
simt_refused(thrust/shuffle.h "shuffles of Thrust" are)
