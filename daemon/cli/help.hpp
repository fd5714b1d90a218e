#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/option.hpp"

namespace cli {

/// The width of --help, in columns, of both programs.
constexpr std::size_t help_width = 80;

/// Adds one row of help: the form in the left column, the text from `column` on; below the form if
/// that is too long.
void add_entry(std::string& help, std::size_t indent, std::string_view form, std::string_view text,
               std::size_t column);

/// Adds the row of an option, with its variable and its default.
void add_option(std::string& help, std::size_t indent, const Option& option, std::size_t column);

}  // namespace cli
