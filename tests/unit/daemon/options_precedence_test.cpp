#include <doctest/doctest.h>

#include "lines.hpp"
#include "options/options.hpp"
#include "options_helpers.hpp"

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("a flag wins over the environment over the file over the default: a value") {
  const TemporaryFile file("ring = 3\n");
  const Arguments from_file = {"--options-file", file.path()};
  CHECK(options_of({}).ring.entries == 1000);
  CHECK(options_of(from_file).ring.entries == 3);
  CHECK(options_of(from_file, {{"MCP_BRIDGE_RING", "2"}}).ring.entries == 2);
  CHECK(options_of({"--options-file", file.path(), "--ring", "1"}, {{"MCP_BRIDGE_RING", "2"}})
            .ring.entries == 1);
  CHECK(options_of({"--ring", "1"}, {{"MCP_BRIDGE_RING", "2"}}).ring.entries == 1);
}

TEST_CASE("a flag wins over the environment over the file: a list, as a whole") {
  const TemporaryFile file("ring-exclude = f1\nring-exclude = f2\n");
  const Arguments from_file = {"--options-file", file.path()};
  CHECK(options_of(from_file).ring.excluded_methods == Lines{"f1", "f2"});
  CHECK(options_of(from_file, {{"MCP_BRIDGE_RING_EXCLUDE", "e"}}).ring.excluded_methods ==
        Lines{"e"});
  CHECK(options_of({"--options-file", file.path(), "--ring-exclude", "a"},
                   {{"MCP_BRIDGE_RING_EXCLUDE", "e"}})
            .ring.excluded_methods == Lines{"a"});
}

TEST_CASE("a flag wins over the environment over the file: what is on or off") {
  const TemporaryFile on("ring-coalesce\n");
  const TemporaryFile off("server-stream = false\n");
  CHECK(options_of({"--options-file", on.path()}).ring.coalesce);
  CHECK_FALSE(options_of({"--options-file", on.path()}, {{"MCP_BRIDGE_RING_COALESCE", "false"}})
                  .ring.coalesce);
  CHECK(options_of({"--ring-coalesce"}, {{"MCP_BRIDGE_RING_COALESCE", "false"}}).ring.coalesce);
  CHECK_FALSE(options_of({"--options-file", off.path()}).upstream.http.server_stream);
  CHECK(options_of({"--options-file", off.path()}, {{"MCP_BRIDGE_SERVER_STREAM", "true"}})
            .upstream.http.server_stream);
  CHECK(options_of({"--options-file", off.path(), "--server-stream"}).upstream.http.server_stream);
  CHECK_FALSE(options_of({"--no-server-stream"}, {{"MCP_BRIDGE_SERVER_STREAM", "true"}})
                  .upstream.http.server_stream);
}

TEST_CASE("an empty variable is unset, an unknown one is no option") {
  const TemporaryFile file("ring = 3\n");
  CHECK(options_of({}, {{"MCP_BRIDGE_RING", ""},
                        {"MCP_SOCKET_PATH", ""},
                        {"MCP_BRIDGE_RING_EXCLUDE", ""},
                        {"MCP_BRIDGE_SERVER_STREAM", ""},
                        {"MCP_BRIDGE_NO_SUCH", "x"},
                        {"MCP_BRIDGE_OPTIONS_FILE", ""}})
            .ring.entries == 1000);
  const Options options = options_of({"--options-file", file.path()},
                                     {{"MCP_BRIDGE_RING", ""}, {"MCP_SOCKET_PATH", ""}});
  CHECK(options.ring.entries == 3);
  CHECK(options.socket.path == "/tmp/mcp.sock");
}

TEST_CASE("a wrong value in a variable is refused like one on the command line") {
  CHECK(refused({}, {{"MCP_BRIDGE_RING", "x"}}).code == 64);
  CHECK(mentions(refused({}, {{"MCP_BRIDGE_RING", "x"}}), "MCP_BRIDGE_RING: --ring: 'x' is not"));
  CHECK(mentions(refused({}, {{"MCP_BRIDGE_SOCKET_MODE", "x"}}),
                 "MCP_BRIDGE_SOCKET_MODE: --socket-mode: 'x' is not"));
  CHECK(
      refused({"--ring", "x"}, {{"MCP_BRIDGE_RING", "1"}}).line.starts_with("--ring: 'x' is not"));
  CHECK(refused({}, {{"MCP_BRIDGE_SERVER_STREAM", "maybe"}}).code == 64);
}

TEST_CASE("the file is named by a flag or a variable, and may name the upstream") {
  const TemporaryFile file("url = http://from.file/\nsocket = /run/f\n");
  CHECK(parsed({"--options-file", file.path()}).options.upstream.http.url == "http://from.file/");
  const Options options = parsed({}, {{"MCP_BRIDGE_OPTIONS_FILE", file.path()}}).options;
  CHECK(options.upstream.http.url == "http://from.file/");
  CHECK(options.socket.path == "/run/f");
}

TEST_CASE("a file has a line for each option: comments, blanks, '=' or none, dashes or none") {
  const TemporaryFile file(
      "# a comment\n\n  \t\r\nring-ttl 10m\r\n--socket=/run/x\n  handshake  =  client  "
      "\nring-coalesce\n"
      "header = X-A: b=c\nclient-capabilities = {\"a\": 1}\n ring\t7");
  const auto lines = read_options_file(file.path());
  CHECK(lines.size() == 7);
  CHECK(lines.at("ring-ttl").values == Lines{"10m"});
  CHECK(lines.at("socket").values == Lines{"/run/x"});
  CHECK(lines.at("handshake").values == Lines{"client"});
  CHECK(lines.at("ring-coalesce").values == Lines{""});
  CHECK(lines.at("header").values == Lines{"X-A: b=c"});
  CHECK(lines.at("client-capabilities").values == Lines{"{\"a\": 1}"});
  CHECK(lines.at("ring").values == Lines{"7"});
  CHECK(lines.at("ring-ttl").first == 4);
  CHECK(lines.at("ring").first == 10);
  CHECK(options_of({"--options-file", file.path()}).ring.ttl == 10min);
}

