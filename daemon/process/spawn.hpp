#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace bridge {

/// A process to be started.
struct ProcessOrder {
  std::string path;
  std::vector<std::string> arguments;  ///< the first one is its name
  std::vector<std::string> environment;
  /// Our descriptors (-1: none), and their numbers in the process.
  std::vector<std::pair<int, int>> descriptors;
  std::string folder{};          ///< empty: ours
  bool has_own_session = false;  ///< what is typed at our terminal is not for it
};

/// Starts it: stdin /dev/null, stderr ours unless given, no descriptor above those given, its own
/// process group or session, default signal handlers and nothing blocked. Returns errno.
int spawn(pid_t& process, ProcessOrder order);

}  // namespace bridge
