// Which streams and events there are: a handle may be one that was destroyed, or none at all.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_set>

#include "base/lasting.h"

struct CUstream_st;

namespace simt {

template <class T>
class Handles {
 public:
  static T* add(T* made) {
    Handles& all = lasting<Handles>();
    const std::lock_guard lock(all.mutex_);
    all.live_.insert(made);
    return made;
  }
  // False if there is none.
  static bool remove(T* handle) {
    Handles& all = lasting<Handles>();
    const std::lock_guard lock(all.mutex_);
    return all.live_.erase(handle) != 0;
  }
  static bool is_live(T* handle) {
    Handles& all = lasting<Handles>();
    const std::lock_guard lock(all.mutex_);
    return all.live_.contains(handle);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<T*> live_;
};

// A default stream, or one that has been made and not destroyed.
inline bool is_stream(CUstream_st* stream) {
  return reinterpret_cast<uintptr_t>(stream) <= 2 || Handles<CUstream_st>::is_live(stream);
}

}  // namespace simt
