#include "handover.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "confine.h"

namespace grader::handover {
namespace {

constexpr int kPieces = 3;  // the descriptor of the performing process
constexpr std::size_t kMostBytes = 1ull
                                   << 28;  // of a piece; an exercise has a few hundred thousand

std::FILE* given = nullptr;  // in the process that performs
std::FILE* taken = nullptr;  // in the one that judges
pid_t performer = -1;

}  // namespace

void perform() { given = fdopen(kPieces, "w"); }

bool performs() { return given != nullptr; }

bool start(const char* program, const char* variant) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t judge = getpid();
  performer = fork();
  if (performer < 0) return false;
  if (performer == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != judge) _exit(127);
    // 3 and standard input and output are all that it gets.
    if (dup2(ends[1], kPieces) < 0 || (ends[1] == kPieces && fcntl(kPieces, F_SETFD, 0) != 0))
      _exit(127);
    close_range(kPieces + 1, ~0U, 0);
    confine();
    execl(program, program, "--perform", variant, nullptr);
    _exit(127);
  }
  close(ends[1]);
  taken = fdopen(ends[0], "r");
  return taken != nullptr;
}

int finish(bool kill_it) {
  std::fclose(taken);
  if (kill_it) kill(performer, SIGKILL);
  int status = 0;
  waitpid(performer, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void give(std::string_view piece, Json json, std::string_view bytes) {
  json["piece"] = piece;
  json["bytes"] = bytes.size();
  // The name of a learner's file need not be UTF-8.
  std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(line.data(), 1, line.size(), given);
  std::fwrite(bytes.data(), 1, bytes.size(), given);
  std::fflush(given);
}

Json take(std::string_view piece, std::string* bytes) {
  std::string line;
  for (int c; (c = std::fgetc(taken)) != '\n'; line += static_cast<char>(c)) {
    if (c == EOF) throw Ended();
    if (line.size() == kMostBytes) throw Unexpected();
  }
  Json json = Json::parse(line, nullptr, false);
  try {
    const std::size_t size = json.at("bytes").get<std::size_t>();
    if (json.at("piece").get<std::string>() != piece || size > kMostBytes || (size > 0 && !bytes))
      throw Unexpected();
    if (!bytes) return json;
    bytes->resize(size);
    if (std::fread(bytes->data(), 1, size, taken) != size) throw Ended();
  } catch (const Json::exception&) {
    throw Unexpected();
  }
  return json;
}

}  // namespace grader::handover
