#include "launch/forked_child.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "streams/beside_host.h"

namespace simt::engine {

bool is_forked_child() {
  static std::atomic<bool> is_child{false};
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] {
      is_child = true;
      beside_host::forget();
    });
  });
  return is_child;
}

}  // namespace simt::engine
