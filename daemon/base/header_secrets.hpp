#pragma once

#include <string>
#include <vector>

namespace bridge {

/// The value of a header that was configured; behind a scheme ("Bearer", "Basic") the credentials
/// are one by themselves (RFC 9110, section 11.4).
inline void add_header_secrets(const std::string& value, std::vector<std::string>& secrets) {
  secrets.push_back(value);
  const auto space = value.find(' ');
  if (space != value.npos) secrets.push_back(value.substr(space + 1));
}

}  // namespace bridge
