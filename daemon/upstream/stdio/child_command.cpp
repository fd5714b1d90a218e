#include "upstream/stdio/child_command.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/log.hpp"
#include "process/command_run.hpp"
#include "process/process_start.hpp"
#include "upstream/stdio/error_tail.hpp"

namespace bridge {
namespace {

constexpr std::string_view usual_path = "/usr/local/bin:/usr/bin:/bin";

std::vector<std::string> environment_of(const ChildOptions& options, const char* const* inherited) {
  std::vector<std::string> all = child_environment(inherited);
  std::erase_if(all, [&](const std::string& variable) {
    return options.environment.contains(variable.substr(0, variable.find('=')));
  });
  for (const auto& [name, value] : options.environment)
    all.push_back(fmt::format("{}={}", name, value));
  return all;
}

std::vector<std::string> candidates_of(const std::string& program,
                                       const std::vector<std::string>& environment) {
  if (program.find('/') != program.npos) return {program};
  std::string_view path = usual_path;
  for (const std::string& variable : environment) {
    if (variable.starts_with("PATH=")) path = std::string_view(variable).substr(5);
  }
  std::vector<std::string> found;
  for (;;) {
    const auto end = path.find(':');
    const std::string_view folder = path.substr(0, end);
    found.push_back(fmt::format("{}/{}", folder.empty() ? "." : folder, program));
    if (end == path.npos) return found;
    path.remove_prefix(end + 1);
  }
}

}  // namespace

ChildCommand::ChildCommand(const ChildOptions& options, const char* const* inherited)
    : name_(printable(options.command.front(), 80)),
      folder_(options.folder),
      descriptors_(options.descriptors),
      arguments_(options.command),
      environment_(environment_of(options, inherited)),
      candidates_(candidates_of(arguments_.front(), environment_)),
      known_secrets_(options.secrets),
      argument_pointers_(pointers_to(arguments_)),
      environment_pointers_(pointers_to(environment_)) {}

std::vector<std::string> ChildCommand::secrets() const {
  std::vector<std::string> all = likely_secrets(arguments_, environment_);
  all.insert(all.end(), known_secrets_.begin(), known_secrets_.end());
  return all;
}

std::string ChildCommand::fault() const {
  struct stat status {};
  if (!folder_.empty() && (stat(folder_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))) {
    return fmt::format("cannot run {}: there is no folder {}", name_, printable(folder_));
  }
  const auto can_be_run = [&](const std::string& candidate) {
    const std::string path =
        candidate.starts_with("/") || folder_.empty() ? candidate : folder_ + "/" + candidate;
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           access(path.c_str(), X_OK) == 0;
  };
  if (std::any_of(candidates_.begin(), candidates_.end(), can_be_run)) return {};
  return fmt::format("cannot run {}: there is no such program", name_);
}

}  // namespace bridge
