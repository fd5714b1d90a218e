#include "servers/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/contains.hpp"
#include "base/start_error.hpp"
#include "json/document.hpp"
#include "json/relaxed_json.hpp"
#include "servers/find.hpp"
#include "servers/places.hpp"
#include "servers/variables.hpp"
#include "text/characters.hpp"
#include "text/sha256.hpp"
#include "text/shell_word.hpp"
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
  std::string_view mcp{};
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
    if (name == "mcpServers" || name == "servers" || name == "mcp_servers") {
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

/// As mcp-bridged reads it; empty if it refuses it.
bridge::ServerEntry read_entry(std::string_view document) {
  try {
    return bridge::read_server_config(document, {}).servers.front();
  } catch (const bridge::StartError&) {
    return {};
  }
}

/// Adds the names of environment variables; returns those of the inputs.
std::set<std::string> names_in(std::string_view document,
                               std::map<std::string, bool>& environment) {
  std::set<std::string> inputs;
  const auto has = [&](std::string_view text) { return document.find(text) != document.npos; };
  if (!has("$") && !has("\\") && !has("{env:") && !has("env_"))
    return inputs;  // no variable without a `$` or an escaped one
  const bridge::ServerEntry entry = read_entry(document);
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
    bridge::expand_entry(entry, note, {});
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
  json::JsonArray inputs;
  std::set<std::string> wanted;
  if (!file.inputs.empty()) wanted = names_in(add_entry(alone, entry).text(), environment);
  for (const std::string_view input : file.inputs) {
    if (wanted.contains(json::string_member(input, "id"))) inputs.add(json::RawJson{input});
  }
  json::JsonObject document;
  if (!inputs.is_empty()) document.add("inputs", inputs);
  if (bridge::is_left_out(file.mcp, entry.name))
    document.add("mcp", json::JsonObject().add("excluded", json::JsonArray().add(entry.name)));
  return add_entry(document, entry).text();
}

Definition typed(std::string name, std::string entry) {
  std::string document = document_of({name, entry}, {});
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
std::string with_mark(const std::string& name, std::string_view all) {
  constexpr std::size_t digits = 4;
  return name + "-" + bridge::sha256_hex(all).substr(0, digits);
}

constexpr std::string_view hidden = "(hidden)";

bool sounds_secret(std::string_view name) {
  const std::string lower = bridge::ascii_lower(name);
  for (const std::string_view part :
       {"key", "token", "secret", "passw", "credential", "auth", "bearer", "cookie"}) {
    if (lower.find(part) != lower.npos) return true;
  }
  return lower == "pat" || lower.ends_with("-pat") || lower.ends_with("_pat");
}

/// A value as shown: variables stay, and the word before them; whatever is literal does not.
std::string shown_value(std::string_view text) {
  const std::string literal =
      bridge::expand_variables(text, [](const bridge::Variable&) { return std::nullopt; }).text;
  const bool is_variable =
      literal != text &&
      bridge::has_word("Bearer Basic token", literal.substr(0, literal.find_last_not_of(' ') + 1));
  const bool is_only_variables = literal.empty() || is_variable;
  return std::string(is_only_variables ? text : hidden);
}

/// As keys are: long, of letters and digits that no word has side by side.
bool looks_like_key(std::string_view text) {
  for (const std::string_view prefix : {"sk-", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-",
                                        "glpat-", "AKIA", "eyJ", "Bearer "}) {
    if (text.starts_with(prefix) && text.size() > prefix.size() + 4) return true;
  }
  constexpr std::size_t shortest = 24;
  constexpr std::ptrdiff_t fewest = 4;
  const auto count = [text](bool (*is)(char)) {
    return std::count_if(text.begin(), text.end(), is);
  };
  const auto digits = count([](char c) { return bridge::is_digit(c); });
  const auto letters = count([](char c) { return bridge::is_letter(c); });
  const auto others = count([](char c) { return c == '-' || c == '_' || c == '=' || c == '+'; });
  return text.size() >= shortest && digits >= fewest && letters >= fewest &&
         static_cast<std::size_t>(digits + letters + others) == text.size();
}

/// An argument as shown; `before`: the one before it.
std::string shown_argument(std::string_view text, std::string_view before) {
  const bool follows_option = before.starts_with('-') && before.find('=') == before.npos;
  if (follows_option && !text.starts_with('-') && sounds_secret(before)) return shown_value(text);
  if (looks_like_key(text)) return std::string(hidden);
  if (const std::size_t scheme = text.find("://"); scheme != text.npos) {
    const std::size_t end = std::min(text.find_first_of("/?#", scheme + 3), text.size());
    const std::size_t at = text.substr(0, end).rfind('@');
    std::string shown(text.substr(0, scheme + 3));
    if (at != text.npos && at > scheme) shown.append(hidden).append("@");
    const std::size_t rest = at != text.npos && at > scheme ? at + 1 : scheme + 3;
    const std::size_t query = text.find('?', rest);
    shown.append(text.substr(rest, query == text.npos ? query : query - rest));
    if (query != text.npos) shown.append("?").append(shown_value(text.substr(query + 1)));
    return shown;
  }
  const bool is_header = before == "-H" || before == "--header";
  const bool is_variable = before == "-e" || before == "--env";
  const std::size_t sign = text.find_first_of(":=");
  if (sign == text.npos || text.substr(0, sign).find(' ') != text.npos) return std::string(text);
  if (!is_header && !is_variable && !sounds_secret(text.substr(0, sign))) return std::string(text);
  const std::size_t value = std::min(text.find_first_not_of(' ', sign + 1), text.size());
  return std::string(text.substr(0, value)) +
         (value == text.size() ? std::string() : shown_value(text.substr(value)));
}

/// As JSON, with the values hidden that `member` and the place call for.
json::Value shown_json(json::Value value, std::string_view member) {
  using Kind = json::Value::Kind;
  const bool is_of_values =
      bridge::has_word("env environment envFile headers http_headers", member);
  if (value.is(Kind::string)) {
    if (sounds_secret(member)) value.text = shown_value(value.text);
    if (bridge::has_word("url serverUrl httpUrl", member))
      value.text = shown_argument(value.text, {});
  }
  std::string before;
  for (json::Value& item : value.items) {
    std::string text = item.text;
    if (item.is(Kind::string)) {
      item.text = shown_argument(text, before);
    } else {
      item = shown_json(std::move(item), member);
    }
    before = std::move(text);
  }
  for (json::Member& one : value.members) {
    if (is_of_values && (one.value.is(Kind::string) || one.value.is(Kind::number))) {
      one.value.text = shown_value(one.value.text);
      one.value.kind = Kind::string;
    } else {
      one.value = shown_json(std::move(one.value), one.name);
    }
  }
  return value;
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
  file.mcp = json::find_member(strict, "mcp").value_or("");
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
    const auto projects = json::find_member(object, "projects");
    const auto found = projects ? json::find_member(*projects, project) : std::nullopt;
    if (!found) return std::vector<Definition>();
    object = *found;
  }
  json::JsonObject servers;
  for (const std::string_view name : {"mcpServers", "servers", "mcp_servers", "inputs"})
    servers.add_unless_empty(name, json::RawJson{json::find_member(object, name).value_or("")});
  const std::string_view map = json::find_member(object, "mcp").value_or("");
  json::JsonObject choice;
  for (const std::string_view name : {"allowed", "excluded"})
    choice.add_unless_empty(name, json::RawJson{json::find_member(map, name).value_or("")});
  servers.add("mcp",
              json::RawJson{bridge::is_map_of_servers(map) ? std::string(map) : choice.text()});
  return read_definitions(servers.text());
}

std::string environment_file_of(const Definition& definition, const std::string& folder) {
  // Most have none, and are not read again. One in escapes is left to the daemon.
  if (definition.document.find("envFile") == std::string::npos) return {};
  const bridge::ServerEntry entry = read_entry(definition.document);
  if (entry.environment_file.empty()) return {};
  return bridge::expand_variables(
             entry.environment_file,
             [&](const bridge::Variable& variable) -> std::optional<std::string> {
               if (variable.kind == bridge::Variable::Kind::editor)
                 return bridge::editor_value(variable.name, folder);
               if (auto value = environment_variable(variable.name.c_str())) return value;
               if (variable.otherwise) return std::nullopt;
               return fmt::format("${{{}}}", variable.name);
             })
      .text;
}

Definition with_environment(Definition definition,
                            const std::map<std::string, std::string>& variables) {
  json::JsonObject read;
  for (const auto& [name, value] : variables) read.add_any(name, json::RawJson{json::quote(value)});
  const std::string content = read.text();
  json::JsonObject entry;
  const auto members = json::members(definition.entry);
  if (!members) return definition;
  for (const json::RawMember& member : *members) {
    const bool is_path = json::decode_string(member.key) == "envFile";
    entry.add(json::RawJson{member.key}, json::RawJson{is_path ? content : member.value});
  }
  // The document has the entry as it was.
  const std::size_t at = definition.document.rfind(definition.entry);
  std::string changed = entry.text();
  if (at != definition.document.npos)
    definition.document.replace(at, definition.entry.size(), changed);
  definition.entry = std::move(changed);
  return definition;
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
  const auto words = bridge::shell_words(command);
  if (!words || words->empty()) return std::nullopt;
  json::JsonArray arguments;
  for (std::size_t i = 1; i < words->size(); ++i) arguments.add((*words)[i]);
  const std::string& program = words->front();
  const std::string name = program.substr(program.rfind('/') + 1);
  return typed(words->size() == 1 ? name : with_mark(name, command),
               json::JsonObject().add("command", program).add("args", arguments).text());
}

std::string summary_of(const Definition& definition) {
  const bridge::ServerEntry entry = read_entry(definition.document);
  if (entry.command.empty()) return std::string(without_secrets(entry.url));
  std::string summary = entry.command;
  std::string_view before = entry.command;
  for (const std::string& argument : entry.arguments) {
    summary += " " + shown_argument(argument, before);
    before = argument;
  }
  return summary;
}

std::string shown_document(const Definition& definition) {
  return json::to_json(shown_json(json::parse_or_null(definition.document), {}));
}

bool starts_program(const Definition& definition) {
  return !read_entry(definition.document).command.empty();
}

bool is_disabled(const Definition& definition) {
  return read_entry(definition.document).is_disabled;
}

std::vector<std::string> unused_members(const Definition& definition) {
  return read_entry(definition.document).unused;
}

}  // namespace client
