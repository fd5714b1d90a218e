#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// One text for all ways to write this value: no white space, members in the order of their names'
/// bytes, strings as quote() writes them, numbers as they were written. REQUIRES: a JsonScanner has
/// accepted it. Pure.
std::string canonical_json(std::string_view value);
/// Appends the same.
void append_canonical_json(std::string& out, std::string_view value);

}  // namespace bridge
