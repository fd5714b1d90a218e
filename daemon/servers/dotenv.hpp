#pragma once

#include <map>
#include <string>
#include <string_view>

namespace bridge {

/// The variables of a dotenv file: `NAME=value` lines, perhaps after `export`; `#` begins a
/// comment; a value in single or double quotes may span lines, and in double quotes has `\n`, `\"`
/// and the like. Variables in values are not replaced. The last of a name counts. On a fault it
/// says where, and no value. Pure.
std::map<std::string, std::string> read_dotenv(std::string_view text, std::string& fault);

}  // namespace bridge
