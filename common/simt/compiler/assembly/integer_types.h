/// \file
/// What an integer type is like, by its name in the source.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace simtcc {

struct Integer {
  bool is_signed;
  unsigned bits;  ///< 16 for all that have fewer than 32.
  auto operator<=>(const Integer&) const = default;
};

/// Knows the integer types by their names, those of typedefs too.
class IntegerTypes {
 public:
  /// \param source the text that g++ compiled; it has to outlive this
  explicit IntegerTypes(std::string_view source) : source_(source) {}

  /// \param name `unsigned char`, `long long unsigned int`, `uint8_t`
  /// \return nothing for what is no integer type, and for a name of which the source says two things
  std::optional<Integer> find(std::string_view name);

 private:
  std::optional<Integer> read(std::string_view name);
  std::optional<Integer> meant(std::string_view name);

  std::string_view source_;
  std::map<std::string, std::optional<Integer>, std::less<>> known_;
};

}  // namespace simtcc
