#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "text/secret_forms.hpp"

namespace bridge {

/// The end of what a run wrote to its stderr, for the error of one that ends before it has answered
/// (BEHAVIOUR, "Local server: its process"). Empty lines and the frames of a Node.js stack trace
/// are left out, because the reason stands above them. Pure. Memory: `lines` lines of at most
/// `longest` bytes.
class ErrorTail {
 public:
  static constexpr std::size_t lines = 6;
  static constexpr std::size_t longest = 8u << 10;
  static constexpr std::size_t shown = 200;  ///< of each line

  /// REQUIRES: without secrets.
  void add(std::string_view line);
  /// On one line, printable; "" if there is nothing.
  std::string text() const;

 private:
  std::deque<std::string> lines_;
};

/// What is searched for in each line of a command's output: the secrets, and each line of those
/// that have several. Pure.
SecretForms forms_in_lines(const std::vector<std::string>& secrets);

/// The parts of a command's arguments and environment (NAME=VALUE) that are probably secret: the
/// values of names like API_KEY or --token, and the passwords in URLs. Pure.
std::vector<std::string> likely_secrets(const std::vector<std::string>& arguments,
                                        const std::vector<std::string>& environment);

}  // namespace bridge
