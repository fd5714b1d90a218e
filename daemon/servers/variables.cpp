#include "servers/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/contains.hpp"
#include "base/files.hpp"
#include "base/start_error.hpp"

namespace bridge {

namespace {

std::string variable_of(std::string name, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    name += byte < 0x80 && std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name;
}

}  // namespace

std::string variable_of_input(const std::string& id) { return variable_of("MCP_INPUT_", id); }

std::string variable_of_option(std::string_view option) {
  return variable_of("MCP_BRIDGE_", option.substr(2));
}

std::optional<std::string> find_input(const std::string& id, const InputSources& sources) {
  for (const auto* source : {&sources.given, &sources.file}) {
    if (const auto found = source->find(id); found != source->end()) return found->second;
  }
  const char* const variable = std::getenv(variable_of_input(id).c_str());
  if (variable != nullptr && *variable != '\0') return variable;
  if (const auto found = sources.answers.find(id); found != sources.answers.end())
    return found->second;
  return std::nullopt;
}

namespace {

constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
constexpr std::string_view input_prefix = "input:";
constexpr std::string_view environment_prefix = "env:";
constexpr std::string_view editor_names =
    "workspaceFolder workspaceFolderBasename cwd userHome pathSeparator /";

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(name_characters) == text.npos;
}

/// The variable that an unclosed `${` begins; nullopt if it is ordinary text.
std::optional<Variable> unclosed_variable(std::string_view text) {
  for (const std::string_view prefix : {input_prefix, environment_prefix}) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view rest = text.substr(prefix.size());
    const auto is_in_id = [](char c) {
      return name_characters.find(c) != std::string_view::npos || c == '-' || c == '.';
    };
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_in_id);
    const auto length = static_cast<std::size_t>(end - rest.begin());
    return Variable{Variable::Kind::unclosed, std::string(text.substr(0, prefix.size() + length))};
  }
  return std::nullopt;
}

/// The position of a `${`.
struct Opening {
  std::size_t begin;
  std::size_t end;  ///< of the closing `}`; npos if there is none
};

/// Finds all openings in `text`, in order, in a single pass; nullopt if they are nested deeper than
/// max_variable_depth.
std::optional<std::vector<Opening>> find_openings(std::string_view text) {
  struct Unclosed {
    std::size_t opening;
    std::size_t depth = 0;  ///< of the closed ones within it
  };
  std::vector<Opening> all;
  std::vector<Unclosed> unclosed;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '$' && at + 1 < text.size() && text[at + 1] == '{') {
      unclosed.push_back({all.size()});
      all.push_back({at, text.npos});
    } else if (text[at] == '}' && !unclosed.empty()) {
      const Unclosed closed = unclosed.back();
      unclosed.pop_back();
      all[closed.opening].end = at;
      if (closed.depth == max_variable_depth) return std::nullopt;
      if (!unclosed.empty())
        unclosed.back().depth = std::max(unclosed.back().depth, closed.depth + 1);
    }
  }
  return all;
}

class Expander {
 public:
  using ValueOf = std::function<std::optional<std::string>(const Variable&)>;

  Expander(std::string_view text, const std::vector<Opening>& openings, const ValueOf& value_of,
           std::size_t most)
      : text_(text), openings_(openings), value_of_(value_of), most_(most) {}

  /// Expands from `at` up to `end`. Recursive for a default, at most max_variable_depth deep.
  void expand(std::size_t at, std::size_t end) {
    while (next_ < openings_.size() && openings_[next_].begin < end && !is_too_long()) {
      const Opening opening = openings_[next_++];
      if (opening.begin < at) continue;  // within an expanded one
      const std::size_t inside = opening.begin + 2;
      if (opening.end == text_.npos) {
        if (const auto variable = unclosed_variable(text_.substr(inside))) value_of_(*variable);
        append(at, inside);
        at = inside;
        continue;
      }
      append(at, opening.begin);
      const Variable variable = parse_variable(text_.substr(inside, opening.end - inside));
      if (const auto value = value_of_(variable)) {
        result_.append(*value);
      } else if (variable.otherwise) {
        expand(opening.end - variable.otherwise->size(), opening.end);
      }
      at = opening.end + 1;
    }
    append(at, end);
  }

  bool is_too_long() const { return result_.size() > most_; }
  std::string take() { return std::move(result_); }

 private:
  void append(std::size_t begin, std::size_t end) {
    result_.append(text_.substr(begin, end - begin));
  }

  std::string_view text_;
  const std::vector<Opening>& openings_;
  const ValueOf& value_of_;
  std::size_t most_;
  std::size_t next_ = 0;  ///< of the openings
  std::string result_;
};

}  // namespace

Variable parse_variable(std::string_view text) {
  if (text.starts_with(input_prefix) && text.size() > input_prefix.size()) {
    return {Variable::Kind::input, std::string(text.substr(input_prefix.size()))};
  }
  std::string_view name = text;
  Variable variable{Variable::Kind::environment, {}};
  if (name.starts_with(environment_prefix)) {
    name.remove_prefix(environment_prefix.size());
    variable.is_of_process = true;
  }
  if (const auto at = name.find(":-"); at != name.npos) {
    variable.otherwise = name.substr(at + 2);
    name = name.substr(0, at);
  }
  const bool is_of_editor = !variable.is_of_process && has_word(editor_names, name);
  if (!is_of_editor && !is_name(name)) return {Variable::Kind::unknown, std::string(text)};
  if (is_of_editor) variable.kind = Variable::Kind::editor;
  variable.name = std::string(name);
  return variable;
}

