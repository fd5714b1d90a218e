#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace client {

/// What stands in a JSON value at a path like `items.0.name` or `items[0].name`: names of members
/// and places in arrays. Of a string its text, of anything else its JSON as it was written. Nothing
/// if there is no such thing. An empty path is the value itself.
std::optional<std::string> field_at(std::string_view json, std::string_view path);

/// The same of a result: in its `structuredContent` if that has it, else in the whole result.
std::optional<std::string> field_of_result(std::string_view result, std::string_view path);

}  // namespace client
