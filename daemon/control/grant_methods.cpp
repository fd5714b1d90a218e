#include "control/grant_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/log.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

std::string invalid(std::string_view raw_id, std::string_view reason) {
  return error_reply(raw_id, json_rpc::invalid_params, fmt::format("Invalid params: {}", reason));
}

std::string time_of(std::uint64_t milliseconds) {
  return timestamp(WallTime(std::chrono::duration_cast<WallTime::duration>(
      std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds)))));
}

/// The string in params that have nothing else; nullopt: other params.
std::optional<std::string> only_member(std::string_view params, std::string_view name) {
  std::optional<std::string> text;
  const bool is_it = each_member(params, [&](std::string_view key, std::string_view value) {
    if (key_is(key, "_meta")) return true;
    if (!key_is(key, name) || text || !is_string(value)) return false;
    text = to_text(value);
    return true;
  });
  return is_it ? text : std::nullopt;
}

}  // namespace

std::string GrantMethods::issue(const Frame& request, const Client& asker) {
  const std::string_view id = request.text(request.id);
  const ClientIdentity& identity = asker.channel.identity();
  if (identity.is_anonymous) return refused_to_anonymous(id);
  auto wanted = read_wanted_grant(request.text(request.params));
  if (const auto* wrong = std::get_if<std::string>(&wanted)) return invalid(id, *wrong);
  const auto issued =
      grants().issue(std::move(std::get<Grant>(wanted)), identity.peer(),
                     asker.grant ? &*asker.grant : nullptr, router_.permissions().now());
  if (const auto* failure = std::get_if<Failure>(&issued)) return error_reply(id, *failure);
  const auto& [string, alive] = std::get<Grants::Issued>(issued);
  router_.permissions().watch_expiry();
  return result_reply(id,
                      JsonObject().add("grant", string).add_all(held(grants().hold_of(*alive))));
}

/// Callers that are not told apart would see and end each other's.
std::string GrantMethods::refused_to_anonymous(std::string_view raw_id) {
  return error_reply(raw_id, json_rpc::invalid_request,
                     "on an HTTP port grants are issued, listed and revoked only for callers that "
                     "have shown a token (--http-token-file) or a grant; ask on a Unix socket");
}

/// A connection whose first grant is refused can do nothing: what it has sent behind it was meant
/// for that grant.
std::string GrantMethods::refuse_use(std::string_view raw_id, Client& asker, GrantEnd end) {
  if (!asker.grant) {
    GrantHold refused;
    refused.refused = end;
    router_.from_clients().use_grant(asker, std::move(refused));
  }
  return error_reply(raw_id, definitive_failure_of(ErrorKind::denied, std::string(text_of(end))));
}

std::string GrantMethods::use(const Frame& request, Client& asker) {
  const std::string id(request.text(request.id));
  if (asker.channel.identity().is_http()) {
    return error_reply(id, json_rpc::invalid_request,
                       "over HTTP a grant is sent with each request, as Authorization: Bearer");
  }
  const auto string = only_member(request.text(request.params), "grant");
  auto verified = router_.from_clients().verify_grant(string.value_or(std::string()));
  if (const auto* end = std::get_if<GrantEnd>(&verified)) return refuse_use(id, asker, *end);
  GrantHold& hold = std::get<GrantHold>(verified);
  const bool is_other = asker.grant && !hold.is_of(asker.grant_id());
  if (!is_other && grants().is_used_up(hold)) {
    ++grants().counts.refused[static_cast<std::size_t>(GrantEnd::used_up)];
    return refuse_use(id, asker, GrantEnd::used_up);
  }
  if (is_other) {
    ++grants().counts.refused[static_cast<std::size_t>(GrantEnd::invalid)];
    return error_reply(
        id, definitive_failure_of(ErrorKind::denied,
                                  "this connection has a grant already, and takes only one that "
                                  "was issued under it; open another connection"));
  }
  ++grants().counts.used;
  router_.from_clients().use_grant(asker, hold);
  return result_reply(id, held(hold));
}

/// A peer sees what it has issued, and what was issued under that; root all; with a grant only what
/// was issued under it.
bool GrantMethods::may_see(const Client& asker, const Grants::Alive& alive) const {
  if (asker.grant)
    return alive.grant.id != asker.grant_id() &&
           std::find(alive.path.begin(), alive.path.end(), asker.grant_id()) != alive.path.end();
  if (!asker.user.remote && asker.user.uid == 0) return true;
  return std::any_of(alive.path.begin(), alive.path.end(), [&](const std::string& id) {
    const Grants::Alive* const one = grants().find(id);
    return one != nullptr && user_of(one->grant.issuer) == asker.user;
  });
}

