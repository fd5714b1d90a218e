#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// Appends `text` on one line, as a person may see it: what hidden_characters.hpp names becomes an
/// escape (\u001b, \u202e, \n), bytes that are no UTF-8 become \xff. Of valid JSON the result is
/// JSON of the same value.
void append_visible(std::string& out, std::string_view text);

}  // namespace bridge
