#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/secret_file.hpp"
#include "login/stored_login.hpp"

namespace bridge {

class Log;

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
