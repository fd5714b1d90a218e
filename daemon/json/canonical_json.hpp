#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// A text that is the same however this value was written: no white space, members in the order of
/// their names' bytes, strings as quote() writes them, numbers unchanged. REQUIRES: a JsonScanner
/// has accepted it. Pure.
std::string canonical_json(std::string_view value);
/// Appends that text.
void append_canonical_json(std::string& out, std::string_view value);

}  // namespace bridge
