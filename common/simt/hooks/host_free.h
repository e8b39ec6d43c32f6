// free() and delete on the host.
#pragma once

namespace simt::engine {

// False if the memory is not the C library's, which is told. `pc`: where the program frees it.
bool may_free_on_host(const void* pointer, const void* pc);

}  // namespace simt::engine
