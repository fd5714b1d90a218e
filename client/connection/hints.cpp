#include "connection/hints.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "connection/account_names.hpp"

namespace client {
namespace {

constexpr std::string_view units_folder = "/run/mcp-bridged/";
constexpr std::string_view socket_suffix = ".sock";
constexpr std::string_view other_socket = "-s or MCP_SOCKET_PATH names another socket";

bool is_in_group(gid_t group) {
  if (::getegid() == group) return true;
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> groups(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (groups.empty() || ::getgroups(count, groups.data()) < 0) return false;
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

/// What would let this user in, from the socket's mode and owner.
std::string way_in(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return fmt::format("this user may not enter its folder; {}", other_socket);
  }
  const bool serves_group = (status.st_mode & S_IWGRP) != 0;
  if (serves_group && !is_in_group(status.st_gid)) {
    const auto group = group_name(status.st_gid);
    if (!group) {
      return fmt::format("it belongs to the group {0}: run with it (docker: --group-add {0})",
                         status.st_gid);
    }
    return fmt::format("it belongs to the group {0}: adduser {1} {0} (as root), then log in anew",
                       *group, user_name(::geteuid()).value_or("USER"));
  }
  return fmt::format(
      "it is {}'s alone: run as that user, or start mcp-bridged with --socket-group and "
      "--socket-mode 0660",
      describe_user(status.st_uid));
}

}  // namespace

std::string unit_of(std::string_view path) {
  if (!path.starts_with(units_folder) || !path.ends_with(socket_suffix)) return {};
  path.remove_prefix(units_folder.size());
  if (path.size() <= socket_suffix.size()) return {};
  path.remove_suffix(socket_suffix.size());
  if (path.find('/') != path.npos) return {};
  return path == "mcp" ? "mcp-bridged" : fmt::format("'mcp-bridged*@{}'", path);
}

std::string where_its_log_is(std::string_view path) {
  const std::string unit = unit_of(path);
  return unit.empty() ? "its log" : fmt::format("journalctl -u {}", unit);
}

std::string describe_refusal(const std::vector<std::string>& paths, const std::string& path,
                             int error, bool waited) {
  const std::string_view wait_hint = waited ? "" : "; --wait 10s waits for it";
  switch (error) {
    case ENOENT: {
      std::string looked_at;
      for (const std::string& one : paths) looked_at += (looked_at.empty() ? "" : " or ") + one;
      return fmt::format("cannot connect to {}: no such file; is mcp-bridged running? ({}{})",
                         looked_at, other_socket, wait_hint);
    }
    case ECONNREFUSED: {
      struct stat status {};
      if (::stat(path.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode)) {
        return fmt::format("cannot connect to {}: it is no socket ({})", path, other_socket);
      }
      const std::string unit = unit_of(path);
      if (unit.empty()) {
        return fmt::format("cannot connect to {}: nobody is listening; start mcp-bridged{}", path,
                           wait_hint);
      }
      return fmt::format("cannot connect to {}: nobody is listening; {} tells why{}", path,
                         where_its_log_is(path), wait_hint);
    }
    case EACCES:
    case EPERM:
      return fmt::format("cannot connect to {}: permission denied; {}", path, way_in(path));
    case EPROTOTYPE:
      return fmt::format("cannot connect to {}: it is another kind of socket ({})", path,
                         other_socket);
    default:
      return fmt::format("cannot connect to {}: {} ({})", path, std::strerror(error), other_socket);
  }
}

std::string describe_hang_up(std::string_view path) {
  return fmt::format("either it has ended or it does not serve this user; {} tells ({})",
                     where_its_log_is(path), path);
}

}  // namespace client
