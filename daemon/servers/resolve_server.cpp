#include "servers/resolve_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/start_error.hpp"
#include "servers/variables.hpp"

namespace bridge {
namespace {

/// Visits every text of an entry that may contain variables, with its location.
template <class Visit>
void each_text(ServerEntry& entry, Visit&& visit) {
  visit(entry.command, "command");
  for (std::string& argument : entry.arguments) visit(argument, "args");
  for (auto& [name, value] : entry.environment) visit(value, "env." + printable(name, 80));
  visit(entry.folder, "cwd");
  visit(entry.url, "url");
  for (auto& [name, value] : entry.headers) visit(value, "headers." + printable(name, 80));
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
  std::unordered_set<std::string> known_;
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
      case Variable::Kind::unclosed:
        missing_.add(
            fmt::format("${{{} in {}, which lacks its }}", printable(variable.name, 80), place));
        return std::nullopt;
      case Variable::Kind::unknown: break;
    }
    missing_.add(fmt::format("${{{}}}, which is not known here", printable(variable.name, 80)));
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
      missing_.add(fmt::format("input '{}' (--input {}=VALUE or {})", printable(id, 80),
                               printable(id, 80), variable_of_input(id)));
    }
    return std::nullopt;
  }

  std::optional<std::string> environment(const Variable& variable) {
    const char* const value = std::getenv(variable.name.c_str());
    if (value != nullptr && *value != '\0') return value;
    if (!variable.otherwise) missing_.add(fmt::format("environment variable {}", variable.name));
    return std::nullopt;
  }

  /// The position of the first definition of that id; past all of them if there is none.
  std::size_t place(const std::string& id) const {
    const auto found = places_.find(id);
    return found == places_.end() ? config_.inputs.size() : found->second;
  }

  const ServerConfig& config_;
  InputSources& sources_;
  std::unordered_map<std::string, std::size_t> places_;
  Notes missing_;
  Notes to_ask_;
};

[[noreturn]] void fail(const std::string& source, const ServerEntry& entry,
                       const std::string& why) {
  throw StartError(exit_code::configuration,
                   fmt::format("{}: server '{}' {}", source, printable(entry.name, 80), why));
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i)
    list += (list.empty() ? "" : "; ") + names[i];
  if (names.size() > most_named) list += fmt::format("; and {} more", names.size() - most_named);
  return list;
}

/// Expands `entry` with the known values; the resolver records what is missing.
ServerEntry expand_entry(const ServerEntry& entry, Resolver& resolver, const std::string& source) {
  ServerEntry expanded = entry;
  std::size_t left = max_expanded;
  each_text(expanded, [&](std::string& text, const std::string& place) {
    Expansion expansion = expand_variables(
        text, [&](const Variable& variable) { return resolver.value_of(variable, place); }, left);
    switch (expansion.fault) {
      case Expansion::Fault::none: break;
      case Expansion::Fault::too_deep:
        fail(
            source, entry,
            fmt::format("has variables nested more than {} deep in {}", max_variable_depth, place));
      case Expansion::Fault::too_long:
        fail(source, entry,
             fmt::format("is over {} MiB with its variables replaced, at {}", max_expanded >> 20,
                         place));
    }
    text = std::move(expansion.text);
    left -= text.size();
  });
  return expanded;
}

}  // namespace

ServerEntry resolve_server(const ServerEntry& entry, const ServerConfig& config,
                           InputSources& sources, const std::string& source) {
  // A second pass uses the answers.
  for (;;) {
    Resolver resolver(config, sources);
    ServerEntry resolved = expand_entry(entry, resolver, source);
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
