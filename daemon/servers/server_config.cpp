#include "servers/server_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/contains.hpp"
#include "base/start_error.hpp"
#include "json/json_text.hpp"
#include "json/relaxed_json.hpp"
#include "text/characters.hpp"
#include "text/utf8.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

/// Of an entry: for other programs' own use, or asking less of their users than the bridge does.
constexpr std::string_view changes_nothing =
    "id name title description $schema version gallery icon icons note comment tags category "
    "timeout startupTimeout startup_timeout_sec startup_timeout_ms tool_timeout_sec initTimeout "
    "required supports_parallel_tool_calls alwaysAllow autoApprove alwaysLoad trust dev";

/// Of an entry: what makes another program offer less of the server, or ask before a call. The
/// bridge does neither, and says so unless the value is one of `harmless`.
struct Limit {
  std::string_view member;
  std::string_view harmless;  ///< as JSON without blanks
};

constexpr Limit limits[] = {
    {"enabled_tools", ""},                                    // Codex
    {"disabled_tools", "[]"},                                 // Codex
    {"default_tools_approval_mode", "\"approve\" \"auto\""},  // Codex
    {"includeTools", ""},                                     // Gemini, Amp
    {"excludeTools", "[]"},                                   // Gemini
    {"disabledTools", "[]"},                                  // Windsurf, Roo, Kiro
    {"enabledTools", ""},
    {"allowedTools", "[\"*\"]"},
    {"tools", "[\"*\"]"},       // Copilot; Codex: the approval of each
    {"oauth", "true"},          // opencode: false
    {"oauth.enabled", "true"},  // Gemini
};

