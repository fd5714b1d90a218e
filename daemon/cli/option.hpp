#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// The command line of both programs: the rows of options, words taken apart by them, values, help.
namespace cli {

/// One option of a program, a row of its table. The texts are views; whoever makes the row keeps
/// them.
struct Option {
  /// `form_`: as help shows it, `-s, --socket PATH`, `--control, --no-control`, `-- COMMAND`.
  constexpr explicit Option(std::string_view form_, std::string_view text_,
                            std::string_view group_ = {}, std::string_view variable_ = {},
                            std::string_view default_value_ = {})
      : form(form_),
        text(text_),
        group(group_),
        variable(variable_),
        default_value(default_value_),
        name_at_(static_cast<std::uint8_t>(form.find("--") + 2)),
        name_size_(static_cast<std::uint8_t>(
            std::min(form.find_first_of(", ", name_at_), form.size()) - name_at_)) {}

  /// `socket`.
  constexpr std::string_view name() const { return form.substr(name_at_, name_size_); }
  /// `PATH`, `lazy|eager`; empty for a flag.
  constexpr std::string_view value() const {
    for (std::size_t at = form.find(' '); at != form.npos; at = form.find(' ', at + 1)) {
      if (form[at - 1] != ',') return form.substr(at + 1);
    }
    return {};
  }
  constexpr char letter() const { return form[1] == '-' ? '\0' : form[1]; }
  constexpr bool takes_value() const { return !value().empty(); }
  /// Whether it is spelled so on a command line: `-s`, `--socket`, `--no-control`.
  constexpr bool is_spelled(std::string_view spelling) const {
    if (spelling.size() == 2) return spelling[1] == letter();
    return spelling.substr(2) == name() || is_negated(spelling);
  }
  constexpr bool is_negated(std::string_view spelling) const {
    return spelling.starts_with("--no-") && spelling.substr(5) == name() &&
           form.find(", --no-") != form.npos;
  }
  /// `-s`, `--socket`; also the negated one.
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> all;
    std::string_view rest = form.substr(0, form.size() - value().size());
    while (!rest.empty()) {
      all.push_back(rest.substr(0, rest.find_first_of(", ")));
      rest.remove_prefix(std::min(rest.size(), all.back().size() + 1));
      if (rest.starts_with(' ')) rest.remove_prefix(1);
    }
    return all;
  }

  std::string_view form;
  std::string_view text;  ///< one line, however long; without the default
  std::string_view group;
  std::string_view variable;       ///< of the environment; empty: none
  std::string_view default_value;  ///< empty: none

 private:
  std::uint8_t name_at_;  // small: the rows of mcp-nc are relocated at each of its starts
  std::uint8_t name_size_;
};

}  // namespace cli
