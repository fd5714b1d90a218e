#include "connection/act_as.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <vector>

namespace client {
namespace {

/// By the files alone: a static program has no other accounts.
std::vector<gid_t> groups_of(uid_t uid, gid_t& first) {
  std::string name;
  if (std::FILE* const file = std::fopen("/etc/passwd", "re")) {
    while (const passwd* const entry = fgetpwent(file)) {
      if (entry->pw_uid != uid) continue;
      name = entry->pw_name;
      first = entry->pw_gid;
      break;
    }
    std::fclose(file);
  }
  std::vector<gid_t> groups;
  std::FILE* const file = name.empty() ? nullptr : std::fopen("/etc/group", "re");
  if (file == nullptr) return groups;
  while (const group* const entry = fgetgrent(file)) {
    for (char** member = entry->gr_mem; *member != nullptr; ++member) {
      if (name == *member) groups.push_back(entry->gr_gid);
    }
  }
  std::fclose(file);
  return groups;
}

}  // namespace

std::optional<std::string> act_as(std::string_view text) {
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), uid);
  if (error != std::errc() || end != text.data() + text.size() || uid == static_cast<uid_t>(-1))
    return fmt::format("--as: '{}' is not a uid", text);
  if (geteuid() != 0) return "--as is for root, who may act as another user";
  gid_t first = uid;
  const std::vector<gid_t> groups = groups_of(uid, first);
  if (setgroups(groups.size(), groups.data()) != 0 || setresgid(first, first, first) != 0 ||
      setresuid(uid, uid, uid) != 0)
    return fmt::format("--as: cannot act as uid {}: {}", uid, std::strerror(errno));
  return std::nullopt;
}

}  // namespace client
