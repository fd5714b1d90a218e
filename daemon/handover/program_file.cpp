#include "handover/program_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace bridge {
namespace {

std::string link_target(const std::string& link) {
  std::array<char, PATH_MAX> text;
  const ssize_t length = readlink(link.c_str(), text.data(), text.size());
  return length < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(length));
}

bool is_this_program(const std::string& path) {
  struct stat named {};
  struct stat own {};
  return stat(path.c_str(), &named) == 0 && stat("/proc/self/exe", &own) == 0 &&
         named.st_ino == own.st_ino && named.st_dev == own.st_dev;
}

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  std::array<char, PATH_MAX> folder;
  if (getcwd(folder.data(), folder.size()) == nullptr) return path;
  return std::string(folder.data()) + "/" + path;
}

std::string found_in_path(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "" : variable;
  while (!folders.empty()) {
    const auto end = std::min(folders.find(':'), folders.size());
    std::string candidate = absolute(std::string(folders.substr(0, end)) + "/" + name);
    if (is_this_program(candidate)) return candidate;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

/// Whether only root and our own user can write it. A sticky folder lets others add files, not
/// replace ours.
bool is_ours(const struct stat& status, bool may_be_sticky) {
  if (status.st_uid != 0 && status.st_uid != geteuid()) return false;
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return true;
  return may_be_sticky && (status.st_mode & S_ISVTX) != 0;
}

/// The first folder on the way to `path` in which another user could put something else there;
/// empty: none. The folder itself may not be one that others can write at all.
std::string foreign_folder_of(std::string path) {
  bool is_above = false;
  while (path.size() > 1) {
    path.resize(std::max<std::size_t>(path.rfind('/'), 1));
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 || !is_ours(status, is_above)) return path;
    is_above = true;
  }
  return {};
}

}  // namespace

std::string program_as_started(const std::string& name) {
  const std::string path = name.find('/') != name.npos ? absolute(name) : found_in_path(name);
  return is_this_program(path) ? path : link_target("/proc/self/exe");
}

std::variant<Descriptor, std::string> open_program(const std::string& path) {
  const auto because = [&path](std::string_view reason) {
    return fmt::format("{}: {}", path, reason);
  };
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return because(std::strerror(errno));
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return because("not a file");
  if (!is_ours(status, false)) return because("another user can write it");
  const std::string real = link_target(fmt::format("/proc/self/fd/{}", file.get()));
  for (const std::string& way : {path, real}) {
    const std::string folder = foreign_folder_of(way);
    if (!folder.empty())
      return because(fmt::format("another user can write the folder {}", folder));
  }
  if (faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0)
    return because(std::strerror(errno));
  char begin[2] = {};
  if (pread(file.get(), begin, sizeof begin, 0) == 2 && begin[0] == '#' && begin[1] == '!')
    return because("a script cannot take over open descriptors");
  return file;
}

}  // namespace bridge
