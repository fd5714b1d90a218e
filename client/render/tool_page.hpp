#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace client {

/// Everything about one tool as people read it: its parameters with what is in them, what it
/// answers, what it promises, and a call to copy, which begins with `program`. `tool` is its JSON;
/// a `width` of 0 is no limit.
std::string render_tool(std::string_view tool, std::size_t width, std::string_view program);

/// A line for each tool: its signature, and how its description begins, as far as the line goes.
std::string render_signatures(const std::vector<std::string_view>& tools, std::size_t width);

/// The arguments of a tool as they are typed, one a line, for completion: `limit=`, `mode=fast`.
std::string argument_words(std::string_view tool);

}  // namespace client
