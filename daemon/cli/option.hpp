#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// The command line of both programs: rows of options, parsing of words, values, help.
namespace cli {

/// One option of a program, a row of its table. The texts are views, owned by the maker of the row.
struct Option {
  /// `form_`: as help shows it, `-s, --socket PATH`, `--control, --no-control`, `-- COMMAND`.
  constexpr explicit Option(std::string_view form_, std::string_view text_,
                            const char* group = nullptr, const char* variable = nullptr,
                            const char* default_value = nullptr)
      : form(form_),
        text(text_),
        group_(group),
        variable_(variable),
        default_value_(default_value),
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
  /// `[DIR]`: may stand without a value, which is then empty.
  constexpr bool has_optional_value() const {
    return value().starts_with('[') && value().ends_with(']');
  }
  /// Whether a command line's `spelling` means this option: `-s`, `--socket`, `--no-control`.
  constexpr bool is_spelled(std::string_view spelling) const {
    if (spelling.size() == 2) return spelling[1] == letter();
    if (spelling.size() != std::size_t{2} + name_size_) return is_negated(spelling);
    return spelling.substr(2) == name();
  }
  constexpr bool is_negated(std::string_view spelling) const {
    return spelling.size() == std::size_t{5} + name_size_ && spelling.starts_with("--no-") &&
           spelling.substr(5) == name() && form.find(", --no-") != form.npos;
  }
  /// `-s`, `--socket`; also the negated form.
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
  std::string_view text;  ///< one line, of any length; without the default

  constexpr std::string_view group() const { return text_of(group_); }
  /// The environment variable; "": none.
  constexpr std::string_view variable() const { return text_of(variable_); }
  constexpr std::string_view default_value() const { return text_of(default_value_); }

 private:
  static constexpr std::string_view text_of(const char* text) {
    return text == nullptr ? std::string_view() : text;
  }

  // Small, and null if absent: the rows of mcp-nc are relocated at each of its starts.
  const char* group_;
  const char* variable_;
  const char* default_value_;
  std::uint8_t name_at_;
  std::uint8_t name_size_;
};

}  // namespace cli
