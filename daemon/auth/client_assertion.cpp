#include "auth/client_assertion.hpp"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <array>

#include "text/base64.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::chrono::seconds assertion_life{60};

}  // namespace

std::optional<std::string> client_assertion(const SigningKey& key, const AssertionClaims& claims) {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(claims.now.time_since_epoch());
  const std::string header = fmt::format(R"({{"alg":"{}","typ":"JWT"}})", key.algorithm());
  const std::string payload = fmt::format(
      R"({{"iss":{0},"sub":{0},"aud":{1},"jti":{2},"iat":{3},"exp":{4}}})", quote(claims.client_id),
      quote(claims.audience), quote(claims.id), now.count(), (now + assertion_life).count());
  std::string text = base64url(header) + "." + base64url(payload);
  const auto signature = key.sign(text);
  if (!signature) return std::nullopt;
  return text + "." + base64url(*signature);
}

std::optional<std::string> random_id() {
  std::array<unsigned char, 16> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return std::nullopt;
  return base64url(std::string(bytes.begin(), bytes.end()));
}

}  // namespace bridge
