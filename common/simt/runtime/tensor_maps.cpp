// What cp.async.bulk.tensor needs of the driver: tensor maps, and the way to the function that makes them.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "memory/tensor_map.h"

namespace {

using simt::engine::TensorMap;

unsigned element_bytes(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
    default:
      return 4;
  }
}

// What the driver refuses, in words; "" if nothing.
std::string what_is_wrong(const TensorMap& map, const cuuint64_t* dimensions,
                          const cuuint64_t* strides, const cuuint32_t* box,
                          const cuuint32_t* element_strides, CUtensorMapInterleave interleave) {
  const auto number = [](uint64_t n) { return std::to_string(n); };
  constexpr unsigned kMostBox = 256, kUnit = 16;
  if (map.rank < 1 || map.rank > TensorMap::kMostRank)
    return "a tensor has 1 to 5 dimensions, not " + number(map.rank);
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return "interleaved layouts are not simulated";
  if (!map.address || map.address % kUnit)
    return "the tensor has to begin at a multiple of 16 bytes";
  for (unsigned d = 0; d < map.rank; ++d) {
    const std::string of = " of dimension " + number(d);
    if (!dimensions[d] || dimensions[d] > uint64_t{1} << 32)
      return "the size" + of + " is " + number(dimensions[d]) + ": it has to be 1 to 2^32";
    if (!box[d] || box[d] > kMostBox)
      return "the box's size" + of + " is " + number(box[d]) + ": it has to be 1 to 256";
    if (element_strides[d] != 1)
      return "the element stride" + of + " is " + number(element_strides[d]) +
             ": only 1 is simulated";
    if (d && (strides[d - 1] % kUnit || strides[d - 1] >= uint64_t{1} << 40))
      return "the stride" + of + " is " + number(strides[d - 1]) +
             " bytes: it has to be a multiple of 16, below 2^40";
  }
  const unsigned row = box[0] * map.element_bytes, widest = 16u << map.swizzle;
  if (row % kUnit)
    return "a row of the box has " + number(row) + " bytes: it has to be a multiple of 16";
  if (map.swizzle && row > widest)
    return "a row of the box has " + number(row) + " bytes: a swizzle of " + number(widest) +
           " bytes takes no more than these";
  if (map.swizzle && row < widest)
    return "a row of the box has " + number(row) + " bytes: with a swizzle of " + number(widest) +
           " only as many are simulated";
  return {};
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* dimensions,
                                const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill fill) {
  TensorMap made{};
  made.mark = TensorMap::kMark;
  made.address = reinterpret_cast<uint64_t>(address);
  made.rank = static_cast<uint8_t>(rank);
  made.element_bytes = static_cast<uint8_t>(element_bytes(type));
  made.swizzle = static_cast<uint8_t>(swizzle);
  std::string wrong =
      !map ? "there is no map to write to"
           : what_is_wrong(made, dimensions, strides, box, element_strides, interleave);
  if (fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && wrong.empty())
    wrong = "outside of the tensor only zeros are simulated";
  if (!wrong.empty()) {
    std::fprintf(stderr, "simt: cuTensorMapEncodeTiled: %s\n", wrong.c_str());
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (unsigned d = 0; d < rank; ++d) {
    made.dimensions[d] = static_cast<uint32_t>(dimensions[d] - 1);
    made.box[d] = static_cast<uint16_t>(box[d]);
    if (d) made.strides[d - 1] = strides[d - 1];
  }
  *map = {};
  std::memcpy(static_cast<void*>(map), &made, sizeof(made));
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  if (!symbol || !function) return cudaErrorInvalidValue;
  const bool is_known = std::string_view(symbol) == "cuTensorMapEncodeTiled";
  *function = is_known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (found) *found = is_known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* found) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, found);
}
