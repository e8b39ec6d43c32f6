// What launches have left behind and what was found in them, until the program asks or ends.
#pragma once

#include <cuda_runtime_api.h>
#include <simt/simt.h>

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/fault.h"
#include "count/count_table.h"
#include "count/recording.h"
#include "program/symbols.h"

namespace simt::device {

// What a launch leaves behind.
struct Record {
  Launch launch;
  std::map<uint64_t, Counts> by_pc;
  std::map<uint64_t, engine::Example> examples;
  std::map<uint64_t, uint64_t> polls;  // by program counter: see CountTable::Entry
  std::vector<engine::RecordedStep> steps;
  bool resolved = false;  // `launch` has its source lines
};

// A piece of work that the program has given to a stream.
struct Scheduled {
  std::string what;  // a kernel's name; or HtoD, memset and the like
  int stream = 0;    // from 1 in the order in which they are used in the round; 0: a default stream
  int device = 0;
  uint64_t pc = 0;            // of the call
  std::vector<size_t> after;  // what it has to wait for, in the same round: of each stream the last
};

// From one wait of the host for all work to the next.
struct Round {
  std::vector<Scheduled> work;
  bool is_cut = false;  // there was more than is kept
};

struct Log {
  std::recursive_mutex mutex;
  std::deque<Record> records;
  std::vector<Finding> host_findings;  // all of them
  std::vector<Finding> pending;        // not taken: the errors among them fail the process
  // Kind, kernel and place of what was found in kernels -> the launch in which it was told. What comes again in
  // later launches is on record, and told no more.
  std::map<std::tuple<std::string, std::string, std::string, int>, int> told;
  std::vector<Finding> held;    // that come of calls that failed: these are told first, at the end
  size_t asserted = 0;          // those of them that are failed assertions
  bool prints = true;           // findings, to stderr
  std::set<std::string> notes;  // what the counts leave out, for the trace
  std::vector<Round> rounds;    // of programs with streams
};
Log& log();

// Sums the counts of a launch by source line, once.
void resolve(Record& record);

// A finding of the host's, at a line.
Finding finding_at(const symbols::Location& at, std::string kind,
                   Severity severity = Severity::error);

// Records a finding, prints it, and makes the process fail, if it is an error and nobody takes it.
void report(Finding finding);
void report_held();
size_t pending_errors();

// The trace says so once, in this sentence.
void note_uncounted(const std::string& sentence);

// Gives the launch its number and its sum, keeps it, and reports its faults. Returns the error that stays with the device, if
// one of them ends the kernel.
cudaError_t finish_launch(Record record, const std::vector<engine::Fault>& faults);

}  // namespace simt::device
