#include "lab/header.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "lab/text.h"

namespace lab {

namespace {

Header& linked_header() {
  static Header header;
  return header;
}

/// "A", "A and B", "A, B and C".
std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

}  // namespace

detail::ThisHeader::ThisHeader(Header header) { linked_header() = std::move(header); }

const Header& this_header() { return linked_header(); }

const HeaderRung* Header::find(std::string_view name) const {
  const auto found = std::find_if(rungs.begin(), rungs.end(),
                                  [&](const HeaderRung& rung) { return rung.name == name; });
  return found == rungs.end() ? nullptr : &*found;
}

std::string unmet_needs(const HeaderRung& rung, const Backend& backend, bool registered,
                        int compute_capability) {
  const bool simulated = backend.name == "simulator";
  const auto dotted = [](int version) { return format("%d.%d", version / 10, version % 10); };
  std::string gpu;                 // "a GPU", "a GPU of compute capability 9.0"
  std::string not_built_for;       // what this GPU has, and the program lacks all the same
  std::vector<std::string> parts;  // what else
  bool says_device = false;
  for (const std::string& need : rung.needs) {
    int number = 0, minor = 0;
    char suffix = 0;
    if (const int read = std::sscanf(need.c_str(), "sm_%d%c", &number, &suffix); read > 0) {
      const bool family = read == 2;  // with the suffix: this family and no other
      const bool fits =
          family ? compute_capability / 10 == number / 10 : compute_capability >= number;
      // The simulator runs what a capability alone asks for, and nothing that is of one family.
      if (fits && (registered || (simulated && !family))) continue;
      if (fits && !simulated) {
        not_built_for = need;
        continue;
      }
      gpu = "a GPU of compute capability " + dotted(number) + (family ? "" : " or more");
      says_device = !simulated;
    } else if (std::sscanf(need.c_str(), "cuda %d.%d", &number, &minor) == 2) {
      int major_here = 0, minor_here = 0;
      const bool there =
          std::sscanf(backend.toolkit.c_str(), "CUDA %d.%d", &major_here, &minor_here) == 2 &&
          (major_here > number || (major_here == number && minor_here >= minor));
      if (!registered && !there) parts.push_back(format("CUDA %d.%d or later", number, minor));
    } else if (need == "gpu") {
      if (simulated && gpu.empty()) gpu = "a GPU";
    } else if (!registered) {
      parts.push_back(need == "cublas" ? "cuBLAS" : need == "cub" ? "CUB" : need);
    }
  }
  if (simulated && gpu.empty() && !parts.empty()) gpu = "a GPU";
  if (!gpu.empty()) parts.insert(parts.begin(), gpu);
  if (parts.empty() && !not_built_for.empty()) {
    return "needs " + not_built_for + ", for which this program was not built";
  }
  if (parts.empty()) return "";
  std::string text = "needs " + listed(parts);
  if (says_device) text += "; this device has " + dotted(compute_capability);
  return text;
}

}  // namespace lab
