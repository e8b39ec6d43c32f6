#include "assembly/layout.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "assembly/assembly.h"

namespace simtcc {
namespace {

using Line = std::string_view;
using Blocks = std::set<unsigned>;

struct Block {
  std::vector<std::string> lines;
  std::vector<unsigned> next;  // where it can go on
  bool falls = false;          // ... without a jump, to the one that follows in g++'s order
  std::string place;           // the .loc in force where it begins
};

class Function {
 public:
  explicit Function(const std::vector<Line>& lines) : lines_(lines) {}

  // Its lines in the new order; nothing if they are to stay as they are.
  std::optional<std::vector<std::string>> reordered(unsigned& labels) {
    if (!split()) return {};
    order_.resize(blocks_.size());
    for (unsigned i = 0; i < order_.size(); ++i) order_[i] = i;
    Blocks all(order_.begin(), order_.end());
    part_loops(all);
    if (std::is_sorted(order_.begin(), order_.end()) || order_[0] != 0) return {};
    if (!unwinds()) return {};
    keep_scopes();
    return written(labels);
  }

 private:
  static constexpr Line kRestore = "\t.cfi_restore_state";

  bool split() {
    std::set<Line> targets;
    for (const Line line : lines_) {
      if (is_instruction(line) && line.find("jmp\t*") != Line::npos) return false;
      if (line.starts_with("#APP") || line.starts_with("\t.cfi_lsda") ||
          line.starts_with("\t.section"))
        return false;
      if (const Line target = target_of(line); !target.empty()) targets.insert(target);
    }
    if (targets.empty()) return false;

    std::size_t end = lines_.size();  // what follows the last instruction stays at the end
    while (end && !is_instruction(lines_[end - 1]) && !targets.contains(label_of(lines_[end - 1])))
      --end;
    tail_.assign(lines_.begin() + static_cast<std::ptrdiff_t>(end), lines_.end());

    std::map<Line, unsigned> at;
    std::string place;
    bool begun = false, has_code = false, restored = false;
    for (std::size_t i = 0; i < end; ++i) {
      const Line line = lines_[i];
      if (line.starts_with("\t.file\t") || line.starts_with("\t.file ")) {
        files_.emplace_back(line);
        continue;
      }
      const Line label = label_of(line);
      const bool is_target = targets.contains(label);
      if (!begun || (is_target && has_code)) {
        blocks_.push_back({{}, {}, false, place});
        begun = true;
        has_code = false;
      }
      if (is_target) at[label] = static_cast<unsigned>(blocks_.size() - 1);
      if (line.starts_with("\t.loc\t") || line.starts_with("\t.loc "))
        place = line.substr(0, line.find(" view"));
      if (restored && line == kRestore) continue;
      blocks_.back().lines.emplace_back(line);
      has_code |= is_instruction(line);
      restored &= !has_code;
      if (!target_of(line).empty() || is_return(line)) {
        // What the end of the function says of the stack goes on being true behind it.
        const auto rest = lines_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        const auto code = std::find_if(rest, lines_.end(), is_instruction);
        restored = is_return(line) && std::find(rest, code, kRestore) != code;
        if (restored) blocks_.back().lines.emplace_back(kRestore);
        begun = false;
      }
    }
    for (unsigned b = 0; b < blocks_.size(); ++b) {
      Block& block = blocks_[b];
      const auto last = std::find_if(block.lines.rbegin(), block.lines.rend(),
                                     [](const std::string& line) { return is_instruction(line); });
      const Line end_of_block = last == block.lines.rend() ? Line{} : Line{*last};
      if (const Line target = target_of(end_of_block); !target.empty()) {
        if (!at.contains(target)) return false;
        block.next.push_back(at[target]);
        block.falls = word(end_of_block) != "jmp";
      } else {
        block.falls = !is_return(end_of_block);
      }
      block.falls &= b + 1 < blocks_.size();
      if (block.falls) block.next.push_back(b + 1);
    }
    return true;
  }

