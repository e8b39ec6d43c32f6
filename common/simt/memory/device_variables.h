// The program's variables, of the device and of the host, and the functions of the device.
//
// Here all lie in one process. On a GPU a `__device__` or `__constant__` variable has an address of its own there; what host
// code finds under its name is a stand-in, which cudaMemcpyToSymbol() and its like take for it. So it is with a function's
// address. What the host may do with these is decided here. simtcc leaves their names in the program.
#pragma once

#include <cstdint>
#include <string>

namespace simt::device_variables {

// The host has the address on the device of the variable that holds this one.
void note_known(uint64_t address);
// The same, where the host has asked for it: known even where simtcc has left no name, as of an instance of a template.
void note_symbol(uint64_t address);
// These bytes go to the host: addresses on the device that are among them, of functions too, are known from now on.
void note_copied(const void* from, uint64_t size);

// The name of the variable of the device that holds `address`, where host code can have that from its name alone; else empty.
std::string stand_in(uint64_t address);
// The same for the function of the device that begins there, with its kind: "__device__ function 'f'".
std::string stand_in_of_function(uint64_t address);
// Does the address lie in a variable of the device, and has the host it from there?
bool is_on_device(uint64_t address);
// The name of the host's variable that holds `address`; empty if that is another's, or it is not known whose.
std::string of_host(uint64_t address);

// Is this a __constant__ variable that its source declares without an initialiser?
bool is_uninitialized_constant(const std::string& name);

// While one is there, the thread names a variable by its stand-in.
class ByName {
 public:
  ByName();
  ~ByName();
  ByName(const ByName&) = delete;
  ByName& operator=(const ByName&) = delete;
  static bool is_open();
};

}  // namespace simt::device_variables
