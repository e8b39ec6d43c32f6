/// \file
/// What the simulator does not run, and the words in which simtcc says so.
#pragma once

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simtcc {

struct Unsupported {
  std::string_view feature;
  std::vector<std::string_view> names;  ///< With a `*` all that begin so.
  std::string_view instead = {};        ///< What there is in its place, as the end of a sentence.
};
/// The first that has a name counts.
inline const Unsupported kUnsupported[] = {
    {"texture references, which ended with CUDA 12: make a cudaTextureObject_t; they",
     {"cudaTextureType*", "cudaBindTexture*", "cudaUnbindTexture", "cudaGetTextureReference",
      "textureReference"}},
    {"textures but those of tex1Dfetch(), tex1D() and tex2D()",
     {"tex1DLayered*", "tex2DLayered*", "texCubemap*", "tex2Dgather*", "tex1DGrad*", "tex2DGrad*",
      "tex3D", "tex3DLod", "tex3DGrad*", "tex1DLod", "tex2DLod"}},
    {"CUDA arrays but those of cudaMallocArray(), filled from memory,",
     {"cudaMalloc3DArray", "cudaArrayGetInfo", "cudaGetChannelDesc", "cudaMemcpyToArrayAsync",
      "cudaMemcpyFromArray*", "cudaMemcpy2DFromArray*", "cudaMemcpy2DArrayToArray",
      "cudaMemcpyArrayToArray", "cudaGetTextureObject*", "cudaArrayLayered", "cudaArrayCubemap",
      "cudaArrayTextureGather"}},
    {"views of texture resources", {"cudaResourceViewDesc", "cudaResViewFormat*"}},
    {"surfaces",
     {"surf1D*", "surf2D*", "surf3D*", "surfCubemap*", "cudaSurfaceObject_t",
      "cudaCreateSurfaceObject", "cudaDestroySurfaceObject", "cudaGetSurfaceObjectResourceDesc",
      "cudaBindSurfaceToArray", "cudaGetSurfaceReference", "surfaceReference",
      "cudaArraySurfaceLoadStore", "cudaBoundaryMode*"},
     "read a texture, and write to memory of cudaMalloc()"},
    {"mipmaps",
     {"cudaMallocMipmapped*", "cudaMipmapped*", "cudaFreeMipmapped*", "cudaGetMipmapped*"}},
    {"arithmetic on the parts of a word",
     {"__vabs*", "__vadd*", "__vavg*", "__vcmp*", "__vhadd*", "__vmax*", "__vmin*", "__vneg*",
      "__vsad*", "__vset*", "__vsub*", "__viadd*", "__vibm*", "__vim*"},
     "compute each part by itself"},
    {"sums, products and numbers from integers that are not rounded to the nearest",
     {"__fadd_rz",         "__fadd_ru",       "__fadd_rd",         "__fsub_rz",
      "__fsub_ru",         "__fsub_rd",       "__fmul_rz",         "__fmul_ru",
      "__fmul_rd",         "__fdiv_rz",       "__fdiv_ru",         "__fdiv_rd",
      "__frcp_rz",         "__frcp_ru",       "__frcp_rd",         "__fsqrt_rz",
      "__fsqrt_ru",        "__fsqrt_rd",      "__fmaf_rz",         "__fmaf_ru",
      "__fmaf_rd",         "__dadd_rz",       "__dadd_ru",         "__dadd_rd",
      "__dsub_rz",         "__dsub_ru",       "__dsub_rd",         "__dmul_rz",
      "__dmul_ru",         "__dmul_rd",       "__ddiv_rz",         "__ddiv_ru",
      "__ddiv_rd",         "__drcp_rz",       "__drcp_ru",         "__drcp_rd",
      "__dsqrt_rz",        "__dsqrt_ru",      "__dsqrt_rd",        "__fma_rz",
      "__fma_ru",          "__fma_rd",        "__double2float_rz", "__double2float_ru",
      "__double2float_rd", "__int2float_rz",  "__int2float_ru",    "__int2float_rd",
      "__uint2float_rz",   "__uint2float_ru", "__uint2float_rd",   "__ll2float_rz",
      "__ll2float_ru",     "__ll2float_rd",   "__ull2float_rz",    "__ull2float_ru",
      "__ull2float_rd",    "__ll2double_rz",  "__ll2double_ru",    "__ll2double_rd",
      "__ull2double_rz",   "__ull2double_ru", "__ull2double_rd"},
     "__fadd_rn() and its like round to the nearest"},
    {"the compiler's own atomics",
     {"__nv_atomic_*"},
     "write atomicAdd() and its like, or cuda::atomic_ref"},
    {"conditional nodes of graphs",
     {"cudaGraphConditionalHandle", "cudaGraphConditionalHandleCreate"}},
    {"nodes of a graph but those of kernels, copies, memory and functions of the host",
     {"cudaGraphAddNode", "cudaGraphAddMemcpyNode", "cudaGraphAddMemcpyNodeToSymbol",
      "cudaGraphAddMemcpyNodeFromSymbol", "cudaGraphAddChildGraphNode",
      "cudaGraphChildGraphNodeGetGraph", "cudaGraphAddEvent*"},
     "capture them from a stream; cudaGraphAddMemcpyNode1D() adds a copy"},
    {"changes to the nodes of a graph",
     {"cudaGraphAddDependencies", "cudaGraphRemoveDependencies", "cudaGraphDestroyNode",
      "cudaGraphClone", "cudaGraphNodeFindInClone", "cudaGraphNodeSetEnabled",
      "cudaGraphNodeGetEnabled", "cudaGraphKernelNodeGetParams", "cudaGraphKernelNodeSetParams",
      "cudaGraphMemcpyNodeSetParams*", "cudaGraphMemsetNodeSetParams", "cudaGraphHostNodeSetParams",
      "cudaGraphExecMemcpyNodeSetParams*", "cudaGraphExecMemsetNodeSetParams",
      "cudaGraphExecHostNodeSetParams", "cudaStreamBeginCaptureToGraph"},
     "cudaGraphExecUpdate() puts a whole graph in the place of another"},
    {"pictures and edges of graphs",
     {"cudaGraphDebugDot*", "cudaGraphGetEdges", "cudaGraphGetRootNodes"},
     "cudaGraphGetNodes() and cudaGraphNodeGetDependentNodes() give nodes and what waits for them"},
    {"parameters of an instantiation",
     {"cudaGraphInstantiateWithParams", "cudaGraphInstantiateParams"},
     "call cudaGraphInstantiate()"},
    {"user objects of graphs",
     {"cudaUserObject*", "cudaGraphRetainUserObject", "cudaGraphReleaseUserObject"}},
    {"graphics interoperability", {"cudaGraphics*"}},
    {"inter-process memory", {"cudaIpc*", "cudaMemPoolExport*", "cudaMemPoolImport*"}},
    {"memory pools but the device's own",
     {"cudaMallocFromPoolAsync", "cudaDeviceGetMemPool", "cudaDeviceSetMemPool",
      "cudaMemPoolCreate", "cudaMemPoolDestroy", "cudaMemPoolSetAccess", "cudaMemPoolGetAccess",
      "cudaMemPoolTrimTo"},
     "cudaMallocAsync() takes memory from the one that cudaDeviceGetDefaultMemPool() gives"},
    {"external semaphores",
     {"cudaExternalSemaphore_t", "cudaSignalExternalSemaphoresAsync",
      "cudaWaitExternalSemaphoresAsync", "cudaGraphAddExternalSemaphores*"}},
    {"batches of copies (copy one by one)",
     {"cudaMemcpyBatchAsync", "cudaMemcpy3DBatchAsync", "cudaMemPrefetchBatchAsync",
      "cudaMemDiscard*"}},
    {"logs of the CUDA runtime", {"cudaLogs*"}},
    {"external memory", {"cudaExternal*", "cudaImportExternal*", "cudaDestroyExternal*"}},
    {"tiles of several warps", {"block_tile_memory"}},
    {"groups of several devices", {"this_multi_grid", "multi_grid_group"}},
    {"launches on several devices", {"cudaLaunchCooperativeKernelMultiDevice"}},
    {"memory and copies of three dimensions",
     {"cudaMalloc3D*", "cudaMemcpy3D*", "cudaMemset3D*", "cudaPitchedPtr", "make_cudaPitchedPtr",
      "cudaExtent", "make_cudaExtent", "cudaPos", "make_cudaPos"},
     "copy slice by slice with cudaMemcpy2D()"},
    {"functions that ask the runtime what the program has told it",
     {"cudaStreamGetId", "cudaStreamGetDevice", "cudaStreamGetAttribute",
      "cudaStreamCopyAttributes", "cudaStreamGetCaptureInfo*", "cudaHostGetFlags",
      "cudaMemRangeGetAttribute*", "cudaFuncGetName", "cudaDeviceGetByPCIBusId"}},
    {"wishes that change nothing here",
     {"cudaSetValidDevices", "cudaFuncSetSharedMemConfig"},
     "take the call away"},
    {"former names", {"cudaThreadExit"}, "call cudaDeviceReset()"},
    {"occupancy by a function for shared memory",
     {"cudaOccupancyMaxPotentialBlockSizeVariableSMem*"},
     "call cudaOccupancyMaxActiveBlocksPerMultiprocessor() for each size of a block"},
    {"functions of clusters but those of cooperative groups",
     {"__cluster_barrier*", "__cluster_map*", "__cluster_query*", "__clusterDim*", "__clusterGrid*",
      "__clusterIdx", "__clusterRelative*", "__clusterSize*", "__threadfence_cluster",
      "cudaOccupancyMaxPotentialClusterSize"},
     "call those of cooperative_groups::this_cluster()"},
    {"mbarrier primitives (cuda::barrier is simulated)", {"__mbarrier_*"}},
    {"libraries of kernels loaded at run time", {"cudaLibrary*"}},
    {"quasi-random generators of the library cuRAND",
     {"curandSetQuasiRandom*", "curandGetDirectionVectors*", "curandGenerateLongLong",
      "curandCreatePoissonDistribution"}},
    {"generators of the library cuRAND but XORWOW and Philox",
     {"curandStateMRG*", "curandStateMtgp*", "curandStateSobol*", "curandStateScrambled*"},
     "take curandState"},
    {"distributions of the library cuRAND but uniform and normal ones",
     {"curand_log_normal*", "curand_poisson*", "curand_discrete*", "curandGenerateLogNormal*",
      "curandGeneratePoisson*"}},
    {"warp functions without a mask, which ended with Volta,",
     {"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__ballot", "__all", "__any"},
     "write the one with _sync after its name, and the mask 0xffffffff first if all lanes call "
     "it"},
};

/// The library that `header` belongs to ("the library Thrust"), if the simulator lacks it.
inline std::optional<std::string_view> unsupported_library(std::string_view header) {
  constexpr std::pair<std::string_view, std::string_view> kLibraries[] = {
      {"thrust/", "this part of the library Thrust"},
      {"cub/", "this part of the library CUB"},
      {"cublas", "the library cuBLAS"},
      {"cufft", "the library cuFFT"},
      {"cusolver", "the library cuSOLVER"},
      {"cusparse", "the library cuSPARSE"},
      {"cudnn", "the library cuDNN"},
      {"cutensor", "the library cuTENSOR"},
      {"npp", "the library NPP"},
      {"nvjpeg", "the library nvJPEG"},
      {"nccl", "the library NCCL"},
      {"nvshmem", "the library NVSHMEM"},
      {"cutlass/", "the library CUTLASS"},
      {"cute/", "the library CuTe"},
      {"cupti", "the library CUPTI"},
      {"nvJitLink", "linking at run time"},
  };
  for (const auto& [beginning, library] : kLibraries) {
    if (header.starts_with(beginning)) return library;
  }
  return std::nullopt;
}

/// What is said of a name that the simulator lacks: "surfaces (surf2Dread) are not simulated: write to ...". `what` is "surfaces
/// (surf2Dread) are".
inline std::string not_simulated(std::string what, std::string_view instead) {
  what += " not simulated";
  return instead.empty() ? what : what + ": " + std::string(instead);
}

/// The feature that `identifier` belongs to ("surfaces"), if the simulator lacks it, and what there is in its place.
struct Absent {
  std::string_view feature;
  std::string_view instead = {};
};
inline std::optional<Absent> unsupported_feature(std::string_view identifier) {
  for (const auto& [feature, names, instead] : kUnsupported) {
    for (std::string_view name : names) {
      const bool is_beginning = name.ends_with('*');
      if (is_beginning) name.remove_suffix(1);
      if (is_beginning ? identifier.starts_with(name) : identifier == name)
        return Absent{feature, instead};
    }
  }
  // cublasStrsm, cublasZgemm, cublasLtMatmul, ...
  if (identifier.starts_with("cublas")) {
    constexpr std::string_view kCarriedOut[] = {"axpy",
                                                "dot",
                                                "scal",
                                                "copy",
                                                "swap",
                                                "nrm2",
                                                "asum",
                                                "gemv",
                                                "ger",
                                                "gemm",
                                                "gemmStridedBatched",
                                                "gemmBatched",
                                                "geam"};
    constexpr std::string_view kOthers[] = {"cublasIsamax",
                                            "cublasIdamax",
                                            "cublasIsamin",
                                            "cublasIdamin",
                                            "cublasHgemm",
                                            "cublasGemmEx",
                                            "cublasGemmStridedBatchedEx"};
    const auto among = [](const auto& list, std::string_view name) {
      return std::find(std::begin(list), std::end(list), name) != std::end(list);
    };
    const bool is_real = identifier.starts_with("cublasS") || identifier.starts_with("cublasD");
    if (among(kOthers, identifier) || (is_real && among(kCarriedOut, identifier.substr(7))))
      return std::nullopt;
    constexpr std::string_view kRoutines[] = {
        "gemm", "gemv", "axpy", "dot",  "nrm2", "asum",  "scal",  "copy",  "swap",  "rot",
        "geam", "ger",  "symm", "symv", "syrk", "trmm",  "trsm",  "trmv",  "trsv",  "dgmm",
        "hemm", "herk", "gbmv", "sbmv", "spmv", "getrf", "getri", "getrs", "matinv"};
    const std::string_view rest = identifier.substr(6);
    const bool is_routine =
        !rest.empty() && std::string_view("SDCZH").find(rest[0]) != std::string_view::npos &&
        std::any_of(std::begin(kRoutines), std::end(kRoutines),
                    [&](std::string_view name) { return rest.substr(1).starts_with(name); });
    if (is_routine || rest.starts_with("Gemm") || rest.starts_with("LtMat") ||
        rest.starts_with("Is") || rest.starts_with("Id") || rest.starts_with("Ic") ||
        rest.starts_with("Iz") || rest.ends_with("Ex")) {
      return Absent{"routines of the library cuBLAS"};
    }
  }
  // cuInit, cuModuleLoad, cuMemAlloc, ...; programs have names of their own that begin with cu.
  constexpr std::string_view kDriver[] = {
      "Init",         "Driver",         "Device",         "Ctx",          "Module",    "Mem",
      "Launch",       "Func",           "Stream",         "Event",        "TexRef",    "Link",
      "GetErrorName", "GetErrorString", "GetProcAddress", "OccupancyMax", "PointerGet"};
  if (identifier.starts_with("cu")) {
    for (const std::string_view family : kDriver) {
      const std::string_view rest = identifier.substr(2);
      if (rest.starts_with(family) &&
          (rest.size() == family.size() ||
           !std::islower(static_cast<unsigned char>(rest[family.size()])))) {
        return Absent{"functions of the driver"};
      }
    }
  }
  return std::nullopt;
}

}  // namespace simtcc
