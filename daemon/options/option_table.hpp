#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/option.hpp"
#include "cli/units.hpp"

namespace bridge {

/// Reports an invalid value of the option: throws StartError, 64.
[[noreturn]] void wrong_value(const std::string& option, const std::string& value,
                              const std::string& expected);

/// The options of mcp-bridged: defines their names, their environment variables and the targets of
/// their values; reads the command line, the environment and the options file into them. Throws
/// StartError for errors: 64, or 78 in the file.
class OptionTable {
 public:
  using Take = std::function<void(const std::string&)>;

  /// An option, and the value given for it.
  struct Row : cli::Option {
    using cli::Option::Option;
    Take take;
    bool repeats = false;
    std::vector<std::string> given;
    std::string_view source;  ///< the variable of `given`; empty: not one

    std::string spelled() const { return "--" + std::string(name()); }
  };

  /// The lines of a file that give an option.
  struct Lines {
    int first = 0;  ///< the number of the first one, from 1
    std::vector<std::string> values;
  };

  // Each adds an option to the current group.
  void group(const char* name) { group_ = name; }
  Row& text(const std::string& name, std::string& value, const std::string& type,
            const std::string& help, const char* variable = nullptr);
  void list(const std::string& name, const std::string& type, const std::string& help, Take take);
  void duration(const std::string& name, std::chrono::milliseconds& value, const std::string& help);
  /// `shown`: the default. `take` rejects an invalid value by wrong_value().
  void duration(const std::string& name, const std::string& shown, const std::string& help,
                std::function<void(std::chrono::milliseconds)> take);
  void size(const std::string& name, std::size_t& value, const std::string& help);
  void parsed(const std::string& name, const std::string& type, const std::string& shown,
              const std::string& help, Take take);
  /// `--name`, and `--no-name` if it is on by default.
  void flag(const std::string& name, bool& value, const std::string& help);
  /// A flag without an environment variable.
  void plain_flag(const std::string& form, bool& value, const std::string& help);
  /// The words after `--`: not an option, but listed with them.
  void command(const std::string& form, const std::string& help);

  /// `shown`: the default, if the value does not say it.
  template <class Number>
  void count(const std::string& name, Number& value, const std::string& help,
             std::type_identity_t<Number> least = 1, const std::string& shown = {}) {
    const std::string usual = shown.empty() ? fmt::format("{}", value) : shown;
    parsed(name, "N", usual, help, [name, &value, least](const std::string& given) {
      Number number = 0;
      const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
      if (error != std::errc() || end != given.data() + given.size() || number < least ||
          number > 1'000'000'000) {
        wrong_value(name, given, fmt::format("a whole number of at least {}", least));
      }
      value = number;
    });
  }

  template <class Value>
  void choice(const std::string& name, Value& value,
              std::vector<std::pair<std::string, Value>> choices, const std::string& help) {
    std::string shown, names;
    for (const auto& [text, one] : choices) {
      if (one == value) shown = text;
      names += (names.empty() ? "" : "|") + text;
    }
    parsed(name, names, shown, help, [name, &value, choices, names](const std::string& given) {
      const auto found = std::find_if(choices.begin(), choices.end(),
                                      [&](const auto& one) { return one.first == given; });
      if (found == choices.end()) wrong_value(name, given, "one of " + names);
      value = found->second;
    });
  }

  /// `words`: without the program's name. No value is applied yet.
  void read_words(const std::vector<std::string_view>& words);
  /// Fills in unset options, and applies all values.
  void read_environment();
  /// Fills in options that neither has set, and applies them. By name, without the dashes.
  void read_file(const std::string& path, const std::map<std::string, Lines>& lines);
  /// `faults`, lines of a StartError, with the variable before each option that it has set.
  std::string with_sources(const std::string& faults) const;

  /// The variables of the options.
  std::vector<std::string_view> variables() const;
  bool is_given(std::string_view name) const;
  /// Every option that was set, by name, as text.
  std::map<std::string, std::string> given() const;
  const std::vector<Row>& rows() const { return rows_; }

 private:
  Row& add(const std::string& form, const std::string& help, const std::string& variable,
           const std::string& shown, Take take);
  static void give(Row& row, const std::string& text, bool is_negated = false);
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::vector<Row> rows_;
  std::deque<std::string> texts_;  // of the rows
  const char* group_ = "General";
};

}  // namespace bridge
