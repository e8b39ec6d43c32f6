// A check is two processes. One performs: it has the learner's code, runs it, and hands over what came of it, piece by
// piece and in the order of the checker. The other judges: it goes through the same checker without that code, and takes
// the piece wherever the first one gave it. What is right, and what passes, is decided there alone.
//
// A piece is a line of JSON, {"piece": ..., "bytes": n, ...}, and n bytes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace grader::handover {

using Json = nlohmann::ordered_json;

// The performing process has ended, or was ended, before it gave the next piece.
struct Ended {};
// It gave something else.
struct Unexpected {};

// This process performs from here on: start() of another one has started it.
void perform();
bool performs();

// Starts the process that performs for this one: `program --perform [variant]`. False if it cannot be started.
// It may write to no file, and is ended with this one.
bool start(const char* program, const char* variant);
// Waits for it: its exit code, or minus the signal that has ended it. `kill`: nothing more is wanted of it.
int finish(bool kill);

void give(std::string_view piece, Json json, std::string_view bytes = {});
// The next piece, which must be this one, and its bytes. Throws Ended, Unexpected.
Json take(std::string_view piece, std::string* bytes = nullptr);

}  // namespace grader::handover
