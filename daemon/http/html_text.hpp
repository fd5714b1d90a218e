#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// Whether a body is a web page, by its type or by how it begins (whatever type, or none, it was
/// sent with): what a proxy or a framework sends with an error. Pure.
bool is_web_page(std::string_view content_type, std::string_view body);

/// The first line of a web page that a browser would show, its title before its content: without
/// tags, comments, scripts and styles, runs of white space as one space, character references as
/// the characters that they stand for. The page may be cut anywhere. What is shown of it still has
/// to be made `printable`: a reference can stand for a control character.
std::string first_line_of_page(std::string_view page);

}  // namespace bridge
