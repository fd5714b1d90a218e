#include "base/files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/log.hpp"

namespace bridge {

std::string current_folder() {
  std::array<char, PATH_MAX> path{};
  return ::getcwd(path.data(), path.size()) == nullptr ? "" : path.data();
}

std::string folder_of(const std::string& path) {
  const std::filesystem::path file(path);
  return file.has_parent_path() ? file.parent_path().string() : ".";
}

std::string fault_of_place(const std::string& path) {
  const std::string folder = folder_of(path);
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
    return fmt::format("{} is not a folder", printable(folder));
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return fmt::format("cannot write in {}: {}", printable(folder), std::strerror(errno));
}

std::string replaceable_part_of(const std::string& path, uid_t user) {
  constexpr int most_links = 40;  // as the kernel limits it
  const auto is_trusted = [user](const struct stat& status) {
    return status.st_uid == 0 || status.st_uid == user;
  };
  std::string rest = path;  // still to be followed
  std::string folder;       // without a slash at its end; its links are resolved
  int links = 0;
  for (;;) {
    rest.erase(0, rest.find_first_not_of('/'));
    if (rest.empty()) return {};
    const std::string name = rest.substr(0, rest.find('/'));
    rest.erase(0, name.size());
    if (name == ".") continue;
    if (name == "..") {
      folder.resize(folder.empty() ? 0 : folder.rfind('/'));
      continue;
    }
    std::string searched = folder.empty() ? "/" : folder;
    struct stat status {};
    if (stat(searched.c_str(), &status) != 0 || !is_trusted(status)) return searched;
    const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (others_write && (status.st_mode & S_ISVTX) == 0) return searched;
    std::string next = folder;
    next.append("/").append(name);
    if (lstat(next.c_str(), &status) != 0) return searched;
    if (others_write && !is_trusted(status)) return next;
    if (!S_ISLNK(status.st_mode)) {
      folder = std::move(next);
      continue;
    }
    std::array<char, PATH_MAX> target;
    const ssize_t length = readlink(next.c_str(), target.data(), target.size());
    if (length <= 0 || ++links > most_links) return next;
    const std::string_view leads_to(target.data(), static_cast<std::size_t>(length));
    if (leads_to.front() == '/') folder.clear();
    rest.insert(0, leads_to);
  }
}

}  // namespace bridge
