#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace client {

/// The skills of a server for people, with a line break at the end: name, URI and description. An
/// element is the JSON of one; one that cannot be read is shown as it is. `width` in columns, 0 =
/// no limit.
std::string render_skills(const std::vector<std::string_view>& elements, std::size_t width);

}  // namespace client
