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
  bool is_public = false;           ///< the resource is: its servers may have no private addresses
  OAuthClient client;
  std::string scope;  ///< granted; empty: not known
  std::string access_token;
  std::string refresh_token;        ///< empty: none
  std::optional<WallTime> expires;  ///< of the access token; none: not said
  int redemptions = 0;              ///< how often the refresh token was sent, as far as is known

  bool has_tokens() const { return !access_token.empty() || !refresh_token.empty(); }
  /// Entries of a store are by these. What the bridge has registered by itself is one client,
  /// however often that was.
  bool is_of(const StoredLogin& other) const {
    return upstream == other.upstream && issuer == other.issuer &&
           (client.id == other.client.id || (client.is_registered && other.client.is_registered));
  }
};

/// Whose logins they are: the upstream's, by the client that the operator has named.
struct LoginOwner {
  std::string upstream;
  std::string client_id;     ///< empty: none is named
  std::string metadata_url;  ///< which may be the client's id then

  bool owns(const StoredLogin& login) const {
    if (login.upstream != upstream) return false;
    if (!client_id.empty()) return login.client.id == client_id && !login.client.is_registered;
    return login.client.is_registered || login.client.id == metadata_url;
  }
};

/// The format of a token store: `{"version":1,"logins":[…]}`. Pure.
std::string logins_text(const std::vector<StoredLogin>& logins);
/// Nothing if the text is no such store, or one of a later version. Entries whose token endpoint
/// cannot be one are left out.
std::optional<std::vector<StoredLogin>> read_logins(const std::string& text);

}  // namespace bridge
