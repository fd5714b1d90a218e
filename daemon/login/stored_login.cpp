#include "login/stored_login.hpp"

#include <fmt/format.h>

#include "auth/endpoint_url.hpp"
#include "auth/metadata.hpp"
#include "text/json_scanner.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::uint64_t version = 1;

std::string_view name_of(SecretPlace place) {
  switch (place) {
    case SecretPlace::none: return "none";
    case SecretPlace::basic: return "basic";
    case SecretPlace::body: return "body";
  }
  return "none";
}

std::int64_t seconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string text_of(const StoredLogin& login) {
  std::string text = "{";
  const auto member = [&text](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    fmt::format_to(std::back_inserter(text), "{}\"{}\":{}", text.size() > 1 ? "," : "", name,
                   quote(value));
  };
  member("upstream", login.upstream);
  member("resource", login.resource);
  member("issuer", login.issuer);
  member("token_endpoint", login.token_endpoint);
  member("revocation_endpoint", login.revocation_endpoint);
  member("client_id", login.client.id);
  member("client_secret", login.client.secret);
  member("secret_place", std::string(name_of(login.client.place)));
  member("redirect_uri", login.client.redirect_uri);
  member("scope", login.scope);
  member("access_token", login.access_token);
  member("refresh_token", login.refresh_token);
  fmt::format_to(std::back_inserter(text), R"(,"registered":{},"public":{},"redemptions":{})",
                 login.client.is_registered, login.is_public, login.redemptions);
  if (login.expires)
    fmt::format_to(std::back_inserter(text), R"(,"expires":{})", seconds_of(*login.expires));
  return text + "}";
}

StoredLogin login_of(std::string_view text) {
  const auto member = [text](std::string_view name) {
    return find_string(text, name).value_or(std::string());
  };
  StoredLogin login;
  login.upstream = member("upstream");
  login.resource = member("resource");
  login.issuer = member("issuer");
  login.token_endpoint = member("token_endpoint");
  login.revocation_endpoint = member("revocation_endpoint");
  login.client.id = member("client_id");
  login.client.secret = member("client_secret");
  const std::string place = member("secret_place");
  login.client.place = place == "basic"  ? SecretPlace::basic
                       : place == "body" ? SecretPlace::body
                                         : SecretPlace::none;
  login.client.redirect_uri = member("redirect_uri");
  login.client.is_registered = find_member(text, "registered") == "true";
  login.is_public = find_member(text, "public") == "true";
  login.scope = member("scope");
  login.access_token = member("access_token");
  login.refresh_token = member("refresh_token");
  const auto redemptions = find_member(text, "redemptions");
  login.redemptions =
      redemptions
          ? static_cast<int>(std::min<std::uint64_t>(to_unsigned(*redemptions).value_or(0), 9))
          : 0;
  if (const auto expires = find_member(text, "expires")) {
    if (const auto seconds = to_unsigned(*expires); seconds && *seconds < (1ull << 33))
      login.expires = WallTime(std::chrono::seconds(*seconds));
  }
  return login;
}

}  // namespace

std::string logins_text(const std::vector<StoredLogin>& logins) {
  std::string text = fmt::format("{{\"version\":{},\"logins\":[", version);
  for (const StoredLogin& login : logins)
    text += (&login == logins.data() ? "\n" : ",\n") + text_of(login);
  return text + "\n]}\n";
}

std::optional<std::vector<StoredLogin>> read_logins(const std::string& text) {
  if (!is_json_object(text)) return std::nullopt;
  const auto said = find_member(text, "version");
  const auto list = find_member(text, "logins");
  if (!said || to_unsigned(*said) != version || !list || list->empty() || list->front() != '[')
    return std::nullopt;
  std::vector<StoredLogin> logins;
  JsonScanner scanner(*list);
  const bool is_list = scanner.array([&] {
    Slice element;
    if (!scanner.value(element)) return false;
    if (!is_object(element.of(*list))) return true;
    StoredLogin login = login_of(element.of(*list));
    if (!endpoint_url(login.revocation_endpoint)) login.revocation_endpoint.clear();
    if (endpoint_url(login.token_endpoint)) logins.push_back(std::move(login));
    return true;
  });
  if (!is_list) return std::nullopt;
  return logins;
}

}  // namespace bridge
