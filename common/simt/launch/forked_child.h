// A child of fork() has none of the threads that run blocks, as on a GPU it has no context.
#pragma once

namespace simt::engine {

// Has this process been made by fork() since its parent asked here first?
bool is_forked_child();

}  // namespace simt::engine
