#include "report/api_errors.h"

#include <execinfo.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "base/lasting.h"
#include "program/symbols.h"
#include "report/log.h"

namespace simt::device {
namespace {

struct ApiError {
  cudaError_t error;
  uint64_t pc;
  std::string call, why, about;
  bool is_launch = false;
  bool told = false, taken = false;  // every time
  bool named = false;                // at least once
  bool looked_at = false;            // named since it was returned last
  bool dealt_with = false;           // looked at, and then taken, every time
};

struct ApiErrors {
  std::mutex mutex;
  std::vector<ApiError> errors;
  std::string kernel, why, about;  // of the error to come
  Call allocation;                 // the last that failed
};

ApiErrors& api_errors() { return lasting<ApiErrors>(); }

thread_local std::vector<uint64_t> stack_behind;
thread_local size_t frames_of_thread = 0;  // with a stack behind it these are nobody's

std::string launch_of(const std::string& kernel) { return "the launch of " + kernel; }

bool may_fail(cudaError_t error) {
  return error == cudaErrorNotReady || error == cudaErrorNotSupported ||
         error == cudaErrorNotPermitted || error == cudaErrorMemoryAllocation;
}

}  // namespace

std::vector<uint64_t> call_stack() {
  void* frames[64];
  const int count = backtrace(frames, 64);
  std::vector<uint64_t> stack;
  for (int i = 0; i < count; ++i) stack.push_back(reinterpret_cast<uint64_t>(frames[i]));
  if (frames_of_thread) {
    stack.resize(stack.size() - std::min(stack.size(), frames_of_thread));
    stack.insert(stack.end(), stack_behind.begin(), stack_behind.end());
  }
  return stack;
}

void set_stack_behind(std::vector<uint64_t> stack) {
  frames_of_thread = 0;
  const size_t here = call_stack().size();
  frames_of_thread = here - 1;  // but for this one
  stack_behind = std::move(stack);
}

Call call_under_way() { return call_of(call_stack()); }

Call call_of(const std::vector<uint64_t>& stack) {
  Call call;
  for (const uint64_t pc : stack) {
    // The call may be the last instruction of its function.
    std::string name = symbols::function_name(pc - 1);
    if (name.starts_with("cuda")) {
      call.name = name.substr(0, name.find('<'));
    } else if (name.starts_with("simt::detail::run_grid")) {
      call.name = "the launch";
    }
    if (call.name.empty() || name.starts_with("cuda") || name.starts_with("simt::")) continue;
    const symbols::Location& at = symbols::locate(pc);
    if (at.line > 0 && !symbols::is_library_file(at.file)) {
      call.pc = pc;
      break;
    }
  }
  return call;
}

void explain(std::string why, std::string kernel, std::string about) {
  ApiErrors& s = api_errors();
  const std::lock_guard lock(s.mutex);
  s.why = std::move(why);
  s.kernel = std::move(kernel);
  s.about = std::move(about);
}

void note_api_error(cudaError_t error) {
  ApiErrors& s = api_errors();
  const std::lock_guard lock(s.mutex);
  const std::string kernel = std::exchange(s.kernel, {});
  std::string why = std::exchange(s.why, {}), about = std::exchange(s.about, {});
  if (error == cudaErrorMemoryAllocation) s.allocation = call_under_way();
  if (may_fail(error) && why.empty()) return;
  Call caller = call_under_way();
  for (ApiError& known : s.errors) {
    if (known.pc != caller.pc || known.error != error) continue;
    known.told = known.taken = known.looked_at = known.dealt_with = false;
    return;
  }
  const bool is_launch = !kernel.empty();
  std::string call = is_launch             ? launch_of(kernel)
                     : caller.name.empty() ? "a call of the runtime"
                                           : std::move(caller.name);
  s.errors.push_back(
      {error, caller.pc, std::move(call), std::move(why), std::move(about), is_launch});
}

uint64_t program_caller() { return call_under_way().pc; }

void api_error_told(cudaError_t error, bool taken) {
  ApiErrors& s = api_errors();
  const std::lock_guard lock(s.mutex);
  for (ApiError& known : s.errors) {
    if (known.error != error) continue;
    known.told = true;
    known.taken |= taken;
    known.dealt_with |= taken && known.looked_at && !known.is_launch;
  }
}

void api_error_named(cudaError_t error) {
  ApiErrors& s = api_errors();
  const std::lock_guard lock(s.mutex);
  for (ApiError& known : s.errors) {
    if (known.error == error) known.named = known.looked_at = true;
  }
}

void launch_begins(const std::string& kernel) {
  ApiErrors& s = api_errors();
  const std::lock_guard lock(s.mutex);
  for (ApiError& known : s.errors) {
    if (!known.is_launch || !known.taken || known.call != launch_of(kernel)) continue;
    known.dealt_with |= known.pc == program_caller();
  }
}

static std::string text_of(const ApiError& error) {
  return error.call + " at " + symbols::locate(error.pc).text() + " failed and did nothing" +
         (error.why.empty() ? std::string() : ", as " + error.why);
}

std::string untold_launch() {
  ApiErrors& s = api_errors();
  const std::lock_guard lock(s.mutex);
  for (const ApiError& error : s.errors) {
    if (error.is_launch && !error.told) return text_of(error);
  }
  return {};
}

std::string failed_allocation() {
  ApiErrors& s = api_errors();
  const std::lock_guard lock(s.mutex);
  if (!s.allocation.pc) return {};
  return s.allocation.name + " at " + symbols::locate(s.allocation.pc).text() +
         " found less memory than it asks for, and left a null pointer";
}

std::string failed_call_on(const std::string& allocation) {
  if (allocation.empty()) return {};
  ApiErrors& s = api_errors();
  const std::lock_guard lock(s.mutex);
  for (const ApiError& error : s.errors) {
    const bool is_about_it = error.why.find(allocation) != std::string::npos ||
                             error.about.find(allocation) != std::string::npos;
    if (!error.taken && is_about_it) return text_of(error);
  }
  return {};
}

std::vector<Finding> take_api_errors(std::optional<int> status) {
  ApiErrors& s = api_errors();
  std::vector<ApiError> errors;
  {
    const std::lock_guard lock(s.mutex);
    errors = std::exchange(s.errors, {});
  }
  std::vector<Finding> findings;
  for (const ApiError& error : errors) {
    if (error.told && !status) continue;
    if (error.taken && (!error.named || error.dealt_with) && *status == 0) continue;
    const bool unseen_launch = error.is_launch && !error.told;
    const symbols::Location& at = symbols::locate(error.pc);
    Finding f =
        finding_at(at, "api-error",
                   unseen_launch || status.value_or(0) != 0 ? Severity::error : Severity::warning);
    f.message =
        error.call + " at " + at.text() + " failed and did nothing" +
        (error.why.empty() ? std::string() : ": " + error.why) + ". " +
        (error.is_launch ? "Its error is " : "It returned ") + cudaGetErrorName(error.error) +
        " (" + cudaGetErrorString(error.error) + ")" +
        (unseen_launch     ? ", and the program never asked for it: the results of the kernel are "
                             "missing. Call cudaGetLastError() after every launch."
         : error.is_launch ? ". The results of the kernel are missing."
                           : ". Look at what every call of the runtime returns.");
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace simt::device
