#include "options/header_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/log.hpp"
#include "base/start_error.hpp"

namespace bridge {

std::string header_line(const std::string& name, const std::string& value,
                        const std::string& option, int code) {
  constexpr std::string_view token_characters =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (name.empty() || name.find_first_not_of(token_characters) != name.npos) {
    throw StartError(code, option + ": a header's name is not one");
  }
  const bool printable_only = std::none_of(value.begin(), value.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
  });
  if (!printable_only)
    throw StartError(code,
                     fmt::format("{} {}: the value has a control character in it", option, name));
  // curl sends a header without a value only if it ends with a semicolon.
  return value.empty() ? name + ";" : name + ": " + value;
}

}  // namespace bridge
