// Whether the host will go on, as launches ask that wait for one which it has yet to ask for.
#include <gtest/gtest.h>

#include <thread>

#include "streams/beside_host.h"

namespace simt::beside_host {
namespace {

void begin_and_let_go(int device) {
  begin(device);
  let_go(device, For::device);
}

void end_of(int device) {
  std::thread([device] {
    runs_here(device);
    end();
  }).join();
}

TEST(BesideHostUnit, TheHostGoesOnOnceTheLaunchEndsThatItWaitsFor) {
  begin_and_let_go(0);
  begin_and_let_go(1);
  EXPECT_TRUE(is_host_at_work());
  std::thread host([] { begin(1); });  // a second launch on device 1
  while (is_host_at_work()) std::this_thread::yield();
  ends(1);
  EXPECT_TRUE(is_host_at_work());
  end_of(1);
  host.join();
  EXPECT_TRUE(is_host_at_work());
  end_of(1);
  end_of(0);
  EXPECT_FALSE(is_host_at_work());
}

}  // namespace
}  // namespace simt::beside_host
