#include "launch/held_signals.h"

#include <dlfcn.h>

#include <atomic>

namespace simt::engine {

namespace {

std::atomic<bool> changed{true};  // perhaps

// Signals that the program has a handler for. One launch runs at a time.
struct Handled {
  bool any = false;
  sigset_t signals;
};

const Handled& handled() {
  static Handled known;
  if (!changed.exchange(false)) return known;
  known.any = false;
  sigemptyset(&known.signals);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCHLD,
                           SIGTSTP, SIGVTALRM, SIGPROF, SIGIO, SIGWINCH}) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) continue;
    sigaddset(&known.signals, number);
    known.any = true;
  }
  return known;
}

}  // namespace

HeldSignals::HeldSignals() {
  const Handled& those = handled();
  holds_ = those.any;
  if (holds_) pthread_sigmask(SIG_BLOCK, &those.signals, &before_);
}

HeldSignals::~HeldSignals() {
  if (holds_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

SignalsForOthers::SignalsForOthers() {
  sigset_t all;
  sigfillset(&all);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE}) {
    sigdelset(&all, number);
  }
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsForOthers::~SignalsForOthers() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace simt::engine

// In place of the C library's, so that it is known when handlers have changed.
extern "C" int sigaction(int number, const struct sigaction* action,
                         struct sigaction* before) noexcept {
  using Function = int (*)(int, const struct sigaction*, struct sigaction*);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "sigaction"));
  if (action) simt::engine::changed = true;
  return next(number, action, before);
}

extern "C" sighandler_t signal(int number, sighandler_t handler) noexcept {
  using Function = sighandler_t (*)(int, sighandler_t);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "signal"));
  simt::engine::changed = true;
  return next(number, handler);
}
