#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "auth/access_token.hpp"
#include "auth/auth_options.hpp"
#include "auth/discovery.hpp"
#include "auth/login.hpp"
#include "auth/token_endpoint.hpp"
#include "http/client/http_options.hpp"
#include "json/reply.hpp"
#include "text/visible_text.hpp"

namespace bridge {

class CurlLoop;
class EventLoop;
class Log;

/// What all steps of one login share.
struct LoginParts {
  EventLoop& loop;
  CurlLoop& curl;
  HttpOptions upstream;  ///< its TLS and proxy settings, and which addresses are allowed
  const OAuthOptions& options;
  Log& log;
};

/// The scope that a person is asked to grant, the client that asks, and the server.
struct AccessRequest {
  AuthorizationServer server;
  OAuthClient client;
  std::string scope;  ///< empty: not sent
};

/// What the upstream's refusals said about the login that it requires (RFC 6750, section 3; RFC
/// 9728, section 5.1; MCP 2025-11-25, "Authorization", "Scope Challenge Handling").
///
/// Pure; a part of LoginToken. Memory: texts of bounded length.
class LoginDemand {
 public:
  explicit LoginDemand(std::string configured_scope) : scope_(std::move(configured_scope)) {}

  void take(const TokenChallenge& challenge) {
    const std::vector<Challenge> challenges = parse_challenges(challenge.www_authenticate);
    was_refused_ = true;
    if (const std::string place = bearer_hint(challenges, "resource_metadata"); !place.empty())
      announced_ = place;
    const std::string scope = bearer_hint(challenges, "scope");
    is_public_ = is_public_ || challenge.is_public;
    if (challenge.status != 403) {
      if (!scope.empty()) scope_.challenge(scope);
    } else if (bearer_parameter(challenges, "error") == "insufficient_scope" && !scope.empty()) {
      // Only a person can grant more (RFC 6749, section 6: a refresh never extends the scope).
      const std::string all = joined_scopes(step_up_, scope);
      step_up_ = all.size() <= header_limit::scope ? all : scope;
    }
  }
  /// After a login or a logout: the next login asks for the usual scope only.
  void forget_step_up() { step_up_.clear(); }

  /// Whether the upstream has refused a message at all.
  bool was_refused() const { return was_refused_; }
  const WantedScope& scope() const { return scope_; }
  /// The scopes asked for by the 403s, or the last one's if all are too long; empty: none.
  const std::string& step_up() const { return step_up_; }
  /// Where the last challenge announced the resource's metadata; may be empty.
  const std::string& announced() const { return announced_; }
  /// The upstream was seen once at an address that the whole internet can reach. A different
  /// address later does not make what it names more trustworthy.
  bool is_public() const { return is_public_; }

 private:
  WantedScope scope_;
  std::string step_up_;
  std::string announced_;
  bool was_refused_ = false;
  bool is_public_ = false;
};

/// A way for a person to grant access, from the offer to the tokens.
///
/// The loop's thread only; owned by a LoginFlow. No callback after stop() or destruction.
class LoginMethod {
 public:
  /// Each is called at most once, possibly from within a call of the method; must not destroy it.
  class Owner {
   public:
    /// The person has something to do, for this time at most.
    virtual void method_offers(std::chrono::milliseconds at_most) = 0;
    virtual void method_granted(const TokenGrant& grant) = 0;
    /// Nothing secret in `message`.
    virtual void method_failed(ErrorKind kind, const std::string& message) = 0;

   protected:
    ~Owner() = default;
  };

  virtual ~LoginMethod() = default;

  /// Returns why this server cannot be used with this method, or that no redirect address is
  /// available; empty if it can. Called once, first.
  virtual std::string prepare(const AuthorizationServer& server) = 0;
  /// The redirect URI to be registered; after prepare().
  virtual std::string redirect_uri() const = 0;
  /// Whether a registration with that redirect URI can be used.
  virtual bool fits(const std::string& registered_uri) const = 0;
  virtual void start(const AccessRequest& request) = 0;
  virtual void stop() = 0;

  virtual bool has_offer() const = 0;
  virtual void describe(LoginOffer& offer) const = 0;
  /// The query of a redirect. False: it does not belong to this login, which stays pending.
  virtual bool take(const std::string& query) = 0;
  /// Shows the outcome in the person's browser, if that is waiting.
  virtual void show_end(bool is_logged_in) = 0;
  virtual std::vector<std::string> secrets() const = 0;
};

}  // namespace bridge
