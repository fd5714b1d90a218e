#include "cli/command_line.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace cli;

namespace {

const std::vector<Option> rows = {
    Option("-s, --socket PATH", "where it is", "All", "PATH_OF_IT", "/tmp/x"),
    Option("--control, --no-control", "on or off", "All"),
    Option("--mode lazy|eager", "how", "All"),
    Option("-- COMMAND [ARGUMENT...]", "what runs", "All"),
};

/// Options as `name=value`, operands unchanged, `!` and the error at the end.
std::string read(const std::vector<std::string_view>& words) {
  std::string text;
  const std::string fault = read_command_line(
      std::span(words), std::span(rows),
      [&](const Option& option, std::string_view spelling, std::optional<std::string_view> value) {
        text.append(option.name()).append("(").append(spelling).append(")");
        if (value) text.append("=").append(*value);
        text += " ";
        return std::string(value == "wrong" ? "refused" : "");
      },
      [&](std::string_view word) {
        text.append(word).append(" ");
        return std::string();
      });
  return fault.empty() ? text : text + "!" + fault;
}

}  // namespace

TEST_CASE("a row says its names, its letter and its value") {
  using Names = std::vector<std::string_view>;
  CHECK(rows[0].name() == "socket");
  CHECK(rows[0].letter() == 's');
  CHECK(rows[0].value() == "PATH");
  CHECK(rows[0].names() == Names{"-s", "--socket"});
  CHECK(rows[1].name() == "control");
  CHECK(rows[1].letter() == '\0');
  CHECK_FALSE(rows[1].takes_value());
  CHECK(rows[1].names() == Names{"--control", "--no-control"});
  CHECK(rows[2].names() == Names{"--mode"});
  CHECK(rows[2].value() == "lazy|eager");
  CHECK(rows[3].name().empty());
  CHECK(rows[3].names() == Names{"--"});
  CHECK(rows[3].value() == "COMMAND [ARGUMENT...]");
}

TEST_CASE("words are options with their values, in each spelling, and operands") {
  CHECK(read({"a", "--socket", "x", "-", "--socket=y", "-sz", "-s", "--mode"}) ==
        "a socket(--socket)=x - socket(--socket)=y socket(-s)=z socket(-s)=--mode ");
  CHECK(read({"--control", "--no-control", "--control=no"}) ==
        "control(--control) control(--no-control) control(--control)=no ");
  CHECK(read({"--mode=", "--", "--mode", "-s"}) == "mode(--mode)= --mode -s ");
}

TEST_CASE("reading ends at the first fault") {
  CHECK(read({"a", "--mode"}) == "a !option --mode needs a value");
  CHECK(read({"--mode", "wrong", "b"}) == "mode(--mode)=wrong !refused");
  CHECK(read({"--sockets", "x"}) == "!unknown option '--sockets'; did you mean '--socket'?");
  CHECK(read({"-x"}) == "!unknown option '-x'");
  CHECK(read({"--no-mode"}) == "!unknown option '--no-mode'");
  CHECK(read({"--frobnicate"}) == "!unknown option '--frobnicate'");
}

TEST_CASE("help has the form, the variable and the default") {
  std::string help;
  add_option(help, 2, rows[0], 30);
  add_option(help, 6, rows[1], 20);
  CHECK(help ==
        "  -s, --socket PATH (PATH_OF_IT)\n"
        "                              where it is [/tmp/x]\n"
        "      --control, --no-control\n"
        "                    on or off\n");
}
