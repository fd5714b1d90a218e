#pragma once

#include <string>
#include <string_view>

/// The text of JSON strings, both ways.
namespace client::json {

/// A JSON string with its quotes. Only what JSON demands is escaped. REQUIRES: valid UTF-8.
std::string quote(std::string_view utf8);

/// JSON text on one line: raw line breaks can only be white space in it, and become spaces.
std::string on_one_line(std::string_view valid_json);

}  // namespace client::json
