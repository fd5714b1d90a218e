#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace bridge {

/// Whether a process of this group runs. Zombies do not count: where process 1 does not reap, as in
/// a container without an init, they remain.
inline bool group_runs(pid_t group) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text)) continue;
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    char state = 0;
    pid_t parent = 0;
    pid_t its_group = 0;
    if (fields >> state >> parent >> its_group && its_group == group && state != 'Z') return true;
  }
  return false;
}

}  // namespace bridge
