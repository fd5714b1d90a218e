#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/styled.hpp"

namespace client {

/// Lists for people, ending with a line break. An element is the JSON of one tool, resource,
/// template or prompt; an unreadable one is shown unchanged. `width` in columns, 0 = no limit.
std::string render_tools(const std::vector<std::string_view>& elements, std::size_t width);
std::string render_resources(const std::vector<std::string_view>& elements, std::size_t width);
std::string render_prompts(const std::vector<std::string_view>& elements, std::size_t width);

/// The skills of a server for people, ending with a line break: name, URI and description. An
/// element is the JSON of one; an unreadable one is shown unchanged. `width` in columns, 0 = no
/// limit.
std::string render_skills(const std::vector<std::string_view>& elements, std::size_t width);

/// All about one tool, for people: its parameters and their contents, its result, its annotations,
/// and a call to copy, which begins with `program`. `tool` is its JSON; a `width` of 0: no limit.
std::string render_tool(std::string_view tool, std::size_t width, std::string_view program);

/// `line` followed by the first line of the description `about`, cut to `width` columns; a width of
/// 0 means unlimited.
std::string about_line(std::string line, std::string_view about, std::size_t width);

/// The same as a table for a terminal: marks for what only reads and what may destroy, arguments
/// with their types in short, and what shows more, which begins with `program`.
std::vector<StyledLine> render_tool_table(const std::vector<std::string_view>& tools,
                                          const Look& look, std::string_view program);

/// A line for each tool: its signature, and the beginning of its description, up to the width.
std::string render_signatures(const std::vector<std::string_view>& tools, std::size_t width);

/// The arguments of a tool as typed, one per line, for completion: `limit=`, `mode=fast`.
std::string argument_words(std::string_view tool);

/// The same of a prompt: `name=`.
std::string prompt_words(std::string_view prompt);

/// TypeScript declarations of tools, from their schemas: an interface `Tools` with a member for
/// each, of its arguments and its structured result. An element is the JSON of a tool; unreadable
/// ones are left out, as are constraints other than types (ranges, patterns); recursive schemas
/// become `unknown` at some depth. Pure.
std::string render_typescript(const std::vector<std::string_view>& tools);

}  // namespace client
