/// \file
/// The rungs of chapter 18 for Hopper's tensor cores, as a library: `pairs.py` launches them in PyTorch's own process.
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "bf16.h"
#include "lab/lab.h"

/// Here there is no chapter's program, which counts the files that register rungs.
lab::detail::OtherFiles& lab::detail::other_files() {
  static OtherFiles files;
  return files;
}

static std::vector<std::function<void()>> prepared;

extern "C" {

/// Prepares a rung for q, k, v and out, each (heads, length, d) in BF16.
///
/// @return its number for `launch`, or -1 where there is no such rung
int prepare(const char* rung, int d, int causal, void* out, const void* q, const void* k,
            const void* v, int heads, int length, float scale) {
  Bf16Launches all;
  lab::add_others(all);
  const auto array = [](const void* from) { return static_cast<const bf16*>(from); };
  const Bf16Attention problem{static_cast<bf16*>(out),         array(q), array(k), array(v),
                              Heads{heads, length, length, 1}, scale};
  for (const Bf16Launch& launch : all) {
    if (launch.rung != std::string_view(rung) || launch.d != d || launch.causal != (causal != 0) ||
        *launch.variant != 0) {
      continue;
    }
    prepared.push_back(launch.prepare(problem));
    return static_cast<int>(prepared.size()) - 1;
  }
  return -1;
}

/// Launches what `prepare` gave this number, in the stream that PyTorch uses where nothing else is said.
void launch(int number) { prepared[static_cast<std::size_t>(number)](); }

}  // extern "C"
