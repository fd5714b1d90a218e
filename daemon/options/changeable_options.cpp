#include "options/changeable_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace bridge {

std::vector<std::string> unchangeable_changes(const std::map<std::string, std::string>& before,
                                              const std::map<std::string, std::string>& now) {
  static const std::set<std::string> changeable = {
      "--header",         "--connect-timeout", "--request-timeout", "--request-max",
      "--stream-retries", "--connect-wait",    "--keepalive",       "--grace",
      "--orphans",        "--park-requests",   "--input-wait",      "--log-level",
      "--log-format",     "--log-bodies"};
  std::set<std::string> names;
  for (const auto* given : {&before, &now}) {
    for (const auto& [name, value] : *given) names.insert(name);
  }
  std::vector<std::string> changed;
  for (const std::string& name : names) {
    const auto then = before.find(name);
    const auto found = now.find(name);
    const bool same = then != before.end() && found != now.end() && then->second == found->second;
    if (!same && !changeable.contains(name)) changed.push_back(name);
  }
  return changed;
}

std::string changed_for_good(const std::map<std::string, std::string>& before,
                             const std::map<std::string, std::string>& now) {
  return fmt::format("{}", fmt::join(unchangeable_changes(before, now), ", "));
}

}  // namespace bridge
