#include "servers/find.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/contains.hpp"
#include "base/files.hpp"
#include "base/secret_file.hpp"
#include "servers/daemon_program.hpp"
#include "servers/dotenv.hpp"
#include "servers/variables.hpp"
#include "system/files.hpp"
#include "text/similar.hpp"
#include "text/trim.hpp"
#include "text/utf8.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

constexpr std::size_t longest_file = 1 << 20;
constexpr std::size_t longest_foreign_file = 16 << 20;  // Claude Code's file includes its projects

/// Reads the server's environment file, if it has one: in its folder, else beside its config file.
void add_environment_file(NamedServer& server) {
  Definition& definition = server.definition;
  std::string path = environment_file_of(definition, server.folder);
  if (path.empty()) return;
  if (!path.starts_with('/')) {
    const std::string beside = folder_of(server.file) + "/" + path;
    path = server.folder + "/" + path;
    if (::access(path.c_str(), F_OK) != 0) path = beside;
  }
  const bridge::FileContent content = bridge::read_regular_file(path, longest_file);
  std::string fault = content.fault;
  std::map<std::string, std::string> variables;
  if (fault.empty()) {
    variables = bridge::read_dotenv(content.bytes, fault);
    server.needs_approval |= !bridge::is_of_owner_alone(content.status);
  }
  if (fault.empty()) {
    definition = with_environment(std::move(definition), variables);
  } else {
    definition.fault = fmt::format("cannot use its envFile {}: {}", path, fault);
  }
}

/// Empty if an optional file does not exist.
std::variant<std::vector<NamedServer>, std::string> servers_of(const ConfigFile& file) {
  const bridge::FileContent content =
      bridge::read_regular_file(file.path, file.is_foreign ? longest_foreign_file : longest_file);
  if (!content.fault.empty()) {
    const bool is_absent =
        ::access(file.path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
    if (is_absent && !file.is_named) return std::vector<NamedServer>();
    return fmt::format("cannot read {}: {}", file.path, content.fault);
  }
  const bridge::FileAsJson json = bridge::file_as_json(content.bytes, file.path, toml_by_daemon);
  if (!json.fault.empty()) return fmt::format("cannot use {}: it is {}", file.path, json.fault);
  auto definitions = file.is_foreign ? read_foreign_definitions(json.text, file.project)
                                     : read_definitions(json.text);
  if (const auto* fault = std::get_if<std::string>(&definitions))
    return fmt::format("cannot use {}: {}", file.path, *fault);
  const std::string path = real_path(file.path);
  std::vector<NamedServer> servers;
  const std::string folder = file.folder.empty() ? folder_of(path) : real_path(file.folder);
  const std::string named = absolute_path(file.path);
  const bool needs_approval = file.needs_approval || !bridge::is_of_owner_alone(content.status) ||
                              !bridge::replaceable_part_of(named, ::geteuid()).empty();
  for (Definition& one : std::get<std::vector<Definition>>(definitions))
    servers.push_back({std::move(one), path, folder, needs_approval});
  for (NamedServer& server : servers) add_environment_file(server);
  return servers;
}

std::string value_of(const DaemonOption& option, const Options& options, ReadVariable read) {
  const auto* const flag = std::get_if<bool Options::*>(&option.target);
  if (flag != nullptr && options.**flag) return "1";
  const auto* const text = std::get_if<std::string Options::*>(&option.target);
  if (text != nullptr && !(options.**text).empty()) return options.**text;
  if ((option.traits & DaemonOption::is_credential) != 0 && options.url.empty()) return {};
  return read(bridge::variable_of_option(option.name).c_str()).value_or("");
}

/// The definition of a typed address with its headers, or what is wrong with one of them.
std::variant<Definition, std::string> typed_address(const Options& options) {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const std::string& typed : options.headers) {
    const std::size_t colon = typed.find(':');
    if (colon == typed.npos) return std::string("expected 'NAME: VALUE' or 'NAME: @FILE'");
    std::string value(bridge::trimmed(std::string_view(typed).substr(colon + 1)));
    if (value.starts_with('@')) {
      bridge::SecretFile file = bridge::read_secret_file(value.substr(1), "its file");
      if (!file.fault.empty()) return std::move(file.fault);
      value = std::move(file.content);
    }
    if (!bridge::is_utf8(typed) || !bridge::is_utf8(value)) return std::string("not UTF-8");
    headers.emplace_back(typed.substr(0, colon), std::move(value));
  }
  return definition_of_url(options.url, headers);
}