/// The sentence for a member that is not used; empty if it makes no difference.
std::string why_unused(const std::string& member, std::string_view value) {
  std::string plain(value);
  std::erase_if(plain, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
  const auto* const limit = std::find_if(std::begin(limits), std::end(limits),
                                         [&](const Limit& one) { return one.member == member; });
  if (limit != std::end(limits)) {
    return has_word(limit->harmless, plain) || plain == "{}"
               ? std::string()
               : fmt::format("'{}' limits the server in other programs, and is not obeyed here",
                             shown_name(member));
  }
  if (has_word(changes_nothing, member)) return {};
  return fmt::format("'{}' is not understood and not used", shown_name(member));
}

/// opencode's form (`local`, `remote`) in the words of the others: its variables are `{env:NAME}`
/// and `{file:PATH}`, the latter unknown here.
void make_usual(ServerEntry& entry) {
  entry.type = entry.type == "local" ? "stdio" : "http";
  const auto make = [](std::string& text) {
    for (const std::string_view opening : {"{env:", "{file:"}) {
      for (std::size_t at = 0; (at = text.find(opening, at)) != text.npos;
           at += opening.size() + 1) {
        if (at == 0 || text[at - 1] != '$') text.insert(at, 1, '$');
      }
    }
  };
  make(entry.command);
  make(entry.url);
  for (std::string& one : entry.arguments) make(one);
  for (auto& [name, value] : entry.environment) make(value);
  for (auto& [name, value] : entry.headers) make(value);
}

class ServerReader final : DocumentReader {
 public:
  /// Checks the grammar of the whole text, so that later reads see well-formed JSON.
  ServerReader(std::string_view text, std::string source)
      : DocumentReader(text), source_(std::move(source)) {
    if (!is_utf8(whole())) fail("not UTF-8");
    if (const std::string place = place_of_fault(); !place.empty()) fail("not JSON: " + place);
  }

  ServerConfig config() {
    ServerConfig config;
    add_all(whole(), config);
    const std::string_view mcp = find_member(whole(), "mcp").value_or("");
    for (ServerEntry& entry : config.servers)
      entry.is_disabled = entry.is_disabled || is_left_out(mcp, entry.name);
    if (config.servers.empty())
      fail("there is no server in it (mcpServers, servers, mcp, mcp_servers or tools)");
    return config;
  }
  std::map<std::string, std::string> texts() const { return scalars(whole(), "the file"); }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw StartError(exit_code::configuration, fmt::format("{}: {}", source_, why));
  }
  [[noreturn]] void fail(std::string_view, const std::string& why) const override { fail(why); }

  std::string text(std::string_view raw, const std::string& what) const {
    if (!is_string(raw)) fail(what + " is not a text");
    std::string value = *to_text(raw);
    if (value.find('\0') != value.npos) fail(what + " has a zero byte in it");
    return value;
  }

  /// The text of a scalar; a number or a boolean counts as its text.
  std::string scalar(std::string_view raw, const std::string& what) const {
    if (is_string(raw)) return text(raw, what);
    if (raw.empty() || raw.front() == '{' || raw.front() == '[' || raw == "null")
      fail(what + " is not a text");
    return std::string(raw);
  }

  std::map<std::string, std::string> scalars(std::string_view object,
                                             const std::string& what) const {
    std::map<std::string, std::string> all;
    for (const auto& [name, value] : members(object, what + " is not an object")) {
      if (value != "null") all[name] = scalar(value, fmt::format("{}.{}", what, shown_name(name)));
    }
    return all;
  }

  ServerEntry server(std::string name, std::string_view object) const {
    const std::string what = fmt::format("server '{}'", shown_name(name));
    ServerEntry entry;
    entry.name = std::move(name);
    bool has_first_choice = false;  // Gemini's httpUrl is used rather than its url
    for (const auto& [member, value] : members(object, what + " is not an object")) {
      const std::string part = fmt::format("{}: {}", what, shown_name(member));
      if (value == "null") continue;
      if (member == "type") {
        entry.type = text(value, part);
      } else if (member == "command") {
        read_command(entry, value, part);
      } else if (member == "args") {
        for (const std::string_view one : elements(value, part + " is not a list"))
          entry.arguments.push_back(scalar(one, part));
      } else if (member == "env" || member == "environment") {
        for (auto& [variable, content] : environment(value, part))
          entry.environment[variable] = std::move(content);
      } else if (member == "cwd") {
        entry.folder = text(value, part);
      } else if (member == "url" || member == "serverUrl" || member == "httpUrl") {
        if (!has_first_choice) entry.url = text(value, part);
        has_first_choice = has_first_choice || member == "httpUrl";
      } else if (member == "envFile" && is_object(value)) {
        entry.file_environment = environment(value, part);  // as mcp-nc passes it
      } else if (member == "envFile") {
        entry.environment_file = text(value, part);
      } else if (member == "env_vars") {
        read_passed(entry, value, part);
      } else if (member == "env_http_headers") {
        for (const auto& [header, variable] : scalars(value, part))
          entry.headers.emplace_back(header, of_process(variable, part));
      } else if (member == "bearer_token_env_var") {
        entry.headers.emplace_back("Authorization",
                                   "Bearer " + of_process(text(value, part), part));
      } else if (member == "scopes") {
        entry.oauth.scope = words(value, part);
      } else if (member == "headers" || member == "http_headers") {
        for (auto& [header, content] : scalars(value, part))
          entry.headers.emplace_back(header, std::move(content));
      } else if ((member == "oauth" || member == "auth") && is_object(value)) {
        OAuthEntry given = oauth(entry, member, value, part);
        if (given.scope.empty()) given.scope = std::move(entry.oauth.scope);
        entry.oauth = std::move(given);
      } else if (member == "disabled") {
        entry.is_disabled = entry.is_disabled || value == "true";
      } else if (member == "enabled") {
        entry.is_disabled = entry.is_disabled || value == "false";
      } else {
        note_unused(entry, member, value);
      }
    }
    if (entry.type == "local" || entry.type == "remote") make_usual(entry);
    return entry;
  }

  static void note_unused(ServerEntry& entry, const std::string& member, std::string_view value) {
    if (std::string why = why_unused(member, value); !why.empty())
      entry.unused.push_back(std::move(why));
  }

  /// The spellings of Claude Code, Gemini and opencode (`oauth`), and of Cursor (`auth`).
  OAuthEntry oauth(ServerEntry& entry, const std::string& outer, std::string_view object,
                   const std::string& what) const {
    OAuthEntry oauth;
    for (const auto& [member, value] : members(object, what + " is not an object")) {
      const std::string part = fmt::format("{}.{}", what, shown_name(member));
      if (value == "null") continue;
      if (member == "clientId" || member == "CLIENT_ID") {
        oauth.client_id = text(value, part);
      } else if (member == "clientSecret" || member == "CLIENT_SECRET") {
        oauth.client_secret = text(value, part);
      } else if (member == "callbackPort") {
        oauth.callback_port = scalar(value, part);
      } else if (member == "scopes" || member == "scope") {
        oauth.scope = words(value, part);
      } else {
        note_unused(entry, fmt::format("{}.{}", outer, member), value);
      }
    }
    return oauth;
  }

  /// A text, or a list of texts as one, separated by blanks.
  std::string words(std::string_view raw, const std::string& what) const {
    if (is_string(raw)) return text(raw, what);
    std::string all;
    for (const std::string_view one : elements(raw, what + " is not a text or a list"))
      all += (all.empty() ? "" : " ") + text(one, what);
    return all;
  }

  /// A text, or opencode's list of the program and its arguments.
  void read_command(ServerEntry& entry, std::string_view value, const std::string& part) const {
    if (value.front() != '[') {
      entry.command = text(value, part);
      return;
    }
    std::vector<std::string> words;
    for (const std::string_view one : elements(value, part)) words.push_back(scalar(one, part));
    if (words.empty()) return;
    entry.command = std::move(words.front());
    entry.arguments.insert(entry.arguments.begin(), words.begin() + 1, words.end());
  }

  /// Codex names variables without a `$`.
  std::string of_process(const std::string& name, const std::string& part) const {
    const auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
    if (name.empty() || !std::all_of(name.begin(), name.end(), fits))
      fail(part + " is not the name of a variable");
    return fmt::format("${{env:{}}}", name);
  }

  /// Codex's variables that the program gets beside its own: names, or objects with a `name`.
  void read_passed(ServerEntry& entry, std::string_view value, const std::string& part) const {
    for (const std::string_view one : elements(value, part + " is not a list")) {
      std::string name = is_object(one) ? find_string(one, "name").value_or("") : text(one, part);
      std::string variable = of_process(name, part);
      variable.insert(variable.size() - 1, ":-");
      if (entry.environment.emplace(name, std::move(variable)).second)
        entry.passed.push_back(std::move(name));
    }
  }

  InputDefinition input(std::string_view object) const {
    InputDefinition input;
    for (const auto& [member, value] : members(object, "an input is not an object")) {
      if (member == "id") {
        input.id = text(value, "an input's id");
      } else if (member == "description") {
        input.description = text(value, "an input's description");
      } else if (member == "default" && value != "null") {
        input.otherwise = scalar(value, "an input's default");
      } else if (member == "password") {
        input.password = value == "true";
      } else if (member == "options") {
        for (const std::string_view one : elements(value, "an input's options is not a list"))
          input.choices.push_back(choice(one));
      }
    }
    if (input.id.empty()) fail("an input has no id");
    return input;
  }

  void add_all(std::string_view object, ServerConfig& config, bool is_outermost = true) {
    for (const auto& [member, value] : members(object, "the file is not an object")) {
      if (member == "mcpServers" || member == "servers" || member == "mcp_servers") {
        for (const auto& [name, entry] : members(value, member + " is not an object"))
          add(config, server(name, entry));
      } else if (member == "tools") {
        for (const std::string_view entry : elements(value, member + " is not a list")) {
          const auto id = find_string(entry, "id");
          if (!id || id->empty()) fail("a tool has no id");
          add(config, server(*id, entry));
        }
      } else if (member == "inputs") {
        for (const std::string_view entry : elements(value, member + " is not a list"))
          config.inputs.push_back(input(entry));
      } else if (member == "mcp" && is_outermost) {
        if (is_map_of_servers(value)) {
          for (const auto& [name, entry] : members(value, member + " is not an object"))
            add(config, server(name, entry));
        } else {
          add_all(value, config, false);
        }
      }
    }
  }

  std::map<std::string, std::string> environment(std::string_view object,
                                                 const std::string& what) const {
    auto all = scalars(object, what);
    for (const auto& [name, value] : all) {
      if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != name.npos)
        fail(what + ": a name is not one of a variable");
    }
    return all;
  }

  /// A choice is a text, or an object with a `label` for display and a `value`.
  std::string choice(std::string_view raw) const {
    return is_object(raw) ? find_string(raw, "value").value_or(std::string())
                          : scalar(raw, "an input's option");
  }

  void add(ServerConfig& config, ServerEntry entry) {
    if (!server_names_.insert(entry.name).second)
      fail(fmt::format("there are two servers '{}'", shown_name(entry.name)));
    config.servers.push_back(std::move(entry));
  }

  std::set<std::string> server_names_;
  std::string source_;
};

}  // namespace

