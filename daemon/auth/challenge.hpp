#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// One challenge of a WWW-Authenticate field.
struct Challenge {
  std::string scheme;                                           ///< in lower case
  std::string token68;                                          ///< instead of parameters
  std::vector<std::pair<std::string, std::string>> parameters;  ///< names in lower case, unquoted

  /// Empty if there is none; of several the first.
  std::string_view parameter(std::string_view name) const;
};

/// RFC 9110, section 11.6.1; fields that were repeated joined by commas. What is not well-formed is
/// skipped up to the next comma. Pure.
std::vector<Challenge> parse_challenges(std::string_view field);

/// The parameter of the first Bearer challenge that has it; empty if none has.
std::string bearer_parameter(const std::vector<Challenge>& challenges, std::string_view name);

/// The same, if it can be sent on; else empty.
std::string bearer_hint(const std::vector<Challenge>& challenges, std::string_view name);

}  // namespace bridge