std::variant<NamedServer, Failure> selected_server(const Options& options) {
  if (options.server.empty()) {
    const bool is_url = !options.url.empty();
    const std::string& typed = is_url ? options.url : options.command;
    const std::string_view option = is_url ? "--url" : "--run";
    if (!bridge::is_utf8(typed)) return naming_failure(fmt::format("option {}: not UTF-8", option));
    if (is_url) {
      auto address = typed_address(options);
      if (const auto* fault = std::get_if<std::string>(&address))
        return naming_failure(fmt::format("option --header: {}", *fault));
      return NamedServer{std::get<Definition>(std::move(address)), "", "/", false};
    }
    auto definition = definition_of_command(typed);
    if (!definition) return naming_failure("option --run: no command, or a quote is not closed");
    const std::string folder = bridge::current_folder();
    return NamedServer{std::move(*definition), "", folder.empty() ? "/" : folder, false};
  }
  auto found = find_server(options.server, config_files(options.config, environment_variable), [] {
    return foreign_files(environment_variable, bridge::current_folder());
  });
  if (auto* failure = std::get_if<std::string>(&found)) return naming_failure(std::move(*failure));
  return std::get<NamedServer>(std::move(found));
}

}  // namespace

std::optional<std::string> environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::string absolute_path(const std::string& path) {
  return path.starts_with('/') ? path : bridge::current_folder() + "/" + path;
}

std::vector<ConfigFile> config_files(const std::string& option, ReadVariable read) {
  std::vector<ConfigFile> files;
  if (!option.empty()) files.push_back({option, false, true});
  if (const auto named = read("MCP_CONFIG")) files.push_back({*named, false, true});
  const auto configuration = read("XDG_CONFIG_HOME");
  const auto home = read("HOME");
  if (configuration && configuration->front() == '/') {
    files.push_back({*configuration + "/mcp/mcp.json"});
  } else if (home) {
    files.push_back({*home + "/.config/mcp/mcp.json"});
  }
  files.push_back({".mcp.json", true});
  return files;
}

std::vector<ConfigFile> all_files(const std::string& option, ReadVariable read) {
  std::vector<ConfigFile> files = config_files(option, read);
  for (ConfigFile& file : foreign_files(read, bridge::current_folder()))
    files.push_back(std::move(file));
  return files;
}

FoundServers find_servers(const std::vector<ConfigFile>& files) {
  FoundServers found;
  for (const ConfigFile& file : files) {
    auto content = servers_of(file);
    if (auto* failure = std::get_if<std::string>(&content)) {
      (file.is_foreign ? found.foreign_faults : found.faults).push_back(std::move(*failure));
      continue;
    }
    for (NamedServer& one : std::get<std::vector<NamedServer>>(content)) {
      const auto is_same = [&](const NamedServer& other) {
        return other.definition.name == one.definition.name;
      };
      if (std::any_of(found.servers.begin(), found.servers.end(), is_same)) continue;
      if (!one.definition.fault.empty())
        found.foreign_faults.push_back(
            fmt::format("@{}: {}", one.definition.name, one.definition.fault));
      found.servers.push_back(std::move(one));
    }
  }
  return found;
}

