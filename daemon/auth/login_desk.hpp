#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "auth/auth_options.hpp"
#include "auth/discovery.hpp"
#include "auth/login.hpp"
#include "auth/login_method.hpp"
#include "auth/oauth_identity.hpp"
#include "auth/refresher.hpp"
#include "auth/token_endpoint.hpp"
#include "auth/token_store.hpp"
#include "event/event_loop.hpp"
#include "http/client/http_options.hpp"

namespace bridge {

class LoginDesk;

/// One login of a person, from discovery to the first tokens (MCP 2026-07-28, "Authorization";
/// BEHAVIOUR, "Login").
///
/// Steps: a request to the upstream if it has refused nothing yet, since only its refusal may say
/// where its metadata are, and which scope it wants; Discovery; OAuthIdentity (the client that the
/// bridge is for that server); the requested LoginMethod. Destruction ends all of it, the listener
/// too; `longest` bounds the time.
///
/// The loop's thread only; owned by LoginDesk. `offered` is called when the person has something to
/// do, `ended` once, last; neither from within start() or another call of the owner. Errors are
/// Failures with nothing secret in them.
class LoginFlow final : private LoginMethod::Owner {
 public:
  static constexpr std::chrono::minutes longest{10};

  /// The login that is requested.
  struct Wish {
    LoginMode mode = LoginMode::browser;
    std::string resource;
    LoginDemand demand;    ///< what the upstream's refusals said so far
    std::string granted;   ///< what a person granted before
    std::string last_uri;  ///< the last login's redirect URI; empty: none
    /// An earlier registration with this issuer that may be reused.
    std::function<std::optional<OAuthClient>(const std::string& issuer)> registration;
  };
  using End = std::variant<StoredLogin, Failure>;

  LoginFlow(LoginParts parts, Wish wish, LoginDesk& desk);
  LoginFlow(const LoginFlow&) = delete;
  LoginFlow& operator=(const LoginFlow&) = delete;

  void start();
  std::optional<LoginOffer> offer() const;
  /// The query of a redirect, however it was delivered. False: not this login's, which continues.
  bool take(const std::string& query);
  /// Ends the login as failed, with this reason.
  void cancel(const std::string& why) { fail(ErrorKind::auth, why); }
  std::vector<std::string> secrets() const;

 private:
  void method_offers(std::chrono::milliseconds at_most) override;
  void method_granted(const TokenGrant& grant) override;
  void method_failed(ErrorKind kind, const std::string& message) override { fail(kind, message); }

  void ask_resource();
  void discover();
  void discovered(const Discovery::Result& result);
  void identified(const std::variant<OAuthClient, std::string>& found);
  void fail(ErrorKind kind, const std::string& message);
  void end(const End& end);
  std::string scope() const;

  LoginParts parts_;
  Wish wish_;
  LoginDesk& desk_;
  SteadyTime until_;
  std::unique_ptr<SmallRequest> question_;
  std::unique_ptr<Discovery> discovery_;
  AccessRequest request_;
  std::unique_ptr<LoginMethod> method_;
  OAuthIdentity identity_;
  DeadlineTimer deadline_;
  std::optional<End> end_;
  Deferred tell_;  ///< delivers the offer, or the end
};

// Each is called once, in a turn, at once or later.
using LoginDone = std::function<void(const LoginAnswer&)>;
using LogoutDone = std::function<void(const LogoutAnswer&)>;

/// The callers waiting for a login: for its offer, or for its end.
///
/// The loop's thread only; a part of LoginDesk. Bounds: `most` waiters; each is answered at its
/// timeout at the latest.
class LoginWaiters {
 public:
  static constexpr std::size_t most = 64;
  enum class For { offer, end };

  /// `answer` returns the present state of the login.
  LoginWaiters(EventLoop& loop, std::function<LoginAnswer()> answer);

  /// Answers at once if there are too many waiters.
  void add(For what, std::chrono::milliseconds time, LoginDone done);
  void offered() { tell(For::offer); }
  void ended();

