/// \file
/// What the simulator does not run, and the words in which simtcc says so.
#pragma once

#include <optional>
#include <string_view>

namespace simtcc {

/// The feature that `identifier` belongs to ("textures"), if the simulator lacks it.
inline std::optional<std::string_view> unsupported_feature(std::string_view identifier) {
  struct Entry {
    std::string_view name;
    std::string_view feature;
  };
  static constexpr Entry kNames[] = {
      {"cudaTextureObject_t", "textures"},
      {"cudaCreateTextureObject", "textures"},
      {"cudaSurfaceObject_t", "surfaces"},
      {"cudaCreateSurfaceObject", "surfaces"},
      {"cudaMallocArray", "CUDA arrays"},
      {"cudaMalloc3DArray", "CUDA arrays"},
      {"cudaArray_t", "CUDA arrays"},
      {"cudaGraph_t", "CUDA graphs"},
      {"cudaGraphExec_t", "CUDA graphs"},
      {"cudaStreamBeginCapture", "CUDA graphs"},
      {"cudaGraphicsResource_t", "graphics interoperability"},
      {"cudaIpcMemHandle_t", "inter-process memory"},
      {"nvcuda", "tensor-core matrices"},
      {"CUtensorMap", "the tensor memory accelerator"},
      {"__nv_tex_surf_handler", "textures"},
      {"this_grid", "grid-wide groups"},
      {"grid_group", "grid-wide groups"},
      {"this_multi_grid", "grid-wide groups"},
      {"multi_grid_group", "grid-wide groups"},
      {"this_cluster", "thread-block clusters"},
      {"cluster_group", "thread-block clusters"},
      {"cudaLaunchCooperativeKernel", "cooperative launches"},
  };
  for (const Entry& entry : kNames) {
    if (identifier == entry.name) return entry.feature;
  }

  // Families of functions: tex2D, tex2DLod, tex1Dfetch, surf2Dwrite, ...
  const auto in_family = [identifier](std::string_view prefix) {
    if (!identifier.starts_with(prefix)) return false;
    const std::string_view rest = identifier.substr(prefix.size());
    return rest.starts_with("1D") || rest.starts_with("2D") || rest.starts_with("3D") ||
           rest.starts_with("Cubemap");
  };
  if (in_family("tex")) return "textures";
  if (in_family("surf")) return "surfaces";
  return std::nullopt;
}

}  // namespace simtcc