  // The sets of blocks that can reach each other by way of `nodes` (Tarjan's algorithm).
  std::vector<Blocks> cycles(const Blocks& nodes) const {
    std::vector<Blocks> found;
    std::map<unsigned, unsigned> index, low;
    std::vector<unsigned> stack;
    Blocks open;
    const std::function<void(unsigned)> visit = [&](unsigned v) {
      index[v] = low[v] = static_cast<unsigned>(index.size());
      stack.push_back(v);
      open.insert(v);
      bool to_itself = false;
      for (const unsigned w : blocks_[v].next) {
        if (!nodes.contains(w)) continue;
        to_itself |= w == v;
        if (!index.contains(w)) {
          visit(w);
          low[v] = std::min(low[v], low[w]);
        } else if (open.contains(w)) {
          low[v] = std::min(low[v], index[w]);
        }
      }
      if (low[v] != index[v]) return;
      Blocks cycle;
      unsigned w;
      do {
        w = stack.back();
        stack.pop_back();
        open.erase(w);
        cycle.insert(w);
      } while (w != v);
      if (cycle.size() > 1 || to_itself) found.push_back(std::move(cycle));
    };
    for (const unsigned v : nodes) {
      if (!index.contains(v)) visit(v);
    }
    return found;
  }

  void part_loops(const Blocks& nodes) {
    for (const Blocks& loop : cycles(nodes)) {
      Blocks left;  // what is reached from it, and is no part of it
      std::vector<unsigned> todo(loop.begin(), loop.end());
      while (!todo.empty()) {
        const unsigned b = todo.back();
        todo.pop_back();
        for (const unsigned w : blocks_[b].next) {
          if (nodes.contains(w) && !loop.contains(w) && left.insert(w).second) todo.push_back(w);
        }
      }
      const auto in_loop = [&](unsigned b) { return loop.contains(b); };
      const auto last = std::find_if(order_.rbegin(), order_.rend(), in_loop).base();
      std::stable_partition(order_.begin(), last, [&](unsigned b) { return !left.contains(b); });

      // The loops in it: those that do without its entry.
      unsigned entry = *loop.begin();
      for (unsigned b = 0; b < blocks_.size(); ++b) {
        if (loop.contains(b)) continue;
        for (const unsigned w : blocks_[b].next) {
          if (loop.contains(w)) entry = w;
        }
      }
      Blocks rest = loop;
      rest.erase(entry);
      part_loops(rest);
    }
  }

  // The code of an inlined call, or of a block of the source, lies between labels .LBBn and .LBEn. In the new order they
  // have to stand around the same blocks. (What comes between these is then inside, too.)
  void keep_scopes() {
    struct Scope {
      std::string begin_label, end_label;
      unsigned begin = 0, end = 0;  // blocks
      bool ends_ahead = false;      // of the first instruction of the block behind
    };
    std::map<std::string, Scope> scopes;
    for (unsigned b = 0; b < blocks_.size(); ++b) {
      bool ahead = b > 0;
      for (const std::string& line : blocks_[b].lines) {
        ahead &= !is_instruction(line);
        if (line.starts_with(".LBB")) {
          scopes[line.substr(4)] = {line, {}, b, static_cast<unsigned>(blocks_.size()) - 1, false};
        } else if (line.starts_with(".LBE")) {
          const auto found = scopes.find(line.substr(4));
          if (found == scopes.end()) continue;
          Scope& scope = found->second;
          scope.end_label = line;
          scope.ends_ahead = ahead && scope.begin < b;
          scope.end = scope.ends_ahead ? b - 1 : b;
        }
      }
    }
    std::vector<unsigned> position(order_.size());
    for (unsigned i = 0; i < order_.size(); ++i) position[order_[i]] = i;
    const auto take = [&](unsigned b, const std::string& label) {
      std::erase(blocks_[b].lines, label);
    };
    for (const auto& [name, scope] : scopes) {
      unsigned first = scope.begin, last = scope.begin;
      for (unsigned b = scope.begin; b <= scope.end; ++b) {
        if (position[b] < position[first]) first = b;
        if (position[b] > position[last]) last = b;
      }
      if (first != scope.begin) {
        take(scope.begin, scope.begin_label);
        blocks_[first].lines.insert(blocks_[first].lines.begin(), scope.begin_label);
      }
      if (!scope.end_label.empty() && (last != scope.end || scope.ends_ahead)) {
        take(scope.ends_ahead ? scope.end + 1 : scope.end, scope.end_label);
        blocks_[last].lines.push_back(scope.end_label);
      }
    }
  }