 private:
  struct Waiter {
    For what;
    SteadyTime until;
    LoginDone done;
  };

  void tell(For what);
  void tell_due();
  template <class Select>
  void tell_those(Select&& select);

  EventLoop& loop_;
  std::function<LoginAnswer()> answer_;
  std::vector<Waiter> all_;
  DeadlineTimer clock_;
};

/// Revokes the tokens of a login at the server (RFC 7009): one request at a time.
///
/// The loop's thread only; a part of LoginDesk. No callback after destruction.
class Revocation {
 public:
  /// References outlive this.
  Revocation(EventLoop& loop, CurlLoop& curl, const HttpOptions& upstream)
      : loop_(loop), curl_(curl), upstream_(upstream) {}

  /// `done` is called once, at once or later. With the refresh token the server also revokes the
  /// access tokens issued by it.
  void revoke(const StoredLogin& login, LogoutDone done);

 private:
  EventLoop& loop_;
  CurlLoop& curl_;
  const HttpOptions& upstream_;
  std::unique_ptr<HttpTokenEndpoint> endpoint_;
};

/// Where a person logs in and out: the one LoginFlow at a time, its waiters, and the reported state
/// (BEHAVIOUR, "Login: state").
///
/// The loop's thread only; a part of LoginToken, which outlives it together with everything passed
/// by reference. Memory: that of its parts.
class LoginDesk {
 public:
  struct Parts {
    EventLoop& loop;
    CurlLoop& curl;
    const HttpOptions& upstream;
    const OAuthOptions& options;
    Log& log;
    Refresher& refresher;
    LoginDemand& demand;
  };

  LoginDesk(const Parts& parts, std::string resource);

  /// The upstream has refused a message, and a login is required.
  bool is_needed() const { return is_needed_; }
  void need() { is_needed_ = true; }
  bool is_login_pending() const { return flow_ != nullptr; }
  /// Whether a person may be told to log in: not at a server that wants a token and names no
  /// authorization server.
  bool is_login_offered() const { return is_login_offered_; }
  /// The command that a person types.
  const std::string& command() const { return parts_.options.login_command; }
  void set_login_offered(bool is_offered) { is_login_offered_ = is_offered; }
  /// The secrets of a pending login.
  std::vector<std::string> secrets() const;

  LoginStatus login_status() const;
  LoginCounts login_counts() const;

  /// Begins a login, or joins the pending one; answered when there is an offer.
  void begin_login(std::optional<LoginMode> mode, LoginDone done);
  /// Completes a login with the address at which the person's browser ended. Answered when that
  /// login is over; an address that does not belong to it ends nothing.
  void complete_login(const std::string& address, LoginDone done);
  /// Answered when the pending login is over, or after that time.
  void wait_for_login(std::chrono::milliseconds time, LoginDone done);
  void cancel_login(LoginDone done);
  /// Drops the tokens at once; answered when the server was told, or could not be.
  void log_out(LogoutDone done);

  /// Sets the action run after each login. Called once.
  void on_login(std::function<void()> action) { on_login_ = std::move(action); }

  // From the LoginFlow, never from within a call of it.
  void flow_offers() { waiters_.offered(); }
  /// Destroys it.
  void flow_ended(const LoginFlow::End& end);

  // For an upgrade.
  /// A pending login cannot be resumed: its waiters are told so.
  void give_up_pending_login();
  /// The login as text; secret. Empty: there is none.
  std::string save_login() const;
  void restore_login(const std::string& saved);

 private:
  LoginAnswer answer() const;
  LoginFlow::Wish wish(LoginMode mode) const;
  void take(const StoredLogin& login);

  Parts parts_;
  std::string resource_;
  std::function<void()> on_login_;
  bool is_needed_ = false;
  bool is_login_offered_ = true;
  bool registration_is_suspect_ = false;
  std::unique_ptr<LoginFlow> flow_;
  std::optional<Failure> last_failure_;  ///< of the last login; none: it succeeded, or none yet
  LoginWaiters waiters_;
  Revocation revocation_;
  LoginCounts counts_;
};

}  // namespace bridge
