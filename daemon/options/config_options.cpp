
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/log.hpp"
#include "base/secret_file.hpp"
#include "base/start_error.hpp"
#include "json/json_text.hpp"
#include "options/option_groups.hpp"
#include "options/option_table.hpp"
#include "options/options.hpp"
#include "servers/dotenv.hpp"
#include "servers/toml_text.hpp"
#include "servers/variables.hpp"
#include "text/characters.hpp"

namespace bridge {

std::string header_line(const std::string& name, const std::string& value,
                        const std::string& option, int code) {
  if (name.empty() || name.find_first_not_of(token_characters) != name.npos) {
    throw StartError(code, option + ": a header's name is not one");
  }
  const bool printable_only = std::none_of(value.begin(), value.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
  });
  if (!printable_only)
    throw StartError(code,
                     fmt::format("{} {}: the value has a control character in it", option, name));
  // curl sends a header without a value only if it ends with a semicolon.
  return value.empty() ? name + ";" : name + ": " + value;
}

// --config: the upstream is named by a config file of the ecosystem.

namespace {

/// The name of the entry among the given options.
constexpr const char* entry_name = "the server in --config";

/// Adds the entry's headers; a header of the command line replaces one of the file.
void add_headers(HttpOptions& http, const ServerEntry& entry, const std::string& source) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : entry.headers) {
    const bool is_given = std::any_of(
        http.headers.begin(), http.headers.end(), [&name = name](const std::string& line) {
          return line.find_first_of(":;") == name.size() &&
                 strncasecmp(line.c_str(), name.c_str(), name.size()) == 0;
        });
    if (!is_given)
      lines.push_back(header_line(name, value, source + ": header", exit_code::configuration));
  }
  http.headers.insert(http.headers.begin(), lines.begin(), lines.end());
}

[[noreturn]] void fail(const ServerEntry& entry, const std::string& source,
                       const std::string& why) {
  throw StartError(exit_code::configuration,
                   fmt::format("{}: server '{}' {}", source, printable(entry.name, 80), why));
}

UpstreamKind kind_of(const ServerEntry& entry, const std::string& source) {
  const std::string& type = entry.type;
  if (type == "stdio" || (type.empty() && !entry.command.empty())) {
    if (entry.command.empty()) fail(entry, source, "has no command");
    if (type.empty() && !entry.url.empty())
      fail(entry, source, "has a command and a url, and no type");
    return UpstreamKind::child;
  }
  const bool is_http =
      type.empty() || type == "http" || type == "streamable-http" || type == "streamableHttp";
  if (!is_http && type != "sse") {
    fail(entry, source,
         fmt::format("is of the type '{}', and only stdio, local, http, remote, streamable-http, "
                     "streamableHttp and sse are known",
                     printable(type, 80)));
  }
  if (entry.url.empty())
    fail(entry, source, type.empty() ? "has neither a command nor a url" : "has no url");
  return is_http ? UpstreamKind::http : UpstreamKind::sse;
}

/// What options do not say; a client of theirs does not get the secret of the file's.
void add_oauth(OAuthOptions& oauth, const ServerEntry& entry, const std::string& source) {
  const OAuthEntry& given = entry.oauth;
  if (oauth.client_id.empty() || oauth.client_id == given.client_id) {
    oauth.client_id = given.client_id;
    if (oauth.client_secret_file.empty()) oauth.client_secret = given.client_secret;
  }
  if (oauth.scope.empty()) oauth.scope = given.scope;
  if (given.callback_port.empty() || oauth.redirect != OAuthOptions().redirect) return;
  const auto port = to_unsigned(given.callback_port);
  if (!port || *port == 0 || *port > 65535) fail(entry, source, "has a callbackPort that is none");
  // What other programs register with that member.
  oauth.redirect = fmt::format("localhost:{}", *port);
}

std::string described(const ServerEntry& entry) {
  std::string text = entry.type + '\n' + entry.url + '\n' + entry.folder + '\n' + entry.command;
  for (const std::string& argument : entry.arguments) text += '\n' + argument;
  for (const auto& [name, value] : entry.environment) text += fmt::format("\n{}={}", name, value);
  const OAuthEntry& oauth = entry.oauth;
  for (const std::string* one :
       {&oauth.client_id, &oauth.client_secret, &oauth.callback_port, &oauth.scope})
    text += '\n' + *one;
  return text;
}

