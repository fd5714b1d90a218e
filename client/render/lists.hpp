#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace client {

/// Lists for people, with a line break at their end. An element is the JSON of one tool, resource,
/// template or prompt; one that cannot be read is shown as it is. `width` in columns, 0 = no limit.
std::string render_tools(const std::vector<std::string_view>& elements, std::size_t width);
std::string render_resources(const std::vector<std::string_view>& elements, std::size_t width);
std::string render_prompts(const std::vector<std::string_view>& elements, std::size_t width);

/// The skills of a server for people, with a line break at the end: name, URI and description. An
/// element is the JSON of one; one that cannot be read is shown as it is. `width` in columns, 0 =
/// no limit.
std::string render_skills(const std::vector<std::string_view>& elements, std::size_t width);

/// All about one tool, for people: its parameters and their contents, its result, its annotations,
/// and a call to copy, which begins with `program`. `tool` is its JSON; a `width` of 0: no limit.
std::string render_tool(std::string_view tool, std::size_t width, std::string_view program);

/// `line`, and the first line of what there is to say `about` it. No wider than `width`; 0: as wide
/// as it is.
std::string about_line(std::string line, std::string_view about, std::size_t width);

/// A line for each tool: its signature, and how its description begins, as far as the line goes.
std::string render_signatures(const std::vector<std::string_view>& tools, std::size_t width);

/// The arguments of a tool as they are typed, one a line, for completion: `limit=`, `mode=fast`.
std::string argument_words(std::string_view tool);

/// TypeScript declarations of tools, from their schemas: an interface `Tools` with a member for
/// each, of its arguments and its structured result. An element is the JSON of a tool; unreadable
/// ones are left out, as are constraints other than types (ranges, patterns); recursive schemas
/// become `unknown` at some depth. Pure.
std::string render_typescript(const std::vector<std::string_view>& tools);

}  // namespace client
