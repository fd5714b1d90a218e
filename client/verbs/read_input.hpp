#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "command_line/options.hpp"

namespace client {

/// So much is read of stdin or of a file.
constexpr std::size_t longest_input = std::size_t{64} * 1024 * 1024;

/// All of stdin, or of a file ("-" is stdin); or why it cannot be had.
std::variant<std::string, UsageError> read_standard_input();
std::variant<std::string, UsageError> read_input_file(const std::string& path);

}  // namespace client
