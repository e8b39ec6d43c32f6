#include "base/devices.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/settings.h"

namespace simt::devices {
namespace {

std::atomic<bool> access[kMost][kMost];
std::atomic<unsigned> threads{0};
thread_local int current_device = 0;

int wanted() {
  const long number = settings::devices();
  if (number >= 1 && number <= kMost) return static_cast<int>(number);
  std::fprintf(stderr, "simt: SIMT_DEVICES is the number of devices, from 1 to %d\n", kMost);
  std::_Exit(2);
}

std::atomic<int>& number_of_devices() {
  static std::atomic<int> number{wanted()};
  return number;
}

}  // namespace

int count() { return number_of_devices(); }

void set_count(int number) {
  if (!settings::has_devices()) number_of_devices() = number;
}

int current() { return current_device; }

void set_current(int device) { current_device = device; }

void note_host_thread() {
  thread_local bool is_noted = false;
  if (!std::exchange(is_noted, true)) ++threads;
}

unsigned host_threads() { return threads ? threads.load() : 1; }

bool may_access(int device, int peer) {
  return device == peer || access[device][peer].load(std::memory_order_relaxed);
}

bool open(int device, int peer) {
  any_open = true;
  return !access[device][peer].exchange(true);
}

bool close(int device, int peer) { return access[device][peer].exchange(false); }

}  // namespace simt::devices
