#include "auth/token_response.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "auth/metadata.hpp"
#include "base/secret_file.hpp"
#include "text/header_text.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::uint64_t longest_life = 365ull * 24 * 3600;

/// A number; some servers send it as a string, or with a fraction.
std::optional<std::chrono::seconds> seconds_of(const std::string& body) {
  auto raw = find_member(body, "expires_in");
  if (!raw) return std::nullopt;
  if (is_string(*raw)) raw = raw->substr(1, raw->size() - 2);
  const auto seconds = to_unsigned(raw->substr(0, raw->find('.')));
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(std::min(*seconds, longest_life));
}

bool is_bearer(std::string type) {
  std::transform(type.begin(), type.end(), type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return type == "bearer";
}

TokenRefusal refusal_of(int status, const std::string& body) {
  if (!is_json_object(body)) return {fmt::format("HTTP {}", status)};
  const std::string error = find_string(body, "error").value_or(std::string());
  const std::string description = find_string(body, "error_description").value_or(std::string());
  return {fmt::format("HTTP {}{}{}{}{}", status, error.empty() ? "" : ": ", error,
                      description.empty() ? "" : ": ", description),
          error};
}

}  // namespace

std::variant<TokenGrant, TokenRefusal> read_token_response(int status, const std::string& body) {
  if (status != 200) return refusal_of(status, body);
  if (!is_json_object(body)) return TokenRefusal{"the answer is no JSON object"};
  if (find_member(body, "error")) return refusal_of(status, body);
  TokenGrant grant{find_string(body, "access_token").value_or(std::string()), seconds_of(body),
                   find_string(body, "refresh_token").value_or(std::string()),
                   find_string(body, "scope").value_or(std::string())};
  if (grant.token.empty()) return TokenRefusal{"there is no access_token in the answer"};
  if (!is_token(grant.token)) {
    return TokenRefusal{"the access_token cannot stand in a header"};
  }
  if (!grant.refresh_token.empty() && !is_token(grant.refresh_token)) grant.refresh_token.clear();
  if (!fits_header(grant.scope, header_limit::scope, Blanks::inside)) grant.scope.clear();
  if (!is_bearer(find_string(body, "token_type").value_or("bearer"))) {
    return TokenRefusal{"the token_type is not Bearer"};
  }
  return grant;
}

}  // namespace bridge
