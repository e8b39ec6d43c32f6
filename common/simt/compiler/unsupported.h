/// \file
/// What the simulator does not run, and the words in which simtcc says so.
#pragma once

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string_view>

namespace simtcc {

struct Unsupported {
  std::string_view name;
  std::string_view feature;
};
inline constexpr Unsupported kUnsupportedNames[] = {
    {"cudaTextureObject_t", "textures"},
    {"cudaCreateTextureObject", "textures"},
    {"cudaSurfaceObject_t", "surfaces"},
    {"cudaCreateSurfaceObject", "surfaces"},
    {"cudaMallocArray", "CUDA arrays"},
    {"cudaMalloc3DArray", "CUDA arrays"},
    {"cudaArray_t", "CUDA arrays"},
    {"cudaArray", "CUDA arrays"},
    {"cudaMipmappedArray_t", "CUDA arrays"},
    {"cudaGraphConditionalHandle", "conditional nodes of graphs"},
    {"cudaGraphConditionalHandleCreate", "conditional nodes of graphs"},
    {"cudaGraphAddNode", "graph nodes of any type (name the type)"},
    {"cudaGraphicsResource_t", "graphics interoperability"},
    {"cudaIpcMemHandle_t", "inter-process memory"},
    {"nvcuda", "tensor-core matrices"},
    {"CUtensorMap", "the tensor memory accelerator"},
    {"__nv_tex_surf_handler", "textures"},
    {"cudaIpcGetMemHandle", "inter-process memory"},
    {"cudaIpcOpenMemHandle", "inter-process memory"},
    {"cudaExternalMemory_t", "external memory"},
    {"cudaExternalSemaphore_t", "external semaphores"},
    {"this_multi_grid", "groups of several devices"},
    {"multi_grid_group", "groups of several devices"},
    {"cudaLaunchCooperativeKernelMultiDevice", "launches on several devices"},
    {"__cluster_dims__", "thread-block clusters"},
    {"this_cluster", "thread-block clusters"},
    {"cluster_group", "thread-block clusters"},
    {"__threadfence_cluster", "thread-block clusters"},
    {"cudaOccupancyMaxActiveClusters", "thread-block clusters"},
    {"cudaOccupancyMaxPotentialClusterSize", "thread-block clusters"},
    {"cudaResourceDesc", "textures"},
    {"cudaChannelFormatDesc", "CUDA arrays"},
    {"cudaCreateChannelDesc", "CUDA arrays"},
    {"cudaFreeArray", "CUDA arrays"},
    {"cudaMemcpyToArray", "CUDA arrays"},
    {"cudaMemcpyFromArray", "CUDA arrays"},
    {"cudaMemcpy2DToArray", "CUDA arrays"},
    {"cudaMemcpy2DToArrayAsync", "CUDA arrays"},
    {"cudaMemcpy2DFromArray", "CUDA arrays"},
    {"cudaMemcpy2DFromArrayAsync", "CUDA arrays"},
    {"cudaMemcpy3DPeer", "copies between devices"},
    {"cudaMemcpy3DPeerAsync", "copies between devices"},
    {"cudaGetDriverEntryPoint", "functions of the driver"},
    {"cudaGetDriverEntryPointByVersion", "functions of the driver"},
    {"__shfl", "warp functions without a mask"},
    {"__shfl_up", "warp functions without a mask"},
    {"__shfl_down", "warp functions without a mask"},
    {"__shfl_xor", "warp functions without a mask"},
    {"__ballot", "warp functions without a mask"},
    {"__all", "warp functions without a mask"},
    {"__any", "warp functions without a mask"},
};

/// The library that `header` belongs to ("the library Thrust"), if the simulator lacks it.
inline std::optional<std::string_view> unsupported_library(std::string_view header) {
  constexpr Unsupported kLibraries[] = {
      {"thrust/", "the library Thrust"},    {"cub/", "the library CUB"},
      {"cublas", "the library cuBLAS"},     {"cufft", "the library cuFFT"},
      {"cusolver", "the library cuSOLVER"}, {"cusparse", "the library cuSPARSE"},
      {"cudnn", "the library cuDNN"},       {"cutensor", "the library cuTENSOR"},
      {"npp", "the library NPP"},           {"nvjpeg", "the library nvJPEG"},
      {"nccl", "the library NCCL"},         {"nvshmem", "the library NVSHMEM"},
      {"cutlass/", "the library CUTLASS"},  {"cute/", "the library CuTe"},
      {"cupti", "the library CUPTI"},       {"nvml", "the management library"},
      {"nvJitLink", "linking at run time"},
  };
  for (const Unsupported& library : kLibraries) {
    if (header.starts_with(library.name)) return library.feature;
  }
  return std::nullopt;
}

/// Calls `f(name, feature)` for each name in the table.
template <class F>
void for_each_unsupported(F&& f) {
  for (const Unsupported& entry : kUnsupportedNames) f(entry.name, entry.feature);
}

/// The feature that `identifier` belongs to ("textures"), if the simulator lacks it.
inline std::optional<std::string_view> unsupported_feature(std::string_view identifier) {
  for (const Unsupported& entry : kUnsupportedNames) {
    if (identifier == entry.name) return entry.feature;
  }

  // Families of functions: tex2D, tex2DLod, tex1Dfetch, surf2Dwrite, ...
  const auto in_family = [identifier](std::string_view prefix) {
    if (!identifier.starts_with(prefix)) return false;
    const std::string_view rest = identifier.substr(prefix.size());
    return rest.starts_with("1D") || rest.starts_with("2D") || rest.starts_with("3D") ||
           rest.starts_with("Cubemap");
  };
  constexpr Unsupported kFamilies[] = {
      {"cudaGraphics", "graphics interoperability"},
      {"cudaIpc", "inter-process memory"},
      {"cudaExternal", "external memory"},
      {"cudaImportExternal", "external memory"},
      {"cudaDestroyExternal", "external memory"},
      {"cudaMallocMipmapped", "CUDA arrays"},
      {"cudaMipmapped", "CUDA arrays"},
      {"cudaArrayGet", "CUDA arrays"},
      {"cudaLibrary", "libraries of kernels loaded at run time"},
      {"curandCreateGenerator", "generators of the library cuRAND"},
      {"curandGenerate", "generators of the library cuRAND"},
      {"curandGenerator_t", "generators of the library cuRAND"},
      {"cudaUserObject", "user objects of graphs"},
      {"cudaTextureDesc", "textures"},
      {"cudaTextureType", "textures"},
      {"cudaReadMode", "textures"},
      {"__cluster", "thread-block clusters"},
      {"__mbarrier_", "mbarrier primitives (cuda::barrier is simulated)"},
  };
  for (const Unsupported& family : kFamilies) {
    if (identifier.starts_with(family.name)) return family.feature;
  }
  // cublasSgemm, cublasDaxpy, cublasGemmEx, cublasIsamax, cublasLtMatmul, ...
  if (identifier.starts_with("cublas")) {
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
        rest.starts_with("Is") || rest.starts_with("Id") || rest.ends_with("Ex")) {
      return "routines of the library cuBLAS";
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
        return "functions of the driver";
      }
    }
  }
  if (in_family("tex")) return "textures";
  if (in_family("surf")) return "surfaces";
  return std::nullopt;
}

}  // namespace simtcc