JsonObject GrantMethods::held(const GrantHold& hold) const {
  JsonObject object;
  object.add("id", hold.id()).add("name", hold.name).add("expires", time_of(hold.expires));
  if (const auto left = grants().calls_left(hold)) object.add("callsLeft", *left);
  return object;
}

namespace {

void add_issuer(JsonObject& object, const Peer& issuer) {
  if (issuer.http) {
    object.add("issuer", "http");
  } else {
    object.add("issuer", issuer.uid);
  }
}

void add_lists(JsonObject& object, const Grant& grant) {
  object.add_unless_empty("tools", RawJson{grant.tools})
      .add_unless_empty("prompts", RawJson{grant.prompts})
      .add_unless_empty("resources", RawJson{grant.resources})
      .add_unless_empty("methods", RawJson{grant.methods});
}

std::string cursor_of(const Grants::Place& place) {
  return fmt::format("{}-{}", place.first, place.second);
}

/// The place behind which a page begins; nullopt: other params.
std::optional<Grants::Place> place_in(std::string_view params) {
  bool has_cursor = false;
  const bool is_empty =
      params.empty() || each_member(params, [&has_cursor](std::string_view key, std::string_view) {
        has_cursor = has_cursor || key_is(key, "cursor");
        return has_cursor || key_is(key, "_meta");
      });
  if (is_empty && !has_cursor) return Grants::Place{};
  const std::string cursor = only_member(params, "cursor").value_or("");
  const auto dash = cursor.find('-');
  const auto time = to_unsigned(std::string_view(cursor).substr(0, dash));
  if (dash == cursor.npos || !time) return std::nullopt;
  return Grants::Place{*time, cursor.substr(dash + 1)};
}

}  // namespace

JsonObject GrantMethods::described(const Grants::Alive& alive) const {
  const Grant& grant = alive.grant;
  JsonObject object = held(grants().hold_of(alive));
  add_issuer(object, grant.issuer);
  if (grant.calls > 0) object.add("calls", grant.calls);
  object.add_unless_empty("parent", grant.parent);
  add_lists(object, grant);
  return object;
}

/// What each grant on the way allows.
JsonArray GrantMethods::lists_on(const GrantHold& hold) const {
  JsonArray all;
  for (const std::string& id : hold.path) {
    const Grants::Alive* const alive = grants().find(id);
    if (alive == nullptr) continue;
    JsonObject one;
    one.add("id", id);
    add_issuer(one, alive->grant.issuer);
    add_lists(one, alive->grant);
    all.add(one);
  }
  return all;
}

std::string GrantMethods::list(const Frame& request, const Client& asker) const {
  const std::string_view id = request.text(request.id);
  if (asker.channel.identity().is_anonymous) return refused_to_anonymous(id);
  const auto place = place_in(request.text(request.params));
  if (!place) return invalid(id, "cursor is that of an earlier page");
  JsonArray all;
  std::string cursor;
  Grants::Place last;
  grants().each_after(*place, [&](const Grants::Place& at, const Grants::Alive& alive) {
    if (alive.grant.has_expired(loop_.wall_time()) || !may_see(asker, alive)) return true;
    if (all.size() + 2 * Grant::longest_payload > max_answer) {
      cursor = cursor_of(last);
      return false;
    }
    all.add(described(alive));
    last = at;
    return true;
  });
  return result_reply(id, JsonObject()
                              .add("grants", all)
                              .add("more", !cursor.empty())
                              .add_unless_empty("cursor", cursor));
}

std::string GrantMethods::revoke(const Frame& request, const Client& asker) {
  const std::string_view id = request.text(request.id);
  if (asker.channel.identity().is_anonymous) return refused_to_anonymous(id);
  const auto name = only_member(request.text(request.params), "id");
  const Grants::Alive* const alive = name ? grants().find(*name) : nullptr;
  if (alive == nullptr || !may_see(asker, *alive)) {
    return invalid(id, "there is no such grant: you have not issued it, or it has ended");
  }
  return result_reply(id, JsonObject().add("revoked", router_.permissions().end_grant(*name)));
}

std::optional<JsonObject> GrantMethods::status_of(const Client& asker) const {
  if (!asker.grant) return std::nullopt;
  const auto end = grants().end_of(*asker.grant, router_.permissions().now());
  JsonObject object;
  if (!asker.grant->is_refused()) {
    object.add_all(held(*asker.grant));
    add_issuer(object, asker.grant->issuer);
    object.add("path", lists_on(*asker.grant));
  }
  if (end) return object.add("ended", name_of(*end));
  return object;
}

}  // namespace bridge
