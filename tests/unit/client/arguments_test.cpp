#include <doctest/doctest.h>
#include <unistd.h>

#include "command_line/options.hpp"
#include "system/files.hpp"
#include "verbs/operands.hpp"

using namespace client;

namespace {

Options parsed(const std::vector<std::string_view>& arguments) {
  return std::get<Options>(parse_command_line(arguments));
}

std::string refused(const std::vector<std::string_view>& arguments) {
  return std::get<UsageError>(parse_command_line(arguments)).message;
}

/// As --raw sends them; `input` is on stdin.
std::string object(const std::vector<std::string>& words, std::string_view input = "") {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const FileDescriptor before(::dup(STDIN_FILENO));
  REQUIRE(::write(ends[1], input.data(), input.size()) == static_cast<ssize_t>(input.size()));
  ::dup2(ends[0], STDIN_FILENO);
  ::close(ends[0]);
  ::close(ends[1]);
  const auto read = read_call_words(words);
  ::dup2(before.get(), STDIN_FILENO);
  if (const auto* error = std::get_if<UsageError>(&read)) return "refused: " + error->message;
  const auto made = arguments_as_written(std::get<std::vector<Argument>>(read));
  if (const auto* wrong = std::get_if<WrongArguments>(&made))
    return "refused: " + wrong->problems.front();
  return std::get<std::string>(made);
}

std::variant<std::string, UsageError> params(const std::vector<std::string_view>& arguments) {
  auto made = prepare(parsed(arguments));
  if (auto* error = std::get_if<UsageError>(&made)) return std::move(*error);
  return std::get<Prepared>(made).params;
}

bool is_refused(const std::vector<std::string>& words, std::string_view input = "") {
  return object(words, input).substr(0, 8) == "refused:";
}

}  // namespace

TEST_CASE("options may stand before and after the verb, joined and apart") {
  CHECK(parsed({"-s", "/a", "tools"}).socket == "/a");
  CHECK(parsed({"tools", "--socket=/a"}).socket == "/a");
  CHECK(parsed({}).verb == nullptr);
  const Options options = parsed({"listen", "--count", "3", "--since=0", "--for", "10s", "--seq"});
  CHECK(options.count == std::uint64_t{3});
  CHECK(options.since == std::uint64_t{0});
  CHECK(options.listen_for == Milliseconds(10000));
  CHECK(options.sequence);
}

TEST_CASE("a time limit of zero is none") {
  CHECK_FALSE(parsed({"-w", "0"}).timeout.has_value());
  CHECK(parsed({"-w", "1.5"}).timeout == Milliseconds(1500));
}

TEST_CASE("help and version win over everything else that is right") {
  CHECK(parsed({"call", "--help"}).verb == find_verb("help"));
  CHECK(parsed({"--version"}).verb == find_verb("version"));
  CHECK(parsed({"help"}).verb == find_verb("help"));
}

TEST_CASE("what is wrong is named") {
  CHECK(refused({"-s", ""}).find("empty") != std::string::npos);
  CHECK(refused({"-w", "soon"}).find("'soon'") != std::string::npos);
  CHECK(refused({"tools", "--json=yes"}).find("takes no value") != std::string::npos);
  CHECK(refused({"tools", "x", "y"}).find("'y'") != std::string::npos);
  CHECK(refused({"call"}).find("NAME") != std::string::npos);
  CHECK(refused({"request", "a", "{}", "c"}).find("'c'") != std::string::npos);
  CHECK(refused({"tools", "--watch"}).find("--watch") != std::string::npos);
  CHECK(refused({"--json"}).find("relay") != std::string::npos);
  for (const char* url :
       {"notaurl", "ftp://x/", "http:/x", "https://", "http:///mcp", "http://a b"})
    CHECK(refused({"--url", url, "tools"}) ==
          "option --url: it is not an address; expected http://HOST[:PORT]/PATH or https://...");
  for (const char* url : {"HTTPS://x", "http://[::1]:80/mcp", "http+unix://%2Fx.sock/mcp"})
    CHECK(parsed({"--url", url, "tools"}).url == url);
  CHECK(refused({"listen", "--count", "0"}) == "option --count: it must be at least 1");
  CHECK(refused({"grant", "--calls", "0"}) == "option --calls: it must be at least 1");
  CHECK(refused({"grant", "--calls=1000000001"}) ==
        "option --calls: it must be at most 1000000000");
  for (const char* time : {"0", "25h", "86400001ms"})
    CHECK(refused({"grant", "--for", time}) ==
          "option --for: a grant lasts at least 1ms, at most 24h");
  CHECK(parsed({"grant", "--for", "24h"}).listen_for == Milliseconds(86'400'000));
  CHECK(refused({"listen", "--since", "-1"}).find("'-1'") != std::string::npos);
  CHECK(refused({"listen", "--since", "99999999999999999999"}).find("whole number") !=
        std::string::npos);
  CHECK(refused({"status", "--metrics", "--watch"}).find("--metrics") != std::string::npos);
}

TEST_CASE("durations are shown in two units at most") {
  CHECK(format_duration(Milliseconds(850)) == "850 ms");
  CHECK(format_duration(Milliseconds(1650)) == "1.6 s");
  CHECK(format_duration(Milliseconds(2000)) == "2 s");
  CHECK(format_duration(Milliseconds(12999)) == "12 s");
  CHECK(format_duration(Milliseconds(60000)) == "1 min");
  CHECK(format_duration(Milliseconds(200000)) == "3 min 20 s");
  CHECK(format_duration(Milliseconds(7500000)) == "2 h 5 min");
  CHECK(format_duration(Milliseconds(273600000)) == "3 d 4 h");
}