Expansion expand_variables(
    std::string_view text,
    const std::function<std::optional<std::string>(const Variable&)>& value_of, std::size_t most) {
  const auto openings = find_openings(text);
  if (!openings) return {{}, Expansion::Fault::too_deep};
  Expander expander(text, *openings, value_of, most);
  expander.expand(0, text.size());
  if (expander.is_too_long()) return {{}, Expansion::Fault::too_long};
  return {expander.take()};
}

namespace {

/// Visits every text of an entry that may contain variables, with its location; those of its own
/// `env` by `visit_own`, with the name.
template <class Visit, class VisitOwn>
void each_text(ServerEntry& entry, Visit&& visit, VisitOwn&& visit_own) {
  visit(entry.command, "command");
  for (std::string& argument : entry.arguments) visit(argument, "args");
  for (auto& [name, value] : entry.environment) visit_own(name, value);
  visit(entry.environment_file, "envFile");
  visit(entry.folder, "cwd");
  visit(entry.url, "url");
  for (auto& [name, value] : entry.headers) visit(value, "headers." + shown_name(name));
  visit(entry.oauth.client_id, "oauth.clientId");
  visit(entry.oauth.client_secret, "oauth.clientSecret");
  visit(entry.oauth.callback_port, "oauth.callbackPort");
  visit(entry.oauth.scope, "oauth.scopes");
}

/// Distinct texts in the order of first occurrence.
class Notes {
 public:
  void add(std::string one) {
    if (known_.insert(one).second) all_.push_back(std::move(one));
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
  std::set<std::string> known_;
};

/// How much of a name an error message shows.
constexpr std::size_t most_named = 100;

class Resolver {
 public:
  Resolver(const ServerConfig& config, InputSources& sources) : config_(config), sources_(sources) {
    std::size_t at = 0;
    for (const InputDefinition& input : config_.inputs) places_.emplace(input.id, at++);
  }

  std::optional<std::string> value_of(const Variable& variable, const std::string& place) {
    switch (variable.kind) {
      case Variable::Kind::input: return input(variable.name);
      case Variable::Kind::environment: return environment(variable);
      case Variable::Kind::editor: return editor(variable);
      case Variable::Kind::unclosed:
        missing_.add(
            fmt::format("${{{} in {}, which lacks its }}", shown_name(variable.name), place));
        return std::nullopt;
      case Variable::Kind::unknown: break;
    }
    missing_.add(fmt::format("${{{}}}, which is not known here", shown_name(variable.name)));
    return std::nullopt;
  }

  const std::vector<std::string>& missing() const { return missing_.all(); }
  /// The missing inputs, in the order of the file's definitions.
  std::vector<std::string> to_ask() const {
    std::vector<std::string> ids = to_ask_.all();
    std::stable_sort(ids.begin(), ids.end(), [this](const auto& left, const auto& right) {
      return place(left) < place(right);
    });
    return ids;
  }

  /// Null if not defined.
  const InputDefinition* definition(const std::string& id) const {
    const std::size_t at = place(id);
    return at < config_.inputs.size() ? &config_.inputs[at] : nullptr;
  }

 private:
  std::optional<std::string> input(const std::string& id) {
    if (auto value = find_input(id, sources_)) return value;
    if (sources_.may_ask) {
      to_ask_.add(id);
    } else if (const auto* input = definition(id); input != nullptr && input->otherwise) {
      return input->otherwise;
    } else {
      missing_.add(fmt::format("input '{}' (--input {}=VALUE or {})", shown_name(id),
                               shown_name(id), variable_of_input(id)));
    }
    return std::nullopt;
  }

  std::optional<std::string> environment(const Variable& variable) {
    const char* const value = std::getenv(variable.name.c_str());
    if (value != nullptr && *value != '\0') return value;
    if (!variable.otherwise) missing_.add(fmt::format("environment variable {}", variable.name));
    return std::nullopt;
  }

  std::optional<std::string> editor(const Variable& variable) {
    auto value = editor_value(variable.name, current_folder());
    if (!value && !variable.otherwise)
      missing_.add(fmt::format("${{{}}} (HOME is not set)", variable.name));
    return value;
  }

  /// The position of the first definition of that id; past all of them if there is none.
  std::size_t place(const std::string& id) const {
    const auto found = places_.find(id);
    return found == places_.end() ? config_.inputs.size() : found->second;
  }

