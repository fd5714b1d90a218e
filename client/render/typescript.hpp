#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace client {

/// TypeScript declarations of tools, from their schemas: an interface `Tools` with a member for
/// each, of its arguments and its structured result. An element is the JSON of a tool; what cannot
/// be read is left out. What a schema says that is no type (ranges, patterns) is left out too; what
/// refers to itself is `unknown` at some depth. Pure.
std::string render_typescript(const std::vector<std::string_view>& tools);

}  // namespace client