TEST_CASE("what is wrong with a file is a fault of the configuration, and the file is named") {
  for (const char* content :
       {"no-such-option = 1\n", "ring = x\n", "ring = 0\n", "ring = 1\nring = 2\n",
        "handshake = later\n", "options-file = /etc/passwd\n", "server-stream = maybe\n", "ring\n",
        "= 1\n", "allow-uid = root\n"}) {
    CAPTURE(content);
    const TemporaryFile file(content);
    const Refused refusal = refused({"--options-file", file.path()});
    CHECK(refusal.code == 78);
    CHECK(mentions(refusal, file.path()));
  }
}

TEST_CASE("an unknown option in a file is named with its line, and with the one that is meant") {
  const std::pair<const char*, const char*> rows[] = {
      {"# a\n\nrings = 1\n", ": line 3: unknown option 'rings'; did you mean 'ring'?"},
      {"ring = 1\nqqqqqqqq\n", ": line 2: unknown option 'qqqqqqqq'"},
      {"help\n", ": line 1: unknown option 'help'"},
      {"check\n", ": line 1: unknown option 'check'"},
      {"version = 1\n", ": line 1: unknown option 'version'"},
  };
  for (const auto& [content, said] : rows) {
    const TemporaryFile file(content);
    const Refused refusal = refused({"--options-file", file.path()});
    CHECK(refusal.code == 78);
    CHECK_MESSAGE(mentions(refusal, file.path() + said), refusal.line);
  }
}

TEST_CASE("a file that cannot be read is a fault of the configuration") {
  const Refused missing = refused({"--options-file", "/nonexistent/file"});
  CHECK(missing.code == 78);
  CHECK(mentions(missing, "/nonexistent/file: No such file or directory"));
  CHECK(refused({"--options-file", "/"}).code == 78);
  const TemporaryFile large(std::string((1u << 20) + 1, '#'));
  CHECK(refused({"--options-file", large.path()}).code == 78);
}

TEST_CASE("a variable that looks like an option's and is none is warned about, without its value") {
  struct Row {
    const char* variable;
    const char* value;
    const char* meant;  // "": warned about without a suggestion; null: no warning
  };
  const Row rows[] = {
      {"MCP_BRIDGE_POLICY_FILE", "/s3cret", "MCP_BRIDGE_POLICY"},
      {"MCP_BRIDGE_POLCY", "/s3cret", "MCP_BRIDGE_POLICY"},
      {"MCP_SERVER_TOKN", "s3cret", "MCP_SERVER_TOKEN"},
      {"MCP_SOCKET_PAHT", "/s3cret", "MCP_SOCKET_PATH"},
      {"MCP_BRIDGE_SOMETHING_QUITE_ELSE", "s3cret", ""},
      {"MCP_BRIDGE_HTTP_PORT", "8080", ""},
      {"MCP_BRIDGE_POLCY", "", nullptr},
      {"MCP_BRIDGE_RING", "2", nullptr},
      {"MCP_SERVER_TOKEN", "t", nullptr},
      {"MCP_INPUT_X", "x", nullptr},
      {"MCP_BRIDGE_SERVICE_HOST", "10.0.0.1", nullptr},
      {"MCP_BRIDGE_SERVICE_PORT", "80", nullptr},
      {"MCP_BRIDGE_SERVICE_PORT_HTTP", "80", nullptr},
      {"MCP_BRIDGE_PORT", "tcp://10.0.0.1:80", nullptr},
      {"MCP_BRIDGE_PORT_80_TCP", "tcp://10.0.0.1:80", nullptr},
      {"MCP_BRIDGE_PORT_80_TCP_ADDR", "10.0.0.1", nullptr},
  };
  for (const Row& row : rows) {
    CAPTURE(row.variable);
    const auto warnings = options_of({}, {{row.variable, row.value}}).warnings;
    REQUIRE(warnings.size() == (row.meant == nullptr ? 0 : 1));
    if (row.meant == nullptr) continue;
    CHECK(warnings[0].find(row.variable) != std::string::npos);
    CHECK(warnings[0].find("s3cret") == std::string::npos);
    if (*row.meant == '\0') continue;
    CHECK(warnings[0].find(std::string("did you mean '") + row.meant + "'") != std::string::npos);
  }
}

TEST_CASE("what guards the daemon is said, and what a reload changes") {
  CHECK(guards_of(options_of({})) == "no policy, no audit");
  const TemporaryFile file(R"({"rules":[{"uid":[0]}]})");
  CHECK(guards_of(options_of({"--policy", file.path(), "--audit", "journal"})) ==
        "policy " + file.path() + ", 1 rule, audit journal");
  const auto values = [&](const Arguments& arguments) {
    return changeable_values(parsed(arguments, upstream));
  };
  const auto before = values({"--grace", "1s", "--ring", "1", "--policy", file.path()});
  CHECK(changed_names(before, before).empty());
  CHECK(changed_names(before, values({"--grace", "2s", "--ring", "2", "--header", "A: b"})) ==
        Lines{"--grace", "--header", "the rules of --policy"});
}
