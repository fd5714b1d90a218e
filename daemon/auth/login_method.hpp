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

/// What all steps of one login work with.
struct LoginParts {
  EventLoop& loop;
  CurlLoop& curl;
  HttpOptions upstream;  ///< its TLS and proxy settings; which addresses may be asked
  const OAuthOptions& options;
  Log& log;
};

/// What a person is asked to grant, to whom, and by whom.
struct AccessRequest {
  AuthorizationServer server;
  OAuthClient client;
  std::string scope;  ///< empty: not said
};

/// What the upstream's refusals have said of the login that it wants (RFC 6750, section 3; RFC
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
      // Only a person can grant more (RFC 6749, section 6: a refresh gives no more than there was).
      const std::string all = joined_scopes(step_up_, scope);
      step_up_ = all.size() <= header_limit::scope ? all : scope;
    }
  }
  /// There is a login, or is to be none: the next one asks for no more than usual.
  void forget_step_up() { step_up_.clear(); }

  /// There is something to go by.
  bool was_refused() const { return was_refused_; }
  const WantedScope& scope() const { return scope_; }
  /// By the last 403s, of which the last one counts where all are too much; empty: nothing.
  const std::string& step_up() const { return step_up_; }
  /// Where the last challenge says that the resource's metadata are; may be empty.
  const std::string& announced() const { return announced_; }
  /// The upstream was once seen at an address that the whole internet can reach: that it has
  /// another one at another time makes what it names no better.
  bool is_public() const { return is_public_; }

 private:
  WantedScope scope_;
  std::string step_up_;
  std::string announced_;
  bool was_refused_ = false;
  bool is_public_ = false;
};

/// A way for a person to grant access, from what there is for them to do to the tokens.
///
/// The loop's thread only; owned by a LoginFlow. Nothing comes after stop() or destruction.
class LoginMethod {
 public:
  /// Told once at most each, maybe from within a call of the method; none of them may destroy it.
  class Owner {
   public:
    /// There is something for a person to do, for so long at most.
    virtual void method_offers(std::chrono::milliseconds at_most) = 0;
    virtual void method_granted(const TokenGrant& grant) = 0;
    /// Nothing secret in `message`.
    virtual void method_failed(ErrorKind kind, const std::string& message) = 0;

   protected:
    ~Owner() = default;
  };

  virtual ~LoginMethod() = default;

  /// Why this server cannot be logged in to so, or that a redirect address cannot be had; empty if
  /// it can. Asked once, first.
  virtual std::string prepare(const AuthorizationServer& server) = 0;
  /// Where the person's browser comes back, to be registered; after prepare().
  virtual std::string redirect_uri() const = 0;
  /// Whether what was registered for that address does.
  virtual bool fits(const std::string& registered_uri) const = 0;
  virtual void start(const AccessRequest& request) = 0;
  virtual void stop() = 0;

  virtual bool has_offer() const = 0;
  virtual void describe(LoginOffer& offer) const = 0;
  /// The query of a redirect. False: it is none to this login, which goes on.
  virtual bool take(const std::string& query) = 0;
  /// The person's browser, if it waits, is shown how it ended.
  virtual void show_end(bool is_logged_in) = 0;
  virtual std::vector<std::string> secrets() const = 0;
};

}  // namespace bridge
