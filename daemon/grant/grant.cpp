#include "grant/grant.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "text/characters.hpp"
#include "text/utf8.hpp"

namespace bridge {
namespace {

constexpr std::uint64_t longest_time = 24ull * 60 * 60 * 1000;
constexpr std::uint64_t usual_time = 600'000;
constexpr std::string_view read_only = "\"read-only\"";

struct ListMember {
  std::string_view name;
  std::string Grant::*text;
  ItemRule PolicyRule::*items;
};
constexpr std::array<ListMember, 4> lists_of_grant = {{
    {"tools", &Grant::tools, &PolicyRule::tools},
    {"prompts", &Grant::prompts, &PolicyRule::prompts},
    {"resources", &Grant::resources, &PolicyRule::resources},
    {"methods", &Grant::methods, &PolicyRule::methods},
}};

/// The globs of a list; nullopt if it is none.
std::optional<std::vector<std::string>> globs_in(std::string_view list) {
  std::vector<std::string> globs;
  const bool is_list = each_element(list, [&](std::string_view one) {
    if (!is_string(one) || globs.size() == Grant::most_globs) return false;
    globs.push_back(*to_text(one));
    return globs.back().size() <= Grant::longest_glob && is_utf8(globs.back()) &&
           !globs.back().empty() && globs.back() != "!";
  });
  return is_list ? std::optional(std::move(globs)) : std::nullopt;
}

/// A list as a payload has it; nullopt if it is not valid.
std::optional<std::string> canonical_list(std::string_view name, std::string_view list) {
  if (name == "tools" && list == read_only) return std::string(read_only);
  const auto globs = globs_in(list);
  if (!globs) return std::nullopt;
  JsonArray array;
  for (const std::string& glob : *globs) array.add(glob);
  return array.text();
}

ItemRule items_of(const std::string& list) {
  if (list.empty()) return {};
  if (list == read_only) return ItemRule::read_only();
  return ItemRule::of_globs(globs_in(list).value_or(std::vector<std::string>()));
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= Grant::longest_name && is_utf8(text);
}

/// Takes the member if it is a list of a grant: false if it is not valid; nullopt: another member.
std::optional<bool> take_list(Grant& grant, std::string_view key, std::string_view value) {
  const auto* const row =
      std::find_if(lists_of_grant.begin(), lists_of_grant.end(),
                   [&](const ListMember& one) { return key_is(key, one.name); });
  if (row == lists_of_grant.end()) return std::nullopt;
  auto list = canonical_list(row->name, value);
  if (list) grant.*row->text = std::move(*list);
  return list.has_value();
}

template <class Number>
bool take_number(std::string_view value, Number& number) {
  const auto read = to_unsigned(value);
  number = static_cast<Number>(read.value_or(0));
  return read && number == *read;
}

bool take_text(std::string_view value, std::string& text) {
  if (!is_string(value)) return false;
  text = *to_text(value);
  return true;
}

/// A member of a payload. That each is there as often as it should be, and in which form, is
/// checked by writing it again.
bool take_member(Grant& grant, std::string_view key, std::string_view value) {
  if (const auto taken = take_list(grant, key, value)) return *taken;
  if (key_is(key, "id")) return take_text(value, grant.id);
  if (key_is(key, "name")) return take_text(value, grant.name) && is_name(grant.name);
  if (key_is(key, "parent")) {
    grant.issuer.grant = true;
    return take_text(value, grant.parent) && !grant.parent.empty();
  }
  if (key_is(key, "http")) return grant.issuer.http = value == "true";
  if (key_is(key, "uid")) return take_number(value, grant.issuer.uid);
  if (key_is(key, "gid")) return take_number(value, grant.issuer.gid);
  if (key_is(key, "expires")) return take_number(value, grant.expires);
  if (key_is(key, "calls")) return take_number(value, grant.calls) && grant.calls > 0;
  if (!key_is(key, "groups")) return false;
  return each_element(value, [&](std::string_view one) {
    return take_number(one, grant.issuer.groups.emplace_back());
  });
}

}  // namespace

bool Grant::has_expired(WallTime now) const {
  const auto since_1970 = std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch());
  return since_1970.count() >= 0 && static_cast<std::uint64_t>(since_1970.count()) >= expires;
}

