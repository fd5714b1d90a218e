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

}  // namespace client
