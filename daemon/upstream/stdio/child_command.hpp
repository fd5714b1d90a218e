#pragma once

#include <string>
#include <vector>

#include "upstream/upstream_options.hpp"

namespace bridge {

/// A command in the form for execve(), so that nothing is allocated between fork and exec.
/// Immutable, for any thread; its pointers point into the object itself.
class ChildCommand {
 public:
  /// `inherited`: an environment like environ.
  ChildCommand(const ChildOptions& options, const char* const* inherited);
  ChildCommand(const ChildCommand&) = delete;
  ChildCommand& operator=(const ChildCommand&) = delete;

  /// Possible paths of the program, by the PATH of the child's own environment.
  const std::vector<std::string>& candidates() const { return candidates_; }
  char* const* arguments() const { return argument_pointers_.data(); }
  char* const* environment() const { return environment_pointers_.data(); }
  /// Empty: the daemon's own.
  const std::string& folder() const { return folder_; }
  /// Its limit of file descriptors; none: unchanged.
  const std::optional<rlimit>& descriptors() const { return descriptors_; }
  /// The name shown to people. Arguments may contain secrets and are never shown.
  const std::string& name() const { return name_; }

  /// What must not be shown of its output: known secrets, and what its arguments and environment
  /// probably contain.
  std::vector<std::string> secrets() const;

  /// Why it certainly cannot be executed, or "".
  std::string fault() const;

 private:
  std::string name_;
  std::string folder_;
  std::optional<rlimit> descriptors_;
  std::vector<std::string> arguments_;
  std::vector<std::string> environment_;
  std::vector<std::string> candidates_;
  std::vector<std::string> known_secrets_;
  std::vector<char*> argument_pointers_;
  std::vector<char*> environment_pointers_;
};

}  // namespace bridge
