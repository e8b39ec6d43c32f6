/// \file
/// Among whom a synchronisation takes place.
#pragma once

namespace cuda {

enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread,
};

namespace std {
using ::cuda::thread_scope;
}  // namespace std

}  // namespace cuda
