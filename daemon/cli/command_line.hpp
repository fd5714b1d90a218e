#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option.hpp"

namespace cli {

/// `unknown option '--jsn'; did you mean '--json'?`
std::string unknown_option(std::string_view spelling, const std::vector<std::string_view>& names);

/// Parses the words of a command line. Options may stand anywhere, with their value after them or
/// attached (`--name=value`, `-nvalue`); `--` ends them, and `-` is an operand. Returns the first
/// error, in one line, at which parsing ends; "" if there is none.
///
/// `take_option(const Row&, spelling, std::optional<value>)` and `take_operand(word)` return an
/// error in the same way. A flag has a value only if one is attached.
template <class Row, class TakeOption, class TakeOperand>
std::string read_command_line(std::span<const std::string_view> words, std::span<Row> rows,
                              TakeOption take_option, TakeOperand take_operand) {
  bool only_operands = false;
  std::string fault;
  for (std::size_t next = 0; next < words.size() && fault.empty();) {
    const std::string_view word = words[next++];
    if (only_operands || word.size() < 2 || word[0] != '-') {
      fault = take_operand(word);
      continue;
    }
    if (word == "--") {
      only_operands = true;
      continue;
    }
    const bool is_long = word[1] == '-';
    const std::string_view spelling =
        word.substr(0, is_long ? std::min(word.find('='), word.size()) : 2);
    const auto row = std::find_if(rows.begin(), rows.end(), [spelling](const Option& one) {
      return one.is_spelled(spelling);
    });
    if (row == rows.end()) {
      std::vector<std::string_view> names;
      for (const Option& one : rows) names.push_back(one.name());
      return unknown_option(spelling, names);
    }
    std::optional<std::string_view> value;
    if (spelling.size() < word.size()) {
      value = word.substr(spelling.size() + (is_long ? 1 : 0));
    } else if (row->has_optional_value() &&
               (next == words.size() || words[next].starts_with('-'))) {
      value = "";
    } else if (row->takes_value()) {
      if (next == words.size()) return "option " + std::string(spelling) + " needs a value";
      value = words[next++];
    }
    fault = take_option(*row, spelling, value);
  }
  return fault;
}

/// The width of --help, in columns, of both programs.
constexpr std::size_t help_width = 80;

/// Adds one row of help: the form in the left column, the text from `column` on; below the form if
/// that is too long.
void add_entry(std::string& help, std::size_t indent, std::string_view form, std::string_view text,
               std::size_t column);

/// Adds the row of an option, with its variable and its default.
void add_option(std::string& help, std::size_t indent, const Option& option, std::size_t column);

}  // namespace cli