/// Replaces the entry's `envFile` by what that says. A relative path is one of the project's folder
/// (the daemon's), else of the config file's.
void read_environment_file(ServerEntry& entry, const ServerConfig& config, InputSources& sources,
                           const std::string& path_of_config) {
  const std::string source = "--config " + path_of_config;
  ServerEntry path_alone;
  path_alone.name = entry.name;
  path_alone.environment_file = std::move(entry.environment_file);
  std::string path = resolve_server(path_alone, config, sources, source).environment_file;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    path = (std::filesystem::path(path_of_config).parent_path() / path).string();
  const std::string what =
      fmt::format("{}: server '{}': envFile", printable(source), printable(entry.name, 80));
  std::string fault;
  entry.file_environment = read_dotenv(read_small_file(path, what), fault);
  if (!fault.empty())
    throw StartError(exit_code::configuration,
                     fmt::format("{}: {} has {}", what, printable(path), fault));
  entry.environment_file.clear();
}

/// Collects the values that the file's user provided, and those in places of secrets.
void note_secrets(std::vector<std::string>& secrets, const ServerConfig& config,
                  const InputSources& sources, const ServerEntry& entry) {
  for (const auto* values : {&sources.given, &sources.file, &sources.answers}) {
    for (const auto& [id, value] : *values) secrets.push_back(value);
  }
  for (const InputDefinition& input : config.inputs) {
    if (auto value = find_input(input.id, sources)) secrets.push_back(std::move(*value));
  }
  for (const auto& [name, value] : entry.environment) secrets.push_back(value);
  for (const auto& [name, value] : entry.headers) add_header_secrets(value, secrets);
  if (!entry.oauth.client_secret.empty()) secrets.push_back(entry.oauth.client_secret);
}

}  // namespace

void add_config_options(OptionTable& table, RawOptions& raw) {
  table.group("Config file");
  table.text(
      "--config", raw.config, "FILE",
      "Another tool's file that names the server: with mcpServers, servers, or inputs and tools");
  table.text("--server", raw.server, "NAME", "The server to use, if the file has several");
  table.list("--input", "ID=VALUE", "The value of ${input:ID} in it",
             [&raw](const std::string& given) {
               const auto equals = given.find('=');
               if (equals == given.npos || equals == 0)
                 throw StartError(exit_code::usage, "--input: expected ID=VALUE");
               raw.inputs[given.substr(0, equals)] = given.substr(equals + 1);
             });
  table.text("--input-file", raw.input_file, "FILE",
             "A JSON object with such values; else they come from MCP_INPUT_ID or the terminal");
}

void resolve_config(Options& options, RawOptions& raw, std::map<std::string, std::string>& given) {
  const std::string source = "--config " + raw.config;
  const FileAsJson file =
      file_as_json(read_small_file(raw.config, "--config"), raw.config, toml_as_json);
  if (!file.fault.empty())
    throw StartError(exit_code::configuration, fmt::format("{}: {}", source, file.fault));
  const ServerConfig config = read_server_config(file.text, source);
  InputSources sources;
  sources.given = raw.inputs;
  sources.answers = raw.answers;
  sources.may_ask = raw.may_ask && has_terminal();
  if (!raw.input_file.empty()) {
    sources.file = read_text_map(read_small_file(raw.input_file, "--input-file"),
                                 "--input-file " + raw.input_file);
  }
  ServerEntry chosen = choose_server(config, raw.server, source);
  const UpstreamKind kind = kind_of(chosen, source);
  if (!chosen.environment_file.empty()) read_environment_file(chosen, config, sources, raw.config);
  const ServerEntry entry = resolve_server(chosen, config, sources, source);
  raw.answers = sources.answers;
  for (const std::string& member : chosen.unused) {
    options.warnings.push_back(
        fmt::format("{}: server '{}': {}", printable(source), printable(chosen.name, 80), member));
  }
  if (chosen.is_disabled) {
    options.warnings.push_back(fmt::format("{}: server '{}' is disabled there, and used here",
                                           printable(source), printable(chosen.name, 80)));
  }
  note_secrets(options.secrets, config, sources, entry);
  given[entry_name] = described(entry);

  UpstreamOptions& upstream = options.upstream;
  upstream.kind = kind;
  if (kind == UpstreamKind::child) {
    upstream.child.command = entry.arguments;
    upstream.child.command.insert(upstream.child.command.begin(), entry.command);
    upstream.child.environment = entry.environment;
    upstream.child.folder = entry.folder;
    upstream.child.secrets = options.secrets;
    if (entry.command.empty())
      fail(entry, source, "has an empty command, once its variables are replaced");
    return;
  }
  upstream.http.url_source = printable(source);
  const std::string fault = set_url(upstream.http, entry.url);
  if (!fault.empty()) fail(entry, source, "has a url that cannot be used: " + fault);
  add_headers(upstream.http, entry, source);
  add_oauth(upstream.auth.oauth, entry, source);
}

}  // namespace bridge
