#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "auth/token_endpoint.hpp"
#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/secret_file.hpp"

namespace bridge {

class Log;

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

/// The logins of this upstream and of others, in a file that daemons share (BEHAVIOUR, "Login:
/// store"). Without a path they are in memory.
///
/// The file is 0600 and replaced whole. Two locks of `FILE.lock` (fcntl(2), open file description
/// locks, which the kernel gives back when a daemon dies): one for a change, held for no longer
/// than that takes; and one for each login, held while its refresh token is at the server.
///
/// The loop's thread only. What fails is a line in the log; the file's content is never in it.
class TokenStore {
 public:
  enum class Lock : std::uint8_t { held, busy };

  TokenStore(std::string path, Log& log) : path_(std::move(path)), log_(log) {}
  TokenStore(const TokenStore&) = delete;
  TokenStore& operator=(const TokenStore&) = delete;

  bool is_persistent() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

  /// The last login that was stored of this owner.
  std::optional<StoredLogin> find(const LoginOwner& owner);
  /// It can be read, and there is none.
  bool has_none(const LoginOwner& owner);
  /// As whom the bridge is registered there.
  std::optional<OAuthClient> registration(const LoginOwner& owner, const std::string& issuer);
  /// Whether it may have changed since it was read or written here.
  bool has_changed() const;
  /// In the place of the one of the same upstream, issuer and client. Of the owner's others only
  /// the registrations stay. False: it is not kept.
  bool save(const LoginOwner& owner, const StoredLogin& login);
  /// All that this owner has.
  bool erase(const LoginOwner& owner);

  /// Of this login, until unlock().
  Lock try_lock(const StoredLogin& login);
  void unlock();

 private:
  std::optional<std::vector<StoredLogin>> read();
  bool write(const std::vector<StoredLogin>& logins);
  template <class Change>
  bool change(Change&& change);
  bool open_lock();

  std::string path_;
  Log& log_;
  std::vector<StoredLogin> in_memory_;  ///< without a path
  Descriptor lock_;
  std::optional<FileIdentity> seen_;
  bool holds_login_ = false;
};

/// What is wrong with a file that is to be a token store, as one clear line, or an empty string.
/// One that is not there yet is none.
std::string fault_of_token_store(const std::string& path);

}  // namespace bridge
