#include "report/kernel_text.h"

#include <mutex>
#include <utility>

#include "base/lasting.h"
#include "report/log.h"

namespace simt::device {
namespace {

struct Unshown {
  std::mutex mutex;
  std::string kernel;
};

std::atomic<bool> waits = false;  // something is there

}  // namespace

void note_text_of(const std::string& kernel) {
  const bool printed = kernel_printed.exchange(false);
  if (!printed && !waits) return;
  Unshown& unshown = lasting<Unshown>();
  const std::lock_guard lock(unshown.mutex);
  unshown.kernel =
      printed ? kernel : std::string();  // the next launch shows what was printed before
  waits = printed;
}

void text_is_shown() { waits = false; }

void report_unshown_text() {
  if (!waits.exchange(false)) return;
  Finding f;
  f.kind = "api-error";
  f.severity = Severity::warning;
  f.message =
      lasting<Unshown>().kernel +
      " has printed, and the program has ended without waiting for it: on a GPU that text is lost. "
      "Call cudaDeviceSynchronize() after the launch.";
  report(std::move(f));
}

}  // namespace simt::device
