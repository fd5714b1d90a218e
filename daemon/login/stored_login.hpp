#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "login/oauth_client.hpp"

namespace bridge {

/// What a login has given, and all that is needed to go on with it: who the server is, who the
/// bridge is for it, the tokens. A value; most of it is secret.
struct StoredLogin {
  std::string resource;  ///< as the tokens were asked for
  std::string upstream;  ///< the resource as the bridge knows it: which login is whose
  std::string issuer;
  std::string token_endpoint;
  std::string revocation_endpoint;  ///< empty: none
  OAuthClient client;
  std::string scope;  ///< granted; empty: not known
  std::string access_token;
  std::string refresh_token;        ///< empty: none
  std::optional<WallTime> expires;  ///< of the access token; none: not said
  int redemptions = 0;              ///< how often the refresh token was sent, as far as is known

  /// Entries of a store are by these.
  bool is_of(const StoredLogin& other) const {
    return upstream == other.upstream && issuer == other.issuer && client.id == other.client.id;
  }
};

/// The format of a token store: `{"version":1,"logins":[…]}`. Pure.
std::string logins_text(const std::vector<StoredLogin>& logins);
/// Nothing if the text is no such store, or one of a later version.
std::optional<std::vector<StoredLogin>> read_logins(const std::string& text);

}  // namespace bridge
