#include "ending/at_exit.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/settings.h"
#include "base/text.h"
#include "ending/leaks.h"
#include "ending/trace_json.h"
#include "ending/unread_results.h"
#include "program/program.h"
#include "report/api_errors.h"
#include "report/errors.h"
#include "report/kernel_text.h"
#include "report/log.h"

namespace simt::device {
namespace {

constexpr int kFindingsExitCode = 86;

// What the process says at its end; true if it fails. Once.
bool tell_all(int status) {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return false;
  std::vector<Finding> failed_calls = take_api_errors(status);
  for (Finding& finding : failed_calls) report(std::move(finding));
  report_held();
  // What ends early frees nothing, and has worse to tell.
  const bool ended_well = engine::traced_program && status == 0 && pending_errors() == 0;
  if (ended_well) report_unshown_text();
  if (engine::traced_program && pending_errors() == 0 && failed_calls.empty())
    report_unread_results();
  if (settings::leaks_are_errors() || ended_well) report_leaks();
  write_trace();
  const size_t errors = pending_errors();
  const size_t warnings = log().pending.size() - errors;
  if (!errors && !warnings) return false;
  // Whoever asserts in a kernel and asks for the error knows: the exit code is the program's own.
  const bool fails = errors && !(errors == log().asserted && is_assertion_told());
  std::fflush(nullptr);
  if (fails || warnings) {
    std::fprintf(stderr, "simt: %s%s%s\n", fails ? plural(errors, "finding").c_str() : "",
                 fails && warnings ? ", " : "",
                 warnings ? plural(warnings, "warning").c_str() : "");
  }
  return fails;
}

[[noreturn]] void leave(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

const pid_t process = getpid();

// Has something been found that the process must not leave without? A child of fork() has its parent's findings.
bool has_news() { return getpid() == process && pending_errors() != 0; }

// A call that failed may be why the program ends like this.
void take_what_may_be_why(int status) {
  if (getpid() != process || has_news()) return;
  for (Finding& finding : take_api_errors(status)) report(std::move(finding));
}

void at_exit(int status, void*) {
  if (tell_all(status)) leave(kFindingsExitCode);
}
void at_quick_exit() {
  if (has_news() && tell_all(0)) leave(kFindingsExitCode);
}
// abort(), an assertion of the host's, an exception that nobody caught: the signal stays what the process dies of.
void at_abort(int signal_number) {
  signal(signal_number, SIG_DFL);
  take_what_may_be_why(128 + signal_number);
  // A failed assertion about the result is an end as any other where somebody waits for the trace.
  if (has_news() || (settings::trace_file() && getpid() == process)) tell_all(128 + signal_number);
  raise(signal_number);
}

// Those that the program sends to itself. (Another's may come while a lock is held that telling takes.)
void at_own_signal(int signal_number, siginfo_t* info, void*) {
  if (signal_number == SIGILL || info->si_pid == process) return at_abort(signal_number);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

[[gnu::constructor(102)]] void install() {
  on_exit(at_exit, nullptr);
  std::at_quick_exit(at_quick_exit);
  signal(SIGABRT, at_abort);
  struct sigaction action {};
  action.sa_sigaction = at_own_signal;
  action.sa_flags = SA_SIGINFO;
  for (const int number : {SIGILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_DFL) sigaction(number, &action, nullptr);
  }
}

}  // namespace

void end_after_crash() {
  if (getpid() != process) return;
  take_what_may_be_why(128);
  if (!has_news()) return;
  std::fprintf(stderr, "simt: the host has crashed, after what was found before\n");
  tell_all(128);
  leave(kFindingsExitCode);
}

[[noreturn]] static void end_now(int status) {
  leave(has_news() && tell_all(status) ? kFindingsExitCode : status);
}

}  // namespace simt::device

// Whoever leaves without running what runs at the end leaves no finding behind.
extern "C" [[noreturn]] void _exit(int status) { simt::device::end_now(status); }