TEST_CASE("key=text becomes a string, key:=json any value as it was written") {
  CHECK(object({}) == "{}");
  CHECK(object({"message=hi there"}) == R"({"message":"hi there"})");
  CHECK(object({"a=", "b:=1e400", "c:=[1, 2.50]", "d:=null"}) ==
        R"({"a":"","b":1e400,"c":[1, 2.50],"d":null})");
  CHECK(object({"quote=a\"b\\c\n\t\x01"}) == R"({"quote":"a\"b\\c\n\t\u0001"})");
  CHECK(object({"\xC3\xA9=\xE2\x82\xAC"}) == "{\"\xC3\xA9\":\"\xE2\x82\xAC\"}");
}

TEST_CASE("line breaks in JSON values become spaces, for a frame is one line") {
  CHECK(object({"a:={\n\"b\":1\r\n}"}) == "{\"a\":{ \"b\":1  }}");
  CHECK(object({"{\"a\":{\n}}"}) == "{\"a\":{ }}");
}

TEST_CASE("arguments that cannot be meant are refused") {
  CHECK(is_refused({"a=1", "a:=2"}));
  for (const char* word : {"novalue", "a:=01", "a=\xFF", "{\"a\":1"})
    CHECK_MESSAGE(is_refused({word}), word);
}

TEST_CASE("the whole object may come in one word or from stdin") {
  CHECK(object({R"({"a":1, "b":{}})"}) == R"({"a":1,"b":{}})");
  CHECK(object({"-"}, "  {\"a\": 1}\n") == R"({"a":1})");
  CHECK(object({"{\"a\":1}", "b=2"}) == R"({"a":1,"b":"2"})");
  CHECK(object({"-", "a=2"}, "{\"a\":1}") == R"({"a":"2"})");
  CHECK(is_refused({"-"}, "[1]"));
  CHECK(is_refused({"-"}, ""));
  CHECK(is_refused({"-"}, "{\"a\":\"\xFF\"}"));
}

TEST_CASE("a prompt takes text only") {
  CHECK(std::get<std::string>(params({"prompt", "p", "a:=1"})) ==
        R"({"name":"p","arguments":{"a:":"1"}})");
  CHECK(std::holds_alternative<UsageError>(params({"prompt", "p", "a=1", "a=2"})));
  CHECK(std::holds_alternative<UsageError>(params({"prompt", "p", "a"})));
}

TEST_CASE("PARAMS are an object or an array") {
  CHECK(std::get<std::string>(params({"request", "m", "[1]"})) == "[1]");
  CHECK(std::get<std::string>(params({"request", "m", " {} "})) == " {} ");
  CHECK(std::holds_alternative<UsageError>(params({"request", "m", "1"})));
  CHECK(std::holds_alternative<UsageError>(params({"request", "m", "{"})));
}

TEST_CASE("the params of each verb") {
  const auto call = std::get<Prepared>(prepare(parsed({"call", "t", "a=1", "b:=2"})));
  CHECK(call.params.empty());
  REQUIRE(call.arguments.size() == 2);
  CHECK(call.arguments[0].value == "1");
  CHECK(call.arguments[1].form == Argument::Form::json);
  for (const char* wrong : {"a", "b:={", "c:@/no/such/file", "{", "{}}"})
    CHECK_MESSAGE(std::holds_alternative<UsageError>(prepare(parsed({"call", "t", wrong}))), wrong);
  CHECK(std::get<std::string>(params({"read", "file:///a"})) == R"({"uri":"file:///a"})");
  CHECK(std::get<std::string>(params({"request", "x"})).empty());
  CHECK(std::get<std::string>(params({"tools"})).empty());
  CHECK(std::holds_alternative<UsageError>(params({"read", "\xFF"})));
}

TEST_CASE("a call may be detached, at once or after a time, and have a key") {
  CHECK(parsed({"call", "--detach", "t"}).detach);
  CHECK(parsed({"call", "t", "--detach-after=0"}).detach_after == Milliseconds(0));
  CHECK(parsed({"call", "t", "--key", "step 1"}).key == "step 1");
  CHECK(parsed({"call", "t", "--key", std::string(256, 'k')}).key.size() == 256);
  CHECK(refused({"call", "t", "--key", std::string(257, 'k')}).find("256") != std::string::npos);
  CHECK(refused({"call", "t", "--key", "\xff"}).find("UTF-8") != std::string::npos);
  CHECK_FALSE(refused({"call", "t", "--detach", "--detach-after", "1s"}).empty());
  CHECK_FALSE(refused({"read", "u", "--detach"}).empty());
}

TEST_CASE("the verbs about jobs name them") {
  CHECK(parsed({"wait", "a", "b", "--any"}).operands == std::vector<std::string>{"a", "b"});
  CHECK(parsed({"answer", "a", "--decline"}).decline);
  CHECK(std::get<Prepared>(prepare(parsed({"answer", "a"}))).arguments.empty());
  CHECK(std::get<Prepared>(prepare(parsed({"answer", "a", "x=1", "y:=2"}))).arguments.size() == 2);
  CHECK(std::holds_alternative<UsageError>(params({"cancel", "\xff"})));
  CHECK(std::holds_alternative<UsageError>(params({"wait", ""})));
  CHECK_FALSE(refused({"wait"}).empty());
  std::vector<std::string_view> too_many(66, "a");
  too_many[0] = "wait";
  CHECK(std::holds_alternative<UsageError>(params(too_many)));
  CHECK_FALSE(refused({"forget", "a", "b"}).empty());
  CHECK_FALSE(refused({"answer", "a", "--cancel", "x=1"}).empty());
}
