#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "auth/token_endpoint.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/secret_file.hpp"
#include "event/event_loop.hpp"

namespace bridge {

class Log;

/// A login's result, and all that is needed to use it: the server, the client that the bridge is
/// for it, the tokens. A value; most of it is secret.
struct StoredLogin {
  std::string resource;  ///< as the tokens were requested
  std::string upstream;  ///< the resource as the bridge knows it; identifies the owner
  std::string issuer;
  std::string token_endpoint;
  std::string revocation_endpoint;  ///< empty: none
  bool is_public = false;           ///< the resource is: its servers must have public addresses
  OAuthClient client;
  std::string scope;  ///< granted; empty: unknown
  std::string access_token;
  std::string refresh_token;        ///< empty: none
  std::optional<WallTime> expires;  ///< of the access token; none: not given
  int redemptions = 0;              ///< how often the refresh token was sent, as far as known
  bool is_unsaved = false;          ///< of an upgrade: the store does not have it yet

  bool has_tokens() const { return !access_token.empty() || !refresh_token.empty(); }
  /// The key of an entry in a store. All registrations made by the bridge count as one client,
  /// however many there were.
  bool is_of(const StoredLogin& other) const;
};

/// The owner of logins: an upstream, with the client that the operator has configured.
struct LoginOwner {
  std::string upstream;
  std::string client_id;     ///< empty: not configured
  std::string metadata_url;  ///< possibly used as the client's id

  bool owns(const StoredLogin& login) const {
    if (login.upstream != upstream) return false;
    if (!client_id.empty()) return login.client.id == client_id && !login.client.is_registered;
    return login.client.is_registered || login.client.id == metadata_url;
  }
  friend bool operator==(const LoginOwner&, const LoginOwner&) = default;
};

/// The format of a token store: `{"version":1,"logins":[…]}`. Pure.
std::string logins_text(const std::vector<StoredLogin>& logins);
/// nullopt if the text is not such a store, or of a later version. Entries whose token endpoint is
/// not acceptable are left out.
std::optional<std::vector<StoredLogin>> read_logins(const std::string& text);

/// The logins of this upstream and of others, in a file shared by daemons (BEHAVIOUR, "Login:
/// store"). Without a path they are in memory.
///
/// The file is 0600 and replaced whole. Two locks of `FILE.lock` (fcntl(2), open file description
/// locks, which the kernel releases when a daemon dies): one for a change, held for that change
/// only; and one for each login, held while its refresh token is at the server.
///
/// Never waits for a lock: a change that another process keeps from the file is remembered, holds
/// for all reads here, and is tried again by a timer. Nor does it wait for the disk.
///
/// The loop's thread only. Errors are logged, without the file's content. Memory: the remembered
/// changes, one for each client of the owner.
class TokenStore {
 public:
  enum class Lock : std::uint8_t { held, busy };
  enum class Saved : std::uint8_t {
    yes,
    later,  ///< another process holds the lock
    no,     ///< there is no file, or it cannot be written
  };

  TokenStore(EventLoop& loop, std::string path, Log& log);
  TokenStore(const TokenStore&) = delete;
  TokenStore& operator=(const TokenStore&) = delete;
  /// Tries the remembered changes a last time.
  ~TokenStore();

  bool is_persistent() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

  /// The owner's login that was stored last.
  std::optional<StoredLogin> find(const LoginOwner& owner);
  /// The store is readable, and has no login of this owner.
  bool has_none(const LoginOwner& owner);
  /// The bridge's registration at that server.
  std::optional<OAuthClient> registration(const LoginOwner& owner, const std::string& issuer);
  /// Whether it may have changed since it was read or written here.
  bool has_changed() const;
  /// Replaces the entry of the same upstream, issuer and client. Of the owner's other entries only
  /// the registrations stay.
  Saved save(const LoginOwner& owner, const StoredLogin& login);
  /// Removes all entries of this owner.
  Saved erase(const LoginOwner& owner);
  /// Whether changes are remembered that are not in the file yet.
  bool has_unsaved() const { return !unsaved_.empty(); }

  /// Locks this login until unlock(). Busy too while another process keeps changes from the file.
  Lock try_lock(const StoredLogin& login);
  void unlock();

 private:
  /// A login to be saved, or none: all of the owner's are to be removed.
  struct Change {
    LoginOwner owner;
    std::optional<StoredLogin> login;
  };

  std::optional<std::vector<StoredLogin>> read();
  std::optional<std::vector<StoredLogin>> read_file();
  bool write(const std::vector<StoredLogin>& logins);
  Saved change(Change change);
  void remember(Change change);
  Saved write_changes();
  void wait_for_lock();
  bool open_lock();
  bool lock_change();
  void unlock_change();

  std::string path_;
  Log& log_;
  std::vector<StoredLogin> in_memory_;  ///< without a path
  std::vector<Change> unsaved_;
  DeadlineTimer again_;
  std::chrono::milliseconds pause_{0};  ///< before the next try
  Descriptor lock_;
  std::optional<FileIdentity> seen_;
  bool holds_login_ = false;
};

/// What is wrong with a file used as a token store, as one clear line, or an empty string. A file
/// that does not exist yet is acceptable.
std::string fault_of_token_store(const std::string& path);

}  // namespace bridge