std::string shown_name(std::string_view name) { return cut_off(make_visible_line(name), 80); }

namespace {

/// Whether the object says what runs, or where the server is.
bool is_server(std::string_view object) {
  for (const char* const name : {"command", "url", "serverUrl", "httpUrl", "type"}) {
    if (find_member(object, name)) return true;
  }
  return false;
}

}  // namespace

bool is_map_of_servers(std::string_view mcp) {
  bool has_any = false;
  const bool fits = each_member(mcp, [&](std::string_view key, std::string_view value) {
    has_any = true;
    return is_object(value) && is_server(value) &&
           !has_word("servers mcpServers inputs tools", unescape(key));
  });
  return fits && has_any;
}

bool is_left_out(std::string_view mcp, std::string_view name) {
  if (!is_object(mcp)) return false;
  const auto names = [&](std::string_view list) {
    bool is_there = false;
    each_element(list, [&](std::string_view one) {
      is_there = is_there || to_text(one) == name;
      return true;
    });
    return is_there;
  };
  const auto allowed = find_member(mcp, "allowed");
  const bool has_list = allowed && allowed->starts_with('[');
  return (has_list && !names(*allowed)) || names(find_member(mcp, "excluded").value_or(""));
}

ServerConfig read_server_config(std::string_view text, const std::string& source) {
  return ServerReader(text, source).config();
}

std::map<std::string, std::string> read_text_map(std::string_view text, const std::string& source) {
  return ServerReader(text, source).texts();
}

const ServerEntry& choose_server(const ServerConfig& config, const std::string& name,
                                 const std::string& source) {
  if (name.empty() && config.servers.size() == 1) return config.servers.front();
  constexpr std::size_t most_listed = 100;
  std::string names;
  std::size_t count = 0;
  for (const ServerEntry& entry : config.servers) {
    if (!name.empty() && entry.name == name) return entry;
    if (++count <= most_listed) names += (names.empty() ? "" : ", ") + shown_name(entry.name);
  }
  if (count > most_listed) names += fmt::format(" and {} more", count - most_listed);
  throw StartError(
      exit_code::usage,
      name.empty()
          ? fmt::format("{} has several servers ({}): choose one with --server NAME", source, names)
          : fmt::format("--server: {} has no server '{}', only {}", source, shown_name(name),
                        names));
}

}  // namespace bridge
