#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// JSON as editors write it, made strict: comments (`//…`, `/*…*/`), a comma behind the last member
/// or element and a byte order mark become white space. Everything keeps its place, so a position
/// in the result is one in `text`. Pure; what is no JSON otherwise stays as it is.
std::string strict_json(std::string_view text);

}  // namespace bridge
