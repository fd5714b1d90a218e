#include "base/replaceable_path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <deque>
#include <string_view>
#include <utility>

namespace bridge {
namespace {

/// In front of what is left to be walked.
void put_in_front(std::deque<std::string>& names, std::string_view path) {
  std::deque<std::string> first;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) first.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  names.insert(names.begin(), first.begin(), first.end());
}

}  // namespace

std::string replaceable_part_of(const std::string& path, uid_t user) {
  constexpr int most_links = 40;  // as the kernel bounds it
  const auto is_trusted = [user](const struct stat& status) {
    return status.st_uid == 0 || status.st_uid == user;
  };
  std::deque<std::string> names;
  put_in_front(names, path);
  std::string folder;  // without a slash at its end; its links are followed
  int links = 0;
  while (!names.empty()) {
    const std::string name = std::move(names.front());
    names.pop_front();
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
    put_in_front(names, leads_to);
  }
  return {};
}

}  // namespace bridge
