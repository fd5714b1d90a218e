#include "downstream/http/bearer_token.hpp"

#include <algorithm>
#include <utility>

#include "http/constant_time.hpp"

namespace bridge {

BearerToken::BearerToken(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) read();
}

void BearerToken::read() {
  SecretFile file = read_secret_file(path_, "--http-token-file");
  fault_ = std::move(file.fault);
  if (fault_.empty() && !is_token(file.content)) {
    fault_ =
        "--http-token-file: there is a character in it that no token has (a space or a second "
        "line?)";
  }
  token_ = fault_.empty() ? std::move(file.content) : std::string();
  identity_.reset();
  if (fault_.empty() && !file.is_fresh) identity_ = file.identity;
}

bool BearerToken::admits(std::string_view authorization,
                         std::chrono::steady_clock::time_point now) {
  if (path_.empty()) return true;
  if (now - looked_ >= std::chrono::seconds(1)) {
    looked_ = now;
    if (!identity_ || !(identity_of(path_) == *identity_)) read();
  }
  constexpr std::string_view scheme = "bearer ";
  if (token_.empty() || authorization.size() < scheme.size()) return false;
  const bool is_bearer =
      std::equal(scheme.begin(), scheme.end(), authorization.begin(), [](char wanted, char given) {
        return wanted ==
               (given >= 'A' && given <= 'Z' ? static_cast<char>(given - 'A' + 'a') : given);
      });
  if (!is_bearer) return false;
  authorization.remove_prefix(scheme.size());
  while (authorization.starts_with(" ")) authorization.remove_prefix(1);
  return equal_in_constant_time(authorization, token_);
}

}  // namespace bridge
