#include "policy/policy_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "base/log.hpp"
#include "base/secret_file.hpp"

namespace bridge {

std::variant<PolicyFile, std::string> read_policy_file(const std::string& path,
                                                       const AccountNames& names) {
  const std::string name = "--policy: " + printable(path);
  FileContent content = read_regular_file(path, PolicyFile::longest);
  if (!content.fault.empty()) return fmt::format("{}: {}", name, content.fault);
  if (content.status.st_uid != 0 && content.status.st_uid != geteuid()) {
    return fmt::format("{}: belongs to uid {}; it has to belong to root or to the daemon's user",
                       name, content.status.st_uid);
  }
  if ((content.status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fmt::format("{}: other users can write to it (mode {:04o}); chmod go-w it", name,
                       content.status.st_mode & 07777);
  }
  auto policy = Policy::read(content.bytes, names);
  if (const auto* fault = std::get_if<std::string>(&policy))
    return fmt::format("{}: {}", name, *fault);
  return PolicyFile{path, std::move(content.bytes), std::get<Policy>(std::move(policy))};
}

}  // namespace bridge
