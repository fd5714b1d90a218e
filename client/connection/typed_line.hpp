#pragma once

#include <unistd.h>

#include <functional>
#include <optional>
#include <string>

namespace client {

/// Lines of stdin or another descriptor, as they arrive. Reads only available bytes, so that the
/// next reader gets what follows.
class InputLines {
 public:
  explicit InputLines(int input = STDIN_FILENO) : input_(input) {}
  /// Reads the available bytes. False at the end of the input.
  bool read();
  /// The next whole line, without its end; nullopt if it is not complete yet.
  std::optional<std::string> next();
  /// The received part of an incomplete line.
  const std::string& begun() const { return text_; }
  std::string take_begun();

 private:
  int input_;
  std::string text_;
};

/// Reads a line typed at the terminal on stdin, without its end; nullopt at the end of the input or
/// after an interrupt. `hidden`: the input is not echoed, from before `prompt` is called on.
/// REQUIRES: stdin is a terminal, and nothing else reads it.
std::optional<std::string> read_typed_line(bool hidden, const std::function<void()>& prompt);

}  // namespace client