  // What is said of the stack is said in the order of the lines: no block that changes its place may change it.
  bool unwinds() const {
    for (unsigned i = 0; i < order_.size(); ++i) {
      if (order_[i] == i) continue;
      int depth = 0;
      for (const std::string& line : blocks_[order_[i]].lines) {
        if (!line.starts_with("\t.cfi_")) continue;
        if (line.starts_with("\t.cfi_remember_state")) ++depth;
        if (depth == 0) return false;
        if (line == kRestore) --depth;
      }
      if (depth != 0) return false;
    }
    return true;
  }

  std::vector<std::string> written(unsigned& labels) {
    std::vector<std::string> lines = files_;
    std::map<unsigned, std::string>
        label;  // of the blocks that were fallen into, and are jumped to
    for (unsigned i = 0; i < order_.size(); ++i) {
      const unsigned b = order_[i];
      if (blocks_[b].falls && (i + 1 == order_.size() || order_[i + 1] != b + 1) &&
          label[b + 1].empty())
        label[b + 1] = ".LSIMT" + std::to_string(labels++);
    }
    for (unsigned i = 0; i < order_.size(); ++i) {
      const unsigned b = order_[i];
      if (const auto named = label.find(b); named != label.end())
        lines.push_back(named->second + ":");
      if (i != b && !blocks_[b].place.empty()) lines.push_back(blocks_[b].place);
      lines.insert(lines.end(), blocks_[b].lines.begin(), blocks_[b].lines.end());
      if (blocks_[b].falls && (i + 1 == order_.size() || order_[i + 1] != b + 1))
        lines.push_back("\tjmp\t" + label[b + 1]);
    }
    lines.insert(lines.end(), tail_.begin(), tail_.end());
    return lines;
  }

