#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/access_token.hpp"
#include "auth/login.hpp"
#include "auth/recent_secrets.hpp"
#include "auth/token_endpoint.hpp"
#include "auth/token_store.hpp"
#include "event/event_loop.hpp"

namespace bridge {

class Log;

/// The outcome of a refresh request.
enum class RefreshEnd : std::uint8_t {
  granted,
  not_sent,     ///< no connection: the server has not seen it
  unavailable,  ///< the server says that it cannot at present
  lost,         ///< sent, but without a valid response
  refused,      ///< the server has refused it; a retry is of no use
};

enum class RefreshStep : std::uint8_t {
  use,     ///< the new tokens
  again,   ///< at once, with the same refresh token
  later,   ///< after a while, with the same one
  log_in,  ///< a person has to
};

/// A refresh token is sent a second time only if the response to the first was lost: a server that
/// rotates them takes a third for theft (RFC 6749, section 6). `sent`: how often it was sent, this
/// time included. Pure.
constexpr RefreshStep next_step(RefreshEnd end, int sent) {
  switch (end) {
    case RefreshEnd::granted: return RefreshStep::use;
    case RefreshEnd::not_sent:
    case RefreshEnd::unavailable: return RefreshStep::later;
    case RefreshEnd::lost: return sent < 2 ? RefreshStep::again : RefreshStep::log_in;
    case RefreshEnd::refused: break;
  }
  return RefreshStep::log_in;
}

/// Whether the server may have redeemed the refresh token, whatever the response was.
constexpr bool counts_as_redeemed(RefreshEnd end) {
  return end != RefreshEnd::not_sent && end != RefreshEnd::unavailable;
}

/// The meaning of an HTTP response that grants nothing. `error`: RFC 6749, section 5.2, which some
/// servers send with another status. Pure.
inline RefreshEnd refresh_end(int status, const std::string& error) {
  if (refuses_for_good(status) || error == "invalid_grant" || error == "invalid_client" ||
      error == "unauthorized_client" || error == "unsupported_grant_type" ||
      error == "invalid_scope" || error == "invalid_target")
    return RefreshEnd::refused;
  if (status == 200) return RefreshEnd::lost;
  return RefreshEnd::unavailable;
}

/// The tokens of a login, and their only refresher (RFC 6749, section 6; BEHAVIOUR, "Login:
/// refresh").
///
/// A refresh is started by a caller that needs a token, by the use of a token that is about to
/// expire, and by a timer once in `idle_refresh`. New tokens are stored before they are used.
/// Daemons that share a store refresh one after the other; each takes what the previous one stored.
///
/// The loop's thread only; a part of LoginToken. Memory: the login, the last 8 secrets, one answer.
class Refresher {
 public:
  struct Parts {
    EventLoop& loop;
    TokenEndpoint& endpoint;
    TokenStore& store;
    Log& log;
    LoginOwner owner;
    std::chrono::milliseconds idle_refresh;  ///< 0: never
    std::string login_command;
  };

  explicit Refresher(Parts parts);

  /// Whether the login survives a restart.
  bool is_kept() const { return parts_.store.is_persistent(); }
  /// Whether it is not in the store yet, since another process keeps it locked.
  bool is_unsaved() const { return parts_.store.has_unsaved(); }
  /// Reads the stored login, if it may have changed.
  void look_into_store();
  /// The bridge's registration at a server, if there is one.
  std::optional<OAuthClient> registration(const std::string& issuer) const {
    return parts_.store.registration(parts_.owner, issuer);
  }
  /// A new login: stored, then used. It ends a refresh of the old one, whose waiters get its token.
  void take(StoredLogin login);
  /// The login of the previous process.
  void restore(StoredLogin login);
  /// Drops the login, here and in the store, with its registrations; returns it.
  std::optional<StoredLogin> forget();

  /// Null: there is none.
  const StoredLogin* login() const { return login_ ? &*login_ : nullptr; }
  /// The valid token; starts a refresh if one is due.
  std::optional<std::string> token();
  bool has_good_token() const;
  bool can_refresh() const;
  std::optional<std::chrono::milliseconds> expires_in() const;
  void fetch(TokenSource::Done done) { shared_.join(std::move(done)); }
  /// Why it can no longer be refreshed; empty if no refresh has failed.
  const std::string& why_over() const { return why_over_; }
  /// The upstream has refused this token.
  void refused(const std::string& token);
  void forgive() { shared_.forgive(); }

  std::vector<std::string> secrets() const;
  std::uint64_t refreshes() const { return refreshes_; }
  std::uint64_t failures() const { return failures_; }

 private:
  void begin();
  void lock();
  void redeem();
  void answered(const SmallAnswer& answer);
  void judge(RefreshEnd end, const std::string& reason);
  void take_grant(const TokenGrant& grant);
  void adopt(StoredLogin login);
  bool take_stored();
  void store(const StoredLogin& login);
  void give_up(const std::string& reason);
  void finish(const TokenAnswer& answer);
  void set_idle_timer();

  Parts parts_;
  std::optional<StoredLogin> login_;
  TokenLife life_;
  std::string why_over_;
  bool token_is_refused_ = false;
  bool is_stored_ = false;  ///< as far as known
  SteadyTime asked_{};
  SteadyTime lock_until_{};
  TokenForm form_;
  RecentSecrets recent_;
  SharedFetch shared_;
  DeadlineTimer lock_again_;
  DeadlineTimer idle_;
  std::uint64_t refreshes_ = 0;
  std::uint64_t failures_ = 0;
};

/// The failure returned to callers that need a token while a person has to log in.
Failure login_needed(const std::string& why, const std::string& login_command);

}  // namespace bridge
