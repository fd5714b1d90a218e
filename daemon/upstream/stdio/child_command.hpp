#pragma once

#include <string>
#include <vector>

#include "upstream/upstream_options.hpp"

namespace bridge {

/// A command in the form that execve() wants it, so that nothing has to be allocated between fork
/// and exec. Immutable, so on any thread; the pointers point into the object itself.
class ChildCommand {
 public:
  /// `inherited`: as environ.
  ChildCommand(const ChildOptions& options, const char* const* inherited);
  ChildCommand(const ChildCommand&) = delete;
  ChildCommand& operator=(const ChildCommand&) = delete;

  /// Where the program may be, in the order of PATH; the PATH of the child's own environment.
  const std::vector<std::string>& candidates() const { return candidates_; }
  char* const* arguments() const { return argument_pointers_.data(); }
  char* const* environment() const { return environment_pointers_.data(); }
  /// Empty: where the daemon runs.
  const std::string& folder() const { return folder_; }
  /// The limit of file descriptors that it runs with; none: as it is.
  const std::optional<rlimit>& descriptors() const { return descriptors_; }
  /// What it is called for people. Arguments may hold secrets and are never shown.
  const std::string& name() const { return name_; }

  /// Why it surely cannot be run, or an empty string.
  std::string fault() const;

 private:
  std::string name_;
  std::string folder_;
  std::optional<rlimit> descriptors_;
  std::vector<std::string> arguments_;
  std::vector<std::string> environment_;
  std::vector<std::string> candidates_;
  std::vector<char*> argument_pointers_;
  std::vector<char*> environment_pointers_;
};

}  // namespace bridge
