#include "process/own_unit.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace bridge {
namespace {

constexpr std::string_view suffix = ".service";
constexpr std::string_view plain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:@";

}  // namespace

std::string unit_in(std::string_view cgroups) {
  while (!cgroups.empty()) {
    const std::size_t end = std::min(cgroups.find('\n'), cgroups.size());
    const std::string_view line = cgroups.substr(0, end);
    cgroups.remove_prefix(std::min(end + 1, cgroups.size()));
    const std::string_view name = line.substr(line.rfind('/') + 1);
    if (name.ends_with(suffix) && name.size() > suffix.size() &&
        name.find_first_not_of(plain) == name.npos)
      return std::string(name);
  }
  return {};
}

std::string own_unit() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/cgroup", "re"),
                                                             &std::fclose);
  if (!file) return {};
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return unit_in(text);
}

}  // namespace bridge
