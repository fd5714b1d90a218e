// Servers in other programs' config files.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "servers/find.hpp"

using namespace client;

namespace {

std::map<std::string, std::string> variables;

std::optional<std::string> read_variable(const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::nullopt : std::optional(found->second);
}

/// A folder of the test's own.
struct ScratchFolder {
  std::string path = "/tmp/mcp-nc-foreign-XXXXXX";
  ScratchFolder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~ScratchFolder() { static_cast<void>(std::system(("rm -rf " + path).c_str())); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
};

std::vector<std::string> names_of(const std::variant<std::vector<Definition>, std::string>& read) {
  std::vector<std::string> names;
  for (const Definition& one : std::get<std::vector<Definition>>(read)) names.push_back(one.name);
  return names;
}

}  // namespace

TEST_CASE(
    "other programs' files come behind all others, a folder's own last and only once approved") {
  variables = {{"HOME", "/h"}};
  const auto files = all_files("", read_variable);
  REQUIRE(files.size() == 10);
  CHECK(files[1].path == ".mcp.json");
  const char* const paths[] = {"/h/.claude.json",
                               "/h/.claude.json",
                               "/h/.config/Claude/claude_desktop_config.json",
                               "/h/.cursor/mcp.json",
                               "/h/.codeium/windsurf/mcp_config.json",
                               "/h/.config/Code/User/mcp.json",
                               ".cursor/mcp.json",
                               ".vscode/mcp.json"};
  for (std::size_t at = 0; at < std::size(paths); ++at) {
    const ConfigFile& file = files[at + 2];
    CAPTURE(file.path);
    CHECK(file.path == paths[at]);
    CHECK(file.is_foreign);
    CHECK(file.needs_approval == (at >= 6));
    CHECK(file.project.empty() == (at != 0));
  }
  CHECK(files[8].folder == ".");
  CHECK(files[5].folder == "/h");
  variables = {{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/c"}};
  CHECK(foreign_files(read_variable, "").front().path == "/h/.claude.json");
  CHECK(foreign_files(read_variable, "")[1].path == "/c/Claude/claude_desktop_config.json");
  variables = {};
  CHECK(foreign_files(read_variable, "/p").size() == 2);
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
  CHECK(std::get<std::string>(read_foreign_definitions("{", "")) == "it is not JSON");
  CHECK(std::get<std::string>(read_foreign_definitions(R"({"mcpServers":[]})", "")) ==
        "its servers are not an object");
  const auto with_inputs = read_foreign_definitions(
      R"({"inputs":[{"id":"k"}],"servers":{"c":{"url":"${input:k}"}}})", "");
  CHECK(std::get<std::vector<Definition>>(with_inputs).front().document.find(R"("id":"k")") !=
        std::string::npos);
}

TEST_CASE(
    "a file that somebody else could have written needs approval, one that is broken is left out") {
  const ScratchFolder folder;
  const auto write = [&](const char* name, const char* text, mode_t mode) {
    const std::string path = folder.path + "/" + name;
    std::FILE* const file = std::fopen(path.c_str(), "w");
    REQUIRE(file != nullptr);
    std::fputs(text, file);
    std::fclose(file);
    ::chmod(path.c_str(), mode);
    ConfigFile made{path};
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
