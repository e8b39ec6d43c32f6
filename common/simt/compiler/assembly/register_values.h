/// \file
/// Which registers hold the same value, in assembly that g++ has written for x86-64.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simtcc {

/// `offset` more than what the value with this number is.
struct RegisterValue {
  int number = 0;
  int64_t offset = 0;
};

/// What stands behind an instruction's name: `8(%rax,%rbx,4)` and `%rdi`.
std::vector<std::string_view> operands_of(std::string_view line);

/// Follows the instructions of a function from line to line. What is computed alike from the same values is the same value.
class RegisterValues {
 public:
  /// The line is carried out. A call leaves the registers alone that functions have to keep.
  void step(std::string_view line);
  /// The code may be reached from elsewhere: nothing is known.
  void forget() { known_.clear(); }
  /// Of a register such as "%rdi".
  RegisterValue of(std::string_view register_name);
  /// Is the value an address in a variable of the thread, which is what shared memory is?
  bool is_shared(int value) const { return shared_.contains(value); }
  /// How many of its lowest bits are 0 for sure, of 6 at most. The variables themselves are taken as aligned to 64 bytes.
  unsigned zeros(int value) const;

 private:
  RegisterValue fresh() { return {++last_, 0}; }
  RegisterValue computed(const std::string& how);
  RegisterValue computed_narrow(const std::string& how);
  RegisterValue address(std::string_view operand);
  void set(std::string_view register_name, RegisterValue value);

  int last_ = 0;
  std::map<std::string, RegisterValue> known_;  // of registers, and of places in the frame
  std::map<std::string, int> computed_;
  std::set<int> narrow_;  // values of 32 bits
  std::set<int> shared_;
  std::map<int, unsigned> zeros_;
};

}  // namespace simtcc
