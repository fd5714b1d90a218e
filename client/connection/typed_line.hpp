#pragma once

#include <functional>
#include <optional>
#include <string>

namespace client {

/// A line that is typed at the terminal on stdin, without its end; nothing at the end of the input
/// or after an interrupt. `hidden`: what is typed is not shown, from before `prompt` is called on.
/// REQUIRES: stdin is a terminal, and nobody else reads it.
std::optional<std::string> read_typed_line(bool hidden, const std::function<void()>& prompt);

}  // namespace client