  const ServerConfig& config_;
  InputSources& sources_;
  std::map<std::string, std::size_t> places_;
  Notes missing_;
  Notes to_ask_;
};

[[noreturn]] void fail(const std::string& source, const ServerEntry& entry,
                       const std::string& why) {
  throw StartError(exit_code::configuration,
                   fmt::format("{}: server '{}' {}", source, shown_name(entry.name), why));
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i)
    list += (list.empty() ? "" : "; ") + names[i];
  if (names.size() > most_named) list += fmt::format("; and {} more", names.size() - most_named);
  return list;
}

class EntryExpander {
 public:
  EntryExpander(const ServerEntry& entry, const OutsideValue& outside, const std::string& source)
      : entry_(entry), outside_(outside), source_(source) {}

  ServerEntry expand() {
    ServerEntry expanded = entry_;
    std::size_t left = max_expanded;
    each_text(
        expanded,
        [&](std::string& text, const std::string& place) {
          text = replaced(text, place, left);
          left -= text.size();
        },
        [&](const std::string& name, std::string& value) { value = own_value(name, value, name); });
    for (const std::string& name : expanded.passed) {
      const auto found = expanded.environment.find(name);
      if (found != expanded.environment.end() && found->second.empty())
        expanded.environment.erase(found);
    }
    // What the file says is added last: it is text, and `env` wins.
    expanded.environment.merge(std::exchange(expanded.file_environment, {}));
    return expanded;
  }

 private:
  std::string replaced(std::string_view text, const std::string& place, std::size_t most) {
    Expansion expansion = expand_variables(
        text, [&](const Variable& variable) { return value_of(variable, place); }, most);
    if (expansion.fault == Expansion::Fault::too_deep) fail_too_deep(place);
    if (expansion.fault == Expansion::Fault::too_long) {
      fail(source_, entry_,
           fmt::format("is over {} MiB with its variables replaced, at {}", max_expanded >> 20,
                       place));
    }
    return std::move(expansion.text);
  }

  std::optional<std::string> value_of(const Variable& variable, const std::string& place) {
    const bool may_be_own =
        (variable.kind == Variable::Kind::environment || variable.kind == Variable::Kind::editor) &&
        !variable.is_of_process;
    if (!may_be_own) return outside_(variable, place);
    const auto own = entry_.environment.find(variable.name);
    if (own != entry_.environment.end() && !begun_.contains(variable.name)) {
      const std::string& value = own_value(variable.name, own->second, place);
      if (value.empty() && variable.otherwise) return std::nullopt;
      return value;
    }
    // A variable in its own value (`"PATH": "/x:${PATH}"`) is the file's, else an outside one.
    const auto of_file = entry_.file_environment.find(variable.name);
    if (of_file == entry_.file_environment.end()) return outside_(variable, place);
    if (of_file->second.empty() && variable.otherwise) return std::nullopt;
    return of_file->second;
  }

  /// Each is expanded once, however often it is named.
  const std::string& own_value(const std::string& name, const std::string& text,
                               const std::string& place) {
    if (const auto known = own_.find(name); known != own_.end()) return known->second;
    if (begun_.size() > max_variable_depth) fail_too_deep(place);
    begun_.insert(name);
    std::string value = replaced(text, "env." + shown_name(name), own_left_);
    begun_.erase(name);
    own_left_ -= value.size();
    return own_.emplace(name, std::move(value)).first->second;
  }

  [[noreturn]] void fail_too_deep(const std::string& place) const {
    fail(source_, entry_,
         fmt::format("has variables nested more than {} deep in {}", max_variable_depth, place));
  }

  const ServerEntry& entry_;
  const OutsideValue& outside_;
  const std::string& source_;
  std::set<std::string> begun_;  ///< of its own, not yet expanded to their end
  std::map<std::string, std::string> own_;
  std::size_t own_left_ = max_expanded;
};

}  // namespace

ServerEntry expand_entry(const ServerEntry& entry, const OutsideValue& outside,
                         const std::string& source) {
  return EntryExpander(entry, outside, source).expand();
}

std::optional<std::string> editor_value(std::string_view name, const std::string& folder) {
  if (name == "workspaceFolder" || name == "cwd") return folder;
  if (name == "workspaceFolderBasename") return folder.substr(folder.rfind('/') + 1);
  if (name == "pathSeparator" || name == "/") return "/";
  if (name != "userHome") return std::nullopt;
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? std::nullopt : std::optional<std::string>(home);
}

ServerEntry resolve_server(const ServerEntry& entry, const ServerConfig& config,
                           InputSources& sources, const std::string& source) {
  // A second pass uses the answers.
  for (;;) {
    Resolver resolver(config, sources);
    ServerEntry resolved = expand_entry(
        entry,
        [&resolver](const Variable& variable, const std::string& place) {
          return resolver.value_of(variable, place);
        },
        source);
    if (!resolver.missing().empty())
      fail(source, entry, "has no value for: " + list_of(resolver.missing()));
    const std::vector<std::string> unanswered = resolver.to_ask();
    if (unanswered.empty()) return resolved;
    for (const std::string& id : unanswered) {
      const InputDefinition* const defined = resolver.definition(id);
      const auto answer = ask_for_input(defined != nullptr ? *defined : InputDefinition{id, {}});
      if (!answer) {
        sources.may_ask = false;  // the terminal is gone: missing values are an error now
        break;
      }
      sources.answers[id] = *answer;
    }
  }
}

}  // namespace bridge
