#include "lab/chapter.h"

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "lab/check.h"
#include "lab/device.h"
#include "lab/json.h"
#include "lab/rungs.h"
#include "lab/table.h"

namespace lab {

namespace {

std::string base_name(const char* path) {
  const std::string text = path == nullptr ? "chapter" : path;
  return text.substr(text.find_last_of('/') + 1);
}

/// Which extents a size has, by their number.
SizeKind kind_of(const std::string& size) {
  const auto commas = std::count(size.begin(), size.end(), ',');
  return commas == 0 ? SizeKind::n : commas == 1 ? SizeKind::rows_cols : SizeKind::m_n_k;
}

}  // namespace

std::string variant_name(std::string_view label, const std::string& value) {
  return label.empty() ? value : std::string(label) + "=" + value;
}

ChapterConfig detail::config_of_header() {
  const Header& header = this_header();
  if (header.folder.empty())
    detail::fail(
        "no header was linked to this program: CMake does that for the folders of chapters/");
  return {.name = header.folder, .default_size = header.default_size(this_backend())};
}

Chapter::Chapter(int argc, char** argv, const std::vector<OwnOption>& own)
    : Chapter(argc, argv, kind_of(this_header().size_gpu), detail::config_of_header(), own) {
  if (options_.sizes.size() > 1 || wants_cases()) take_turns();
}

Chapter::Chapter(int argc, char** argv, SizeKind kind, const ChapterConfig& config,
                 const std::vector<OwnOption>& own)
    : program_(base_name(argc > 0 ? argv[0] : nullptr)), config_(config) {
  try {
    options_ = parse_command_line(argc, argv, kind, config_.default_size, has_cases(kind), own);
  } catch (const BadInput& bad) {
    usage(bad.what());
  }
  if (options_.help) {
    print_help(kind, own);
    std::exit(0);
  }
  if (options_.list) {
    print_list();
    std::exit(0);
  }
  if (options_.json.empty()) return;
  // Better now than after the work. Appending nothing leaves an older file as it is.
  errno = 0;
  const bool existed = access(options_.json.c_str(), F_OK) == 0;
  std::FILE* const file = std::fopen(options_.json.c_str(), "a");
  if (file == nullptr) {
    usage("--json '" + options_.json + "' cannot be written: " + std::strerror(errno));
  }
  std::fclose(file);
  if (!existed) std::remove(options_.json.c_str());
}

Chapter::~Chapter() = default;
Rung::~Rung() = default;
Peer::~Peer() = default;

void Chapter::usage(const std::string& message) const {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", program_.c_str(), one_line(message).c_str());
  std::exit(2);
}

bool Chapter::has_cases(SizeKind kind) const {
  return kind == SizeKind::m_n_k || header().kind == "map";
}

void Chapter::print_help(SizeKind kind, const std::vector<OwnOption>& own) const {
  std::string usage, lines;
  for (const OwnOption& option : own) {
    const std::string spelled = option.name + (option.value.empty() ? "" : " " + option.value);
    usage += " [--" + spelled + "]";
    lines += format("  --%-14s  %s\n", spelled.c_str(), option.help.c_str());
  }
  const std::string size = spelling(kind);
  const std::string fallback =
      config_.default_size.empty() ? "" : "; default " + config_.default_size;
  const bool product = kind == SizeKind::m_n_k, cases = has_cases(kind);
  const bool several = product || !header().folder.empty();
  std::printf(
      "usage: %s [--rung NAME]... [--size %s]%s [--seed S] [--json FILE]%s%s\n"
      "       %s --list | --help\n"
      "\n"
      "Runs the rungs of chapter %s on the %s, checks each of them, and prints the ladder.\n"
      "\n"
      "  --rung NAME       only this rung; may be given several times\n"
      "  --size %-9s  whole numbers from 1 to %llu%s%s\n"
      "  --seed S          which random inputs; default 1\n"
      "  --json FILE       also writes the results there\n"
      "  --list            names the rungs\n"
      "%s%s"
      "\n"
      "Environment: LAB_TIMING=off checks without timing; LAB_GUARD=0 takes the canaries away "
      "(for\n"
      "compute-sanitizer); NO_COLOR=1 prints no colours.\n"
      "\n"
      "Exit code: 0 every rung is PASS or SKIP, 1 one is FAIL or ERROR, 2 bad input.\n",
      program_.c_str(), size.c_str(), several ? "..." : "", cases ? " [--cases WHICH]" : "",
      usage.c_str(), program_.c_str(), config_.name.c_str(), config_.backend.name.c_str(),
      size.c_str(), static_cast<unsigned long long>(largest_dimension(kind)), fallback.c_str(),
      several ? "; several: a ladder for each" : "",
      !cases ? ""
      : product
          ? "  --cases WHICH     instead of a size, many small products with every edge, leading\n"
            "                    dimension, alpha and beta: all, a number, or FIRST-LAST; checks\n"
            "                    each rung on each of them, without times\n"
          : "  --cases WHICH     instead of a size, many small ones: all, a number, or "
            "FIRST-LAST;\n"
            "                    checks each rung on each of them, without times\n",
      lines.c_str());
}

void Chapter::print_list() const {
  std::size_t width = 0;
  for (const HeaderRung& line : header().rungs) width = std::max(width, line.name.size());
  for (const HeaderRung& line : header().rungs) {
    const std::string gap(line.idea.empty() ? 0 : width - line.name.size() + 2, ' ');
    std::printf("%s%s%s\n", line.name.c_str(), gap.c_str(), line.idea.c_str());
  }
}

bool Chapter::wants(std::string_view rung) const {
  return options_.rungs.empty() ||
         std::find(options_.rungs.begin(), options_.rungs.end(), rung) != options_.rungs.end();
}

void Chapter::require(bool legal, std::string_view what) const {
  if (!legal) usage("--size with " + to_string(size()) + ": " + std::string(what));
}

void Chapter::copy_extents(std::size_t* values, std::size_t count) const {
  const auto dimensions = size().dimensions();
  if (dimensions.size() != count) {
    detail::fail(format("extents<%zu>() of a size that has %zu: %s", count, dimensions.size(),
                        spelling(size().kind).c_str()));
  }
  for (std::size_t i = 0; i < count; ++i) values[i] = dimensions[i].second;
}

void Chapter::add(const Rung& rung) {
  const HeaderRung* const line = header().find(rung.name);
  if (line == nullptr && !header().rungs.empty()) {
    detail::fail("rung " + rung.name + " is registered, and the header of " + header().folder +
                 " does not name it");
  }
  for (const Entry& entry : entries_) {
    if (entry.rung.name == rung.name && entry.rung.variant == rung.variant) {
      detail::fail("rung " + rung.name + " " + rung.variant + " was added twice");
    }
  }
  entries_.push_back({rung, line != nullptr ? *line : HeaderRung{.name = rung.name}});
}

void Chapter::demonstrate(std::string_view name, const std::function<void()>& launch,
                          const std::vector<Buffer*>& outputs) {
  require_finding(name);
  add({.name = std::string(name), .launch = launch, .outputs = outputs});
}

void Chapter::require_finding(std::string_view demonstration) const {
  const HeaderRung* const line = header().find(demonstration);
  if (line == nullptr || line->raises.empty()) {
    detail::fail("demonstration " + std::string(demonstration) +
                 ": its line in the header has no [raises KIND]");
  }
}

/// The compute capability of the device, asked for once: a lost context answers nothing.
int Chapter::capability() {
  if (capability_ == 0) capability_ = compute_capability();
  return capability_;
}

/// Brings the rungs into the order of the header, and adds those that it names and nothing registered.
/// \param all whether all rungs are to be here: it is the first size, and no case
void Chapter::arrange(bool all) {
  if (header().rungs.empty()) return;
  std::vector<Entry> arranged;
  for (const HeaderRung& line : header().rungs) {
    const std::size_t before = arranged.size();
    for (Entry& entry : entries_) {
      if (entry.rung.name == line.name) arranged.push_back(std::move(entry));
    }
    if (arranged.size() > before) {
      if (all) there_.insert(line.name);
      continue;
    }
    // What was there at the first size is complete with it: a microbenchmark, which has no size.
    if (!all && there_.contains(line.name)) continue;
    if (!all && unmet_needs(line, config_.backend, false, capability()).empty()) continue;
    arranged.push_back({{.name = line.name}, line, true});
  }
  entries_ = std::move(arranged);
}

void Chapter::peer(const Peer& peer) { peers_.push_back(peer); }

void Chapter::skip(std::string_view rung, std::string_view reason) {
  add({.name = std::string(rung)});
  entries_.back().skip_reason = reason;
}

void Chapter::skip_peer(std::string_view name, std::string_view reason) {
  skipped_peers_.emplace_back(name, reason);
}

const Peer* Chapter::find_peer(const std::string& name) const {
  for (const Peer& peer : peers_) {
    if (peer.name == name) return &peer;
  }
  return nullptr;
}

}  // namespace lab
