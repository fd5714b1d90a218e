#include "options/option_table.hpp"

#include <fmt/ranges.h>

#include <cstdlib>
#include <sstream>

#include "base/log.hpp"
#include "base/start_error.hpp"
#include "cli/command_line.hpp"
#include "servers/variables.hpp"
#include "text/similar.hpp"

namespace bridge {
namespace {

bool truth_of(const std::string& option, const std::string& value) {
  for (const char* yes : {"", "true", "yes", "on", "1"}) {
    if (value == yes) return true;
  }
  for (const char* no : {"false", "no", "off", "0"}) {
    if (value == no) return false;
  }
  wrong_value(option, value, "true or false");
}

std::string shown_duration(std::chrono::milliseconds value) {
  const auto milliseconds = value.count();
  constexpr int hour = 3'600'000;
  if (milliseconds > 0 && milliseconds % hour == 0) return fmt::format("{}h", milliseconds / hour);
  if (milliseconds % 1000 == 0) return fmt::format("{}s", milliseconds / 1000);
  return fmt::format("{}ms", milliseconds);
}

}  // namespace

void wrong_value(const std::string& option, const std::string& value, const std::string& expected) {
  throw StartError(exit_code::usage,
                   fmt::format("{}: '{}' is not {}", option, printable(value), expected));
}

OptionTable::Row& OptionTable::add(const std::string& form, const std::string& help,
                                   const std::string& variable, const std::string& shown,
                                   Take take) {
  Row& row =
      rows_.emplace_back(keep(form), keep(help), group_, keep(variable).data(), keep(shown).data());
  row.take = std::move(take);
  return row;
}

OptionTable::Row& OptionTable::text(const std::string& name, std::string& value,
                                    const std::string& type, const std::string& help,
                                    const char* variable) {
  return add(name + " " + type, help, variable != nullptr ? variable : variable_of_option(name),
             value, [&value](const std::string& given) { value = given; });
}

void OptionTable::list(const std::string& name, const std::string& type, const std::string& help,
                       Take take) {
  add(name + " " + type, help + " (may be repeated)", variable_of_option(name), {}, std::move(take))
      .repeats = true;
}

void OptionTable::duration(const std::string& name, const std::string& shown,
                           const std::string& help,
                           std::function<void(std::chrono::milliseconds)> take) {
  parsed(name, "DURATION", shown, help, [name, take = std::move(take)](const std::string& given) {
    const auto duration = cli::parse_duration(given);
    if (!duration) wrong_value(name, given, "a duration (a number with ms, s, m or h)");
    take(*duration);
  });
}

void OptionTable::duration(const std::string& name, std::chrono::milliseconds& value,
                           const std::string& help) {
  duration(name, shown_duration(value), help,
           [&value](std::chrono::milliseconds given) { value = given; });
}

void OptionTable::size(const std::string& name, std::size_t& value, const std::string& help) {
  const std::string shown =
      value % (1u << 20) == 0 ? fmt::format("{}M", value >> 20) : fmt::format("{}", value);
  parsed(name, "SIZE", shown, help, [name, &value](const std::string& given) {
    const auto size = cli::parse_size(given);
    if (!size || *size == 0)
      wrong_value(name, given, "a size (a whole number above 0, with K, M or G)");
    value = *size;
  });
}

void OptionTable::parsed(const std::string& name, const std::string& type, const std::string& shown,
                         const std::string& help, Take take) {
  add(name + " " + type, help, variable_of_option(name), shown, std::move(take));
}

void OptionTable::flag(const std::string& name, bool& value, const std::string& help) {
  const std::string option = "--" + name;
  add(value ? option + ", --no-" + name : option,
      value ? help + " (on; --no-" + name + " turns it off)" : help, variable_of_option(option), {},
      [&value](const std::string& given) { value = given == "true"; });
}

void OptionTable::plain_flag(const std::string& form, bool& value, const std::string& help) {
  add(form, help, {}, {}, [&value](const std::string& given) { value = given == "true"; });
}

void OptionTable::command(const std::string& form, const std::string& help) {
  add(form, help, {}, {}, {});
}

void OptionTable::give(Row& row, const std::string& text, bool is_negated) {
  if (!row.takes_value()) {
    row.given = {truth_of(row.spelled(), text) != is_negated ? "true" : "false"};
  } else if (row.given.empty() || row.repeats) {
    row.given.push_back(text);
  } else {
    throw StartError(exit_code::usage,
                     fmt::format("option {} is given more than once", row.spelled()));
  }
}

void OptionTable::read_words(const std::vector<std::string_view>& words) {
  const std::string fault = cli::read_command_line(
      std::span(words), std::span(rows_),
      [](Row& row, std::string_view spelling, std::optional<std::string_view> value) {
        give(row, std::string(value.value_or("")), row.is_negated(spelling));
        return std::string();
      },
      [](std::string_view word) {
        return fmt::format("unexpected argument '{}'", printable(std::string(word)));
      });
  if (!fault.empty()) throw StartError(exit_code::usage, fault + " (see --help)");
}

void OptionTable::read_environment() {
  for (Row& row : rows_) {
    const char* const value = row.variable().empty() ? nullptr : std::getenv(row.variable().data());
    if (row.given.empty() && value != nullptr && *value != '\0') {
      row.source = row.variable();
      give(row, value);
    }
    for (const std::string& one : row.given) row.take(one);
  }
}

void OptionTable::read_file(const std::string& path, const std::map<std::string, Lines>& lines) {
  const auto is_for_files = [](const Row& row) {
    return !row.variable().empty() && row.name() != "options-file";
  };
  for (const auto& [name, of_option] : lines) {
    const std::string spelling = "--" + name;
    const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& one) {
      return is_for_files(one) && one.is_spelled(spelling);
    });
    if (row == rows_.end()) {
      std::vector<std::string_view> names;
      for (const Row& one : rows_) {
        if (is_for_files(one)) names.push_back(one.name());
      }
      throw StartError(exit_code::configuration,
                       fmt::format("{}: line {}: unknown option '{}'{}", path, of_option.first,
                                   printable(name), did_you_mean(name, names)));
    }
    if (!row->given.empty()) continue;
    try {
      // `control = no` and `no-control` are equivalent.
      for (const std::string& value : of_option.values)
        give(*row, value, row->is_negated(spelling));
      for (const std::string& value : row->given) row->take(value);
    } catch (const StartError& error) {
      throw StartError(exit_code::configuration, fmt::format("{}: {}", path, error.what()));
    }
  }
}

std::string OptionTable::with_sources(const std::string& faults) const {
  std::string all;
  std::istringstream lines(faults);
  for (std::string line; std::getline(lines, line);) {
    const auto row = std::find_if(rows_.begin(), rows_.end(), [&line](const Row& one) {
      return !one.source.empty() && line.starts_with(one.spelled() + ": ");
    });
    if (!all.empty()) all += '\n';
    if (row != rows_.end()) all.append(row->source).append(": ");
    all += line;
  }
  return all;
}

std::vector<std::string_view> OptionTable::variables() const {
  std::vector<std::string_view> all;
  for (const Row& row : rows_) {
    if (!row.variable().empty()) all.push_back(row.variable());
  }
  return all;
}

bool OptionTable::is_given(std::string_view name) const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [name](const Row& row) { return row.name() == name && !row.given.empty(); });
}

std::map<std::string, std::string> OptionTable::given() const {
  std::map<std::string, std::string> all;
  for (const Row& row : rows_) {
    if (!row.given.empty()) all[row.spelled()] = fmt::format("{}", fmt::join(row.given, "\n"));
  }
  return all;
}

}  // namespace bridge
