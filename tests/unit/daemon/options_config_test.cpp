#include <doctest/doctest.h>

#include "options_helpers.hpp"
#include "servers/variables.hpp"

using namespace bridge;

namespace {

const std::string with_inputs =
    R"({"inputs":[{"id":"org-name","type":"promptString"},{"id":"pat","password":true},{"id":"opt","default":"o"}],
        "tools":[{"id":"ado","command":"npx","args":["${input:org-name}","${input:opt}"],"env":{"PAT":"${input:pat}"},"cwd":"${DIR:-/}"}]})";

Options child_of(const std::string& file, Arguments arguments,
                 const Environment& environment = {}) {
  const TemporaryFile config(file);
  arguments.insert(arguments.end(), {"--config", config.path()});
  return parsed(arguments, environment).options;
}

Refused refused_config(const std::string& file, Arguments arguments = {},
                       const Environment& environment = {}) {
  const TemporaryFile config(file);
  arguments.insert(arguments.end(), {"--config", config.path()});
  return refused(arguments, environment, false);
}

using Command = std::vector<std::string>;

}  // namespace

TEST_CASE("the command behind -- is a child, whatever its arguments look like") {
  const Options options = parsed({"--ring", "5", "--", "npx", "-y", "--url", "--"}).options;
  CHECK(options.upstream.kind == UpstreamKind::child);
  CHECK(options.upstream.child.command == Command{"npx", "-y", "--url", "--"});
  CHECK_FALSE(options.upstream.child.lazy);
  CHECK(options.ring.entries == 5);
  CHECK(parsed({"--spawn", "lazy", "--", "x"}).options.upstream.child.lazy);
}

TEST_CASE("limits and times hold for a child as well") {
  const ChildOptions child =
      parsed({"--max-frame", "5K", "--request-timeout", "2s", "--request-max", "3s", "--", "x"})
          .options.upstream.child;
  CHECK(child.max_frame == 5120);
  CHECK(child.request_timeout == std::chrono::seconds(2));
  CHECK(child.request_max == std::chrono::seconds(3));
}

TEST_CASE("two upstreams on the command line are refused, elsewhere the command line wins") {
  CHECK(refused({"--url", "http://x/", "--", "x"}, {}, false).code == 64);
  CHECK(refused({"--url=http://x/", "--", "x"}, {}, false).code == 64);
  CHECK(refused({"--"}, {}, false).code == 64);
  const TemporaryFile file(R"({"servers":{"a":{"command":"from-file"}}})");
  const Environment by_environment = {{"MCP_SERVER_URL", "http://e/"}};
  CHECK(parsed({"--", "x"}, by_environment).options.upstream.kind == UpstreamKind::child);
  CHECK(parsed({"--config", file.path(), "--", "x"}).options.upstream.child.command ==
        Command{"x"});
  CHECK(parsed({"--config", file.path(), "--url", "http://x/"}).options.upstream.http.url ==
        "http://x/");
  CHECK(parsed({"--config", file.path()}, by_environment).options.upstream.child.command ==
        Command{"from-file"});
  const Environment both = {{"MCP_SERVER_URL", "http://e/"}, {"MCP_BRIDGE_CONFIG", file.path()}};
  CHECK(parsed({}, both).options.upstream.http.url == "http://e/");
  CHECK(parsed({}, {{"MCP_BRIDGE_CONFIG", file.path()}}).options.upstream.child.command ==
        Command{"from-file"});
}

