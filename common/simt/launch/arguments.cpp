#include "launch/arguments.h"

#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "base/lasting.h"
#include "memory/device_variables.h"
#include "program/symbols.h"
#include "report/api_errors.h"
#include "report/log.h"

namespace simt::engine {

void check_arguments(const char* kernel_text, std::span<const detail::Argument> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    uint64_t address = 0;
    if (arguments[i].size != sizeof address) continue;
    std::memcpy(&address, arguments[i].data, sizeof address);
    std::string what, cure;
    if (const std::string name = device_variables::stand_in(address); !name.empty()) {
      what = "variable '" + name + "' of the device";
      cure = "name it in the kernel, or hand over what cudaGetSymbolAddress() gives";
    } else if (std::string function = device_variables::stand_in_of_function(address);
               !function.empty()) {
      what = std::move(function);
      cure = "keep its address in a __device__ variable, and copy it with cudaMemcpyFromSymbol()";
    } else {
      continue;
    }
    const uint64_t pc = device::program_caller();
    if (!lasting<std::set<std::pair<uint64_t, size_t>>>().emplace(pc, i).second) continue;
    const symbols::Location& at = symbols::locate(pc);
    Finding f = device::finding_at(at, "device-access");
    f.address = address;
    f.message = "argument " + std::to_string(i + 1) + " of the launch of " + kernel_text + " at " +
                at.text() + " is the address that host code has for the " + what +
                ", and that is not its address on the device: " + cure + ".";
    device::report(std::move(f));
  }
}

}  // namespace simt::engine
