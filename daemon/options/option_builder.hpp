#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace bridge {

/// A value that is not what the option expects: StartError, 64.
[[noreturn]] void wrong_value(const std::string& option, const std::string& value,
                              const std::string& expected);

/// Names options, their environment, and where their values go.
class OptionBuilder {
 public:
  explicit OptionBuilder(CLI::App& app) : app_(app) {}

  void group(const std::string& name) { group_ = name; }

  CLI::Option* text(const std::string& name, std::string& value, const std::string& type,
                    const std::string& help, const char* variable = nullptr) {
    return finish(name,
                  app_.add_option_function<std::string>(
                      name, [&value](const std::string& given) { value = given; }, help),
                  type, value, variable);
  }

  void list(const std::string& name, const std::string& type, const std::string& help,
            std::function<void(const std::string&)> take) {
    finish(name,
           app_.add_option_function<std::vector<std::string>>(
               name,
               [take = std::move(take)](const std::vector<std::string>& given) {
                 for (const std::string& one : given) take(one);
               },
               help + " (may be repeated)"),
           type, {}, nullptr)
        ->take_all()
        ->allow_extra_args(false);
  }

  void duration(const std::string& name, std::chrono::milliseconds& value,
                const std::string& help) {
    const auto milliseconds = value.count();
    constexpr int hour = 3'600'000;
    const std::string shown = milliseconds > 0 && milliseconds % hour == 0
                                  ? fmt::format("{}h", milliseconds / hour)
                              : milliseconds % 1000 == 0 ? fmt::format("{}s", milliseconds / 1000)
                                                         : fmt::format("{}ms", milliseconds);
    parsed(name, "DURATION", shown, help, [name, &value](const std::string& given) {
      const auto duration = parse_duration(given);
      if (!duration) wrong_value(name, given, "a duration (a number with ms, s, m or h)");
      value = *duration;
    });
  }

  void size(const std::string& name, std::size_t& value, const std::string& help) {
    const std::string shown =
        value % (1u << 20) == 0 ? fmt::format("{}M", value >> 20) : fmt::format("{}", value);
    parsed(name, "SIZE", shown, help, [name, &value](const std::string& given) {
      const auto size = parse_size(given);
      if (!size || *size == 0)
        wrong_value(name, given, "a size (a whole number above 0, with K, M or G)");
      value = *size;
    });
  }

  template <class Number>
  void count(const std::string& name, Number& value, const std::string& help, Number least,
             const std::string& shown) {
    parsed(name, "N", shown, help, [name, &value, least](const std::string& given) {
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

  void parsed(const std::string& name, const std::string& type, const std::string& shown,
              const std::string& help, const std::function<void(const std::string&)>& take) {
    finish(name, app_.add_option_function<std::string>(name, take, help), type, shown, nullptr);
  }

  /// `--name` and `--no-name`.
  void flag(const std::string& name, bool& value, const std::string& help) {
    const std::string shown = value ? " (on; --no-" + name + " turns it off)" : "";
    const std::string names = value ? fmt::format("--{0},!--no-{0}", name) : "--" + name;
    CLI::Option* option = app_.add_flag(names, value, help + shown);
    option->group(group_)->envname(variable_of("--" + name));
  }

 private:
  static std::string variable_of(const std::string& name) {
    std::string variable = "MCP_BRIDGE_" + name.substr(2);
    for (char& c : variable) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
    return variable;
  }

  CLI::Option* finish(const std::string& name, CLI::Option* option, const std::string& type,
                      const std::string& shown, const char* variable) {
    option->type_name(type)->group(group_)->envname(variable != nullptr ? variable
                                                                        : variable_of(name));
    if (!shown.empty()) option->default_str(shown);
    return option;
  }

  CLI::App& app_;
  std::string group_;
};

}  // namespace bridge
