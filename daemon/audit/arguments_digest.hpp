#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// SHA-256 of the arguments by value, canonical_json() of them, as 64 hexadecimal digits.
/// `arguments`: JSON that a JsonScanner has accepted.
std::string arguments_digest(std::string_view arguments);

}  // namespace bridge
