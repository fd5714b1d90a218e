#include "connection/accounts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/secret_file.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"

namespace client {
namespace {

constexpr std::size_t longest_table = std::size_t{1} << 20;

std::string user_table() { return bridge::read_regular_file("/etc/passwd", longest_table).bytes; }
std::string group_table() { return bridge::read_regular_file("/etc/group", longest_table).bytes; }

/// Removes the part before the next `separator` from `text` and returns it.
std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// A line `NAME:PASSWORD:ID:REST`.
struct Account {
  std::string_view name;
  std::optional<std::uint64_t> id;
  std::string_view rest;
};

Account take_account(std::string_view& table) {
  std::string_view line = take_part(table, '\n');
  const std::string_view name = take_part(line, ':');
  take_part(line, ':');
  const std::string_view id = take_part(line, ':');
  return {name, bridge::to_unsigned(id), line};
}

std::optional<Account> account_of(std::string_view table, unsigned long id) {
  while (!table.empty()) {
    const Account account = take_account(table);
    if (!account.name.empty() && account.id == id) return account;
  }
  return std::nullopt;
}

/// The user's primary group, and the others that list it.
std::vector<gid_t> groups_of(uid_t uid) {
  const std::string all_users = user_table();
  const auto user = account_of(all_users, uid);
  if (!user) return {uid};
  std::string_view rest = user->rest;
  std::vector<gid_t> found = {
      static_cast<gid_t>(bridge::to_unsigned(take_part(rest, ':')).value_or(uid))};
  const std::string all_groups = group_table();
  for (std::string_view table = all_groups; !table.empty();) {
    Account group = take_account(table);
    while (!group.rest.empty()) {
      if (take_part(group.rest, ',') == user->name && group.id)
        found.push_back(static_cast<gid_t>(*group.id));
    }
  }
  return found;
}

}  // namespace

std::optional<std::string> find_account(std::string_view table, unsigned long id) {
  const auto found = account_of(table, id);
  return found ? std::optional(std::string(found->name)) : std::nullopt;
}

std::optional<std::string> user_name(uid_t user) { return find_account(user_table(), user); }
std::optional<std::string> group_name(gid_t group) { return find_account(group_table(), group); }

std::string describe_user(uid_t user) {
  const auto name = user_name(user);
  return name ? fmt::format("{} (uid {})", *name, user) : fmt::format("uid {}", user);
}

std::optional<std::string> refusal_to_look_as(std::string_view text) {
  const auto uid = bridge::to_unsigned(text);
  if (!uid || *uid >= static_cast<uid_t>(-1)) return fmt::format("--as: '{}' is not a uid", text);
  if (geteuid() != 0) return "--as is for root, who may see what another user may";
  return std::nullopt;
}

std::string describe_peer(std::string_view text) {
  const auto uid = static_cast<uid_t>(bridge::to_unsigned(text).value_or(0));
  const std::vector<gid_t> its = groups_of(uid);
  bridge::JsonArray groups;
  for (const gid_t group : its) groups.add(bridge::RawJson{std::to_string(group)});
  return bridge::JsonObject().add("uid", uid).add("gid", its.front()).add("groups", groups).text();
}

}  // namespace client
