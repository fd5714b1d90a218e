#include "config/config_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "config/variables.hpp"
#include "service/log.hpp"
#include "service/start_error.hpp"

namespace bridge {
namespace {

/// Every text of an entry that may have variables in it, and where it stands.
template <class Visit>
void each_text(ServerEntry& entry, Visit&& visit) {
  visit(entry.command, "command");
  for (std::string& argument : entry.arguments) visit(argument, "args");
  for (auto& [name, value] : entry.environment) visit(value, "env." + printable(name, 80));
  visit(entry.folder, "cwd");
  visit(entry.url, "url");
  for (auto& [name, value] : entry.headers) visit(value, "headers." + printable(name, 80));
}

/// The first of equal ones only.
void note(std::vector<std::string>& all, std::string one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
}

class Resolver {
 public:
  Resolver(const ServerConfig& config, InputSources& sources)
      : config_(config), sources_(sources) {}

  std::optional<std::string> value_of(const Variable& variable, const std::string& place) {
    switch (variable.kind) {
      case Variable::Kind::input: return input(variable.name);
      case Variable::Kind::environment: return environment(variable);
      case Variable::Kind::unclosed:
        note(missing_,
             fmt::format("${{{} in {}, which lacks its }}", printable(variable.name, 80), place));
        return std::nullopt;
      case Variable::Kind::unknown: break;
    }
    note(missing_, fmt::format("${{{}}}, which is not known here", printable(variable.name, 80)));
    return std::nullopt;
  }

  const std::vector<std::string>& missing() const { return missing_; }
  /// In the order of the file's definitions.
  std::vector<std::string> to_ask() const {
    std::vector<std::string> ids = to_ask_;
    const auto place = [this](const std::string& id) {
      return std::find_if(config_.inputs.begin(), config_.inputs.end(),
                          [&id](const auto& input) { return input.id == id; });
    };
    std::stable_sort(ids.begin(), ids.end(), [&](const auto& left, const auto& right) {
      return place(left) < place(right);
    });
    return ids;
  }

  InputDefinition definition(const std::string& id) const {
    for (const InputDefinition& input : config_.inputs) {
      if (input.id == id) return input;
    }
    return {id, {}};
  }

 private:
  std::optional<std::string> input(const std::string& id) {
    if (auto value = find_input(id, sources_)) return value;
    if (sources_.may_ask) {
      note(to_ask_, id);
    } else if (auto otherwise = definition(id).otherwise) {
      return otherwise;
    } else {
      note(missing_, fmt::format("input '{}' (--input {}=VALUE or {})", printable(id, 80),
                                 printable(id, 80), variable_of_input(id)));
    }
    return std::nullopt;
  }

  std::optional<std::string> environment(const Variable& variable) {
    const char* const value = std::getenv(variable.name.c_str());
    if (value != nullptr && *value != '\0') return value;
    if (!variable.otherwise) note(missing_, fmt::format("environment variable {}", variable.name));
    return std::nullopt;
  }

  const ServerConfig& config_;
  InputSources& sources_;
  std::vector<std::string> missing_;
  std::vector<std::string> to_ask_;
};

}  // namespace

ServerEntry resolve_server(const ServerEntry& entry, const ServerConfig& config,
                           InputSources& sources, const std::string& source) {
  // A second round has the answers.
  for (;;) {
    ServerEntry resolved = entry;
    Resolver resolver(config, sources);
    each_text(resolved, [&](std::string& text, const std::string& place) {
      text = expand_variables(
          text, [&](const Variable& variable) { return resolver.value_of(variable, place); });
    });
    if (!resolver.missing().empty()) {
      std::string list;
      for (const std::string& one : resolver.missing()) list += (list.empty() ? "" : "; ") + one;
      throw StartError(exit_code::configuration,
                       fmt::format("{}: server '{}' has no value for: {}", source,
                                   printable(entry.name, 80), list));
    }
    const std::vector<std::string> unanswered = resolver.to_ask();
    if (unanswered.empty()) return resolved;
    for (const std::string& id : unanswered) {
      const auto answer = ask_for_input(resolver.definition(id));
      if (!answer) {
        sources.may_ask = false;  // the terminal is gone: what is missing now is said
        break;
      }
      sources.answers[id] = *answer;
    }
  }
}

}  // namespace bridge
