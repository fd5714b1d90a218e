#include "servers/server_config.hpp"

#include <doctest/doctest.h>

#include "base/start_error.hpp"
#include "servers/variables.hpp"

using namespace bridge;

namespace {

struct Fault {
  int code = 0;
  std::string line;
};

template <class Function>
Fault fault_of_call(Function&& function) {
  try {
    function();
  } catch (const StartError& error) {
    return {error.code(), error.what()};
  }
  return {};
}

Fault fault_of_config(std::string_view text) {
  return fault_of_call([&] { read_server_config(text, "file"); });
}

}  // namespace

TEST_CASE("the map of servers is read as the ecosystem's tools write it") {
  const ServerConfig config = read_server_config(R"({
    // the usual one
    "mcpServers": {
      "files": {"command": "npx", "args": ["-y", "server", 5], "env": {"A": "b", "N": 1, "Z": null}, "cwd": "/x",},
      "far": {"type": "streamableHttp", "url": "https://x/mcp", "headers": {"Authorization": "Bearer ${env:T}"}},
    },
    "unknown": [true],
  })",
                                                 "file");
  REQUIRE(config.servers.size() == 2);
  const ServerEntry& files = config.servers[0];
  CHECK(files.name == "files");
  CHECK(files.type.empty());
  CHECK(files.command == "npx");
  CHECK(files.arguments == std::vector<std::string>{"-y", "server", "5"});
  CHECK(files.environment == std::map<std::string, std::string>{{"A", "b"}, {"N", "1"}});
  CHECK(files.folder == "/x");
  const ServerEntry& far = config.servers[1];
  CHECK(far.type == "streamableHttp");
  CHECK(far.url == "https://x/mcp");
  REQUIRE(far.headers.size() == 1);
  CHECK(far.headers[0].second == "Bearer ${env:T}");
}

TEST_CASE("the client of a login is read as each program spells it") {
  struct Row {
    const char* member;
    OAuthEntry oauth;
  };
  for (const Row& row :
       {Row{R"("oauth":{"clientId":"i","callbackPort":8080})", {"i", "", "8080", ""}},
        Row{R"("oauth":{"clientId":"i","clientSecret":"s","scopes":"a b"})", {"i", "s", "", "a b"}},
        Row{R"("oauth":{"enabled":true,"clientId":"i","scopes":["a","b"]})", {"i", "", "", "a b"}},
        Row{R"("oauth":{"clientId":"i","clientSecret":"s","scope":"a"})", {"i", "s", "", "a"}},
        Row{R"("auth":{"CLIENT_ID":"i","CLIENT_SECRET":"s","scopes":["a"]})", {"i", "s", "", "a"}},
        Row{R"("oauth":false)", {}}, Row{R"("auth":"none")", {}},
        Row{R"("oauth":{"clientId":null})", {}}}) {
    CAPTURE(row.member);
    const ServerConfig config = read_server_config(
        std::string(R"({"mcpServers":{"x":{"url":"https://x/mcp",)") + row.member + "}}}", "file");
    const OAuthEntry& read = config.servers[0].oauth;
    CHECK(read.client_id == row.oauth.client_id);
    CHECK(read.client_secret == row.oauth.client_secret);
    CHECK(read.callback_port == row.oauth.callback_port);
    CHECK(read.scope == row.oauth.scope);
  }
}

TEST_CASE("servers, and servers inside of mcp, are the same map") {
  CHECK(read_server_config(R"({"servers":{"a":{"url":"http://x/"}}})", "file").servers[0].name ==
        "a");
  CHECK(read_server_config(R"({"mcp":{"servers":{"a":{"url":"http://x/"}}}})", "file")
            .servers[0]
            .name == "a");
}

TEST_CASE("the form with inputs and tools is read") {
  const ServerConfig config = read_server_config(
      R"({"inputs":[{"id":"ado_org","type":"promptString","description":"Azure DevOps organization"},
                    {"id":"pat","password":true,"default":"d"},
                    {"id":"pick","type":"pickString","options":["a",{"label":"B","value":"b"}]}],
          "tools":[{"id":"ado","type":"stdio","command":"npx","args":["-y","@azure-devops/mcp","${input:ado_org}"]}]})",
      "file");
  REQUIRE(config.inputs.size() == 3);
  CHECK(config.inputs[0].id == "ado_org");
  CHECK(config.inputs[0].description == "Azure DevOps organization");
  CHECK_FALSE(config.inputs[0].password);
  CHECK_FALSE(config.inputs[0].otherwise);
  CHECK(config.inputs[1].password);
  CHECK(config.inputs[1].otherwise == "d");
  CHECK(config.inputs[2].choices == std::vector<std::string>{"a", "b"});
  REQUIRE(config.servers.size() == 1);
  CHECK(config.servers[0].name == "ado");
  CHECK(config.servers[0].type == "stdio");
  CHECK(config.servers[0].arguments.back() == "${input:ado_org}");
}

TEST_CASE("a file that is wrong is refused in one line, with the place and without values") {
  const std::pair<const char*, const char*> wrong[] = {
      {"{\n\n\"servers\": s3cret}", "not JSON: line 3, column 12"},
      {"", "not JSON: line 1, column 1"},
      {"[]", "not an object"},
      {"{} {}", "not JSON"},
      {"{\"servers\":{\"a\":{}}}\n/* s3cret", "not JSON: line 2, column 1"},
      {"{}", "no server"},
      {R"({"servers":{}})", "no server"},
      {R"({"servers":{"a":{"command":{"x":"s3cret"}}}})", "server 'a': command is not a text"},
      {R"({"servers":{"a":{"args":"s3cret"}}})", "server 'a': args is not a list"},
      {R"({"servers":{"a":{"env":{"X":["s3cret"]}}}})", "server 'a': env.X"},
      {R"({"servers":{"a":{"env":{"X=":"s3cret"}}}})", "name"},
      {R"({"servers":{"a":{"command":"s3cret\u0000"}}})", "zero byte"},
      {R"({"servers":{"a":1}})", "server 'a' is not an object"},
      {R"({"servers":{"a":{},"a":{}}})", "duplicate"},
      {R"({"servers":{"a":{}},"mcpServers":{"a":{}}})", "two servers 'a'"},
      {R"({"tools":[{"command":"x"}]})", "no id"},
      {R"({"inputs":[{"description":"x"}]})", "no id"},
      {"{\"a\":\"\xFF\"}", "UTF-8"},
  };
  for (const auto& [text, expected] : wrong) {
    const auto& tried = text;  // clang 14 captures no structured binding
    CAPTURE(tried);
    const Fault fault = fault_of_config(text);
    CHECK(fault.code == 78);
    CAPTURE(fault.line);
    CHECK(fault.line.starts_with("file: "));
    CHECK(fault.line.find(expected) != std::string::npos);
    CHECK(fault.line.find("s3cret") == std::string::npos);
    CHECK(fault.line.find('\n') == std::string::npos);
  }
}

TEST_CASE("one server needs no name, one of several does") {
  const ServerConfig one = read_server_config(R"({"servers":{"a":{}}})", "file");
  CHECK(choose_server(one, "", "file").name == "a");
  const ServerConfig two = read_server_config(R"({"servers":{"a":{},"b":{}}})", "file");
  CHECK(choose_server(two, "b", "file").name == "b");
  const Fault unnamed = fault_of_call([&] { choose_server(two, "", "file"); });
  CHECK(unnamed.code == 64);
  CHECK(unnamed.line.find("a, b") != std::string::npos);
  const Fault unknown = fault_of_call([&] { choose_server(two, "c", "file"); });
  CHECK(unknown.code == 64);
  CHECK(unknown.line.find("no server 'c'") != std::string::npos);
}

TEST_CASE("an input file is an object of texts") {
  const auto values =
      read_text_map("{\"a\": \"1\", \"b\": 2, \"c\": true, /* none */ \"d\": null}", "file");
  CHECK(values == std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}, {"c", "true"}});
  CHECK(fault_of_call([] { read_text_map("[]", "file"); }).code == 78);
  CHECK(fault_of_call([] { read_text_map(R"({"a":{}})", "file"); }).code == 78);
}

