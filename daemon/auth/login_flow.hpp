#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "auth/discovery.hpp"
#include "auth/login.hpp"
#include "auth/login_method.hpp"
#include "auth/oauth_identity.hpp"
#include "auth/token_store.hpp"
#include "event/event_loop.hpp"

namespace bridge {

/// One login of a person, from discovery to the first tokens (MCP 2026-07-28, "Authorization";
/// BEHAVIOUR, "Login").
///
/// Steps: if the upstream has refused nothing yet, it is asked what it wants, since only its
/// refusal may say where its metadata are, and which scope it wants; Discovery, then OAuthIdentity
/// (who the bridge is for that server), then the LoginMethod that was asked for. Everything of it,
/// the listener too, ends with this, after `longest` at the latest.
///
/// The loop's thread only; owned by LoginDesk. `offered` is called when there is something for a
/// person to do, `ended` once, last; never from within start() or a call of who owns this. What
/// goes wrong is a Failure with nothing secret in it.
class LoginFlow final : private LoginMethod::Owner {
 public:
  static constexpr std::chrono::minutes longest{10};

  /// What is to be had.
  struct Wish {
    LoginMode mode = LoginMode::browser;
    std::string resource;
    LoginDemand demand;    ///< what the upstream's refusals have said so far
    std::string granted;   ///< what a person has granted before
    std::string last_uri;  ///< where the last login's browser came back; empty: none did
    /// A registration with this issuer that may be used again.
    std::function<std::optional<OAuthClient>(const std::string& issuer)> registration;
  };
  using End = std::variant<StoredLogin, Failure>;

  LoginFlow(LoginParts parts, Wish wish, std::function<void()> offered,
            std::function<void(const End&)> ended);
  LoginFlow(const LoginFlow&) = delete;
  LoginFlow& operator=(const LoginFlow&) = delete;

  void start();
  std::optional<LoginOffer> offer() const;
  /// The query of a redirect, wherever it was brought. False: none to this login; it goes on.
  bool take(const std::string& query);
  /// It comes to nothing, because of this.
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
  std::function<void()> offered_;
  std::function<void(const End&)> ended_;
  SteadyTime until_;
  std::unique_ptr<SmallRequest> question_;
  std::unique_ptr<Discovery> discovery_;
  AccessRequest request_;
  std::unique_ptr<LoginMethod> method_;
  OAuthIdentity identity_;
  DeadlineTimer deadline_;
  std::optional<End> end_;
  Deferred tell_;  ///< of the offer, or of the end
};

}  // namespace bridge
