#include "options/account_id.hpp"

#include <grp.h>
#include <pwd.h>

#include <charconv>

namespace bridge {
namespace {

template <class Entry, class Id>
std::optional<Id> resolve(const std::string& given, Entry* (*find)(const char*), Id Entry::*id) {
  Id number = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
  if (error == std::errc() && end == given.data() + given.size()) {
    if (number == static_cast<Id>(-1)) return std::nullopt;
    return number;
  }
  const Entry* entry = find(given.c_str());
  if (entry == nullptr) return std::nullopt;
  return entry->*id;
}

}  // namespace

std::optional<uid_t> user_id(const std::string& given) {
  return resolve(given, getpwnam, &passwd::pw_uid);
}

std::optional<gid_t> group_id(const std::string& given) {
  return resolve(given, getgrnam, &group::gr_gid);
}

}  // namespace bridge
