#include "servers/foreign_files.hpp"

#include <string_view>

namespace client {
namespace {

ConfigFile of_home(std::string path, const std::string& home) {
  ConfigFile file{std::move(path)};
  file.is_foreign = true;
  file.folder = home;
  return file;
}

ConfigFile of_folder(std::string path) {
  ConfigFile file{std::move(path), true};
  file.is_foreign = true;
  file.folder = ".";
  return file;
}

}  // namespace

std::vector<ConfigFile> foreign_files(ReadVariable read, const std::string& folder) {
  std::vector<ConfigFile> files;
  if (const auto home = read("HOME"); home && home->front() == '/') {
    const auto named = read("XDG_CONFIG_HOME");
    const bool is_usable = named && named->front() == '/';
    const std::string settings = is_usable ? *named : *home + "/.config";
    const std::string claude_code = *home + "/.claude.json";
    if (!folder.empty()) {
      files.push_back(of_home(claude_code, folder));
      files.back().project = folder;
    }
    files.push_back(of_home(claude_code, *home));
    files.push_back(of_home(settings + "/Claude/claude_desktop_config.json", *home));
    files.push_back(of_home(*home + "/.cursor/mcp.json", *home));
    files.push_back(of_home(*home + "/.codeium/windsurf/mcp_config.json", *home));
    files.push_back(of_home(settings + "/Code/User/mcp.json", *home));
  }
  files.push_back(of_folder(".cursor/mcp.json"));
  files.push_back(of_folder(".vscode/mcp.json"));
  return files;
}

}  // namespace client