TEST_CASE("an entry's kind is told by its type, else by what it has") {
  const auto kind = [](const std::string& entry) {
    return child_of(R"({"servers":{"a":)" + entry + "}}", {}).upstream.kind;
  };
  CHECK(kind(R"({"command":"x"})") == UpstreamKind::child);
  CHECK(kind(R"({"type":"stdio","command":"x"})") == UpstreamKind::child);
  for (const char* type : {"http", "streamable-http", "streamableHttp"}) {
    CHECK(kind(std::string(R"({"type":")") + type + R"(","url":"http://x/"})") ==
          UpstreamKind::http);
  }
  CHECK(kind(R"({"url":"http://x/"})") == UpstreamKind::http);
  CHECK(kind(R"({"type":"sse","url":"http://x/"})") == UpstreamKind::sse);
  for (const char* wrong : {R"({})", R"({"type":"stdio","url":"http://x/"})",
                            R"({"type":"sse","command":"x"})", R"({"type":"ws","url":"ws://x/"})",
                            R"({"command":"x","url":"http://x/"})", R"({"url":"ftp://x/"})"})
    CHECK_MESSAGE(refused_config(std::string(R"({"servers":{"a":)") + wrong + "}}").code == 78,
                  wrong);
}

TEST_CASE("inputs come from --input, then --input-file, then the environment, then their default") {
  const TemporaryFile values(R"({"org-name":"file","pat":"file"})");
  const Environment environment = {
      {"MCP_INPUT_ORG_NAME", "env"}, {"MCP_INPUT_PAT", "env"}, {"MCP_INPUT_OPT", "env"}};
  const ChildOptions all =
      child_of(with_inputs, {"--input", "org-name=given=1", "--input-file", values.path()},
               environment)
          .upstream.child;
  CHECK(all.command == Command{"npx", "given=1", "env"});
  CHECK(all.environment.at("PAT") == "file");
  CHECK(all.folder == "/");
  CHECK(
      child_of(with_inputs, {"--input", "org-name=x", "--input", "pat=y"}).upstream.child.command ==
      Command{"npx", "x", "o"});
  CHECK(variable_of_input("Org-name.2") == "MCP_INPUT_ORG_NAME_2");
}

TEST_CASE("one line names everything that has no value, and no value") {
  const std::string file =
      R"({"servers":{"a":{"command":"${NO_SUCH}","args":["${input:x}","${env:NEITHER}","${input:x}","${command:y}"],"env":{"K":"${input:s}"}}}})";
  const Refused refusal = refused_config(file, {"--input", "s=s3cret"});
  CHECK(refusal.code == 78);
  for (const char* name : {"NO_SUCH", "NEITHER", "'x'", "MCP_INPUT_X", "${command:y}"})
    CHECK_MESSAGE(mentions(refusal, name), name);
  CHECK_FALSE(mentions(refusal, "s3cret"));
  CHECK(refusal.line.find("'x'") == refusal.line.rfind("'x'"));
}

TEST_CASE("a variable that is not closed is refused, with its place") {
  const Refused refusal = refused_config(
      R"({"servers":{"a":{"command":"x","args":["${input:pat s3cret"],"env":{"K":"${env:HOME"}}}})");
  CHECK(refusal.code == 78);
  for (const char* text : {"'a'", "${input:pat in args", "${env:HOME in env.K"})
    CHECK_MESSAGE(mentions(refusal, text), text);
  CHECK_FALSE(mentions(refusal, "s3cret"));
  CHECK(child_of(R"({"servers":{"a":{"command":"sh","args":["-c","echo ${"]}}})", {})
            .upstream.child.command == Command{"sh", "-c", "echo ${"});
}

TEST_CASE("of --config and another way to name the server the one that is not used is said") {
  const TemporaryFile file(R"({"servers":{"a":{"command":"from-file"}}})");
  const Environment url = {{"MCP_SERVER_URL", "http://e/"}};
  const auto unused = [](const Arguments& arguments, const Environment& environment) {
    return parsed(arguments, environment).options.unused_upstream;
  };
  CHECK(unused({"--config", file.path()}, url).starts_with("--url (MCP_SERVER_URL) is not used"));
  CHECK(unused({"--config", file.path(), "--url", "http://x/"}, {})
            .starts_with("--config is not used"));
  CHECK(unused({"--config", file.path(), "--", "x"}, {}).starts_with("--config is not used"));
  CHECK(unused({}, {{"MCP_SERVER_URL", "http://e/"}, {"MCP_BRIDGE_CONFIG", file.path()}})
            .starts_with("--config is not used"));
  CHECK(unused({"--config", file.path()}, {}).empty());
  CHECK(unused({}, url).empty());
  CHECK(unused({"--", "x"}, url).empty());
}

TEST_CASE("only the chosen server's variables are wanted") {
  const std::string file =
      R"({"servers":{"a":{"command":"x"},"b":{"command":"${input:missing}"}}})";
  CHECK(child_of(file, {"--server", "a"}).upstream.child.command == Command{"x"});
  CHECK(refused_config(file, {"--server", "b"}).code == 78);
  CHECK(refused_config(file).code == 64);
}

TEST_CASE(
    "headers of a file are sent, and one of the command line takes the place of its namesake") {
  const std::string file =
      R"({"servers":{"a":{"url":"http://x/","headers":{"X-Key":"${env:KEY}","X-Other":"o"}}}})";
  const auto headers = [&](const Arguments& arguments) {
    return child_of(file, arguments, {{"KEY", "@not a file"}}).upstream.http.headers;
  };
  CHECK(headers({}) == std::vector<std::string>{"X-Key: @not a file", "X-Other: o"});
  CHECK(headers({"--header", "x-key: mine"}) ==
        std::vector<std::string>{"X-Other: o", "x-key: mine"});
  const Refused refusal = refused_config(file, {}, {{"KEY", "s3cret\n"}});
  CHECK(refusal.code == 78);
  CHECK_FALSE(mentions(refusal, "s3cret"));
}

TEST_CASE("a missing file, a wrong one and a wrong --input are refused") {
  CHECK(refused({"--config", "/there/is/none"}, {}, false).code == 78);
  CHECK(refused_config("{").code == 78);
  CHECK(refused_config(with_inputs, {"--input-file", "/there/is/none"}).code == 78);
  CHECK(refused({"--input", "nothing", "--", "x"}, {}, false).code == 64);
}

TEST_CASE("--check looks for the command") {
  CHECK(refused({"--check", "--", "there-is-no-such-program"}, {{"PATH", "/bin"}}, false).code ==
        78);
  CHECK(refused({"--check", "--", "sh"}, {{"PATH", "/bin"}}, false).code == 0);
  CHECK(refused_config(R"({"servers":{"a":{"command":"sh","cwd":"/there/is/none"}}})", {"--check"},
                       {{"PATH", "/bin"}})
            .code == 78);
}

TEST_CASE("a file that is read again does not ask and compares what it names") {
  const TemporaryFile config(R"({"servers":{"a":{"command":"x","args":["${input:i}"]}}})");
  const OnlyEnvironment only({});
  std::vector<std::string> arguments = {"mcp-bridged", "--config", config.path()};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  ParsedOptions earlier;
  earlier.answers["i"] = "typed";
  const ParsedOptions again = parse_options(static_cast<int>(argv.size()), argv.data(), &earlier);
  CHECK(again.options.upstream.child.command == Command{"x", "typed"});
  CHECK(again.given.contains("the server in --config"));
}
