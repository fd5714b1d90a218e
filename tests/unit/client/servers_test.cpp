#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "../temporary_folder.hpp"
#include "servers/approve.hpp"
#include "servers/definition.hpp"
#include "servers/find.hpp"
#include "servers/instance.hpp"
#include "servers/places.hpp"
#include "servers/start.hpp"
#include "system/files.hpp"
#include "text/sha256.hpp"

using namespace client;

namespace {

Definition only(std::string_view text) {
  auto read = read_definitions(text);
  auto& all = std::get<std::vector<Definition>>(read);
  REQUIRE(all.size() == 1);
  return all.front();
}

std::string fault_of(std::string_view text) {
  return std::get<std::string>(read_definitions(text));
}

std::string names_of(const NamedVariables& variables) {
  std::string names;
  for (const auto& [name, has_default] : variables.environment)
    names += name + (has_default ? "? " : " ");
  for (const auto& input : variables.inputs) names += "input:" + input.id + " ";
  return names;
}

NamedServer server_of(std::string_view text, std::string file = "/f") {
  return {only(text), std::move(file), "/", true};
}

std::map<std::string, std::string> variables;
std::optional<std::string> read_variable(const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> names_of(const std::variant<std::vector<Definition>, std::string>& read) {
  std::vector<std::string> names;
  for (const Definition& one : std::get<std::vector<Definition>>(read)) names.push_back(one.name);
  return names;
}

}  // namespace

TEST_CASE("a definition keeps the words of its file, in a file of its own") {
  const Definition one =
      only("{ // mine\n\"mcpServers\": {\"a\": {\"command\": \"x\", \"n\": 1.0},}}");
  CHECK(one.name == "a");
  CHECK(one.entry == "{\"command\": \"x\", \"n\": 1.0}");
  CHECK(one.document == "{\"mcpServers\":{\"a\":{\"command\": \"x\", \"n\": 1.0}}}");
  CHECK(only("{\"mcp\":{\"servers\":{\"b\":{}}}}").name == "b");
  CHECK(only("{\"tools\":[{\"id\":\"c\",\"url\":\"u\"}]}").document ==
        "{\"tools\":[{\"id\":\"c\",\"url\":\"u\"}]}");
}

TEST_CASE("only the inputs that a definition names go with it") {
  const Definition one = only(
      "{\"inputs\":[{\"id\":\"x\"},{\"id\":\"y\",\"default\":\"1\",\"password\":true,"
      "\"description\":\"Why\"}],\"servers\":{\"a\":{\"url\":\"${input:y}\"}}}");
  CHECK(one.document.find("\"x\"") == std::string::npos);
  const NamedVariables wanted = variables_of(one);
  REQUIRE(wanted.inputs.size() == 1);
  CHECK(wanted.inputs.front().description == "Why");
  CHECK(wanted.inputs.front().otherwise == "1");
  CHECK(wanted.inputs.front().password);
}

TEST_CASE("the variables of a definition are found wherever the daemon replaces them") {
  const Definition one = only(
      "{\"mcpServers\":{\"a\":{\"command\":\"${C}\",\"args\":[\"${env:A}\",\"\\u0024{B:-${D:-d}}\"],"
      "\"env\":{\"${NOT}\":\"${input:i}\"},\"headers\":{\"h\":\"${C:-c}\"},\"other\":\"${NOR}\"}}}");
  CHECK(names_of(variables_of(one)) == "A B? C D? input:i ");
}

TEST_CASE("what cannot be read says why") {
  CHECK(fault_of("{") == "it is not JSON: line 1, column 2");
  CHECK(fault_of("[]") == "it is not an object");
  CHECK(fault_of("\"\xff\"") == "it is not UTF-8");
  CHECK(fault_of("{\"servers\":1}") == "its servers are not an object");
  CHECK(fault_of("{\"servers\":{\"a\":{}},\"mcpServers\":{\"a\":{}}}") ==
        "there are two servers 'a'");
}

TEST_CASE("a command line is split into a definition, and an address named by its host") {
  CHECK(definition_of_command("/usr/bin/x -y  'a b'")->entry ==
        R"({"command":"/usr/bin/x","args":["-y","a b"]})");
  CHECK_FALSE(definition_of_command("'open"));
  CHECK_FALSE(definition_of_command("  "));
  const auto url_name = [](const char* url) { return definition_of_url(url).name; };
  for (const auto& [url, name] :
       {std::pair("https://h.example:8/mcp", "h.example:8"), std::pair("http://h:8/", "h:8"),
        std::pair("http://h:8/a/mcp/", "h:8/a"), std::pair("http://h:8/b", "h:8/b")})
    CHECK_MESSAGE(url_name(url) == name, url);
  CHECK(url_name("https://u:p@h.example:8/mcp?k=v").starts_with("h.example:8-"));
  CHECK(url_name("http://h/mcp?k=1") != url_name("http://h/mcp?k=2"));
  CHECK(definition_of_command("/usr/bin/x")->name == "x");
  CHECK(definition_of_command("/usr/bin/x y")->name.starts_with("x-"));
  CHECK(definition_of_command("npx a")->name != definition_of_command("npx b")->name);
}

TEST_CASE("a summary has no secrets of an address") {
  CHECK(summary_of(definition_of_url("https://u:p@h/mcp?k=v")) == "h/mcp");
  CHECK(summary_of(*definition_of_command("npx -y s")) == "npx -y s");
}

TEST_CASE("files are looked through in order, and a later one takes no name of an earlier one") {
  variables = {{"MCP_CONFIG", "/m"}, {"HOME", "/h"}};
  auto files = config_files("/o", read_variable);
  REQUIRE(files.size() == 4);
  CHECK(files[0].path == "/o");
  CHECK(files[1].path == "/m");
  CHECK(files[2].path == "/h/.config/mcp/mcp.json");
  CHECK(files[3].path == ".mcp.json");
  CHECK(files[3].needs_approval);
  CHECK(!files[2].needs_approval);
  variables = {{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/c"}};
  CHECK(config_files("", read_variable).front().path == "/c/mcp/mcp.json");
}

TEST_CASE("an instance is another one for another file, name, definition or value") {
  variables = {};
  const std::string text = "{\"mcpServers\":{\"a\":{\"url\":\"${env:V:-1}\"}}}";
  const std::string first = instance_of(server_of(text), read_variable);
  CHECK(first == instance_of(server_of(text), read_variable));
  CHECK(first != instance_of(server_of(text, "/g"), read_variable));
  CHECK(first != instance_of(server_of("{\"mcpServers\":{\"a\":{\"url\":\"2\"}}}"), read_variable));
  variables["V"] = "1";
  CHECK(first != instance_of(server_of(text), read_variable));
  variables = {{"W", "1"}};
  CHECK(first == instance_of(server_of(text), read_variable));
}

TEST_CASE("settings are those of the command line, then of the environment") {
  using Words = std::vector<std::string>;
  const Definition named = server_of("{\"mcpServers\":{\"a\":{\"url\":\"http://h/\"}}}").definition;
  const Definition program = server_of("{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}").definition;
  Options options;
  options.server = "a";
  variables = {{"MCP_SERVER_TOKEN", "t"},
               {"MCP_BRIDGE_TOKEN_FILE", "/t"},
               {"MCP_BRIDGE_OAUTH_ASSERTION_FILE", "/a"},
               {"MCP_BRIDGE_OAUTH_CLIENT_ID", "env"},
               {"MCP_BRIDGE_OAUTH_ASSUME_PKCE", "0"}};
  // Any server of a file would get the token.
  CHECK(settings_for(named, options, read_variable).words == Words{"--oauth-client-id=env"});
  CHECK(settings_for(named, options, read_variable).token.empty());
  options.oauth_client_id = "given";
  options.oauth_assume_pkce = true;
  CHECK(settings_for(named, options, read_variable).words ==
        Words{"--oauth-client-id=given", "--oauth-assume-pkce"});
  CHECK(settings_for(program, options, read_variable).words.empty());
  Options typed;
  typed.url = "http://h/";
  CHECK(settings_for(named, typed, read_variable).token == "t");
  CHECK(settings_for(named, typed, read_variable).words ==
        Words{"--token-file=/t", "--oauth-client-id=env", "--oauth-assertion-file=/a"});
  typed.token_file = "/u";
  CHECK(settings_for(named, typed, read_variable).words.front() == "--token-file=/u");
  NamedServer server = server_of("{\"mcpServers\":{\"a\":{\"url\":\"http://h/\"}}}");
  variables = {};
  const std::string first = instance_of(server, read_variable);
  server.settings.token = "t";
  CHECK(first != instance_of(server, read_variable));
  CHECK(definition_of_url("http://h/", {{"X-Key", "a\"b"}}).entry ==
        R"({"url":"http://h/","headers":{"X-Key":"a\"b"}})");
}

TEST_CASE("names in paths are harmless and short") {
  CHECK(harmless_name("a/../b c") == "a_.._b_c");
  CHECK(harmless_name("..") == "_..");
  CHECK(harmless_name("") == "_");
  CHECK(harmless_name(std::string(40, 'x')) == std::string(32, 'x'));
}

TEST_CASE("an approval is of one file, name and definition") {
  const TemporaryFolder folder;
  const Places places{folder.path(), folder.path()};
  const NamedServer one = server_of("{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}");
  CHECK(!is_approved(one, places));
  CHECK(approve(one, places).empty());
  CHECK(is_approved(one, places));
  CHECK(!is_approved(server_of("{\"mcpServers\":{\"a\":{\"command\":\"y\"}}}"), places));
  CHECK(!is_approved(server_of("{\"mcpServers\":{\"b\":{\"command\":\"x\"}}}"), places));
  CHECK(!is_approved(server_of("{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}", "/g"), places));
  struct stat facts {};
  REQUIRE(::stat((folder.path("approved")).c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
}

TEST_CASE("what a file says cannot forge a line of the approvals") {
  const TemporaryFolder folder;
  const Places places{folder.path(), folder.path()};
  const NamedServer wanted = server_of("{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}");
  const TemporaryFolder other;
  REQUIRE(approve(wanted, {other.path(), other.path()}).empty());
  const std::string hash =
      bridge::sha256_hex("2:/f1:a{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}");
  NamedServer forger = wanted;
  forger.file = "/x\n" + hash + " a /f";
  REQUIRE(approve(forger, places).empty());
  CHECK(!is_approved(wanted, places));
}

TEST_CASE("folders are made for the user alone, and others' are not taken") {
  const TemporaryFolder folder;
  variables = {{"XDG_RUNTIME_DIR", folder.path()}, {"HOME", folder.path("home")}};
  const auto made = make_places(read_variable);
  REQUIRE(std::holds_alternative<Places>(made));
  struct stat facts {};
  REQUIRE(::stat(std::get<Places>(made).state.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0700);
  REQUIRE(::chmod(std::get<Places>(made).runtime.c_str(), 0701) == 0);
  CHECK(std::holds_alternative<std::string>(make_places(read_variable)));
}

TEST_CASE("a record is read as it was written, whatever the names are") {
  const Instance one{"a-1", "na\"me", "/f", "npx x"};
  const auto read = read_record("a-1", record_of(one));
  REQUIRE(read);
  CHECK(read->name == one.name);
  CHECK(read->file == "/f");
  CHECK(read->summary == "npx x");
  CHECK(!read_record("a-1", "[]"));
  CHECK(record_of({"", "a", "/\xff", std::string(499, 'x') + "\xc3\xa4"}).find('\xff') ==
        std::string::npos);
}

TEST_CASE("a daemon of an edited definition is known") {
  const NamedServer before = server_of(R"({"mcpServers":{"a":{"command":"x"}}})");
  const NamedServer edited = server_of(R"({"mcpServers":{"a":{"command":"x","env":{"B":"1"}}}})");
  const auto recorded = read_record("a-1", record_of(instance_for(before, "a-1")));
  REQUIRE(recorded);
  CHECK(is_of(*recorded, edited));
  CHECK(is_former(*recorded, edited));
  CHECK_FALSE(is_former(*recorded, before));
  // A record of an earlier version has no hash.
  const Instance old{"a-1", "a", "/f", "x"};
  CHECK_FALSE(is_former(old, edited));
  CHECK(is_former(old, server_of(R"({"mcpServers":{"a":{"command":"y"}}})")));
}

TEST_CASE("the record of a daemon that has ended is removed, but not while one is started") {
  const TemporaryFolder folder;
  const Places places{folder.path(), folder.path()};
  const Instance one{"a-1", "a", "/f", "x"};
  const std::string record = paths_of(places, one.id).record;
  REQUIRE(replace_file(record, record_of(one)) == 0);
  {
    const auto lock = lock_starting(places);
    forget_ended(one, places);
    CHECK(::access(record.c_str(), F_OK) == 0);
  }
  forget_ended(one, places);
  CHECK(::access(record.c_str(), F_OK) != 0);
}

TEST_CASE("the newest log of a name is found without a record") {
  const TemporaryFolder folder;
  const Places places{folder.path(), folder.path()};
  CHECK(newest_log("a", places).empty());
  for (const char* id : {"a-0f1", "a-0f2", "a-b-0f3", "b-0f4"})
    REQUIRE(replace_file(paths_of(places, id).log, "said\n") == 0);
  const timespec later[] = {{2, 0}, {2'000'000'000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, paths_of(places, "a-0f1").log.c_str(), later, 0) == 0);
  CHECK(newest_log("a", places) == paths_of(places, "a-0f1").log);
  CHECK(newest_log("c", places).empty());
}

TEST_CASE("a daemon's last words tell whether it could start") {
  const LastWords refused = last_words_of(
      "2026-01-01 info serves\nmcp-bridged: cannot run \x1b[2J: --config /proc/self/fd/5 is wrong\n",
      "/f");
  CHECK(refused.is_refusal);
  CHECK(refused.text == "cannot run \\u001b[2J: /f is wrong");
  CHECK_FALSE(last_words_of("mcp-bridged: unexpected: bad_alloc\n", "/f").is_refusal);
  CHECK_FALSE(last_words_of("mcp-bridged: x\n2026-01-01 info serves\n", "/f").is_refusal);
  CHECK_FALSE(last_words_of("", "/f").is_refusal);
}

TEST_CASE("a daemon's environment is small") {
  const Definition one =
      only("{\"inputs\":[],\"mcpServers\":{\"a\":{\"url\":\"${env:U} ${input:i-d}\"}}}");
  std::string all[] = {"HOME=/h", "U=u",           "MCP_INPUT_I_D=3",       "TOKEN=t",
                       "XDG_X=x", "https_proxy=p", "MCP_BRIDGE_RING_SIZE=1"};
  std::vector<char*> environment;
  for (std::string& variable : all) environment.push_back(variable.data());
  environment.push_back(nullptr);
  const std::vector<std::string> passed = {"HOME=/h", "U=u", "MCP_INPUT_I_D=3", "XDG_X=x",
                                           "https_proxy=p"};
  CHECK(environment_for(one, environment.data()) == passed);
}

TEST_CASE(
    "other programs' files come behind all others, a folder's own last and only once approved") {
  variables = {{"HOME", "/h"}};
  const auto files = all_files("", read_variable);
  REQUIRE(files.size() == 18);
  CHECK(files[1].path == ".mcp.json");
  const char* const paths[] = {"/h/.claude.json",
                               "/h/.claude.json",
                               "/h/.config/Claude/claude_desktop_config.json",
                               "/h/.cursor/mcp.json",
                               "/h/.codeium/windsurf/mcp_config.json",
                               "/h/.config/Code/User/mcp.json",
                               "/h/.codex/config.toml",
                               "/h/.gemini/settings.json",
                               "/h/.config/opencode/opencode.json",
                               "/h/.config/opencode/opencode.jsonc",
                               ".cursor/mcp.json",
                               ".vscode/mcp.json",
                               ".codex/config.toml",
                               ".gemini/settings.json",
                               "opencode.json",
                               "opencode.jsonc"};
  for (std::size_t at = 0; at < std::size(paths); ++at) {
    const ConfigFile& file = files[at + 2];
    CAPTURE(file.path);
    CHECK(file.path == paths[at]);
    CHECK(file.is_foreign);
    CHECK(file.needs_approval == (at >= 10));
    CHECK(file.project.empty() == (at != 0));
  }
  CHECK(files[12].folder == ".");
  CHECK(files[5].folder == "/h");
  variables = {{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/c"}};
  CHECK(foreign_files(read_variable, "").front().path == "/h/.claude.json");
  CHECK(foreign_files(read_variable, "")[1].path == "/c/Claude/claude_desktop_config.json");
  variables = {};
  CHECK(foreign_files(read_variable, "/p").size() == 6);
  variables = {{"HOME", "/h"}, {"CODEX_HOME", "/x"}};
  CHECK(foreign_files(read_variable, "")[5].path == "/x/config.toml");
}

TEST_CASE("of another program's file only the servers are read, or those of one project") {
  const char* const text = R"({"numStartups": 3, "tools": {"x": 1}, "mcp": 7,
      "mcpServers": {"a": {"command": "x", "type": "stdio"}},
      "projects": {"/p": {"mcpServers": {"b": {"url": "http://u"}}, "history": []}, "/q": {}}})";
  CHECK(names_of(read_foreign_definitions(text, "")) == std::vector<std::string>{"a"});
  CHECK(names_of(read_foreign_definitions(text, "/p")) == std::vector<std::string>{"b"});
  CHECK(names_of(read_foreign_definitions(text, "/q")).empty());
  CHECK(names_of(read_foreign_definitions(text, "/r")).empty());
  CHECK(names_of(read_foreign_definitions("{}", "")).empty());
  CHECK(std::get<std::string>(read_foreign_definitions("{", "")) ==
        "it is not JSON: line 1, column 2");
  CHECK(std::get<std::string>(read_foreign_definitions(R"({"mcpServers":[]})", "")) ==
        "its servers are not an object");
  const auto with_inputs = read_foreign_definitions(
      R"({"inputs":[{"id":"k"}],"servers":{"c":{"url":"${input:k}"}}})", "");
  CHECK(std::get<std::vector<Definition>>(with_inputs).front().document.find(R"("id":"k")") !=
        std::string::npos);
}

TEST_CASE(
    "a file that somebody else could have written needs approval, one that is broken is left out") {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const char* text, mode_t mode) {
    ConfigFile made{folder.write(name, text, mode)};
    made.is_foreign = true;
    made.folder = "/";
    return made;
  };
  const std::vector<ConfigFile> files = {
      write("first", R"({"mcpServers":{"a":{"command":"mine"}}})", 0600),
      write("broken", "{", 0600),
      write("open", R"({"mcpServers":{"a":{"command":"other"},"b":{"command":"x"}}})", 0660)};
  const FoundServers found = find_servers(files);
  REQUIRE(found.servers.size() == 2);
  CHECK(found.servers[0].definition.entry == R"({"command":"mine"})");
  CHECK_FALSE(found.servers[0].needs_approval);
  CHECK(found.servers[0].folder == "/");
  CHECK(found.servers[1].needs_approval);
  CHECK(found.faults.empty());
  CHECK(found.foreign_faults.size() == 1);
  CHECK(std::holds_alternative<NamedServer>(find_server("b", files)));
  int asked = 0;
  const auto more = [&] {
    ++asked;
    return std::vector<ConfigFile>{files[2]};
  };
  CHECK(std::holds_alternative<NamedServer>(find_server("a", {files[0]}, more)));
  CHECK(asked == 0);
  CHECK(std::holds_alternative<NamedServer>(find_server("b", {files[0]}, more)));
  CHECK(asked == 1);
  CHECK(std::holds_alternative<std::string>(find_server("c", {}, more)));
  const auto missing = std::get<std::string>(find_server("bb", files));
  CHECK(missing.find("did you mean '@b'?") != std::string::npos);
  CHECK(missing.find("broken: it is not JSON") != std::string::npos);
}

TEST_CASE("what is shown of a definition has no literal that may be a secret") {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"command":"x","args":["--api-key","s3cret"]})", "x --api-key (hidden)"},
      {R"({"command":"x","args":["--api-key=s3cret"]})", "x --api-key=(hidden)"},
      {R"({"command":"x","args":["--api-key","${K}"]})", "x --api-key ${K}"},
      {R"({"command":"x","args":["--header","Authorization: Bearer s3cret"]})",
       "x --header Authorization: (hidden)"},
      {R"({"command":"x","args":["--header","Authorization:${A}"]})",
       "x --header Authorization:${A}"},
      {R"({"command":"docker","args":["run","-e","K=s3cret","-e","NAME","img:1"]})",
       "docker run -e K=(hidden) -e NAME img:1"},
      {R"({"command":"x","args":["postgresql://u:s3cret@h/db?k=s3cret"]})",
       "x postgresql://(hidden)@h/db?(hidden)"},
      {R"({"command":"x","args":["ghp_s3cret12345"]})", "x (hidden)"},
      {R"({"command":"x","args":["a1B2c3D4e5F6g7H8i9J0k1L2s3cret"]})", "x (hidden)"},
      {R"({"command":"npx","args":["-y","@modelcontextprotocol/server-sequential-thinking"]})",
       "npx -y @modelcontextprotocol/server-sequential-thinking"},
      {R"({"type":"local","command":["x","--token","s3cret"]})", "x --token (hidden)"},
      {R"({"serverUrl":"https://u:s3cret@h/mcp?k=s3cret"})", "h/mcp"},
      {R"({"command":"x","env":{"A":"s3cret","B":"Bearer ${T}","C":"${D:-s3cret}"}})", "x"},
      {R"({"url":"https://h/","headers":{"A":"s3cret"},"oauth":{"clientSecret":"s3cret"}})",
       "https://h/"},
  };
  for (const auto& [entry, shown] : rows) {
    const std::string file = std::string("{\"mcpServers\":{\"a\":") + entry + "}}";
    CAPTURE(file);
    const Definition definition = only(file);
    CHECK(summary_of(definition) == shown);
    const std::string document = shown_document(definition);
    CAPTURE(document);
    CHECK(document.find("s3cret") == std::string::npos);
  }
  CHECK(shown_document(only(R"({"mcpServers":{"a":{"command":"x","env":{"B":"Bearer ${T}"}}}})"))
            .find("Bearer ${T}") != std::string::npos);
}

TEST_CASE("of other programs' forms the variables are those that the daemon looks up outside") {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"mcpServers":{"a":{"command":"x","args":["${T}","${U}"],"env":{"T":"${V:-d}"}}}})",
       "U V? "},
      {R"({"mcpServers":{"a":{"command":"x","args":["${env:T}"],"env":{"T":"own"}}}})", "T "},
      {R"({"mcpServers":{"a":{"command":"x","env":{"P":"/x:${P}"}}}})", "P "},
      {R"({"servers":{"a":{"command":"${workspaceFolder}/x","args":["${userHome}"]}}})", ""},
      {R"({"mcp":{"a":{"type":"local","command":["x","{env:T}"],"environment":{"E":"{env:U}"}}}})",
       "T U "},
      {R"({"mcpServers":{"a":{"serverUrl":"https://${H}/"}}})", "H "},
  };
  for (const auto& [file, names] : rows) {
    const std::string tried = file;
    CAPTURE(tried);
    CHECK(names_of(variables_of(only(file))) == names);
  }
  CHECK(is_disabled(only(R"({"mcp":{"a":{"command":["x"],"enabled":false}}})")));
  CHECK(is_disabled(only(R"({"mcpServers":{"a":{"command":"x","disabled":true}}})")));
  CHECK_FALSE(is_disabled(only(R"({"mcpServers":{"a":{"command":"x","disabled":false}}})")));
  CHECK(unused_members(only(R"({"mcpServers":{"a":{"url":"u","shell":1,"timeout":2}}})")) ==
        std::vector<std::string>{"'shell' is not understood and not used"});
  CHECK(names_of(read_foreign_definitions(
            R"({"mcp":{"b":{"type":"local","command":["x"]}},"theme":"t"})", "")) ==
        std::vector<std::string>{"b"});
  CHECK(names_of(read_foreign_definitions(R"({"mcp":{"allowed":["a"]}})", "")).empty());
  for (const auto& [list, left_out] :
       {std::pair(R"("allowed":["b"])", true), std::pair(R"("allowed":["a"],"excluded":[])", false),
        std::pair(R"("excluded":["a"])", true), std::pair(R"("excluded":["b"])", false)}) {
    CAPTURE(list);
    const auto read = read_foreign_definitions(
        std::string(R"({"mcp":{)") + list + R"(},"mcpServers":{"a":{"command":"x"}}})", "");
    CHECK(is_disabled(std::get<std::vector<Definition>>(read).front()) == left_out);
  }
}

TEST_CASE("Codex's file, as JSON, is read with the variables that it names") {
  const auto read = read_foreign_definitions(
      R"({"model":"m","mcp_servers":{
      "far":{"url":"https://h/mcp","bearer_token_env_var":"T","http_headers":{"K":"s3cret"}},
      "near":{"command":"x","env_vars":["U"]}}})",
      "");
  CHECK(names_of(read) == std::vector<std::string>{"far", "near"});
  const auto& all = std::get<std::vector<Definition>>(read);
  CHECK(names_of(variables_of(all[0])) == "T ");
  CHECK(names_of(variables_of(all[1])) == "U? ");
  CHECK(summary_of(all[0]) == "https://h/mcp");
  CHECK(shown_document(all[0]).find("s3cret") == std::string::npos);
}

TEST_CASE("what an environment file says is part of the definition, and approved with it") {
  const TemporaryFolder folder;
  const std::string config = folder.write(
      "mcp.json", R"({"servers":{"a":{"command":"x","args":["${A}"],"envFile":"${N:-.env}"}}})");
  folder.write(".env", "A=s3cret\n");
  const auto found = [&] { return find_servers({{config, true}}).servers.at(0); };
  const NamedServer first = found();
  CHECK(first.definition.fault.empty());
  CHECK(first.definition.document.find(R"("envFile":{"A":"s3cret"})") != std::string::npos);
  CHECK(names_of(variables_of(first.definition)) == "");
  CHECK(describe_for_approval(first).find("s3cret") == std::string::npos);
  folder.write(".env", "A=other\n");
  CHECK(instance_of(first, read_variable) != instance_of(found(), read_variable));
  folder.write(".env", "A=other\n", 0666);
  CHECK(find_servers({{config}}).servers.at(0).needs_approval);
  unlink(folder.path(".env").c_str());
  CHECK(found().definition.fault.find("cannot use its envFile " + folder.path(".env")) == 0);
  CHECK(find_servers({{config}}).foreign_faults.size() == 1);
}