  const std::vector<Line>& lines_;
  std::vector<Block> blocks_;
  std::vector<unsigned> order_;
  std::vector<std::string> tail_;
  std::vector<std::string> files_;  // numbers of source files: g++ gives one where it is first used
};

// Of `while (i < n) { s += a[i]; }` g++ leaves a jump to itself: such a loop does nothing that anybody sees, and never
// ends. It gets the call that every other block begins with, so that it is noticed. Nobody needs the stack pointer
// any more, which the call wants to be a multiple of 16.
std::vector<Line> with_endless_loops_traced(const std::vector<Line>& lines) {
  std::vector<Line> result;
  result.reserve(lines.size());
  std::set<Line> here;  // the labels ahead of which there has been no instruction since
  for (const Line line : lines) {
    if (const Line label = label_of(line); !label.empty()) here.insert(label);
    if (is_instruction(line)) {
      if (word(line) == "jmp" && here.contains(target_of(line))) {
        result.push_back("\tandq\t$-16, %rsp");
        result.push_back("\tcall\t__sanitizer_cov_trace_pc@PLT");
      }
      here.clear();
    }
    result.push_back(line);
  }
  return result;
}

// The function that a line calls, or nothing.
Line callee_of(Line line) {
  constexpr Line kCall = "\tcall\t";
  if (!line.starts_with(kCall)) return {};
  line.remove_prefix(kCall.size());
  return line.substr(0, line.find('@'));
}

// A function says that it is left; nothing but its return should come behind. But where two ways out both store to one place, g++
// makes the store once, behind what both of them say.
std::vector<Line> with_early_exits_named(std::vector<Line> lines) {
  constexpr Line kExit = "__tsan_func_exit";
  std::map<Line, std::size_t> labels;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (const Line label = label_of(lines[i]); !label.empty()) labels[label] = i;
  const auto accesses_behind = [&](std::size_t first) {
    std::vector<std::size_t> ways = {first};
    std::set<std::size_t> seen;
    while (!ways.empty()) {
      std::size_t i = ways.back();
      ways.pop_back();
      for (; i < lines.size() && seen.insert(i).second && !is_return(lines[i]); ++i) {
        const Line callee = callee_of(lines[i]);
        if ((callee.starts_with("__tsan_") && callee != kExit) || callee.starts_with("simt_"))
          return true;
        const auto target = labels.find(target_of(lines[i]));
        if (target != labels.end()) ways.push_back(target->second);
        if (word(lines[i]) == "jmp") break;
      }
    }
    return false;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (callee_of(lines[i]) == kExit && accesses_behind(i + 1))
      lines[i] = "\tcall\tsimt_leave_after_accesses@PLT";
  }
  return lines;
}

// What a loop calls that only waits: `while (*flag == 0) __nanosleep(20);` with a volatile flag, whose alignment may be checked.
bool may_wait(Line callee) {
  constexpr std::array<Line, 5> kCalls = {
      "__sanitizer_cov_trace_pc", "_ZN4simt6detail5yieldEv", "_ZN4simt6detail14await_arrivalsEv",
      "_ZN4simt6detail5fenceEv", "_ZN4simt6detail11fence_blockEv"};
  return callee.starts_with("__ubsan_handle_") ||
         std::find(kCalls.begin(), kCalls.end(), callee) != kCalls.end();
}

// Or what the headers say of one ahead of it.
bool is_atomic_operation(Line callee) {
  if (callee.starts_with("__tsan_atomic")) return true;
  constexpr Line kOwn = "_ZN4simt6detail";
  if (!callee.starts_with(kOwn)) return false;
  callee.remove_prefix(kOwn.size());
  callee.remove_prefix(std::min(callee.find_first_not_of("0123456789"), callee.size()));
  return callee.starts_with("atomicE") || callee.starts_with("announce_") ||
         callee.starts_with("mark_");
}

// A variable that each file defines in which something polls: the library looks whether there is one.
constexpr Line kPolls =
    "\t.section\t.bss.simt_program_polls,\"awG\",@nobits,simt_program_polls,comdat\n"
    "\t.weak\tsimt_program_polls\n"
    "simt_program_polls:\n"
    "\t.zero\t1\n"
    "\t.text\n";

// Loads of volatile memory in a loop that does nothing else poll a flag. They call a function of their own, so that the race
// check knows them. `polls`: there is one.
std::vector<Line> with_polls_named(std::vector<Line> lines, bool& polls) {
  constexpr Line kRead = "__tsan_volatile_read";
  constexpr std::array<std::pair<Line, Line>, 4> kNamed = {
      {{"__tsan_volatile_read1", "\tcall\tsimt_poll_read1@PLT"},
       {"__tsan_volatile_read2", "\tcall\tsimt_poll_read2@PLT"},
       {"__tsan_volatile_read4", "\tcall\tsimt_poll_read4@PLT"},
       {"__tsan_volatile_read8", "\tcall\tsimt_poll_read8@PLT"}}};
  std::map<Line, std::size_t> labels;
  for (std::size_t end = 0; end < lines.size(); ++end) {
    if (const Line label = label_of(lines[end]); !label.empty()) labels[label] = end;
    const auto begin = labels.find(target_of(lines[end]));
    if (begin == labels.end()) continue;
    std::vector<std::size_t> reads;
    bool has_atomics = false;
    const bool waits = std::all_of(
        lines.begin() + static_cast<std::ptrdiff_t>(begin->second),
        lines.begin() + static_cast<std::ptrdiff_t>(end), [&](Line& line) {
          const Line callee = callee_of(line);
          const bool is_read = callee.starts_with(kRead), is_atomic = is_atomic_operation(callee);
          if (is_read) reads.push_back(static_cast<std::size_t>(&line - lines.data()));
          has_atomics |= is_atomic;
          return callee.empty() || is_read || is_atomic || may_wait(callee);
        });
    if (!waits) continue;
    polls |= has_atomics || !reads.empty();
    for (const std::size_t at : reads) {
      for (const auto& [name, call] : kNamed) {
        if (!has_atomics && callee_of(lines[at]) == name) lines[at] = call;
      }
    }
  }
  return lines;
}

}  // namespace

std::string exits_behind_loops(std::string_view assembly) {
  std::string result;
  result.reserve(assembly.size() + assembly.size() / 16);
  unsigned labels = 0;
  bool polls = false;
  std::vector<Line> function;
  Line symbol;  // of the function that is being read; empty outside
  const auto flush = [&] {
    function = with_early_exits_named(std::move(function));
    function = with_polls_named(with_endless_loops_traced(function), polls);
    const auto moved = Function(function).reordered(labels);
    if (moved) {
      for (const std::string& line : *moved) result.append(line).push_back('\n');
    } else {
      for (const Line line : function) result.append(line).push_back('\n');
    }
    function.clear();
    symbol = {};
  };
  while (!assembly.empty()) {
    const Line line = next_line(assembly);
    if (!symbol.empty() && ends_function(line, symbol)) flush();
    if (!symbol.empty()) {
      function.push_back(line);
      continue;
    }
    result.append(line).push_back('\n');
    symbol = function_begun(line).value_or(Line{});
  }
  if (!symbol.empty()) flush();
  if (polls) result += kPolls;
  return result;
}

}  // namespace simtcc