TEST_CASE("a file as long as it can be takes time in proportion, whatever is in it") {
  constexpr std::size_t longest = 1u << 20;
  const auto filled = [](std::string text, const std::string& end, auto&& part) {
    for (std::size_t i = 0; text.size() + end.size() < longest - 40; ++i) text += part(i);
    return text + end;
  };
  const auto numbered = [](const std::string& before, const std::string& after) {
    return [=](std::size_t i) { return before + std::to_string(i) + after; };
  };
  InputSources sources;
  const auto fault = [&sources](const std::string& text) {
    return fault_of_call([&] {
      const ServerConfig config = read_server_config(text, "file");
      resolve_server(config.servers.front(), config, sources, "file");
    });
  };
  // Each of these blocked the loop for seconds, or for minutes.
  CHECK(read_server_config(
            filled(R"({"servers":{"a":{"command":"x"}})", "}", numbered(",\"", "\":1")), "file")
            .servers.size() == 1);
  CHECK(read_server_config(filled(R"({"servers":{"a":{})", "}}", numbered(",\"", "\":{}")), "file")
            .servers.size() > 50'000);
  const Fault missing =
      fault(filled(R"({"servers":{"a":{"command":")", "\"}}}", numbered("${input:i", "}")));
  CHECK(missing.code == exit_code::configuration);
  CHECK(missing.line.find("'i0'") != missing.line.npos);
  CHECK(missing.line.find(" more") != missing.line.npos);
  CHECK(missing.line.size() < 20'000);
  const std::string value(longest / 2, 'v');
  const std::string inputs = R"({"inputs":[{"id":"b","default":")" + value +
                             R"("}],"servers":{"a":{"command":"x","args":[""])";
  const Fault grown = fault(filled(inputs.substr(0, inputs.size() - 1), "]}}}",
                                   [](std::size_t) { return std::string(",\"${input:b}\""); }));
  CHECK(grown.line.find("is over 2 MiB with its variables replaced") != grown.line.npos);
  std::string nested;
  for (int i = 0; i < 1000; ++i) nested += R"({"mcp":)";
  nested = filled(nested + R"({"x":")", "\"}", [](std::size_t) { return std::string(100, 'x'); }) +
           std::string(1000, '}');
  CHECK(fault(nested).line ==
        "file: there is no server in it (mcpServers, servers, mcp, mcp_servers or tools)");
}

TEST_CASE("defaults that stand too deep in one another are refused, and where they stand is said") {
  InputSources sources;
  std::string text = R"({"servers":{"a":{"command":"x","env":{"E":")";
  for (int i = 0; i < 20'000; ++i) text += "${A:-";
  const ServerConfig config =
      read_server_config(text + std::string(20'000, '}') + R"("}}}})", "file");
  const Fault fault =
      fault_of_call([&] { resolve_server(config.servers.front(), config, sources, "file"); });
  CHECK(fault.code == exit_code::configuration);
  CHECK(fault.line == "file: server 'a' has variables nested more than 32 deep in env.E");
}