PolicyRule Grant::lists() const {
  PolicyRule rule;
  for (const ListMember& one : lists_of_grant) rule.*one.items = items_of(this->*one.text);
  return rule;
}

std::variant<Grant, std::string> read_wanted_grant(std::string_view params) {
  Grant wanted;
  wanted.expires = usual_time;
  std::vector<std::string> seen;
  std::string wrong;
  const auto take = [&](std::string_view key, std::string_view value) {
    const std::string name = unescape(key);
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      wrong = "a member is there twice";
    } else if (const auto taken = take_list(wanted, key, value)) {
      if (!*taken)
        wrong =
            "tools, prompts, resources and methods are lists of at most 100 globs of 1 to 256 "
            "bytes, tools also \"read-only\"";
    } else if (key_is(key, "name")) {
      if (!take_text(value, wanted.name) || !is_name(wanted.name))
        wrong = "name is a string of 1 to 100 bytes";
    } else if (key_is(key, "ttlMs")) {
      if (!take_number(value, wanted.expires) || wanted.expires == 0 ||
          wanted.expires > longest_time)
        wrong = "ttlMs is a whole number from 1 to 86400000 (24 hours)";
    } else if (key_is(key, "calls")) {
      if (!take_number(value, wanted.calls) || wanted.calls == 0 || wanted.calls > 1'000'000'000)
        wrong = "calls is a whole number from 1 to 1000000000";
    } else if (!key_is(key, "_meta")) {
      wrong = "a grant has only name, tools, prompts, resources, methods, ttlMs and calls";
    }
    seen.push_back(name);
    return wrong.empty();
  };
  if (!params.empty() && !each_member(params, take) && wrong.empty()) wrong = "params is an object";
  if (!wrong.empty()) return wrong;
  return wanted;
}

std::string payload_of(const Grant& grant) {
  JsonObject payload;
  payload.add("id", grant.id).add_unless_empty("name", grant.name);
  if (grant.issuer.http) {
    payload.add("http", true);
  } else {
    JsonArray groups;
    for (const gid_t group : grant.issuer.groups) groups.add(RawJson{std::to_string(group)});
    payload.add("uid", grant.issuer.uid).add("gid", grant.issuer.gid);
    if (!groups.is_empty()) payload.add("groups", groups);
  }
  for (const ListMember& one : lists_of_grant)
    payload.add_unless_empty(one.name, RawJson{grant.*one.text});
  payload.add("expires", grant.expires);
  if (grant.calls > 0) payload.add("calls", grant.calls);
  return payload.add_unless_empty("parent", grant.parent).text();
}

std::optional<Grant> read_payload(std::string_view payload) {
  if (payload.size() > Grant::longest_payload) return std::nullopt;
  Grant grant;
  const bool is_read = each_member(payload, [&](std::string_view key, std::string_view value) {
    return take_member(grant, key, value);
  });
  if (!is_read || !is_plain_name(grant.id) || payload_of(grant) != payload) return std::nullopt;
  return grant;
}

std::string_view name_of(GrantEnd end) {
  switch (end) {
    case GrantEnd::invalid: return "invalid";
    case GrantEnd::expired: return "expired";
    case GrantEnd::revoked: return "revoked";
    case GrantEnd::used_up: return "used_up";
  }
  return "invalid";
}

std::string_view text_of(GrantEnd end) {
  switch (end) {
    case GrantEnd::invalid: break;
    case GrantEnd::expired: return "this grant has expired; ask for a new one, where it came from";
    case GrantEnd::revoked: return "this grant was revoked; ask for a new one, where it came from";
    case GrantEnd::used_up:
      return "all calls of this grant are used up; ask for a new one, where it came from";
  }
  return "this grant is not valid here: this daemon has not issued it, or it was changed; ask for "
         "a new one, where it came from";
}

bool GrantHold::is_of(std::string_view id) const {
  return std::find(path.begin(), path.end(), id) != path.end();
}

}  // namespace bridge
