#include "verbs/params.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "command_line/call_arguments.hpp"
#include "json/text.hpp"
#include "terminal/utf8.hpp"
#include "text/utf8.hpp"

namespace client {
namespace {

using Params = std::variant<std::string, UsageError>;

constexpr std::size_t longest_input = std::size_t{64} * 1024 * 1024;

Params read_standard_input() {
  std::string text;
  std::array<char, 65536> bytes;
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return UsageError{fmt::format("cannot read stdin: {}", std::strerror(errno))};
    text.append(bytes.data(), static_cast<std::size_t>(count));
    if (text.size() > longest_input) return UsageError{"stdin has more than 64 MiB"};
  }
}

Params named(const std::string& name, Params arguments) {
  if (!bridge::is_utf8(name)) return UsageError{"the name is not UTF-8"};
  if (const auto* object = std::get_if<std::string>(&arguments)) {
    return fmt::format(R"({{"name":{},"arguments":{}}})", json::quote(name), *object);
  }
  return arguments;
}

Params call_params(const std::string& name, const std::vector<std::string>& words) {
  std::string input;
  if (wants_standard_input(words)) {
    auto read = read_standard_input();
    if (std::holds_alternative<UsageError>(read)) return read;
    input = std::get<std::string>(std::move(read));
  }
  return named(name, build_call_arguments(words, input));
}

Params free_params(const std::vector<std::string>& operands) {
  if (!bridge::is_utf8(operands[0])) return UsageError{"METHOD is not UTF-8"};
  if (operands.size() == 1) return "";
  if (operands[1] != "-") return check_params(operands[1]);
  auto read = read_standard_input();
  if (std::holds_alternative<UsageError>(read)) return read;
  return check_params(std::get<std::string>(read));
}

}  // namespace

Params make_params(const Options& options) {
  const std::vector<std::string>& operands = options.operands;
  switch (options.verb) {
    case Verb::call: return call_params(operands[0], {operands.begin() + 1, operands.end()});
    case Verb::prompt:
      return named(operands[0], build_arguments({operands.begin() + 1, operands.end()},
                                                ArgumentForms::text_only));
    case Verb::read:
      if (!bridge::is_utf8(operands[0])) return UsageError{"the URI is not UTF-8"};
      return fmt::format(R"({{"uri":{}}})", json::quote(operands[0]));
    case Verb::request:
    case Verb::notify: return free_params(operands);
    default: return "";
  }
}

}  // namespace client
