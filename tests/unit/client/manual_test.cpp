#include "command_line/manual.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "command_line/options.hpp"

using namespace client;

namespace {

bool is_unknown(const std::string& argument) {
  const auto parsed = parse_command_line({argument});
  const auto* error = std::get_if<UsageError>(&parsed);
  return error != nullptr && error->message.find("unknown") != std::string::npos;
}

}  // namespace

TEST_CASE("every command and option of the manual is known on the command line") {
  CHECK(is_unknown("--no-such-option"));
  for (const ManualEntry& command : manual_commands()) {
    const std::string name(command.form.substr(0, command.form.find(' ')));
    CAPTURE(name);
    CHECK_FALSE(is_unknown(name));
  }
  for (const auto& options : {manual_general_options(), manual_command_options()}) {
    for (const ManualEntry& option : options) {
      const std::size_t dashes = option.form.find("--");
      const std::string name(option.form.substr(dashes, option.form.find(' ', dashes) - dashes));
      CAPTURE(name);
      CHECK_FALSE(is_unknown(name));
      CHECK(help_text().find(name) != std::string::npos);
    }
  }
}

TEST_CASE("no line of the help is wider than a terminal") {
  std::size_t widest = 0;
  const std::string help = help_text();
  for (std::size_t at = 0; at < help.size();) {
    const std::size_t end = help.find('\n', at);
    widest = std::max(widest, end - at);
    at = end + 1;
  }
  CHECK(widest <= 80);
}
