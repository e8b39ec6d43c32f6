#include "compiled/code.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiled/warp.h"

namespace simt::compiled {
namespace {

bool starts(std::string_view text, std::string_view prefix) { return text.starts_with(prefix); }

int64_t number_of(std::string_view text) {
  const bool minus = starts(text, "-");
  if (minus) text.remove_prefix(1);
  const auto value = static_cast<int64_t>(std::strtoull(std::string(text).c_str(), nullptr, 0));
  return minus ? -value : value;
}

unsigned index_of(std::string_view digits, unsigned zero) {
  return starts(digits, "Z") ? zero : static_cast<unsigned>(std::atoi(std::string(digits).c_str()));
}

// R2.64+UR4+-0x10
void read_address(std::string_view text, Operand& operand) {
  while (!text.empty()) {
    const size_t end = text.find('+');
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (starts(part, "UR")) {
      operand.uniform_base = static_cast<uint8_t>(index_of(part.substr(2), kZeroUniform));
    } else if (starts(part, "R")) {
      operand.base = static_cast<uint8_t>(index_of(part.substr(1), kZeroRegister));
      operand.wide |= part.find(".64") != std::string_view::npos;
      if (const size_t x = part.find(".X"); x != std::string_view::npos)
        operand.scale = static_cast<uint8_t>(std::atoi(std::string(part.substr(x + 2)).c_str()));
    } else {
      operand.number += number_of(part);
    }
  }
}

Operand operand_of(std::string text) {
  Operand operand;
  for (;;) {
    if (starts(text, "-") && text.size() > 1 && !std::isdigit(text[1]) && text[1] != 'I' &&
        text[1] != 'Q') {
      operand.negated = true;
    } else if (starts(text, "!")) {
      operand.negated = true;
    } else if (starts(text, "~")) {
      operand.inverted = true;
    } else {
      break;
    }
    text.erase(0, 1);
  }
  if (starts(text, "|")) {
    operand.absolute = true;
    text.erase(std::remove(text.begin(), text.end(), '|'), text.end());
  }
  const std::string_view view = text;
  if (const size_t at = view.find("c["); at == 0) {
    operand.kind = Kind::constant;
    const size_t close = view.find(']');
    operand.index = static_cast<uint8_t>(number_of(view.substr(2, close - 2)));
    read_address(view.substr(close + 2, view.rfind(']') - close - 2), operand);
  } else if (view.find('[') != std::string_view::npos) {  // desc[UR4][R2.64] or [R2]
    operand.kind = Kind::memory;
    const size_t open = view.rfind('[');
    read_address(view.substr(open + 1, view.rfind(']') - open - 1), operand);
  } else if (starts(view, "SR")) {
    operand.kind = Kind::special;
    operand.name = text;
  } else if (starts(view, "UR")) {
    operand.kind = Kind::uniform;
    operand.index = static_cast<uint8_t>(index_of(view.substr(2), kZeroUniform));
  } else if (starts(view, "UP") && view != "UPR") {
    operand.kind = Kind::uniform_predicate;
    operand.index =
        static_cast<uint8_t>(view == "UPT" ? kTruePredicate : index_of(view.substr(2), 0));
  } else if (view == "PR" || view == "UPR") {
    operand.kind = Kind::special;
    operand.name = text;
  } else if (starts(view, "P")) {
    operand.kind = Kind::predicate;
    operand.index =
        static_cast<uint8_t>(view == "PT" ? kTruePredicate : index_of(view.substr(1), 0));
  } else if (starts(view, "R")) {
    operand.kind = Kind::reg;
    operand.index = static_cast<uint8_t>(index_of(view.substr(1), kZeroRegister));
    operand.wide = view.find(".64") != std::string_view::npos;
    // Halves of a register and the like are for arithmetic that is not done here.
    if (view.find(".H") != std::string_view::npos || view.find(".B") != std::string_view::npos)
      operand.name = text;
  } else if (starts(view, "B") && view.size() < 4) {
    operand.kind = Kind::barrier;
    operand.index = static_cast<uint8_t>(index_of(view.substr(1), 0));
  } else if (starts(view, "0x") || starts(view, "-0x")) {
    operand.kind = Kind::number;
    operand.number = number_of(view);
  } else if (!view.empty() && (std::isdigit(view[0]) || view[0] == '-' || view[0] == '+')) {
    operand.kind = Kind::real;
    operand.real = view.find("INF") != std::string_view::npos   ? INFINITY
                   : view.find("NAN") != std::string_view::npos ? NAN
                                                                : std::atof(text.c_str());
    if (view[0] == '-' && !std::isfinite(operand.real)) operand.real = -operand.real;
  } else {
    operand.kind = Kind::special;
    operand.name = text;
  }
  return operand;
}

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

Instruction instruction_of(std::istringstream& words) {
  Instruction made;
  std::string guard, name, operand;
  words >> std::hex >> made.address >> std::dec >> guard >> name;
  if (guard != "-") made.guard = operand_of(guard.substr(1));
  const size_t dot = name.find('.');
  made.opcode = name.substr(0, dot);
  if (dot != std::string::npos) made.modifiers = name.substr(dot) + ".";
  for (size_t i = 0; i < std::size(kModifiers); ++i) {
    const std::string whole = "." + std::string(kModifiers[i]) + ".";
    made.flags[i] = made.modifiers.find(whole) != std::string::npos;
  }
  while (words >> operand) made.operands.push_back(operand_of(operand));
  made.code = operation_of(made.opcode);
  return made;
}

}  // namespace

std::vector<Code> read(const char* path) {
  std::vector<Code> codes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "kernel") {
      codes.emplace_back();
      // Names have blanks: one a line.
      codes.back().name = line.substr(7);
      codes.back().base = plain_name(codes.back().name);
    } else if (codes.empty()) {
      continue;
    } else if (what == "parameter") {
      Code::Parameter parameter;
      words >> parameter.offset >> parameter.size;
      codes.back().parameters.push_back(parameter);
    } else if (what == "local") {
      words >> codes.back().local_bytes;
    } else if (what == "variable" || what == "address" || what == "bytes" || what == "table") {
      Code::Piece piece;
      piece.is_address = what == "address" || what == "table";
      words >> piece.bank >> piece.offset;
      if (what == "bytes" || what == "table") {
        std::string hex;
        words >> hex;
        piece.bytes = bytes_of(hex);
      } else {
        words >> std::hex >> piece.symbol >> std::dec >> piece.size;
      }
      codes.back().pieces.push_back(std::move(piece));
    } else if (what == "i") {
      codes.back().instructions.push_back(instruction_of(words));
    }
  }
  return codes;
}

std::string plain_name(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const size_t scope = name.rfind(':');
  return std::string(scope == std::string_view::npos ? name : name.substr(scope + 1));
}

const Code* find(const std::vector<Code>& codes, std::string_view name) {
  const std::string base = plain_name(name);
  const Code *exact = nullptr, *only = nullptr;
  int exacts = 0, bases = 0;
  for (const Code& code : codes) {
    if (code.name == name) exact = &code, ++exacts;
    if (code.base == base) only = &code, ++bases;
  }
  return exacts == 1 ? exact : bases == 1 ? only : nullptr;
}

}  // namespace simt::compiled
