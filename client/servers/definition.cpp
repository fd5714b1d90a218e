#include "servers/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/start_error.hpp"
#include "json/document.hpp"
#include "json/relaxed_json.hpp"
#include "servers/places.hpp"
#include "servers/variables.hpp"
#include "spelling/spelling.hpp"
#include "text/utf8.hpp"

namespace client {
namespace {

/// An entry of the file, and the member that contains such entries.
struct RawEntry {
  std::string name;
  std::string_view text;
  bool is_tool = false;  ///< of the form with inputs and tools
};

struct RawFile {
  std::vector<RawEntry> entries{};
  std::vector<std::string_view> inputs{};
};

/// False if it is not an object.
bool add_map(RawFile& file, std::string_view map) {
  const auto servers = json::members(map);
  if (!servers) return false;
  for (const json::RawMember& server : *servers)
    file.entries.push_back({json::decode_string(server.key), server.value});
  return true;
}

/// Returns the error, if any.
std::string add_all(RawFile& file, std::string_view object, bool is_outermost = true) {
  const auto members = json::members(object);
  if (!members) return "it is not an object";
  for (const json::RawMember& member : *members) {
    const std::string name = json::decode_string(member.key);
    if (name == "mcpServers" || name == "servers") {
      if (!add_map(file, member.value)) return "its servers are not an object";
    } else if (name == "tools" || name == "inputs") {
      const auto list = json::elements(member.value);
      if (!list) return fmt::format("its {} are not a list", name);
      for (const std::string_view one : *list) {
        if (name == "inputs") file.inputs.push_back(one);
        if (name == "tools") file.entries.push_back({json::string_member(one, "id"), one, true});
      }
    } else if (name == "mcp" && is_outermost && bridge::is_map_of_servers(member.value)) {
      add_map(file, member.value);
    } else if (name == "mcp" && is_outermost) {
      if (std::string fault = add_all(file, member.value, false); !fault.empty()) return fault;
    }
  }
  return {};
}

/// As mcp-bridged reads it; nullopt if it refuses it.
std::optional<bridge::ServerEntry> read_entry(std::string_view document) {
  try {
    return bridge::read_server_config(document, {}).servers.front();
  } catch (const bridge::StartError&) {
    return std::nullopt;
  }
}

/// Adds the names of environment variables; returns those of the inputs.
std::set<std::string> names_in(std::string_view document,
                               std::map<std::string, bool>& environment) {
  std::set<std::string> inputs;
  if (document.find_first_of("$\\") == document.npos && document.find("{env:") == document.npos)
    return inputs;  // no variable without a `$` or an escaped one
  const auto entry = read_entry(document);
  if (!entry) return inputs;
  const bridge::OutsideValue note = [&](const bridge::Variable& variable, const std::string&) {
    if (variable.kind == bridge::Variable::Kind::input) inputs.insert(variable.name);
    if (variable.kind == bridge::Variable::Kind::environment) {
      bool& has_default = environment.try_emplace(variable.name, true).first->second;
      has_default = has_default && variable.otherwise.has_value();
    }
    // Without a value the default is looked at, too.
    return variable.kind == bridge::Variable::Kind::editor ? std::optional(std::string())
                                                           : std::nullopt;
  };
  try {
    bridge::expand_entry(*entry, note, {});
  } catch (const bridge::StartError&) {
    // The daemon says why.
  }
  return inputs;
}

/// A file with this entry alone.
json::JsonObject& add_entry(json::JsonObject& document, const RawEntry& entry) {
  const json::RawJson text{entry.text};
  if (entry.is_tool) return document.add("tools", json::JsonArray().add(text));
  return document.add("mcpServers", json::JsonObject().add_any(entry.name, text));
}

std::string document_of(const RawEntry& entry, const RawFile& file) {
  std::map<std::string, bool> environment;
  json::JsonObject alone;
  const std::set<std::string> wanted = names_in(add_entry(alone, entry).text(), environment);
  json::JsonArray inputs;
  for (const std::string_view input : file.inputs) {
    if (wanted.contains(json::string_member(input, "id"))) inputs.add(json::RawJson{input});
  }
  json::JsonObject document;
  if (!inputs.is_empty()) document.add("inputs", inputs);
  return add_entry(document, entry).text();
}

Definition typed(std::string name, std::string entry) {
  const RawFile nothing;
  const RawEntry raw{name, entry};
  std::string document = document_of(raw, nothing);
  return {std::move(name), std::move(document), std::move(entry)};
}

std::string_view without_secrets(std::string_view url) {
  url = url.substr(0, url.find('?'));
  const std::size_t scheme = url.find("://");
  if (scheme == url.npos) return url;
  const std::string_view authority = url.substr(scheme + 3, url.find('/', scheme + 3) - scheme - 3);
  const std::size_t at = authority.rfind('@');
  return at == authority.npos ? url : url.substr(scheme + 3 + at + 1);
}

/// Tells servers apart whose shown names are the same.
std::string with_mark(std::string name, std::string_view all) {
  constexpr std::size_t digits = 4;
  return name + "-" + sha256_hex(all).substr(0, digits);
}

std::string fault_of(std::string_view text) {
  if (!bridge::is_utf8(text)) return "it is not UTF-8";
  const std::string place = bridge::place_of_fault(text);
  return place.empty() ? place : "it is not JSON: " + place;
}

}  // namespace

std::variant<std::vector<Definition>, std::string> read_definitions(std::string_view text) {
  const std::string strict = bridge::strict_json(text);
  if (std::string fault = fault_of(strict); !fault.empty()) return fault;
  RawFile file;
  if (std::string fault = add_all(file, strict); !fault.empty()) return fault;
  std::vector<Definition> all;
  for (const RawEntry& entry : file.entries) {
    const bool is_there = std::any_of(
        all.begin(), all.end(), [&](const Definition& other) { return other.name == entry.name; });
    if (is_there) return fmt::format("there are two servers '{}'", entry.name);
    all.push_back({entry.name, document_of(entry, file), std::string(entry.text)});
  }
  return all;
}

std::variant<std::vector<Definition>, std::string> read_foreign_definitions(
    std::string_view text, const std::string& project) {
  const std::string strict = bridge::strict_json(text);
  if (std::string fault = fault_of(strict); !fault.empty()) return fault;
  std::string_view object = strict;
  if (!project.empty()) {
    const auto projects = json::member(object, "projects");
    const auto found = projects ? json::member(*projects, project) : std::nullopt;
    if (!found) return std::vector<Definition>();
    object = *found;
  }
  json::JsonObject servers;
  for (const std::string_view name : {"mcpServers", "servers", "inputs"})
    servers.add_unless_empty(name, json::RawJson{json::member(object, name).value_or("")});
  const std::string_view map = json::member(object, "mcp").value_or("");
  if (bridge::is_map_of_servers(map)) servers.add("mcp", json::RawJson{map});
  return read_definitions(servers.text());
}

NamedVariables variables_of(const Definition& definition) {
  NamedVariables all;
  const std::set<std::string> ids = names_in(definition.document, all.environment);
  if (ids.empty()) return all;
  const json::Value document = json::parse_or_null(definition.document);
  for (const std::string& id : ids) {
    bridge::InputDefinition wanted{.id = id, .description = {}};
    for (const json::Value& input : document.array("inputs")) {
      if (input.string("id") != id) continue;
      wanted.description = input.string("description");
      if (const json::Value* otherwise = input.find("default"); otherwise != nullptr)
        wanted.otherwise = otherwise->text;
      wanted.password = input.is_true("password");
      break;
    }
    all.inputs.push_back(std::move(wanted));
  }
  return all;
}

Definition definition_of_url(std::string_view url,
                             const std::vector<std::pair<std::string, std::string>>& headers) {
  const std::string_view shown = without_secrets(url);
  std::string_view name = shown;
  if (const std::size_t scheme = name.find("://"); scheme != name.npos)
    name.remove_prefix(scheme + 3);
  while (name.ends_with('/')) name.remove_suffix(1);
  if (name.ends_with("/mcp")) name.remove_suffix(4);  // the usual path
  json::JsonObject entry;
  entry.add("url", url);
  json::JsonObject fields;
  for (const auto& [field, value] : headers)
    fields.add_any(field, json::RawJson{json::quote(value)});
  if (!headers.empty()) entry.add("headers", fields);
  return typed(shown == url ? std::string(name) : with_mark(std::string(name), url), entry.text());
}

std::optional<Definition> definition_of_command(std::string_view command) {
  const auto words = shell_words(command);
  if (!words || words->empty()) return std::nullopt;
  json::JsonArray arguments;
  for (std::size_t i = 1; i < words->size(); ++i) arguments.add((*words)[i]);
  const std::string& program = words->front();
  const std::string name = program.substr(program.rfind('/') + 1);
  return typed(words->size() == 1 ? name : with_mark(name, command),
               json::JsonObject().add("command", program).add("args", arguments).text());
}

std::string summary_of(const Definition& definition) {
  const auto entry = read_entry(definition.document);
  if (!entry) return {};
  if (entry->command.empty()) return std::string(without_secrets(entry->url));
  std::string summary = entry->command;
  for (const std::string& argument : entry->arguments) summary += " " + argument;
  return summary;
}

bool starts_program(const Definition& definition) {
  const auto entry = read_entry(definition.document);
  return entry && !entry->command.empty();
}

bool is_disabled(const Definition& definition) {
  const auto entry = read_entry(definition.document);
  return entry && entry->is_disabled;
}

std::vector<std::string> unused_members(const Definition& definition) {
  const auto entry = read_entry(definition.document);
  return entry ? entry->unknown : std::vector<std::string>();
}

}  // namespace client
