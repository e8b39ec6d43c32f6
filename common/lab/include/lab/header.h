/// \file
/// What the header comment of a chapter's source says, as its program knows it. The build reads the comment
/// (tools/warp/chapter/header.py) and links what it found: no name and no idea is written twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/backend.h"

struct __half;
struct __nv_bfloat16;

namespace lab {

template <class T>
class GemmLadderOf;

/// One line of the ladder: `//   ./learn run 06 --rung NAME   idea  [needs a, b; raises KIND]`.
struct HeaderRung {
  std::string name;
  std::string idea = {};
  std::vector<std::string> needs = {};  ///< "gpu", "sm_90", "sm_90a", "cuda 12.9", "cublas", "cub"
  std::string raises = {};              ///< a demonstration: the kind of finding that it must raise
};

/// The header of a chapter.
struct Header {
  std::string folder = {};  ///< "06_transpose"; empty where the program has no header
  std::string title = {};
  std::string question = {};
  std::string kind = {};                           ///< "map", "gemm" or "free"
  std::string size_gpu = {}, size_simulator = {};  ///< defaults of `--size`
  std::vector<HeaderRung> rungs = {};              ///< in the order of the ladder
  /// A gemm's peer, where this build has cuBLAS.
  void (*use_cublas)(GemmLadderOf<float>&) = nullptr;
  void (*use_cublas_bf16)(GemmLadderOf<__nv_bfloat16>&) = nullptr;  ///< the same for BF16
  void (*use_cublas_f16)(GemmLadderOf<__half>&) = nullptr;          ///< and for FP16

  /// The rung of that name, or nothing.
  const HeaderRung* find(std::string_view name) const;
  /// The default of `--size` on a backend.
  const std::string& default_size(const Backend& backend) const {
    return backend.name == "simulator" ? size_simulator : size_gpu;
  }
};

/// The header of the chapter whose program this is; an empty one where the build linked none.
const Header& this_header();

/// What a rung needs and the machine or the build does not have, e.g. "needs a GPU and cuBLAS"; empty where
/// nothing is missing.
/// \param registered whether the program registers the rung. If so, only what cannot be known before the
///   program runs is looked at: whether there is a GPU, and its compute capability
/// \param compute_capability of the device, 90 for 9.0
std::string unmet_needs(const HeaderRung& rung, const Backend& backend, bool registered,
                        int compute_capability);

namespace detail {

/// Where the generated source puts the header: `static const lab::detail::ThisHeader here({...});`.
class ThisHeader {
 public:
  explicit ThisHeader(Header header);
};

}  // namespace detail

}  // namespace lab