std::variant<NamedServer, std::string> find_server(std::string_view name,
                                                   std::vector<ConfigFile> files,
                                                   const MoreFiles& more) {
  std::vector<std::string> names;
  std::string places;
  std::string faults;
  const std::size_t first = files.size();
  for (std::size_t at = 0; at < files.size() || (at == first && more); ++at) {
    if (at == first && more) {
      for (ConfigFile& file : more()) files.push_back(std::move(file));
      if (at == files.size()) break;
    }
    const ConfigFile& file = files[at];
    auto content = servers_of(file);
    if (auto* failure = std::get_if<std::string>(&content)) {
      if (!file.is_foreign) return std::move(*failure);
      faults += "; " + *failure;
      continue;
    }
    auto& servers = std::get<std::vector<NamedServer>>(content);
    for (NamedServer& server : servers) {
      if (server.definition.name == name) return std::move(server);
      names.push_back(server.definition.name);
    }
    if (file.is_foreign && servers.empty()) continue;
    places += (places.empty() ? "" : ", ") + file.path;
  }
  const std::string meant = bridge::most_similar(name, {names.begin(), names.end()});
  return fmt::format("no server '{}' in {}{}{}", name, places,
                     meant.empty() ? "; list them with: mcp-nc servers"
                                   : fmt::format("; did you mean '@{}'?", meant),
                     faults);
}

std::vector<ConfigFile> foreign_files(ReadVariable read, const std::string& folder) {
  std::vector<ConfigFile> files;
  if (const auto home = read("HOME"); home && home->front() == '/') {
    const auto named = read("XDG_CONFIG_HOME");
    const bool is_usable = named && named->front() == '/';
    const std::string settings = is_usable ? *named : *home + "/.config";
    const auto codex = read("CODEX_HOME");
    const std::string claude_code = *home + "/.claude.json";
    if (!folder.empty())
      files.push_back(
          {.path = claude_code, .is_foreign = true, .folder = folder, .project = folder});
    for (const std::string& path :
         {claude_code, settings + "/Claude/claude_desktop_config.json", *home + "/.cursor/mcp.json",
          *home + "/.codeium/windsurf/mcp_config.json", settings + "/Code/User/mcp.json",
          (codex && codex->front() == '/' ? *codex : *home + "/.codex") + "/config.toml",
          *home + "/.gemini/settings.json", settings + "/opencode/opencode.json",
          settings + "/opencode/opencode.jsonc"})
      files.push_back({.path = path, .is_foreign = true, .folder = *home});
  }
  for (const char* const path : {".cursor/mcp.json", ".vscode/mcp.json", ".codex/config.toml",
                                 ".gemini/settings.json", "opencode.json", "opencode.jsonc"})
    files.push_back({.path = path, .needs_approval = true, .is_foreign = true, .folder = "."});
  return files;
}

Failure naming_failure(std::string message, ExitCode code) {
  if (code != ExitCode::usage)
    return {code == ExitCode::timed_out ? "timeout" : "daemon", std::move(message), code};
  return {.kind = "usage",
          .message = std::move(message),
          .code = code,
          .hint = "mcp-nc servers lists the servers, and which may run"};
}

DaemonSettings settings_for(const Definition& definition, const Options& options,
                            ReadVariable read) {
  DaemonSettings settings;
  for (const DaemonOption& option : daemon_options()) {
    std::string value = value_of(option, options, read);
    if (value.empty()) continue;
    if ((option.traits & DaemonOption::is_path) != 0) value = absolute_path(value);
    if ((option.traits & DaemonOption::is_flag) == 0) {
      settings.words.push_back(fmt::format("{}={}", option.name, value));
    } else if (!bridge::has_word("false no off 0", value)) {
      settings.words.emplace_back(option.name);
    }
  }
  if (!options.url.empty()) settings.token = read("MCP_SERVER_TOKEN").value_or("");
  const bool is_any = !settings.words.empty() || !settings.token.empty();
  return is_any && starts_program(definition) ? DaemonSettings() : settings;
}

std::variant<NamedServer, Failure> named_server(const Options& options) {
  auto found = selected_server(options);
  if (auto* const server = std::get_if<NamedServer>(&found))
    server->settings = settings_for(server->definition, options, environment_variable);
  return found;
}

}  // namespace client
